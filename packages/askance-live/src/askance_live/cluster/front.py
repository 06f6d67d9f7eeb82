"""The service of a front: the same gate, pages and checks, with an owner elsewhere in place of the engine.

A route that is ``stateless`` needs no model, and is answered here. Events are read and checked here, and
decided on by the owner. Every other request goes to the owner as it is, once the gate has let it in and its parameters
are found to be valid.

``OwnerClient`` finds the owner, keeps a connection to it, and calls again where that does no harm.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Coroutine, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar, cast

import msgspec
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.responses import Response

import askance
from askance_live.clock import Clock
from askance_live.cluster.messages import (
    PROTOCOL,
    Call,
    ForwardedEvent,
    ForwardedRequest,
    ForwardedResponse,
    Hello,
    Outcomes,
    OwnerStatus,
    PackedProblem,
    Reply,
    Welcome,
    decode,
    encode,
    prove,
    read_message,
    write_message,
)
from askance_live.cluster.standby import OwnerRow, read_owner
from askance_live.config import Config
from askance_live.engine.label_schema import LabelSchemaState
from askance_live.engine.stored_settings import StoredSettings, last_change, read_settings
from askance_live.engine.thread import Engine, Work
from askance_live.exchange.received import ReceivedEvent
from askance_live.http.routing import ItemResult, Request, Route
from askance_live.problems import Problem
from askance_live.service import Service
from askance_live.store.database import PATIENCE, PAUSE, Database, Session, StoreAway, StoreError
from askance_live.store.rows import await_turn

log = logging.getLogger("askance")
CONNECT_SECONDS = 2.0
STATUS_EVERY, STATUS_SECONDS = 1.0, 4.0  # an owner that says nothing for so long is called no more
NO_OWNER = "no process owns the model now"
ELSEWHERE = ("no_owner", "stopping")
"""Codes by which an owner says that it has not done, and will not do, what it was called for."""

Result = TypeVar("Result")


class LinkLost(ConnectionError):
    """The connection broke after a call was sent: whether it was done is not known."""


class FrontState(LabelSchemaState):
    """What a front knows of a stream: no model, and no count of what is under way."""

    def __init__(self, settings: StoredSettings, clock: Clock, store: str) -> None:
        self.clock, self.store = clock, store
        self.use_label_schema(*settings)


class Link:
    """A connection to an owner."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Reply]] = {}
        self.task = asyncio.ensure_future(self._read())

    async def call(self, what: str, content: Any) -> Reply:
        """The reply to a call."""
        if self.task.done():
            raise LinkLost
        number, future = next(self._numbers), asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        write_message(self._writer, Call(number, what, msgspec.Raw(encode(content))))
        try:
            reply: Reply = await future
            return reply
        finally:
            self._waiting.pop(number, None)

    async def _read(self) -> None:
        try:
            while True:
                reply = decode(await read_message(self._reader), Reply)
                future = self._waiting.get(reply.number)
                if future is not None and not future.done():
                    future.set_result(reply)
        except (OSError, asyncio.IncompleteReadError, msgspec.DecodeError):
            pass
        finally:
            self._writer.close()
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(LinkLost())

    def close(self) -> None:
        self.task.cancel()


