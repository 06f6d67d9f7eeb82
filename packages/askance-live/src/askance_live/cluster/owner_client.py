"""The front's side of the calls: finds the owner, keeps a connection to it, and calls again where that does no harm."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

import askance
from askance_live.clock import Clock
from askance_live.cluster.messages import (
    PROTOCOL,
    Call,
    Hello,
    OwnerStatus,
    Reply,
    Welcome,
    decode,
    encode,
    prove,
    read_message,
    write_message,
)
from askance_live.cluster.registry import OwnerRow, read_owner
from askance_live.config import Config
from askance_live.engine.jobs import Work
from askance_live.engine.scheme import SchemeState
from askance_live.engine.stored_settings import StoredSettings
from askance_live.problems import Problem
from askance_live.store.database import PATIENCE, PAUSE, Database, StoreAway, StoreError
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


class FrontState(SchemeState):
    """What a front knows of a stream: no model, and no count of what is under way."""

    def __init__(self, settings: StoredSettings, clock: Clock, store: str) -> None:
        self.clock, self.store = clock, store
        self.use_scheme(*settings)


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
            except Exception:  # whatever it is, the next try may be better
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
                    session.execute("SET LOCAL idle_in_transaction_session_timeout = '3s'")  # nobody waits for long
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
