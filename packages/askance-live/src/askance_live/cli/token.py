"""``askance token``: who may use the live service, and for what."""

from __future__ import annotations

import argparse
import time

from askance.cli.command import Command
from askance_live.cli.live import add_config, open_stores, read_config


def configure(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("action", choices=("create", "revoke", "list"), help="what to do")
    parser.add_argument(
        "token", nargs="?", metavar="NAME|ID", help="create: whose it is; revoke: its number in the list"
    )
    parser.add_argument(
        "--scopes",
        default="label,read",
        metavar="A,B",
        help="what it allows: ingest, label, review, read, admin (default: label,read)",
    )
    parser.add_argument(
        "--expires", metavar="TIME", help="how long it is valid, such as 90d (default: until it is revoked)"
    )


def run(options: argparse.Namespace) -> int:
    from askance.errors import InvalidParameter

    config = read_config(options)
    if options.action != "list" and not options.token:
        raise InvalidParameter(
            f"'askance token {options.action}' needs the {'name' if options.action == 'create' else 'id'}."
        )
    from askance_live.access.auth import create_token, read_tokens, revoke_token
    from askance_live.clock import iso
    from askance_live.config import seconds

    with open_stores(config) as database:
        if options.action == "create":
            lasts = None if options.expires is None else seconds(options.expires, "--expires")
            scopes = [scope.strip() for scope in options.scopes.split(",") if scope.strip()]
            with database.write() as session:
                number, secret = create_token(session, options.token, scopes, time.time(), lasts)
            print(secret)
            print_note(
                f"Token {number} for {options.token!r} with {', '.join(scopes)}. It is shown this once; keep it safe."
            )
        elif options.action == "revoke":
            with database.write() as session:
                revoke_token(session, options.token, time.time())
            print(f"Token {options.token} is revoked.")
        else:
            with database.read() as session:
                tokens = read_tokens(session)
            for token in tokens:
                until = "revoked" if token.revoked else f"until {iso(token.expires)}" if token.expires else "no end"
                print(f"{token.id}  {token.name:<20}  {','.join(token.scopes):<24}  {until}")
    return 0


def print_note(text: str) -> None:
    """On stderr, so that the token alone can be read by a program."""
    import sys

    print(text, file=sys.stderr)


command = Command(
    name="token",
    summary="create, list or revoke tokens of the live service",
    description="Tokens let programs and people use the live service. Scopes: ingest (send\n"
    "events), label (answer questions), review (replace or take back what others\n"
    "said, beside label), read (see results), admin (everything).",
    epilog="examples:\n  askance token create ana\n  askance token create lead --scopes label,review,read\n"
    "  askance token create mailer --scopes ingest --expires 90d\n"
    "  askance token list\n  askance token revoke 3f9c01aa\n",
    configure=configure,
    run=run,
)
