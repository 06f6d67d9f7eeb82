"""A process that owns a stream's model, or waits to do so.

It waits for the store's lock, which PostgreSQL takes from a process that dies, reads the model by its checkpoint and
what came after, and tells fronts where it is. Once another process is the owner it steps back, and waits again.

The row ``owner`` of the store says which process that is, and where fronts reach it. The owner writes it in
transactions that hold the store's lock. Every takeover counts the epoch up. The heartbeat is the database's own time,
so that no two machines' clocks are compared.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

import askance
from askance.errors import AskanceError
from askance_live.cluster.gateway import Gateway
from askance_live.config import Config
from askance_live.engine.thread import Engine, warm_up
from askance_live.problems import Problem, StoreUnreachable
from askance_live.service import Service
from askance_live.store import open_store
from askance_live.store.database import PAUSE, Session, StoreError
from askance_live.store.rows import UPSERT_META

NAME = "owner"
HUNG = 6.0  # seconds without a heartbeat after which an owner that still holds the lock is cut off

BEAT = (
    "UPDATE meta SET value = (value::jsonb || jsonb_build_object('backend', ?::int, 'beat', "
    "extract(epoch from clock_timestamp())::float8))::text WHERE name = 'owner' AND (value::jsonb->>'epoch')::int = ?"
)
CUT_OFF = (
    "SELECT pg_terminate_backend((value::jsonb->>'backend')::int) FROM meta WHERE name = 'owner' "
    "AND value::jsonb->>'address' <> '' AND (value::jsonb->>'beat')::float8 < "
    "extract(epoch from clock_timestamp()) - ?::float8 AND EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' "
    "AND granted AND pid = (value::jsonb->>'backend')::int)"
)


class OwnerRow(NamedTuple):
    """Who owns the model of a store."""

    address: str
    """Where it takes calls; empty: it has stepped back."""
    epoch: int
    secret: str
    """What fronts must know; each owner makes its own."""
    version: str
    backend: int
    """The process of PostgreSQL that holds the lock for it."""
    beat: float
    """When it was last heard of."""


def read_owner(session: Session) -> OwnerRow | None:
    """The owner, or the last one there was; None where none has taken calls yet."""
    found = session.value("SELECT value FROM meta WHERE name = ?", (NAME,))
    return None if found is None else OwnerRow(**json.loads(found))


def publish_owner(session: Session, address: str, secret: str, version: str) -> int:
    """Become the owner that fronts call; the epoch. In a transaction that holds the lock."""
    before = read_owner(session)
    epoch = 1 if before is None else before.epoch + 1
    backend, beat = session.all("SELECT pg_backend_pid(), extract(epoch from clock_timestamp())::float8")[0]
    row = OwnerRow(address, epoch, secret, version, backend, beat)
    session.execute(UPSERT_META, (NAME, json.dumps(row._asdict())))
    return epoch


def withdraw_owner(session: Session, epoch: int) -> None:
    """Say that no owner takes calls, unless another does by now."""
    row = read_owner(session)
    if row is not None and row.epoch == epoch:
        session.execute(UPSERT_META, (NAME, json.dumps(row._replace(address="", secret="")._asdict())))


def beat(session: Session, epoch: int, backend: int) -> bool:
    """Say that the owner of this epoch is alive; whether it still is the owner."""
    return session.execute(BEAT, (backend, epoch)) > 0


def cut_off_hung(session: Session) -> bool:
    """End the connection of an owner that has the lock and was not heard of for a while; whether there was one.

    A process that was stopped, or whose machine hangs, would keep the lock for ever. It cannot commit any more once its
    connection is gone.
    """
    return bool(session.all(CUT_OFF, (HUNG,)))


log = logging.getLogger("askance")
HEARTBEAT = 1.0  # seconds
AGAIN = 5.0  # seconds after a takeover that failed
LATER, LATEST = 1.0, 3.0  # seconds that a stream must have been free, for each that the process named before it


class Announcement:
    """Tells fronts, through the store, where the owner of a stream is, and once a second that it is alive."""

    def __init__(self, service: Service, gateway: Gateway, loop: asyncio.AbstractEventLoop) -> None:
        self.service, self.gateway, self.loop = service, gateway, loop
        self.deposed = threading.Event()
        """Another process is the owner by now."""
        self._ended = threading.Event()
        secret = secrets.token_urlsafe(32)
        loop.call_soon_threadsafe(gateway.add, service, secret)
        engine = service.engine
        work = engine.submit(
            lambda session, state: publish_owner(session, gateway.address, secret, askance.__version__)
        )
        self.epoch: int = work.result()
        self._thread = threading.Thread(target=self._beat, name="askance-heartbeat", daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        """With a connection of its own: the engine may be busy for a while, and is alive all the same."""
        database = None
        while not self._ended.wait(HEARTBEAT):
            try:
                database = database or open_store(self.service.config.store)
                with database.write() as session:
                    is_owner = beat(session, self.epoch, self.service.database.backend())
            except Exception as error:  # the next one may be better; without any, others cut this process off
                log.info("no heartbeat: %s", error)
                if database is not None:
                    with suppress(StoreError):
                        database.recover()
                continue
            if not is_owner:
                log.warning("%s: another process owns the model now.", self.service.config.name)
                self.service.engine.step_back()
                self.deposed.set()
                break
        if database is not None:
            database.close()

    def end(self) -> None:
        """Take no more calls; from another thread than the loop's, before the engine stops."""
        asyncio.run_coroutine_threadsafe(self.gateway.remove(self.service), self.loop).result()
        with suppress(Problem, StoreError):
            self.service.engine.submit(lambda session, state: withdraw_owner(session, self.epoch)).result()
        self._ended.set()
        self._thread.join()


