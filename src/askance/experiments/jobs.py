"""Many searches at once, over a few processes.

A job is a generator: it yields the plays it wants to know of, is sent their results, and returns what it made of them.
The board runs any number of jobs side by side. Results already in the results file are handed over at once, the others
are played in worker processes, a few at a time, the costly ones first. What a job finds out depends on its plays
alone, never on who was first: the number of processes changes nothing but the time.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from askance.experiments.memo import Memo, Result
from askance.experiments.play import Play
from askance.experiments.progress import Estimate, Progress
from askance.experiments.stage import Stage

Job = Generator[list[Play], list[Result], Any]
SECONDS_AT_ONCE = 0.1
"""Plays are sent together until they take about so long: sending costs a millisecond."""
UNKNOWN = 1.0
"""Seconds a play is taken to last before any was measured: it is then sent alone."""


@dataclass
class Task:
    """A job under way."""

    job: Job
    label: str
    """The candidate it is for."""
    kind: str
    """Jobs of a kind take about the same number of plays."""
    expected: float
    """How many that may be, before any has ended."""
    then: Callable[[Any], Iterable[Task]]
    """What follows from its outcome."""
    wanted: list[Play] = field(default_factory=list)
    missing: set[Play] = field(default_factory=set)
    played: int = 0


class Board:
    """Runs jobs until none is left."""

    def __init__(
        self,
        memo: Memo,
        stage: Stage,
        estimate: Estimate,
        report: Callable[[Progress], None],
    ) -> None:
        self._memo = memo
        self._stage = stage
        self._estimate = estimate
        self._report = report
        self._tasks: list[Task] = []
        self._waiting: dict[Play, list[Task]] = {}
        self._queue: list[tuple[float, int, str, Play]] = []
        self._numbers = count()
        self._queued = 0.0  # seconds, as far as is known
        self._under_way: dict[Future[list[Result]], list[tuple[str, Play]]] = {}
        self.later: Callable[[], list[tuple[str, float]]] = list
        """Plays of jobs that do not exist yet, for the estimate of time."""

    def run(self, tasks: Iterable[Task]) -> None:
        """Run these jobs and all that follow from them."""
        for task in tasks:
            self._start(task)
        if self._queue:
            self._report(self._look()._replace(stage="compiling"))
        while self._queue or self._under_way:
            self._send()
            ended, _ = wait(self._under_way, return_when=FIRST_COMPLETED)
            for future in ended:
                self._take(self._under_way.pop(future), future.result())
            progress = self._look()
            self._expect(progress)
            self._report(progress)

    def _expect(self, progress: Progress) -> None:
        work = (progress.remaining or 0.0) * self._stage.workers
        self._stage.expect(work, lambda: self._report(progress._replace(stage="starting processes")))

    def _start(self, task: Task) -> None:
        self._tasks.append(task)
        self._advance(task, None)

    def _advance(self, task: Task, results: list[Result] | None) -> None:
        """Send a job what it waited for; go on as long as everything it asks is known."""
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
            task.missing = {play for play in task.wanted if self._memo.get(play) is None}
            if task.missing:
                self._enqueue(task)
                return
            results = self._results(task)

    def _results(self, task: Task) -> list[Result]:
        results = [self._memo.get(play) for play in task.wanted]
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
        workers = self._stage.workers
        while self._queue and len(self._under_way) < (1 if workers == 1 else workers + 2):
            # Many plays at once cost less to send; towards the end fewer, so that no process is left without.
            room = min(SECONDS_AT_ONCE, self._queued / (2 * workers))
            sent: list[tuple[str, Play]] = []
            while self._queue and (not sent or room + self._queue[0][0] >= 0.0):
                cost, _, label, play = heapq.heappop(self._queue)
                room, self._queued = room + cost, self._queued + cost
                sent.append((label, play))
            self._under_way[self._stage.play([play for _, play in sent])] = sent

    def _take(self, sent: list[tuple[str, Play]], results: list[Result]) -> None:
        self._memo.add([play for _, play in sent], results)
        for (label, play), result in zip(sent, results, strict=True):
            self._estimate.played(label, result["cost_seconds"])
            for task in self._waiting.pop(play):
                task.missing.discard(play)
                task.played += 1
                if not task.missing:
                    self._advance(task, self._results(task))

    def _look(self) -> Progress:
        ahead = self.later()
        for task in self._tasks:
            expected = self._estimate.searches[task.kind].mean(task.expected) or task.expected
            ahead.append((task.label, max(len(task.missing), expected - task.played)))
        stages = {task.kind.split(":")[0] for task in self._tasks}
        stage = "choosing parameters" if "choose" in stages else "playing"
        return self._estimate.look(stage, ahead, self._stage.workers)
