"""``askance serve``: the live service."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from askance.cli.command import Command, whole_number
from askance.errors import InvalidParameter
from askance_live.cli.live import add_config, note_slow_start, read_config

if TYPE_CHECKING:
    from askance_live.service import Service


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
    parser.add_argument(
        "--role", choices=("all", "front", "owner"), default="all",
        help="one of several processes on PostgreSQL: fronts answer requests, and an owner of each stream decides and "
        "learns, with other owners standing by (default: all of it)",
    )  # fmt: skip
    parser.add_argument(
        "--private", metavar="ADDRESS", type=private_address, default=("127.0.0.1", 0),
        help="where an owner takes the calls of fronts, as HOST or HOST:PORT (default: 127.0.0.1, any free port)",
    )  # fmt: skip


def private_address(text: str) -> tuple[str, int]:
    """A host, and a port or 0."""
    host, _, port = text.rpartition(":") if ":" in text and not text.endswith("]") else (text, "", "0")
    host = host.strip("[]")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise argparse.ArgumentTypeError(f"give HOST or HOST:PORT, such as 10.0.0.5 or 10.0.0.5:8018, got {text!r}.")
    if host in ("0.0.0.0", "::"):
        raise argparse.ArgumentTypeError(f"{text!r} is no address that a front could call; give one of this machine.")
    return host, int(port)


def run(options: argparse.Namespace) -> int:
    if len(options.streams) > 1 and options.store is not None:
        raise InvalidParameter("--store is for one stream; several name their stores in their settings.")
    configs = [read_config(options, path) for path in options.streams or [options.config]]
    from askance_live.logs import logging_as
    from askance_live.server import Place, Role, serve

    server, role = configs[0].server, Role(options.role)
    if options.host is not None:
        server = replace(server, host=options.host)
    if options.port is not None:
        server = replace(server, port=options.port)
    elif role is Role.OWNER:
        server = replace(server, port=0)  # a front on the same machine has the one of the settings
    if options.tls_cert is not None:
        server = replace(server, tls_cert=options.tls_cert)
    if options.tls_key is not None:
        server = replace(server, tls_key=options.tls_key)
    configs[0] = replace(configs[0], server=server)
    slow = note_slow_start()

    def say(address: str, services: list[Service]) -> None:
        slow.cancel()
        print(f"askance {'stands by at' if role is Role.OWNER else 'serves'} {address}", flush=True)
        for service in services if len(services) > 1 else ():
            print(f"  {service.config.title}: {address}{service.prefix}/", flush=True)

    try:
        with logging_as(configs[0].log):
            serve(configs, say, Place(role, *options.private))
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
    "  askance serve --store postgresql://askance@db/askance\n"
    "  askance serve --role owner --private 10.0.0.5    # on two machines: one waits\n"
    "  askance serve --role front --host 0.0.0.0        # as many as you like\n",
    configure=configure,
    run=run,
)
