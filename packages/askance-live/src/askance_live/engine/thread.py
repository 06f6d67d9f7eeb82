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
from typing import Any, NamedTuple

from askance.errors import AskanceError
from askance_live.access.auth import begin_now, separate_names
from askance_live.clock import STEP, Clock, span
from askance_live.config import Config
from askance_live.dashboard.stored_counts import are_right, count_all
from askance_live.engine.checkpoints import save_checkpoint
from askance_live.engine.ingest import ingest
from askance_live.engine.label_sets import learner_kind
from askance_live.engine.learner import Answer, Decided
from askance_live.engine.learning import learn_due
from askance_live.engine.start import Start
from askance_live.engine.state import EngineState, follow_settings, name_store, was_committed
from askance_live.engine.stored_settings import adopt_model, take_up_declared
from askance_live.exchange.received import GROUP_BYTES, GROUP_EVENTS, Incoming, ReceivedEvent
from askance_live.problems import Problem, StartError
from askance_live.questions import queue
from askance_live.questions.deadlines import follow_clock
from askance_live.store.database import (
    PATIENCE,
    PAUSE,
    CommitUnknown,
    Database,
    Session,
    StoreAway,
    StoreBusy,
    StoreError,
    StoreFull,
)
from askance_live.store.log_hash import check_log
from askance_live.store.schema import check_known, stored_version
from askance_live.webhooks.outbox import forget_others, raise_alarms

log = logging.getLogger("askance")

GROUP_JOBS = 256  # in one transaction
ENOUGH = 0.1  # seconds of other jobs in one transaction; the rest waits for the next
SWEEP = 1.0  # seconds between looks for overdue leases
FULL_PAUSE = 1.0  # seconds after a full disk before the next try
TASK_PAUSE = 10.0  # seconds before a background task that failed is tried again

Work = Callable[[Session, EngineState], Any]


class Job:
    """Something to be done in a transaction; ``future`` gets what came of it."""

    __slots__ = ("events", "future", "size", "until", "work")

    def __init__(self, work: Work | None, events: list[ReceivedEvent] | None = None) -> None:
        self.work, self.events = work, events
        self.size = sum(len(event.text) for event in events or ())
        self.future: Future[Any] = Future()
        self.until = time.monotonic() + PATIENCE  # so long it waits for a store that is away


class Committed(NamedTuple):
    """What may be told of the counters while a transaction is under way: they are as the store has them."""

    totals: dict[str, Any]
    learned: int

    @classmethod
    def of(cls, state: EngineState) -> Committed:
        """A copy, right after a commit."""
        return cls({name: list(n) if isinstance(n, list) else n for name, n in state.totals.items()}, state.learned)


class BackgroundTaskFailed(Exception):
    """A background task raised what no background task should; the transaction is done again without it."""

    def __init__(self, name: str, reason: Exception) -> None:
        super().__init__(f"{name}: {reason}")
        self.name, self.reason = name, reason


