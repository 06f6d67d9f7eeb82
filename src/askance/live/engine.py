"""The one thread that writes: it owns the model and the store's write connection.

Requests leave jobs with it. It takes all that wait, does them in one transaction, and answers when that is committed
and safe on disk: many requests, one fsync. Between jobs it learns the answers whose grace is over, takes overdue
leases back, and keeps a checkpoint. What it changes in memory it changes inside a transaction; if that fails,
memory is read from the store again, so the model is never ahead of the log.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from askance.errors import AskanceError
from askance.live import queue
from askance.live.clock import Clock
from askance.live.config import Config
from askance.live.ingest import Event, ingest
from askance.live.learner import Answer, Decided, Incoming, Learner
from askance.live.learning import learn_due
from askance.live.memory import give_back
from askance.live.problems import Problem
from askance.live.replay import save_checkpoint
from askance.live.state import State, adopt_model, follow_settings, name_store
from askance.live.store.database import Database, Outcome, Session, StoreBusy, StoreError, StoreFull
from askance.live.tallies import count_all

log = logging.getLogger("askance")

GROUP_EVENTS = 256  # events in one transaction: more would keep people waiting for their next question
GROUP_JOBS = 256
SWEEP = 1.0  # seconds between looks for overdue leases
RETRY_FOR = 10.0  # seconds to go on trying when the store does not answer
FULL_PAUSE = 1.0  # seconds after a full disk before the next try

Work = Callable[[Session, State], Any]


class Job:
    """Something to be done in a transaction; ``future`` gets what came of it."""

    __slots__ = ("events", "future", "work")

    def __init__(self, work: Work | None, events: list[Event] | None = None) -> None:
        self.work, self.events = work, events
        self.future: Future[Any] = Future()


class Engine:
    """Starts with ``start``, ends with ``stop``; anybody may leave jobs in between."""

    def __init__(self, database: Database, config: Config, clock: Clock | None = None) -> None:
        self.database, self.config = database, config
        self.clock = clock or Clock()
        self.state = State(config, self.clock)
        self.healthy = True
        self.full_until = 0.0
        self.last_error = ""
        self.groups = 0
        self._quick: deque[Job] = deque()
        self._bulk: deque[Job] = deque()
        self._wake = threading.Condition()
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._swept = 0.0
        self._stale = False  # memory may be ahead of the store, and must be read again

    # --- from other threads ------------------------------------------------------------------------------

    def start(self) -> None:
        """Own the store, read the state, and begin."""
        self.database.own()
        with self.database.write() as session:
            adopt_model(session, self.config)
            count_all(session)
        with self.database.read() as session:
            self.state.load(session)
        with self.database.write() as session:
            name_store(session, self.state)
            follow_settings(session, self.state)
            self.state.keep(session)
        self._checkpoint_anew()
        warm_up(self.config)
        self._thread = threading.Thread(target=self._run, name="askance-engine", daemon=True)
        self._thread.start()

    def _checkpoint_anew(self) -> None:
        """Where the newest checkpoint could not be used, keep another, so that the next start need not read the log."""
        try:
            with self.database.write() as session:
                if self.state.checkpoint < int(session.value("SELECT max(seq) FROM checkpoints") or 0):
                    self._checkpoint(session)
        except AskanceError as error:
            log.warning("no checkpoint yet, the log has everything: %s", error)

    def submit(self, work: Work) -> Future[Any]:
        """Do this in the next transaction, before events."""
        return self._leave(Job(work), self._quick)

    def ingest(self, events: list[Event]) -> Future[Any]:
        """Store and predict these events."""
        return self._leave(Job(None, events), self._bulk)

    def _leave(self, job: Job, line: deque[Job]) -> Future[Any]:
        with self._wake:
            if self._stopping:
                raise Problem(
                    "stopping", "the service is stopping; try again in a moment.", headers={"Retry-After": "2"}
                )
            line.append(job)
            self._wake.notify()
        return job.future

    async def do(self, work: Work) -> Any:
        """``submit``, for coroutines."""
        return await asyncio.wrap_future(self.submit(work))

    @property
    def waiting(self) -> int:
        """Jobs that nobody has begun yet."""
        return len(self._quick) + len(self._bulk)

    def stop(self) -> None:
        """Finish what waits, keep a checkpoint, and end."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join()
        self.database.close()

    # --- the thread --------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            jobs = self._take()
            if jobs or self._has_chores():
                self._turn(jobs)
            if self._stopping and not self.waiting:
                break
        try:
            with self.database.write() as session:
                self._checkpoint(session)
                self.state.keep(session)
        except StoreError as error:
            log.warning("no last checkpoint, the log has everything: %s", error)

    def _take(self) -> list[Job]:
        with self._wake:
            if not self._quick and not self._bulk and not self._stopping:
                self._wake.wait(self._patience())
            jobs = [self._quick.popleft() for _ in range(min(GROUP_JOBS, len(self._quick)))]
            events = 0
            while self._bulk and (not events or events + len(self._bulk[0].events or ()) <= GROUP_EVENTS):
                job = self._bulk.popleft()
                events += len(job.events or ())
                jobs.append(job)
        return jobs

    def _patience(self) -> float:
        if self.state.due is None or self.state.paused or not self.healthy:
            return SWEEP
        return min(SWEEP, max(0.001, self.state.due - self.clock.now()))

    def _has_chores(self) -> bool:
        now = self.clock.now()
        due = self.state.due is not None and self.state.due <= now and not self.state.paused
        return due or self._checkpoint_due(now) or now - self._swept >= SWEEP

    def _turn(self, jobs: list[Job]) -> None:
        """One transaction, tried again for a while if the store is away."""
        began = time.monotonic()
        while True:
            problem = self._refusal() if jobs else None
            if problem is None:
                problem = self._attempt(jobs, time.monotonic() - began < RETRY_FOR)
            if problem is None:
                return
            if problem.code != "retry":
                for job in jobs:
                    job.future.set_exception(problem)
                return
            time.sleep(0.2)

    def _refusal(self) -> Problem | None:
        room = self.database.room()
        if time.monotonic() < self.full_until or (room is not None and room < self.config.server.disk_reserve):
            return _full(self.database.place)
        return None

    def _attempt(self, jobs: list[Job], again: bool) -> Problem | None:
        """None: done, every future has its outcome. Otherwise why not; the code ``retry`` asks for another attempt."""
        group = self.state.group + 1
        try:
            self._refresh()
            group = self.state.group + 1
            with self.database.write() as session:
                self._stale = True
                outcomes = self._work(session, jobs)
                self._chores(session)
                self.state.keep(session)
        except Outcome as error:
            if not self._committed(group):
                return self._failed(error, again)
        except StoreError as error:
            return self._failed(error, again)
        except Exception as error:
            return self._broken(error, jobs)
        self._stale = False
        self.healthy, self.last_error = True, ""
        self.groups += 1
        for job, outcome in zip(jobs, outcomes, strict=True):
            if isinstance(outcome, Problem):
                job.future.set_exception(outcome)
            else:
                job.future.set_result(outcome)
        return None

    def _work(self, session: Session, jobs: list[Job]) -> list[Any]:
        outcomes: list[Any] = []
        bulk = [job for job in jobs if job.work is None]
        for job in jobs:
            if job.work is None:
                continue
            try:
                outcomes.append(job.work(session, self.state))
            except Problem as problem:
                outcomes.append(problem)
        if bulk:
            results = iter(ingest(session, self.state, [event for job in bulk for event in job.events or ()]))
            outcomes += [[next(results) for _ in job.events or ()] for job in bulk]
        return outcomes

    def _chores(self, session: Session) -> None:
        learn_due(session, self.state)
        now = self.clock.now()
        if now - self._swept >= SWEEP:
            self.state.look()
            queue.release_overdue(session, now)
            queue.expire(session, self.state, now)
            self.state.note_open(queue.open_asks(session))
            self._swept = now
        if self._checkpoint_due(now):
            self._checkpoint(session)

    def _checkpoint_due(self, now: float) -> bool:
        behind = self.state.seq - self.state.checkpoint
        settings = self.config.server
        return behind >= settings.checkpoint_every or (
            behind > 0 and now - self.state.checkpoint_time >= settings.checkpoint_seconds
        )

    def _checkpoint(self, session: Session) -> None:
        if self.state.seq > self.state.checkpoint:
            save_checkpoint(session, self.state.learner, self.state.seq, self.state.learned, self.clock.now())
            self.state.checkpoint, self.state.checkpoint_time = self.state.seq, self.clock.now()

    # --- when something failed ---------------------------------------------------------------------------

    def _refresh(self) -> None:
        """Memory as the store has it, after a transaction that failed; before that, nothing else is done."""
        if self._stale:
            self.database.recover()
            with self.database.read() as session:
                self.state.load(session)
            self._stale = False

    def _failed(self, error: StoreError, again: bool) -> Problem:
        """What to tell the clients after a failed transaction."""
        self.healthy, self.last_error = False, str(error)
        waited = isinstance(error, StoreBusy) and not self._stale  # for the lock, already
        try:
            self.database.recover()
            self._refresh()
        except StoreError as second:
            error = second
        if isinstance(error, StoreFull):
            self.full_until = time.monotonic() + FULL_PAUSE
            log.warning("%s", error)
            return _full(self.database.place)
        if again and not waited and isinstance(error, StoreBusy | Outcome):
            return _RETRY
        log.warning("%s", error)
        return Problem(
            "store_busy", "the store does not answer; nothing was changed, try again.", headers={"Retry-After": "5"}
        )

    def _committed(self, group: int) -> bool:
        """Whether the transaction whose commit was cut off has happened."""
        deadline = time.monotonic() + RETRY_FOR
        while time.monotonic() < deadline:
            try:
                self.database.recover()
                with self.database.read() as session:
                    return int(session.value("SELECT value FROM meta WHERE name = 'group'") or 0) >= group
            except StoreError:
                time.sleep(0.2)
        return False

    def _broken(self, error: Exception, jobs: list[Job]) -> Problem | None:
        """A mistake of ours in one of the jobs: the others go on without it."""
        log.error("a job failed", exc_info=error)
        try:
            self._refresh()
        except StoreError as second:
            self.healthy, self.last_error = False, str(second)
        if len(jobs) > 1:
            for job in jobs:
                self._turn([job])
            return None
        return Problem("internal", "something went wrong here; the log of the service has the details.")


def warm_up(config: Config) -> None:
    """Play an event through a model of no consequence, so that nobody waits for the compiler later."""
    scratch = Learner(config.model, config.asking)
    fields = {"text": "a few words for the compiler", "number": 1.0, "category": "x"}
    decided = scratch.decide([Incoming(fields, 0.0)], 0)[0]
    if isinstance(decided, Decided):
        scratch.learn(Answer(1, fields, 0, decided.predicted, decided.scores, 1.0, False, 0.0))
        scratch.predict(fields)
        scratch.explain(fields, 0)
    give_back()


_RETRY = Problem("busy", "again")
_RETRY.code = "retry"


def _full(place: str) -> Problem:
    return Problem(
        "storage_full",
        f"there is no room left for {place!r}; reading and export go on, writing does as soon as there is room.",
        headers={"Retry-After": "10"},
    )
