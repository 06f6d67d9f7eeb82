"""How far a sweep is, and how long it will still take, by what its plays have cost so far."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from statistics import fmean
from time import monotonic
from typing import NamedTuple

WINDOW = 15.0
"""Seconds of the recent past by which the near future is judged."""


class SweepProgress(NamedTuple):
    """A look at a sweep under way."""

    stage: str
    """What is being done: compiling, choosing parameters, playing."""
    done: int
    """Plays finished, those found in the results file left out."""
    expected: int
    """Plays in all, as far as can be told: searches end when they have found."""
    elapsed: float
    """Seconds since the sweep began."""
    remaining: float | None
    """Seconds it will still take, by the measured cost of each algorithm; None before anything was measured."""

    @property
    def fraction(self) -> float:
        """The share of the time that is over."""
        if self.remaining is None:
            return 0.0
        return self.elapsed / max(1e-9, self.elapsed + self.remaining)


@dataclass
class Average:
    """The mean of what was seen, with a prior that counts as one observation."""

    total: float = 0.0
    count: int = 0

    def add(self, value: float, count: int = 1) -> None:
        self.total += value
        self.count += count

    def mean(self, prior: float | None = None) -> float | None:
        if not self.count:
            return prior
        return self.total / self.count


@dataclass
class PlayCosts:
    """What plays cost, by algorithm, and how many a search takes, by kind."""

    began: float = field(default_factory=monotonic)
    done: int = 0
    costs: dict[str, deque[float]] = field(default_factory=lambda: defaultdict(lambda: deque(maxlen=25)))
    searches: dict[str, Average] = field(default_factory=lambda: defaultdict(Average))
    busy: float = 0.0
    readings: deque[tuple[float, float, int]] = field(default_factory=deque)

    def count_play(self, label: str, seconds: float) -> None:
        """A play of this candidate took so long."""
        self.done += 1
        self.busy += seconds
        self.costs[label].append(seconds)

    def cost(self, label: str) -> float | None:
        """Seconds that a play of this candidate takes; the mean of the others if it has not played yet."""
        if label in self.costs:
            return fmean(self.costs[label])
        known = [fmean(costs) for costs in self.costs.values()]
        return fmean(known) if known else None

    def report(self, stage: str, ahead: list[tuple[str, float]], workers: int) -> SweepProgress:
        """The progress, given how many plays of which candidates lie ahead, and how many processes play them."""
        plays = sum(count for _, count in ahead)
        remaining: float | None = 0.0
        for label, count in ahead:
            cost = self.cost(label)
            remaining = None if cost is None or remaining is None else remaining + cost * count / workers
        if remaining is not None:
            remaining *= self._slowness(workers)
        return SweepProgress(stage, self.done, self.done + round(plays), monotonic() - self.began, remaining)

    def _slowness(self, workers: int) -> float:
        """How much longer plays took of late than they cost, one worker counted like the other.

        Sending and deciding takes time, and so does whatever else the machine is busy with.
        """
        now = monotonic()
        self.readings.append((now, self.busy, workers))
        while self.readings[0][2] != workers or (now - self.readings[0][0] > WINDOW and len(self.readings) > 2):
            self.readings.popleft()
        began, busy, _ = self.readings[0]
        if now - began < 0.5 or self.busy <= busy:
            return 1.0
        return min(max(workers * (now - began) / (self.busy - busy), 1.0), 20.0)
