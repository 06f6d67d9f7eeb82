"""``askance serve``: open the store, start the engine, listen, and end in good order."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
import ssl
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from enum import StrEnum
from typing import Any, NamedTuple

import anyio._backends._asyncio  # noqa: F401  (loaded by the first streamed response, it would hold the others up)
import uvicorn

from askance.errors import InvalidParameter
from askance_live.access.auth import is_own_machine, read_tokens
from askance_live.cluster.front import FrontService
from askance_live.cluster.gateway import Gateway
from askance_live.cluster.standby import Announcement, Standby
from askance_live.config import Config, ServerSettings, is_postgres
from askance_live.engine.stored_settings import read_settings
from askance_live.engine.thread import Engine
from askance_live.http.protocol import options
from askance_live.http.proxies import Proxies
from askance_live.http.tls import TlsFiles, follow_files, make_context
from askance_live.logs import RequestLog
from askance_live.problems import StartError, StoreUnreachable
from askance_live.service import Service
from askance_live.store import open_store
from askance_live.store.database import PATIENCE, PAUSE, CommitUnknown, StoreAway
from askance_live.streams import Streams, check_together

SWITCH_INTERVAL = 0.0005  # the writer's thread must not keep the requests waiting
BACKLOG = 2048
RARELY = 50  # collections of the middle generation before a full one, which holds the loop up while an event is large

log = logging.getLogger("askance")


class Role(StrEnum):
    """Which part of a service a process is."""

    ALL = "all"
    """The whole of it."""
    FRONT = "front"
    """Speaks to the world, and calls the owners."""
    OWNER = "owner"
    """Owns the models of streams, or stands by for whoever does."""


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


class Place(NamedTuple):
    """What a process does in a service of several, and where it takes the calls of fronts."""

    role: Role = Role.ALL
    private_host: str = "127.0.0.1"
    private_port: int = 0


def serve(
    configs: Sequence[Config],
    ready: Callable[[str, list[Service]], None] = lambda address, services: None,
    place: Place = Place(),  # noqa: B008
) -> None:
    """Run the service of one stream or of several until SIGTERM or SIGINT; ``ready`` is told the address once it
    answers. The first one's settings say where to listen."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    first = configs[0].server
    files = tls_files(first)
    context = make_context(files) if files else None
    check_role(place.role, configs)
    if len(configs) > 1:
        check_together(list(configs))
        configs = [replace(config, server=listening_as(config.server, first)) for config in configs]
    with ExitStack() as engines:
        if place.role is Role.OWNER:
            services = []
            check_standby(configs)
        else:
            start = _start_front if place.role is Role.FRONT else _start
            services = [_open(config, engines, start) for config in configs]
        sock = listen(first.host, first.port)
        port = sock.getsockname()[1]
        for service in services:
            service.config = replace(service.config, server=replace(service.config.server, port=port))
        gc.collect()
        gc.freeze()  # or a full collection would look through the compiler's million objects, for a tenth of a second
        gc.set_threshold(*gc.get_threshold()[:2], RARELY)
        shown = f"[{first.host}]" if ":" in first.host else first.host
        address = f"{'https' if context else 'http'}://{shown}:{port}"
        _run(_serve(configs, services, place, sock, context, lambda: ready(address, services)))


def check_role(role: Role, configs: Sequence[Config]) -> None:
    """Refuse a part of a service where there can be only one process."""
    for config in configs:
        if role is not Role.ALL and not is_postgres(config.store):
            raise InvalidParameter(
                f"--role {role} is for a service of several processes, and {config.store!r} is a SQLite file, which "
                "one process serves; leave --role out, or move the stream to PostgreSQL."
            )


def check_standby(configs: Sequence[Config]) -> None:
    """Refuse what could never be taken over, at the start rather than when it matters."""
    for config in configs:
        database = open_store(config.store)
        try:
            with database.read() as session:
                read_settings(session, config)
                exist = bool(read_tokens(session))
        finally:
            database.close()
        _check_access(config, is_own_machine(config.server.host), exist)


def listening_as(own: ServerSettings, first: ServerSettings) -> ServerSettings:
    """The settings of one stream among several: the way to it is that of the first."""
    return replace(
        own, host=first.host, public_url=first.public_url, trusted_proxies=first.trusted_proxies,
        tls_cert=first.tls_cert, tls_key=first.tls_key,
    )  # fmt: skip


def tls_files(server: ServerSettings) -> TlsFiles | None:
    """The certificate and its key, where the service itself speaks TLS."""
    if bool(server.tls_cert) != bool(server.tls_key):
        missing = "server.tls_key (--tls-key)" if server.tls_cert else "server.tls_cert (--tls-cert)"
        raise InvalidParameter(f"a certificate and its key go together; {missing} is missing.")
    return TlsFiles(server.tls_cert, server.tls_key) if server.tls_cert else None


