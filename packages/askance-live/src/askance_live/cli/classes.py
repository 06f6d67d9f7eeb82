"""``askance classes``: the classes of a live stream and the kinds of its fields, and what a change of them does."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from askance.cli.command import Command
from askance.errors import AskanceError, InvalidParameter
from askance_live.cli.live import add_config, open_stores, read_config
from askance_live.cli.people import address_of

if TYPE_CHECKING:
    from askance_live.config import Config
    from askance_live.engine.label_schema_changes import LabelSchemaChange
    from askance_live.store.database import Database

ACTIONS = ("list", "add", "rename", "retire", "restore", "kind")
WANTED = {
    "add": "the new classes, such as 'askance classes add phishing'",
    "rename": "a class and a name, such as 'askance classes rename spam \"Unwanted mail\"'",
    "retire": "the classes that are no longer offered, such as 'askance classes retire other'",
    "restore": "retired classes, such as 'askance classes restore other'",
    "kind": "a field and its kind, such as 'askance classes kind zip category', or 'guess'",
}
PATIENCE = 3600.0  # seconds, for a model that is made anew from a long log
GUESS = "guess"


def configure(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    parser.add_argument("words", nargs="*", metavar="WORD", help="classes; a class and a name; a field and a kind")
    parser.add_argument("--dry-run", action="store_true", help="only say what it would do")
    parser.add_argument("--yes", action="store_true", help="do it without asking")
    parser.add_argument("--url", metavar="URL", help="where a running service is (default: as the settings say)")
    parser.add_argument("--token", metavar="SECRET", help="a token with the scope admin, where the service wants one")


def run(options: argparse.Namespace) -> int:
    if options.action == "list" and options.words:
        raise InvalidParameter(f"'askance classes list' takes no words, got {options.words[0]!r}.")
    config = read_config(options)
    change = None if options.action == "list" else read_change(options.action, options.words)
    from askance_live.problems import Problem, StoreInUse

    try:
        with open_stores(config) as database:
            if change is None:
                return _list(database, config)
            try:
                database.own()
            except StoreInUse:
                return _by_http(config, options, change)
            return _offline(database, config, options, change)
    except Problem as problem:
        raise InvalidParameter(problem.detail) from None


def read_change(action: str, words: list[str]) -> LabelSchemaChange:
    """What a command line asks for."""
    from askance_live.engine.label_schema_changes import LabelSchemaChange

    is_pair = action in ("rename", "kind")
    if not words or (is_pair and len(words) != 2):
        raise InvalidParameter(f"'askance classes {action}' needs {WANTED[action]}.")
    if action == "rename":
        return LabelSchemaChange(rename={words[0]: words[1]})
    if action == "kind":
        return LabelSchemaChange(fields={words[0]: None if words[1] == GUESS else words[1]})
    given = tuple(words)
    if action == "add":
        return LabelSchemaChange(add=given)
    return LabelSchemaChange(retire=given) if action == "retire" else LabelSchemaChange(restore=given)


def _list(database: Database, config: Config) -> int:
    from askance_live.engine.label_schema_changes import count_learned
    from askance_live.engine.stored_settings import stored_label_schema_of

    with database.read() as session:
        label_schema = stored_label_schema_of(session, config)
        answers = count_learned(session)
    for place, label in enumerate(label_schema.labels):
        words = [f"{answers.get(place, 0):>7,} learned", "retired" if label.retired else ""]
        shown = f"shown as {label.name!r}" if label.name else ""
        print("  ".join(word for word in (f"{label.label:<24}", *words, shown) if word))
    for name, kind in sorted(label_schema.fields.items()):
        print(f"field {name}: {kind}")
    return 0


def _offline(database: Database, config: Config, options: argparse.Namespace, change: LabelSchemaChange) -> int:
    """No service works on the store."""
    from askance_live.engine.rebuild import change_offline, plan_offline
    from askance_live.engine.stored_settings import adopt_model, read_settings

    with database.write() as session:
        adopt_model(session, config)
    with database.read() as session:
        read_settings(session, config)
        plan = plan_offline(session, config, change)
    assert plan.effects is not None
    if not may_go_on(options, plan.effects.sentences):
        return 0 if options.dry_run else 2
    change_offline(database, config, change)
    print("Done.")
    return 0


def _by_http(config: Config, options: argparse.Namespace, change: LabelSchemaChange) -> int:
    """A service works on the store: it makes the change."""
    address = (options.url or address_of(config)).rstrip("/")
    told = _post(address, options.token, {**change.document(), "dry_run": True})
    if not may_go_on(options, told["effects"]):
        return 0 if options.dry_run else 2
    _post(address, options.token, {**change.document(), "expected": told["scheme"]})
    print("Done; the service goes on with it.")
    return 0


def _post(address: str, token: str | None, body: dict[str, Any]) -> Any:
    import urllib.error
    import urllib.request

    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    request = urllib.request.Request(f"{address}/v1/classes", json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        hint = ""
        if error.code in (401, 403):
            hint = " Make one with 'askance token create NAME --scopes admin', and give it as --token."
        raise AskanceError(_detail_of(error.read()) + hint) from None
    except (OSError, ValueError) as error:
        raise AskanceError(
            f"a service works on the store, but not at {address} ({error}); say where with --url, or stop it first."
        ) from None


def _detail_of(content: bytes) -> str:
    try:
        detail: str = json.loads(content)["detail"]
    except (ValueError, KeyError, TypeError):
        return "the service refused it."
    return detail


def may_go_on(options: argparse.Namespace, effects: list[str]) -> bool:
    """Say what a change does, and whether it is to be made."""
    print("This change " + ";\nit ".join(effects) + ".")
    if options.dry_run:
        return False
    if options.yes:
        return True
    if not sys.stdin.isatty():
        print("Nothing was changed; --yes makes it.", file=sys.stderr)
        return False
    return input("Go on? [y/N] ").strip().lower() in ("y", "yes")


command = Command(
    name="classes",
    summary="change the classes of a live stream, and the kinds of its fields",
    description="Add, rename, retire or restore classes, or give a field another kind. What that\n"
    "does to the model is said first; then it happens at once or not at all. Works\n"
    "while the service runs, too, which then makes the change.",
    epilog="examples:\n  askance classes list\n  askance classes add phishing --dry-run\n"
    '  askance classes add phishing --yes\n  askance classes rename spam "Unwanted mail"\n'
    "  askance classes retire other\n  askance classes kind zip category\n  askance classes kind zip guess\n",
    configure=configure,
    run=run,
)