class Engine:
    """Starts with ``start``, ends with ``stop``; anybody may leave jobs in between."""

    def __init__(self, database: Database, config: Config, clock: Clock | None = None) -> None:
        self.database, self.config = database, config
        self.clock = clock or Clock()
        self.state = EngineState(config, self.clock)
        self.healthy = True
        self.full_until = 0.0
        self.last_error = ""
        self.groups = 0
        self._quick: deque[Job] = deque()
        self._bulk: deque[Job] = deque()
        self._wake = threading.Condition()
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._swept = -SWEEP
        self._step = 0.0  # by how much the machine's clock was set, if the store does not go by that yet
        self.failing: dict[str, str] = {}
        """The background tasks that failed when they were tried last, and why."""
        self._postponed: dict[str, float] = {}  # until when a background task that failed is left alone
        self._skipped: set[str] = set()  # background tasks that failed in this turn
        self._stale = False  # memory may be ahead of the store, and must be read again
        self._is_deposed = False  # another process owns the store

    # --- from other threads ------------------------------------------------------------------------------

    def start(self) -> None:
        """Own the store, read the state, and begin."""
        self.database.own()
        with self.database.write() as session:
            check_known(self.database, stored_version(session))  # changed by others while this one waited
            adopt_model(session, self.config)
            are_wrong = self.database.is_small() and not are_right(session)
            if are_wrong:
                log.warning("the counts that the dashboard shows are damaged, and are counted anew from the rows.")
            count_all(session, anew=are_wrong)
        with self.database.read() as session:
            self.state.load(session)
            if self.database.is_small():
                check_log(session, self.database.place)
        self._check_complete()
        if self.state.ahead >= STEP:
            log.warning(
                "the store was last written %s ahead of this machine's clock, which is wrong now or was wrong then; "
                "times are those of this machine again.",
                span(self.state.ahead),
            )
        with self.database.write() as session:
            if self.state.ahead >= STEP:
                follow_clock(session, self.state, -self.state.ahead)
            separate_names(session, self.clock.now())
            begin_now(session, self.clock.now())
            name_store(session, self.state)
            follow_settings(session, self.state)
            forget_others(session, self.config, self.clock.now())
            take_up_declared(session, self.config)
            self.state.keep(session)
        self.committed = Committed.of(self.state)
        self._checkpoint_anew()
        warm_up(self.state.config, self.state.learner.start)
        self._thread = threading.Thread(target=self._run, name="askance-engine", daemon=True)
        self._thread.start()

    def _check_complete(self) -> None:
        """Refuse a store that lacks what was acknowledged, such as one whose journal was cut."""
        known = self.database.known_group(self.state.store)
        if known is not None and known > self.state.group:
            raise StartError(
                f"the last {known - self.state.group} transactions of {self.database.place!r} are missing; restore a "
                "backup with 'askance restore', or, if an older copy was put there on purpose, remove "
                f"'{self.database.place}.lock'."
            )

    def _checkpoint_anew(self) -> None:
        """Where the newest checkpoint could not be used, keep another, so that the next start need not read the log."""
        try:
            with self.database.write() as session:
                if self.state.checkpoint < int(session.value("SELECT max(seq) FROM checkpoints") or 0):
                    self._save_checkpoint(session)
        except AskanceError as error:
            log.warning("no checkpoint yet, the log has everything: %s", error)

    def submit(self, work: Work) -> Future[Any]:
        """Do this in the next transaction, before events."""
        return self._leave(Job(work), self._quick)

    def ingest(self, events: list[ReceivedEvent]) -> Future[Any]:
        """Store and predict these events."""
        return self._leave(Job(None, events), self._bulk)

    def _leave(self, job: Job, line: deque[Job]) -> Future[Any]:
        with self._wake:
            if self._is_deposed:
                raise _deposed_problem()
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

    def step_back(self) -> None:
        """Another process owns the store: whatever is not committed yet must go there."""
        self._is_deposed = True

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
            try:
                if jobs or self._has_due_tasks():
                    self._turn(jobs)
            except Exception:  # whatever it is, the next jobs may be better
                log.exception("a turn failed")
                for job in jobs:
                    if not job.future.done():
                        job.future.set_exception(_internal_problem())
            if self._stopping and not self.waiting:
                break
        try:
            with self.database.write() as session:
                self._checkpoint(session)
                self.state.keep(session)
        except StoreError as error:
            log.warning("no last checkpoint, the log has everything: %s", error)
        except Exception:
            log.exception("no last checkpoint, the log has everything")

    def _take(self) -> list[Job]:
        with self._wake:
            if not self._quick and not self._bulk and not self._stopping:
                self._wake.wait(self._patience())
            jobs = [self._quick.popleft() for _ in range(min(GROUP_JOBS, len(self._quick)))]
            events = size = 0
            while self._bulk and (
                not events
                or (
                    events + len(self._bulk[0].events or ()) <= GROUP_EVENTS
                    and size + self._bulk[0].size <= GROUP_BYTES
                )
            ):
                job = self._bulk.popleft()
                events, size = events + len(job.events or ()), size + job.size
                jobs.append(job)
        return [job for job in jobs if job.future.running() or job.future.set_running_or_notify_cancel()]

    def _patience(self) -> float:
        if self.state.due is None or self.state.paused or not self.healthy or "learn" in self.failing:
            return SWEEP
        return min(SWEEP, max(0.001, self.state.due - self.clock.now()))

    def _has_due_tasks(self) -> bool:
        return any(self._is_due(name) for name in BACKGROUND_TASKS)

    def _is_due(self, name: str) -> bool:
        """Whether a background task has something to do, and did not fail just now."""
        now = time.monotonic()
        if name in self._skipped or self._postponed.get(name, 0.0) > now:
            return False
        if name == "learn":
            return self.state.due is not None and self.state.due <= self.clock.now() and not self.state.paused
        return self._checkpoint_due() if name == "checkpoint" else now - self._swept >= SWEEP

    def _turn(self, jobs: list[Job]) -> None:
        """One transaction, tried again while the store is away, for each job as long as it may wait."""
        self._skipped.clear()
        while True:
            problem = self._refuse_if_full() if jobs else None
            if problem is None:
                problem = self._attempt(jobs)
            if problem is None:
                return
            if problem is _AT_ONCE:
                continue
            if problem is _RETRY and self._is_deposed:
                problem = _deposed_problem()
            late = [job for job in jobs if problem is not _RETRY or time.monotonic() >= job.until]
            for job in late:
                job.future.set_exception(_away_problem() if problem is _RETRY else problem)
            jobs = [job for job in jobs if job not in late]
            if not jobs:
                return
            time.sleep(PAUSE)

    def _refuse_if_full(self) -> Problem | None:
        room = self.database.room()
        if time.monotonic() < self.full_until or (room is not None and room < self.config.server.disk_reserve):
            return _full_problem(self.database.place)
        return None

    def _attempt(self, jobs: list[Job]) -> Problem | None:
        """None: done, every future has its outcome. Otherwise why not; ``_RETRY`` asks for another attempt."""
        group = self.state.group + 1
        try:
            self._refresh()
            group = self.state.group + 1
            self._follow_clock()
            with self.database.write() as session:
                self._stale = True
                if self._step:
                    follow_clock(session, self.state, self._step)
                self.state.begin(session)
                outcomes = self._work(session, jobs)
                done = self._run_due_tasks(session)
                self.state.keep(session)
        except CommitUnknown as error:
            committed = self._look_up(group, jobs)
            if committed is None:
                self.healthy, self.last_error = False, str(error)
                return _unknown_commit_problem()
            if not committed:
                return self._fail(error, jobs)
        except StoreError as error:
            return self._fail(error, jobs)
        except BackgroundTaskFailed as failure:
            return self._postpone(failure)
        except Exception as error:
            return self._isolate_failure(error, jobs)
        if not self.healthy:
            log.warning("the store answers again.")
        self.committed = Committed.of(self.state)
        self.database.note_group(self.state.store, self.state.group)
        self._stale, self._step = False, 0.0
        self.healthy, self.last_error = True, ""
        self.groups += 1
        for name in done:
            self.failing.pop(name, None)
        self._put_back(jobs[len(outcomes) :])
        for job, outcome in zip(jobs, outcomes, strict=False):
            if isinstance(outcome, Problem):
                job.future.set_exception(outcome)
            else:
                job.future.set_result(outcome)
        return None

    def _follow_clock(self) -> None:
        step = self.clock.follow()
        if step:
            log.warning("the machine's clock was set %s by %s.", "forward" if step > 0.0 else "back", span(abs(step)))
            self._step += step

    def _work(self, session: Session, jobs: list[Job]) -> list[Any]:
        """What came of the jobs: of all of them, or of the first ones if they took long and the rest can wait."""
        outcomes: list[Any] = []
        began = time.monotonic()
        for job in jobs:
            if job.work is None:
                break
            if outcomes and time.monotonic() - began > ENOUGH:
                return outcomes
            try:
                outcomes.append(job.work(session, self.state))
            except Problem as problem:
                outcomes.append(problem.alone())
        bulk = jobs[len(outcomes) :]
        if bulk:
            results = iter(ingest(session, self.state, [event for job in bulk for event in job.events or ()]))
            outcomes += [[next(results) for _ in job.events or ()] for job in bulk]
        return outcomes

    def _put_back(self, jobs: list[Job]) -> None:
        """Jobs that had no turn are the first to have one."""
        with self._wake:
            for job in reversed(jobs):
                (self._bulk if job.work is None else self._quick).appendleft(job)

    def _run_due_tasks(self, session: Session) -> list[str]:
        """Do the background tasks that are due; which these were."""
        due = [name for name in BACKGROUND_TASKS if self._is_due(name)]
        for name in due:
            try:
                BACKGROUND_TASKS[name](self, session)
            except (StoreBusy, StoreFull):
                raise  # which fails whatever is tried now
            except Exception as error:
                raise BackgroundTaskFailed(name, error) from error
        return due

    def _learn(self, session: Session) -> None:
        learn_due(session, self.state)

    def _sweep(self, session: Session) -> None:
        now = self.clock.now()
        self.state.estimate_quality()
        queue.release_overdue(session, now)
        queue.expire(session, self.state, now)
        self.state.note_open(queue.count_open_questions(session))
        raise_alarms(session, self.state, self.database.room())
        self._swept = time.monotonic()

    def _checkpoint_due(self) -> bool:
        behind = self.state.seq - self.state.checkpoint
        settings = self.config.server
        return behind >= settings.checkpoint_every or (
            behind > 0 and time.monotonic() - self.state.checkpoint_time >= settings.checkpoint_seconds
        )

    def _checkpoint(self, session: Session) -> None:
        if self.state.seq > self.state.checkpoint:
            self._save_checkpoint(session)

    def _save_checkpoint(self, session: Session) -> None:
        save_checkpoint(session, self.state.learner, self.state.seq, self.state.learned, self.clock.now())
        self.state.checkpoint, self.state.checkpoint_time = self.state.seq, time.monotonic()

    # --- when something failed ---------------------------------------------------------------------------

    def _refresh(self) -> None:
        """Memory as the store has it, after a transaction that failed; before that, nothing else is done."""
        if self._stale:
            self.database.recover()
            with self.database.read() as session:
                self.state.load(session)
            self._stale = False

    def _fail(self, error: StoreError, jobs: list[Job]) -> Problem:
        """What to tell the clients after a failed transaction."""
        if self.healthy:
            log.warning("%s", error)
        self.healthy, self.last_error = False, str(error)
        if isinstance(error, StoreAway | CommitUnknown):
            self._stale = True  # nobody kept others from the store meanwhile
            return _RETRY
        waited = isinstance(error, StoreBusy) and not self._stale  # for the lock, already
        try:
            self.database.recover()
            self._refresh()
        except StoreError as second:
            error = second
        if isinstance(error, StoreFull):
            self.full_until = time.monotonic() + FULL_PAUSE
            return _full_problem(self.database.place)
        if isinstance(error, StoreAway) or (isinstance(error, StoreBusy) and not waited):
            return _RETRY
        return _away_problem()

    def _postpone(self, failure: BackgroundTaskFailed) -> Problem:
        """Leave a background task that failed alone for a while; the jobs beside it are done again without it."""
        self._skipped.add(failure.name)
        self._postponed[failure.name] = time.monotonic() + TASK_PAUSE
        reason = f"{type(failure.reason).__name__}: {failure.reason}"
        if self.failing.get(failure.name) != reason:  # which is said once, not every ten seconds
            log.error("the background task %r failed, everything else goes on", failure.name, exc_info=failure.reason)
            self.failing[failure.name] = reason
        try:
            self._refresh()
        except StoreError as error:
            self.healthy, self.last_error = False, str(error)
        return _AT_ONCE

    def _look_up(self, group: int, jobs: list[Job]) -> bool | None:
        """Whether the transaction whose commit was cut off has happened; None where nobody can tell in time."""
        until = max((job.until for job in jobs), default=0.0)
        while True:
            try:
                self.database.recover()  # which waits until the connection that was lost has ended
                with self.database.read() as session:
                    return was_committed(session, group, self.state.writer)
            except StoreError:
                if time.monotonic() >= until or self._is_deposed:
                    return None
                time.sleep(PAUSE)

    def _isolate_failure(self, error: Exception, jobs: list[Job]) -> Problem | None:
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
        return _internal_problem()


