"""``askance people``: who labels, leads and runs a live stream."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from askance.cli.command import Command
from askance.errors import InvalidParameter
from askance_live.cli.live import add_config, open_stores, read_config
from askance_live.cli.token import print_note

if TYPE_CHECKING:
    from askance_live.config import Config
    from askance_live.store.schema import PersonRow

ACTIONS = ("list", "invite", "link", "role", "revoke", "restore")


def configure(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    parser.add_argument("person", nargs="?", metavar="NAME", help="whom it is about: a name, or a number of the list")
    parser.add_argument("--role", metavar="ROLE", help="viewer, annotator (default), lead or admin")
    parser.add_argument("--email", metavar="ADDRESS", help="invite: by which a company's login knows them")
    parser.add_argument("--address", metavar="URL", help="where people reach the stream (default: as the settings say)")


def run(options: argparse.Namespace) -> int:
    config = read_config(options)
    if options.action != "list" and not options.person:
        raise InvalidParameter(f"'askance people {options.action}' needs a name.")
    if options.action == "role" and options.role is None:
        raise InvalidParameter("'askance people role' needs the role, such as --role lead.")
    from askance_live.access import people
    from askance_live.access.names import COMMAND_LINE

    now = time.time()
    with open_stores(config) as database:
        if options.action == "list":
            with database.read() as session:
                for person in people.ALL.all(session):
                    print(format_person(person))
            return 0
        with database.write() as session:
            if options.action == "invite":
                role = options.role or "annotator"
                person, secret = people.invite(session, COMMAND_LINE, options.person, options.email, role, now)
            elif options.action == "link":
                person = people.find_person(session, options.person)
                secret = people.make_link(session, COMMAND_LINE, person, now)
            elif options.action == "role":
                person = people.set_role(session, COMMAND_LINE, options.person, options.role, now)
            elif options.action == "revoke":
                person = people.revoke(session, COMMAND_LINE, options.person, now)
            else:
                person = people.restore(session, COMMAND_LINE, options.person, now)
    if options.action in ("invite", "link"):
        from askance_live.clock import span

        kind = people.kind_of_link(person)
        link = f"{options.address.rstrip('/') if options.address else address_of(config)}{people.entrance(secret)}"
        print(link)
        lasting = span(people.LASTING[kind])
        if config.mail is not None and person.email:
            _send(config, person, kind, link, lasting)
        print_note(f"This {kind} lets {person.name!r} in once, within {lasting}. It is shown this once.")
    else:
        print(format_person(person))
    return 0


def _send(config: Config, person: PersonRow, kind: str, link: str, lasting: str) -> None:
    """Send somebody their link; where that fails, it is handed over."""
    from askance_live.access.mail import MailError, send_link

    assert config.mail is not None
    assert person.email is not None
    try:
        send_link(config.mail, config.title, person.email, kind, link, lasting)
    except MailError as error:
        print_note(f"No mail was sent: {error} Hand the link over yourself.")
    else:
        print_note(f"It was sent to {person.email}.")


def format_person(person: PersonRow) -> str:
    """A line of the list."""
    from askance_live.clock import iso

    state = "revoked" if person.revoked else f"seen {iso(person.seen)}" if person.seen else "never logged in"
    return f"{person.id}  {person.name:<20}  {person.role:<9}  {state}" + (f"  {person.email}" if person.email else "")


def address_of(config: Config) -> str:
    """Where people reach a service with these settings."""
    server = config.server
    if server.public_url:
        return server.public_url.rstrip("/")
    host = f"[{server.host}]" if ":" in server.host else server.host
    return f"{'https' if server.tls_cert else 'http'}://{host}:{server.port}"


command = Command(
    name="people",
    summary="invite people to a live stream, give them roles, revoke them",
    description="People of a live stream log in by a link that is good once; nobody has a\n"
    "password. Roles: viewer (sees results), annotator (answers questions, too), lead\n"
    "(also corrects what others said), admin (everything). Programs have tokens.",
    epilog="examples:\n  askance people invite Ana\n  askance people invite Ben --role lead --email ben@example.org\n"
    "  askance people list\n  askance people link Ana\n  askance people role Ana --role lead\n"
    "  askance people revoke Ana\n",
    configure=configure,
    run=run,
)
