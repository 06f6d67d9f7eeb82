"""``askance serve``: open the store, start the engine, listen, and end in good order."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import uvicorn

from askance.live.auth import is_own_machine
from askance.live.config import Config
from askance.live.engine import Engine
from askance.live.problems import StartError
from askance.live.protocol import options
from askance.live.service import Service
from askance.live.store import open_store

SWITCH_INTERVAL = 0.0005  # the writer's thread must not keep the requests waiting
BACKLOG = 2048

log = logging.getLogger("askance")


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 chooses one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host.strip("[]"), port))
        found.listen(BACKLOG)
    except OSError as error:
        found.close()
        raise StartError(f"cannot listen on {host}:{port}: {error.strerror}; choose another with --port.") from None
    return found


def serve(config: Config, ready: Callable[[str, Service], None] = lambda address, service: None) -> None:
    """Run the service until SIGTERM or SIGINT; ``ready`` is told the address once it answers."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    database = open_store(config.store)
    engine = Engine(database, config)
    try:
        engine.start()
        service = Service(config, database, engine)
        if not is_own_machine(config.server.host) and not service.keys.exist:
            raise StartError(
                f"{config.server.host} can be reached from other machines, but there is no token; "
                "make one with 'askance token create', or listen on 127.0.0.1."
            )
        sock = listen(config.server.host, config.server.port)
        port = sock.getsockname()[1]
        service.config = replace(config, server=replace(config.server, port=port))
        shown = f"[{config.server.host}]" if ":" in config.server.host else config.server.host
        _run(_serve(service, sock, lambda: ready(f"http://{shown}:{port}", service)))
    finally:
        engine.stop()


def _run(main: Coroutine[Any, Any, None]) -> None:
    """In uvloop where it is installed."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)


class Server(uvicorn.Server):
    """uvicorn's server, which leaves the signals to us and says when it listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


async def _serve(service: Service, sock: socket.socket, ready: Callable[[], None]) -> None:
    server = Server(uvicorn.Config(service, **options(service.config.server.receipt_seconds)), ready)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        service.stopping.set()
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    keys = loop.create_task(service.keep_keys_fresh())
    await server.serve(sockets=[sock])
    service.stopping.set()
    keys.cancel()
    service.readers.shutdown(wait=False)
