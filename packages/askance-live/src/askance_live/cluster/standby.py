"""A process that owns a stream's model, or waits to do so.

It waits for the store's lock, which PostgreSQL takes from a process that dies, reads the model by its checkpoint and
what came after, and tells fronts where it is. Once another process is the owner it steps back, and waits again.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import askance
from askance.errors import AskanceError
from askance_live.cluster.gateway import Gateway
from askance_live.cluster.registry import beat, cut_off_hung, publish_owner, withdraw_owner
from askance_live.config import Config
from askance_live.engine.thread import Engine, warm_up
from askance_live.problems import Problem, StoreUnreachable
from askance_live.service import Service
from askance_live.store import open_store
from askance_live.store.database import PAUSE, StoreError

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
