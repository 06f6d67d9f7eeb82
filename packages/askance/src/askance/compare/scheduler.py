"""The scheduler: many searches at once, over a few processes.

A job is a generator: it yields the plays whose results it needs, is sent these results, and returns its outcome. The
scheduler runs any number of jobs side by side. Results in the results file are sent at once; the other plays go to
workers, a few at a time, the costly ones first, and once more if a worker is killed. The outcome of a job depends on
its plays alone, never on their order: the number of workers changes nothing but the time.

The workers are a pool: at first this process plays, then the workers of an engine, once that is worth it.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from types import TracebackType
from typing import Any, Self

from askance.compare.play import MODULE, Conditions, Play, TablePlayer, play_shared, room_per_worker, warm_up
from askance.compare.progress import PlayCosts, SweepProgress
from askance.compare.provenance import describe_code
from askance.compare.results_cache import Result, ResultsCache
from askance.compare.table import Table
from askance.engines import WorkerEngine
from askance.engines.local import one_thread
from askance.errors import AskanceError

WORTH_STARTING = 6.0
"""Seconds of work below which new processes, which import and load for some seconds, gain nothing."""


class WorkerPool:
    """Plays what the scheduler sends.

    Parameters
    ----------
    table, conditions
        What is played, and how.
    key : str
        A name for both.
    engine : WorkerEngine
        Who plays; with one local worker this process does. A cluster plays everything, from the first play on.
    algorithms : iterable of str
        The algorithms that will be played. One of the new processes compiles each of them; the others find the machine
        code on disk.
    has_budget : bool
        Whether plays have a budget, which is compiled in.
    """

    def __init__(
        self,
        table: Table,
        conditions: Conditions,
        key: str,
        engine: WorkerEngine,
        algorithms: Iterable[str],
        has_budget: bool,
    ) -> None:
        self._table = table
        self._conditions = conditions
        self._key = key
        self._engine = engine
        self._algorithms = list(dict.fromkeys(algorithms))
        self._budget = 1 if has_budget else None
        self._code = describe_code(MODULE) if engine.is_remote else None
        self._shared: Any = None
        self._player: TablePlayer | None = None
        self._limit: Any = None

    @property
    def workers(self) -> int:
        """How many processes play now."""
        return 1 if self._shared is None else self._engine.count

    @property
    def losses(self) -> tuple[type[BaseException], ...]:
        """The errors of plays whose worker was killed: they may be sent again."""
        return self._engine.losses

    def __enter__(self) -> Self:
        self._limit = one_thread()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._limit.restore_original_limits()
        if self._shared is not None:
            if kind is not None:  # interrupted: nobody needs the plays under way
                self._engine.kill()
            else:
                self._engine.free(self._shared)

    def expect(self, seconds: float, starting: Callable[[], None]) -> None:
        """Start the processes if ``seconds`` of work are left, and that is enough, or if they are running already."""
        if self._shared is not None or self._engine.count == 1:
            return
        if self._player is not None:
            seconds += self._player.last_warm_up * len(set(self._algorithms) - self._player.warmed)
        if seconds > WORTH_STARTING or (seconds > 0.0 and self._engine.is_running):
            starting()
            self._start()

    def _start(self) -> None:
        self._player = None
        self._engine.start()
        self._shared = self._engine.put(self._table)
        arguments = len(self._table.classes), self._budget
        for future in [self._engine.submit(warm_up, algorithm, *arguments) for algorithm in self._algorithms]:
            with suppress(*self._engine.losses):  # who plays it compiles it then
                future.result()

    def play(self, plays: list[Play]) -> Future[list[Result]]:
        """Send some plays to a process; without processes, play them here."""
        if self._shared is None and self._engine.is_remote:
            self._start()
        if self._shared is not None:
            room = room_per_worker(self._engine.count)
            return self._engine.submit(play_shared, self._shared, self._key, self._code, self._conditions, room, plays)
        if self._player is None:
            self._player = TablePlayer(self._table, self._conditions, room_per_worker(1))
        future: Future[list[Result]] = Future()
        try:
            future.set_result([self._player.play(play) for play in plays])
        except Exception as error:
            future.set_exception(error)
        return future


Job = Generator[list[Play], list[Result], Any]
SECONDS_AT_ONCE = 0.1
"""Plays are sent in batches that take about so long, for sending costs a millisecond."""
UNKNOWN = 1.0
"""The assumed seconds of a play before any was measured: it is then sent alone."""


MOST_LOSSES = 3
"""How often a play may lose its worker."""


@dataclass
class Task:
    """A job under way."""

    job: Job
    label: str
    """The candidate it is for."""
    kind: str
    """Jobs of the same kind take about the same number of plays."""
    expected: float
    """The assumed number of plays, before any job of the kind has ended."""
    then: Callable[[Any], Iterable[Task]]
    """The tasks that follow from its outcome."""
    wanted: list[Play] = field(default_factory=list)
    missing: set[Play] = field(default_factory=set)
    played: int = 0


class Scheduler:
    """Runs jobs until none is left."""

    def __init__(
        self,
        cache: ResultsCache,
        pool: WorkerPool,
        estimate: PlayCosts,
        report: Callable[[SweepProgress], None],
    ) -> None:
        self._cache = cache
        self._pool = pool
        self._estimate = estimate
        self._report = report
        self._tasks: list[Task] = []
        self._waiting: dict[Play, list[Task]] = {}
        self._queue: list[tuple[float, int, str, Play]] = []
        self._numbers = count()
        self._queued = 0.0  # estimated seconds of the plays in the queue
        self._under_way: dict[Future[list[Result]], list[tuple[str, Play]]] = {}
        self._lost: Counter[Play] = Counter()
        self.later: Callable[[], list[tuple[str, float]]] = list
        """Label and number of the plays of jobs that do not exist yet, for the estimate of the time."""

    def run(self, tasks: Iterable[Task]) -> None:
        """Run these jobs and all that follow from them."""
        for task in tasks:
            self._start(task)
        if self._queue:
            self._report(self._progress()._replace(stage="compiling"))
        while self._queue or self._under_way:
            self._send()
            ended, _ = wait(self._under_way, return_when=FIRST_COMPLETED)
            for future in ended:
                sent = self._under_way.pop(future)
                try:
                    results = future.result()
                except self._pool.losses:
                    self._send_again(sent)
                else:
                    self._take(sent, results)
            progress = self._progress()
            self._expect(progress)
            self._report(progress)

    def _expect(self, progress: SweepProgress) -> None:
        work = (progress.remaining or 0.0) * self._pool.workers
        self._pool.expect(work, lambda: self._report(progress._replace(stage="starting processes")))

    def _start(self, task: Task) -> None:
        self._tasks.append(task)
        self._advance(task, None)

    def _advance(self, task: Task, results: list[Result] | None) -> None:
        """Send a job its results, and go on as long as the results it needs next are known."""
        while True:
            try:
                task.wanted = task.job.send(results) if results is not None else next(task.job)
            except StopIteration as stop:
                self._tasks.remove(task)
                if task.played:
                    self._estimate.searches[task.kind].add(task.played)
                for following in task.then(stop.value):
                    self._start(following)
                return
            task.missing = {play for play in task.wanted if self._cache.get(play) is None}
            if task.missing:
                self._enqueue(task)
                return
            results = self._results(task)

    def _results(self, task: Task) -> list[Result]:
        results = [self._cache.get(play) for play in task.wanted]
        return [result for result in results if result is not None]

    def _enqueue(self, task: Task) -> None:
        fresh = []
        for play in dict.fromkeys(task.wanted):  # in order, each once
            if play in task.missing:
                if play not in self._waiting:
                    fresh.append(play)
                self._waiting.setdefault(play, []).append(task)
        cost = self._estimate.cost(task.label) or UNKNOWN
        for play in fresh:
            heapq.heappush(self._queue, (-cost, next(self._numbers), task.label, play))
        self._queued += cost * len(fresh)

    def _send(self) -> None:
        workers = self._pool.workers
        while self._queue and len(self._under_way) < (1 if workers == 1 else 2 * workers + 2):
            # Many plays at once cost less to send; towards the end there are fewer, so that no process is idle.
            room = min(SECONDS_AT_ONCE, self._queued / (2 * workers))
            sent: list[tuple[str, Play]] = []
            while self._queue and (not sent or room + self._queue[0][0] >= 0.0):
                cost, _, label, play = heapq.heappop(self._queue)
                room, self._queued = room + cost, self._queued + cost
                sent.append((label, play))
            self._under_way[self._pool.play([play for _, play in sent])] = sent

    def _send_again(self, sent: list[tuple[str, Play]]) -> None:
        """Put the plays of a killed worker back into the queue: nothing of them is known. One that loses worker after
        worker is given up."""
        for label, play in sent:
            self._lost[play] += 1
            if self._lost[play] > MOST_LOSSES:
                raise AskanceError(
                    f"the process that played {label} was killed {self._lost[play]} times; is there enough memory? "
                    "Everything that was finished is kept: fewer workers take less."
                )
            cost = self._estimate.cost(label) or UNKNOWN
            heapq.heappush(self._queue, (-cost, next(self._numbers), label, play))
            self._queued += cost

    def _take(self, sent: list[tuple[str, Play]], results: list[Result]) -> None:
        self._cache.add([play for _, play in sent], results)
        for (label, play), result in zip(sent, results, strict=True):
            self._estimate.count_play(label, result["cost_seconds"])
            for task in self._waiting.pop(play):
                task.missing.discard(play)
                task.played += 1
                if not task.missing:
                    self._advance(task, self._results(task))

    def _progress(self) -> SweepProgress:
        ahead = self.later()
        for task in self._tasks:
            expected = self._estimate.searches[task.kind].mean(task.expected) or task.expected
            ahead.append((task.label, max(len(task.missing), expected - task.played)))
        stages = {task.kind.split(":")[0] for task in self._tasks}
        stage = "choosing parameters" if "choose" in stages else "playing"
        return self._estimate.report(stage, ahead, self._pool.workers)
