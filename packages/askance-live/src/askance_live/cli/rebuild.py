"""``askance rebuild``: the model of the service, made anew from its log."""

from __future__ import annotations

import argparse

from askance.cli.command import Command
from askance.errors import InvalidParameter
from askance_live.cli.live import add_config, open_stores, or_by_http, read_config


def configure(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("--check", action="store_true", help="only compare: change nothing")
    parser.add_argument("--dry-run", action="store_true", help="only say what edited classes and fields would do")


def run(options: argparse.Namespace) -> int:
    config = read_config(options)
    from askance_live.engine.rebuild import plan_offline, rebuild_offline
    from askance_live.problems import Problem

    with open_stores(config) as database:
        with or_by_http(config, "POST /v1/model/rebuild"):
            database.own()
        try:
            if options.dry_run:
                with database.read() as session:
                    effects = plan_offline(session, config).effects
                print("Classes and fields are as they were." if effects is None else f"This {effects.in_words()}")
                return 0
            found = rebuild_offline(database, config, options.check)
        except Problem as problem:
            raise InvalidParameter(problem.detail) from None
    print(f"model {found['model']}, digest {found['digest']}, {found['left_out']} answers left out")
    if options.check and not found["same"]:
        print("The stored model differs from the replay of its log.")
        return 2
    return 0


command = Command(
    name="rebuild",
    summary="make the live service's model anew from its log",
    description="Replay the log of events and answers: leaves out answers that were taken back\n"
    "after they were learned, and takes up changed settings of the model, classes and\n"
    "fields among them. The service must not run; a running one leaves out the same\n"
    "at POST /v1/model/rebuild.",
    epilog="examples:\n  askance rebuild\n  askance rebuild --check\n",
    configure=configure,
    run=run,
)