class OwnerClient:
    """What a front has in place of an engine; what needs no model is written by the front itself."""

    def __init__(self, database: Database, config: Config, settings: StoredSettings) -> None:
        self.database, self.config = database, config
        self.clock = Clock()
        with database.read() as session:
            store = str(session.value("SELECT value FROM meta WHERE name = 'store'") or "")
        self.state = FrontState(settings, self.clock, store)
        self.status: OwnerStatus | None = None
        self.trouble = NO_OWNER
        self._link: Link | None = None
        self._linked = asyncio.Event()
        self._reader = ThreadPoolExecutor(1, "askance-registry")
        self._writer = ThreadPoolExecutor(1, "askance-writer")

    # --- the connection ----------------------------------------------------------------------------------

    async def stay_connected(self) -> None:
        """Find the owner, and find it again whenever it is lost."""
        while True:
            try:
                link = await self._connect()
            except (OSError, asyncio.IncompleteReadError, TimeoutError, msgspec.DecodeError, StoreError) as error:
                self._note(str(error) or "the owner does not answer")
                await asyncio.sleep(PAUSE)
                continue
            except Exception:  # the next try may succeed
                log.exception("%s: the owner was not found", self.config.name)
                await asyncio.sleep(PAUSE)
                continue
            self._link = link
            self._linked.set()
            try:
                while not link.task.done():
                    reply = await asyncio.wait_for(link.call("status", None), STATUS_SECONDS)
                    if reply.problem is not None:  # it is leaving: the calls under way get their replies
                        await asyncio.wait([link.task], timeout=STATUS_SECONDS)
                        break
                    self.status = decode(reply.content, OwnerStatus)
                    await asyncio.wait([link.task], timeout=STATUS_EVERY)
                self._note("the connection to the owner was lost")
            except (LinkLost, TimeoutError):
                self._note("the owner does not answer")
            except Exception:
                log.exception("%s: the owner is called anew", self.config.name)
            finally:
                self._linked.clear()
                self._link = self.status = None
                link.close()

    def _note(self, trouble: str) -> None:
        if trouble != self.trouble:
            log.info("%s: %s", self.config.name, trouble)
        self.trouble = trouble

    async def _connect(self) -> Link:
        owner = await asyncio.get_running_loop().run_in_executor(self._reader, self._find)
        if owner is None or not owner.address:
            raise ConnectionError(NO_OWNER)
        host, _, port = owner.address.rpartition(":")
        async with asyncio.timeout(CONNECT_SECONDS):
            reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
            try:
                challenge = await read_message(reader)
                proof = prove(owner.secret, challenge)
                write_message(writer, Hello(self.state.store, PROTOCOL, askance.__version__, proof))
                refusal = decode(await read_message(reader), Welcome).refusal
                if refusal:
                    raise ConnectionError(refusal)
            except BaseException:
                writer.close()
                raise
        return Link(reader, writer)

    def _find(self) -> OwnerRow | None:
        with self.database.read() as session:
            return read_owner(session)

    # --- calls -------------------------------------------------------------------------------------------

    async def call(self, what: str, content: Any, kind: type[Result], is_repeatable: bool) -> Result:
        """What came of a call; while there is no owner it waits, and where the connection broke it calls the next
        owner, if what it wants ``is_repeatable``."""
        until = time.monotonic() + PATIENCE
        while True:
            link = await self._get_link(until)
            try:
                reply = await link.call(what, content)
            except LinkLost:
                if not is_repeatable or time.monotonic() >= until:
                    raise _unknown_outcome_problem() from None
                continue
            if reply.problem is None:
                return decode(reply.content, kind)
            if reply.problem.code not in ELSEWHERE or time.monotonic() >= until:
                raise reply.problem.unpack()
            await asyncio.sleep(PAUSE)

    async def _get_link(self, until: float) -> Link:
        while self._link is None or self._link.task.done():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._linked.wait(), max(0.0, until - time.monotonic()))
            if time.monotonic() >= until:
                raise _no_owner_problem(self.trouble)
            if self._link is not None and self._link.task.done():
                await asyncio.sleep(0.01)
        return self._link

    @property
    def healthy(self) -> bool:
        return self.status is not None

    # --- what a front writes itself ----------------------------------------------------------------------

    def submit(self, work: Work) -> Future[Any]:
        """Do this in a transaction of the front's own: logins and notes, which no model takes part in."""
        return self._writer.submit(self._write, work)

    async def do(self, work: Work) -> Any:
        """``submit``, for coroutines."""
        return await asyncio.wrap_future(self.submit(work))

    def _write(self, work: Work) -> Any:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                with self.database.write() as session:
                    session.execute("SET LOCAL idle_in_transaction_session_timeout = '3s'")  # others wait no longer
                    await_turn(session)
                    return work(session, self.state)  # type: ignore[arg-type]
            except StoreAway:
                if time.monotonic() >= until:
                    raise
            time.sleep(PAUSE)
            with suppress(StoreError):
                self.database.recover()

    def stop(self) -> None:
        """Write what waits, and let go of the store."""
        self._writer.shutdown()
        self._reader.shutdown()
        self.database.close()


