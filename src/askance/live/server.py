"""``askance serve``: open the store, start the engine, listen, and end in good order."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
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
from askance.live.streams import Streams, check_together

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


def serve(
    configs: Sequence[Config], ready: Callable[[str, list[Service]], None] = lambda address, services: None
) -> None:
    """Run the service of one stream or of several until SIGTERM or SIGINT; ``ready`` is told the address once it
    answers. The first one's settings say where to listen."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    first = configs[0].server
    if len(configs) > 1:
        check_together(list(configs))
        configs = [replace(config, server=replace(config.server, host=first.host)) for config in configs]
    with ExitStack() as engines:
        services = [_open(config, engines) for config in configs]
        sock = listen(first.host, first.port)
        port = sock.getsockname()[1]
        for service in services:
            service.config = replace(service.config, server=replace(service.config.server, port=port))
        shown = f"[{first.host}]" if ":" in first.host else first.host
        _run(_serve(services, sock, lambda: ready(f"http://{shown}:{port}", services)))


def _open(config: Config, engines: ExitStack) -> Service:
    """Start the engine of a stream; it is stopped with the others."""
    database = open_store(config.store)
    engine = Engine(database, config)
    engines.callback(engine.stop)
    engine.start()
    service = Service(config, database, engine)
    if not is_own_machine(config.server.host) and not service.keys.exist:
        raise StartError(
            f"{config.server.host} can be reached from other machines, but there is no token for {config.store!r}; "
            "make one with 'askance token create', or listen on 127.0.0.1."
        )
    return service


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


async def _serve(services: list[Service], sock: socket.socket, ready: Callable[[], None]) -> None:
    application = services[0] if len(services) == 1 else Streams(services)
    server = Server(uvicorn.Config(application, **options(services[0].config.server.receipt_seconds)), ready)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for service in services:
            service.stopping.set()
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    tasks = [loop.create_task(service.keep_keys_fresh()) for service in services]
    await server.serve(sockets=[sock])
    for service, keys in zip(services, tasks, strict=True):
        service.stopping.set()
        keys.cancel()
        service.readers.shutdown(wait=False)
