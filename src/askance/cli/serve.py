"""``askance serve``: the live service."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from askance.cli.command import Command, whole_number
from askance.cli.live import add_config, note_slow_start, read_config
from askance.errors import InvalidParameter

if TYPE_CHECKING:
    from askance.live.service import Service


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "streams", nargs="*", metavar="FILE", help="the settings of each stream, where there are several"
    )
    add_config(parser)
    parser.add_argument(
        "--host", metavar="ADDRESS", help="where to listen (default: as the settings say, else 127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=whole_number(0, 65_535), metavar="N", help="which port; 0 chooses a free one (default: 8017)"
    )
    parser.add_argument("--tls-cert", metavar="FILE", help="speak TLS with this certificate, in PEM")
    parser.add_argument("--tls-key", metavar="FILE", help="its key")


def run(options: argparse.Namespace) -> int:
    if len(options.streams) > 1 and options.store is not None:
        raise InvalidParameter("--store is for one stream; several name their stores in their settings.")
    configs = [read_config(options, path) for path in options.streams or [options.config]]
    from askance.live.logs import logging_as
    from askance.live.server import serve

    server = configs[0].server
    if options.host is not None:
        server = replace(server, host=options.host)
    if options.port is not None:
        server = replace(server, port=options.port)
    if options.tls_cert is not None:
        server = replace(server, tls_cert=options.tls_cert)
    if options.tls_key is not None:
        server = replace(server, tls_key=options.tls_key)
    configs[0] = replace(configs[0], server=server)
    slow = note_slow_start()

    def say(address: str, services: list[Service]) -> None:
        slow.cancel()
        print(f"askance serves {address}", flush=True)
        for service in services if len(services) > 1 else ():
            print(f"  {service.config.title}: {address}{service.prefix}/", flush=True)

    try:
        with logging_as(configs[0].log):
            serve(configs, say)
    finally:
        slow.cancel()
    return 0


command = Command(
    name="serve",
    summary="serve a live stream: events over HTTP, questions for people",
    description="Serve a live stream: events come in over HTTP, each is predicted at once, a\n"
    "few become questions, people answer them on a page, and the model learns every\n"
    "answer once. Begin with 'askance init'.",
    epilog="examples:\n  askance serve\n  askance serve --port 9000\n  askance serve spam.toml fraud.toml\n"
    "  askance serve --host 0.0.0.0 --tls-cert fullchain.pem --tls-key privkey.pem\n"
    "  askance serve --store postgresql://askance@db/askance\n",
    configure=configure,
    run=run,
)
