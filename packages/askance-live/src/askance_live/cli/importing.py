"""``askance import``: events and labels from a file into the store of the live service."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from askance.cli.command import Command
from askance.errors import InvalidParameter
from askance_live.cli.live import add_config, open_stores, or_by_http, read_config


def configure(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("file", metavar="FILE", help="lines of JSON, an array of JSON (also Label Studio's), or .csv")
    parser.add_argument("--label", default="label", metavar="FIELD", help="the field with the label (default: label)")
    parser.add_argument("--encoding", metavar="NAME", help="what text is written in, such as latin-1 (default: utf-8)")


def run(options: argparse.Namespace) -> int:
    config = read_config(options)
    path = Path(options.file)
    try:
        path.open("rb").close()
    except OSError as error:
        raise InvalidParameter(f"cannot read {options.file!r}: {error.strerror}.") from None
    from askance_live.access.names import COMMAND_LINE, IMPORT
    from askance_live.engine.thread import Engine
    from askance_live.exchange.importing import import_items, read_file

    with open_stores(config) as database:
        engine = Engine(database, config)
        with or_by_http(config, "the file at POST /v1/import"):
            engine.start()
        try:
            items = read_file(path, config.server.json_depth, options.label, options.encoding)
            done = import_items(engine, items, IMPORT, COMMAND_LINE)
        finally:
            engine.stop()
    for problem in done["problems"]:
        print(f"item {problem['item']}: {problem['detail']}", file=sys.stderr)
    kept = f"{done['quarantined']:,} are kept in quarantine, " if done["quarantined"] else ""
    print(
        f"{done['events']:,} events and {done['labels']:,} labels taken in, {done['duplicates']:,} were there already, "
        f"{kept}{done['errors']:,} could not be used."
    )
    return 2 if done["errors"] and not done["events"] + done["duplicates"] + done["quarantined"] else 0


command = Command(
    name="import",
    summary="take events and labels from a file into the live service",
    description="Take events and labels in: what 'askance export' wrote, any lines of JSON,\n"
    "CSV, or an export of Label Studio. The service must not run meanwhile; a\n"
    "running one takes the same at POST /v1/import.",
    epilog="examples:\n  askance import all.jsonl\n  askance import mail.csv --label is_spam --encoding latin-1\n",
    configure=configure,
    run=run,
)