def _start(config: Config, engines: ExitStack) -> Service:
    with ExitStack() as own:
        database = open_store(config.store)
        engine = Engine(database, config)
        own.callback(engine.stop)
        engine.start()
        service = Service(config, database, engine)
        _check_access(config, service.is_open, service.keys.exist)
        engines.push(own.pop_all())
    return service


def _start_front(config: Config, engines: ExitStack) -> Service:
    with ExitStack() as own:
        database = open_store(config.store)
        own.callback(database.close)
        service = FrontService(config, database)
        own.callback(service.owner.stop)
        _check_access(config, service.is_open, service.keys.exist)
        engines.push(own.pop_all())
    return service


def _open(config: Config, engines: ExitStack, start: Callable[[Config, ExitStack], Service] = _start) -> Service:
    """Start the service of a stream; it is stopped with the others. A store that is away is waited for a while."""
    until, is_told = time.monotonic() + PATIENCE, False
    while True:
        try:
            return start(config, engines)
        except (StoreUnreachable, StoreAway, CommitUnknown) as error:
            if time.monotonic() >= until:
                raise StartError(str(error)) from None
            if not is_told:
                log.warning("%s It is tried again for %.0f seconds.", error, PATIENCE)
                is_told = True
        time.sleep(PAUSE)


def _check_access(config: Config, is_open: bool, has_tokens: bool) -> None:
    """Nobody else's machine is served without tokens."""
    if not is_open and not has_tokens and config.oidc is None:
        is_near = is_own_machine(config.server.host)
        who = "a proxy (server.public_url, server.trusted_proxies)" if is_near else config.server.host
        remedy = "take these settings out" if is_near else "listen on 127.0.0.1"
        raise StartError(
            f"{who} can be reached from other machines, but there is neither a person nor a token for "
            f"{config.store!r}; make one with 'askance people invite NAME --role admin' or 'askance token create', or "
            f"{remedy}."
        )


def _run(main: Coroutine[Any, Any, None]) -> None:
    """In uvloop where it is installed."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)


class UvicornServer(uvicorn.Server):
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


async def _serve(
    configs: Sequence[Config],
    services: list[Service],
    place: Place,
    sock: socket.socket,
    context: ssl.SSLContext | None,
    ready: Callable[[], None],
) -> None:
    first = configs[0].server
    application = services[0] if len(services) == 1 else Streams(services)
    proxies = Proxies(first.host, first.public_url, first.trusted_proxies, bool(first.tls_cert))
    settings = uvicorn.Config(RequestLog(application, proxies.client_address), **options(first.receipt_seconds))
    settings.load()
    settings.ssl = context
    server = UvicornServer(settings, ready)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for service in services:
            service.stopping.set()
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    tasks = [loop.create_task(task) for service in services for task in service.tasks()]
    files = tls_files(first)
    if context is not None and files is not None:
        tasks.append(loop.create_task(follow_files(context, files)))
    async with owning(configs, services, place, application):
        await server.serve(sockets=[sock])
    for task in tasks:
        task.cancel()
    for service in services:
        service.stopping.set()
        service.close()


@asynccontextmanager
async def owning(
    configs: Sequence[Config], services: list[Service], place: Place, application: Service | Streams
) -> AsyncIterator[None]:
    """Take the calls of fronts where others may share the work, for the streams of this process or, as a standby, for
    those that it takes over."""
    if place.role is Role.FRONT or not all(is_postgres(config.store) for config in configs):
        yield
        return
    gateway = Gateway()
    await gateway.open(place.private_host, place.private_port)
    loop = asyncio.get_running_loop()
    tasks: dict[Service, list[asyncio.Task[None]]] = {}

    def take(service: Service) -> None:
        services.append(service)
        tasks[service] = [loop.create_task(task) for task in service.tasks()]
        assert isinstance(application, Streams)
        application.add(service)

    def lose(service: Service) -> None:
        services.remove(service)
        assert isinstance(application, Streams)
        application.remove(service)
        for task in tasks.pop(service):
            task.cancel()
        service.stopping.set()
        service.close()

    if place.role is Role.OWNER:
        standby = Standby(configs, gateway, take, lose)
        end = standby.end
    else:
        announcements = [await loop.run_in_executor(None, Announcement, service, gateway, loop) for service in services]

        def end() -> None:
            for announcement in announcements:
                announcement.end()

    try:
        yield
    finally:
        await loop.run_in_executor(None, end)
        gateway.close()