BACKGROUND_TASKS: dict[str, Callable[[Engine, Session], None]] = {
    "learn": Engine._learn,
    "sweep": Engine._sweep,
    "checkpoint": Engine._checkpoint,
}
"""What is done between jobs, in this order; one that fails stops no other."""


def warm_up(config: Config, start: Start | None = None) -> None:
    """Play an event through a model of no consequence, so that nobody waits for the compiler later."""
    scratch = learner_kind(config.model)(config.model, config.asking, start=start)
    fields = {"text": "a few words for the compiler", "number": 1.0, "category": "x"}
    decided = scratch.decide([Incoming(fields, 0.0)], 0)[0]
    if isinstance(decided, Decided):
        label = decided.predicted if config.model.label_sets else 0
        scratch.learn(Answer(1, fields, label, decided.predicted, decided.scores, 1.0, False, 0.0))
        scratch.predict(fields)
        scratch.explain(fields, 0)


_RETRY, _AT_ONCE = Problem("busy", "again"), Problem("busy", "again, at once")


def _away_problem() -> Problem:
    return Problem(
        "store_busy", "the store does not answer; nothing was changed, try again.", headers={"Retry-After": "5"}
    )


def _deposed_problem() -> Problem:
    return Problem(
        "no_owner", "another process owns the model by now; nothing was changed, try again.",
        headers={"Retry-After": "2"},
    )  # fmt: skip


def _unknown_commit_problem() -> Problem:
    return Problem(
        "store_busy",
        "the store went away while this was committed, and whether it was cannot be told yet; send it again with the "
        "same ids, which count once.",
        headers={"Retry-After": "5"},
    )


def _internal_problem() -> Problem:
    return Problem("internal", "something went wrong here; the log of the service has the details.")


def _full_problem(place: str) -> Problem:
    return Problem(
        "storage_full",
        f"there is no room left for {place!r}; reading and export go on, writing does as soon as there is room.",
        headers={"Retry-After": "10"},
    )