def _no_owner_problem(trouble: str) -> Problem:
    return Problem("no_owner", f"{trouble}; nothing was changed, try again in a moment.", headers={"Retry-After": "2"})


def _unknown_outcome_problem() -> Problem:
    return Problem(
        "no_owner",
        "the owner of the model went away while it did this, and whether it was done cannot be told; look, or send it "
        "again with the same ids, which count once.",
        headers={"Retry-After": "2"},
    )


class FrontService(Service):
    """Everything between a request and the owner."""

    def __init__(self, config: Config, database: Database) -> None:
        with database.read() as session:
            settings = read_settings(session, config)
        self.owner = OwnerClient(database, config, settings)
        # Routes that are answered anywhere use of an engine what the client has, too: names, clock, and transactions.
        super().__init__(config, database, cast(Engine, self.owner))

    def collector(self) -> Collector:
        return FrontCollector(self)

    def tasks(self) -> list[Coroutine[Any, Any, None]]:
        return [*super().tasks(), self.owner.stay_connected()]

    async def refresh_keys(self) -> None:
        """Know the tokens, people and sessions of now, and the classes."""
        await super().refresh_keys()
        await self.refresh_classes()

    async def refresh_classes(self) -> None:
        def look(session: Session) -> None:
            if last_change(session) != self.owner.state.label_schema.seq:
                self.owner.state.use_label_schema(*read_settings(session, self.config))

        await self.read(look)

    async def ingest(self, events: list[ReceivedEvent]) -> list[ItemResult]:
        """Let the owner decide on events. A repetition does no harm, since all of them have ids by now."""
        packed = [ForwardedEvent(event.id, event.digest, event.text, event.time) for event in events]
        found = await self.owner.call("events", packed, Outcomes, is_repeatable=True)
        return [item.unpack() if isinstance(item, PackedProblem) else item for item in found.items]

    async def _call(self, chosen: Route, request: Request) -> Response:
        if chosen.stateless:
            return await super()._call(chosen, request)
        await self.work(request, lambda: request.arguments(chosen))  # what is wrong with it is told here
        scope = request.scope
        forwarded = ForwardedRequest(
            scope["method"], scope["path"], scope.get("query_string", b""), list(scope["headers"]), request.body,
            request.user, scope.get("client"), scope.get("scheme", "http"), request.sender,
        )  # fmt: skip
        is_repeatable = scope["method"] in ("GET", "HEAD") or chosen.is_repeatable
        return (await self.owner.call("request", forwarded, ForwardedResponse, is_repeatable)).as_response()

    async def _compute_stats(self, until: float, fresh: bool) -> dict[str, Any]:
        found: dict[str, Any] = await self.owner.call("stats", fresh, dict[str, Any], is_repeatable=True)
        return {**found, "uptime": round(self.uptime(), 1), "latency_ms": self.metrics.latencies()}

    def mark(self) -> Any:
        status = self.owner.status
        return status and status.commits

    def count_rate(self) -> None:
        """The owner counts."""

    def ready(self) -> list[str]:
        reasons = ["it is stopping"] if self.stopping.is_set() else []
        status = self.owner.status
        return reasons + ([self.owner.trouble] if status is None else status.reasons)

    def warnings(self) -> list[str]:
        return self.owner.status.warnings if self.owner.status is not None else []


class FrontCollector(Collector):
    """The numbers of a front for Prometheus; those of the model are the owner's."""

    def __init__(self, service: FrontService) -> None:
        self.service = service

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        service = self.service
        yield GaugeMetricFamily(
            "askance_requests_running", "Requests with a token being answered.", value=service.slots.total
        )
        yield GaugeMetricFamily("askance_ready", "1 where /readyz says so.", value=0 if service.ready() else 1)
        yield GaugeMetricFamily(
            "askance_owner_connected", "1 while the owner of the model answers.", value=int(service.owner.healthy)
        )
