"""``askance quarantine``: the events that the live service could not encode."""

from __future__ import annotations

import argparse

from askance.cli.command import Command, whole_number
from askance_live.cli.live import add_config, open_stores, or_by_http, read_config


def configure(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("action", choices=("list", "replay", "drop"), help="what to do")
    parser.add_argument("ids", nargs="*", metavar="ID", help="drop: the events to give up")
    parser.add_argument("--all", action="store_true", help="drop: all of them")
    parser.add_argument("--limit", type=whole_number(1), default=100, metavar="N", help="list: how many (default: 100)")


def run(options: argparse.Namespace) -> int:
    from askance.errors import InvalidParameter

    if options.action != "drop" and (options.ids or options.all):
        raise InvalidParameter(f"'askance quarantine {options.action}' takes no ids: it is about all events there.")
    if options.action == "drop" and bool(options.ids) == options.all:
        raise InvalidParameter("'askance quarantine drop' needs the ids of events, or --all.")
    config = read_config(options)
    from askance_live.access.names import COMMAND_LINE
    from askance_live.engine import quarantine

    with open_stores(config) as database:
        if options.action == "list":
            with database.read() as session:
                page = quarantine.read_some(session, options.limit)
            for event in page.events:
                print(f"{event['received']}  {event['id']}  {event['reason']}")
            if page.next is not None:
                print(f"... and more; --limit {2 * options.limit} shows more of them.")
            return 0
        from askance_live.engine.thread import Engine

        engine = Engine(database, config)
        with or_by_http(config, f"POST /v1/quarantine/{options.action}"):
            engine.start()
        try:
            if options.action == "drop":
                ids = None if options.all else options.ids
                dropped = engine.submit(lambda db, state: quarantine.drop(db, state, ids, COMMAND_LINE)).result()
                print(f"{dropped:,} events were given up.")
                return 0
            done = quarantine.replay_all(engine, COMMAND_LINE)
        finally:
            engine.stop()
    print(
        f"{done['replayed']:,} events and {done['labels']:,} labels taken in, {done['kept']:,} still cannot be encoded."
    )
    return 0


command = Command(
    name="quarantine",
    summary="see, replay or drop events that the live service could not encode",
    description="An event with a value that its field cannot take is not predicted, but kept.\n"
    "'list' shows such events and why, while the service runs or not. After the\n"
    "field got a wider kind, by the settings and 'askance rebuild' or by itself,\n"
    "'replay' takes them in, in order, once each. The service must not run\n"
    "meanwhile; a running one does the same at POST /v1/quarantine/replay.",
    epilog="examples:\n  askance quarantine list\n  askance quarantine replay\n  askance quarantine drop m-17 m-18\n",
    configure=configure,
    run=run,
)