class Standby:
    """The threads that wait for streams, one for each; ``taken`` and ``lost`` are told what they own.

    Streams are spread by their order: the first one named is taken at once, others only if nobody who prefers them was
    there for a while.
    """

    def __init__(
        self,
        configs: Sequence[Config],
        gateway: Gateway,
        taken: Callable[[Service], None],
        lost: Callable[[Service], None],
    ) -> None:
        self._gateway, self._taken, self._lost = gateway, taken, lost
        self._loop = asyncio.get_running_loop()
        self._ending = threading.Event()
        self._threads = [
            threading.Thread(
                target=self._stand_by, args=(config, min(LATER * place, LATEST)), name=f"askance-standby-{config.name}"
            )
            for place, config in enumerate(configs)
        ]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Step back from everything in good order."""
        self._ending.set()
        for thread in self._threads:
            thread.join()

    def _stand_by(self, config: Config, delay: float) -> None:
        warm_up(config)  # so that a takeover need not wait for the compiler
        while not self._ending.is_set():
            try:
                self._wait_and_own(config, delay)
            except (StoreError, StoreUnreachable) as error:
                log.info("%s: %s", config.name, error)
                self._ending.wait(PAUSE)
            except (AskanceError, OSError) as error:
                log.warning("%s: %s It is tried again.", config.name, error)
                self._ending.wait(AGAIN)
            except Exception:
                log.exception("%s: a takeover failed, and is tried again", config.name)
                self._ending.wait(AGAIN)

    def _wait_and_own(self, config: Config, delay: float) -> None:
        database = open_store(config.store)
        engine = Engine(database, config)
        try:
            seen = time.monotonic()  # that somebody else has it
            while time.monotonic() - seen < delay or not database.try_own():
                if database.is_owned():
                    seen = time.monotonic()
                    with database.write() as session:
                        if cut_off_hung(session):
                            log.warning("%s: its owner was not heard of for a while, and is cut off.", config.name)
                if self._ending.wait(PAUSE):
                    return
            began = time.monotonic()
            engine.start()
            service = Service(config, database, engine)
            announcement = Announcement(service, self._gateway, self._loop)
            log.info("%s: taken over in %.2f seconds, epoch %d.", config.name, time.monotonic() - began,
                     announcement.epoch)  # fmt: skip
            self._loop.call_soon_threadsafe(self._taken, service)
            try:
                while not self._ending.is_set() and not announcement.deposed.wait(PAUSE):
                    pass
            finally:
                self._loop.call_soon_threadsafe(self._lost, service)
                announcement.end()
        finally:
            engine.stop()
