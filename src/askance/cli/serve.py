"""``askance serve``: the live service."""

from __future__ import annotations

import argparse
import logging
from dataclasses import replace

from askance.cli.command import Command, whole_number
from askance.cli.live import add_config, read_config


def configure(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument(
        "--host", metavar="ADDRESS", help="where to listen (default: as the settings say, else 127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=whole_number(0), metavar="N", help="which port; 0 chooses a free one (default: 8017)"
    )


def run(options: argparse.Namespace) -> int:
    config = read_config(options)
    from askance.live.server import serve

    server = config.server
    if options.host is not None:
        server = replace(server, host=options.host)
    if options.port is not None:
        server = replace(server, port=options.port)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    serve(replace(config, server=server), lambda address, service: print(f"askance serves {address}", flush=True))
    return 0


command = Command(
    name="serve",
    summary="serve a live stream: events over HTTP, questions for people",
    description="Serve a live stream: events come in over HTTP, each is predicted at once, a\n"
    "few become questions, people answer them on a page, and the model learns every\n"
    "answer once. Begin with 'askance init'.",
    epilog="examples:\n  askance serve\n  askance serve --port 9000\n  askance serve --store postgresql://askance@db/askance\n",
    configure=configure,
    run=run,
)
