"""What a candidate plays: every point of its grid for choosing, then the best one for each target.

All of it is written as jobs (see ``jobs.py``): generators that yield plays and are sent their results.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from askance.errors import InvalidParameter
from askance.experiments.candidate import Candidate
from askance.experiments.jobs import Task
from askance.experiments.memo import Result
from askance.experiments.play import Play
from askance.experiments.results import LOWER_IS_BETTER
from askance.experiments.search import MOST_SCALES, Found, find_scales
from askance.experiments.table import Table

PATIENCE = 3
"""How much longer a scale is searched for the plays that are reported than for those that choose."""

Plays = Generator[list[Play], list[Result], "dict[float, Trial]"]


@dataclass(frozen=True)
class Rules:
    """How parameters are chosen and what is reported, for all candidates alike."""

    kind: str
    """What a target is: a query ratio, a budget or a query scale."""
    targets: list[float]
    permutations: int
    search_permutations: int
    metric: str
    tolerance: float
    settle: bool
    settle_rates: bool
    """Whether the rate of rules that ask at random is settled, too."""


class Trial(NamedTuple):
    """A point of a grid at the scale for one target, and how it did."""

    point: dict[str, float]
    found: Found
    score: float | None
    """The mean metric on the choosing permutations; None where there was nothing to choose."""


class Final(NamedTuple):
    """What a candidate played for a target in the end."""

    target: float
    trial: Trial
    parameters: dict[str, float]
    found: Found
    results: list[Result]


@dataclass
class Tuning:
    """One candidate on its way from the grid to the reported plays."""

    candidate: Candidate
    table: Table
    rules: Rules
    finals: list[Final] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.points = self.candidate.points(self.table)
        knob = self.candidate.knob
        if self.rules.kind != "budget" and knob is not None and len(knob.letters) == 1:
            for point in self.points:
                if knob.letters[0] in point:
                    raise InvalidParameter(
                        f"{knob.letters[0]} of {self.candidate.label} is what sets the {self.rules.kind}; "
                        "leave it out, or compare at budgets."
                    )
        self._trials: dict[int, dict[float, Trial]] = {}

    @property
    def targets(self) -> list[float]:
        """The targets it plays for: one that asks for every label has only one."""
        return [1.0] if self.candidate.knob is None and self.rules.kind != "budget" else self.rules.targets

    @property
    def has_scale(self) -> bool:
        """Whether there is a query scale to search."""
        return self.rules.kind == "ratio" and self.candidate.knob is not None and not self.candidate.asks_by_rate

    @property
    def plays_to_come(self) -> float:
        """How many plays will follow once the parameters are chosen."""
        chosen = len(self._trials) == len(self.points)
        return 0.0 if chosen else 1.3 * self.rules.permutations * len(self.targets)

    # --- choosing ----------------------------------------------------------------------------------------

    def tasks(self) -> Iterable[Task]:
        """Try every point; when the last is tried, play the best for each target."""
        scales = 2.5 if self.has_scale else 1.0
        for place, point in enumerate(self.points):
            yield Task(
                self._try(point),
                self.candidate.label,
                f"choose:{self.has_scale}",
                scales * self.rules.search_permutations * len(self.targets),
                self._tried(place),
            )

    def _tried(self, place: int) -> Callable[[dict[float, Trial]], Iterable[Task]]:
        def then(trials: dict[float, Trial]) -> Iterable[Task]:
            self._trials[place] = trials
            if len(self._trials) < len(self.points):
                return []
            in_order = [self._trials[place] for place in range(len(self.points))]
            return [self._final(target, self._best([trials[target] for trials in in_order])) for target in self.targets]

        return then

    def _best(self, trials: list[Trial]) -> Trial:
        """The best score among those that reach the target, or come near on either side; else the nearest to it."""
        sign = -1.0 if self.rules.metric in LOWER_IS_BETTER else 1.0
        reaching = [trial for trial in trials if trial.found.reached or trial.found.limit == "jumps"]
        if not reaching:
            return min(trials, key=lambda trial: abs(trial.found.ratio - trial.found.wanted))

        def merit(trial: Trial) -> float:
            return -np.inf if trial.score is None or np.isnan(trial.score) else sign * trial.score

        return max(reaching, key=merit)

    def _try(self, point: dict[str, float]) -> Plays:
        """One point of the grid for all targets, on the choosing permutations."""
        if self.has_scale:
            seen, found = yield from self._search(point, self.targets, "choose", None)
            return {target: Trial(point, f, mean(seen[f.scale], self.rules.metric)) for target, f in found.items()}
        trials = {}
        for target in self.targets:
            parameters, given = self._given(point, target)
            score = None
            if len(self.points) > 1:
                results = yield self._plays(parameters, target, "choose")
                score = mean(results, self.rules.metric)
            trials[target] = Trial(point, given, score)
        return trials

    def _given(self, point: dict[str, float], target: float) -> tuple[dict[str, float], Found]:
        """Parameters where there is nothing to search: a budget, a scale, a rate, or every label."""
        askable = self.table.askable  # events without features are never asked
        knob, kind = self.candidate.knob, self.rules.kind
        if kind == "scale" and knob is not None:
            return knob.turn(point, target), Found(target, target, askable, reached=True)
        is_capped = kind == "budget" and (self.candidate.is_auto or "rate" in point)
        if not self.candidate.asks_by_rate or is_capped:
            return point, Found(target, 1.0, askable, reached=True)
        wanted = self._labels_expected(target) / self.table.n_events if kind == "budget" else target
        rate = min(1.0, wanted / askable)
        reached = kind == "budget" or wanted <= askable * (1.0 + self.rules.tolerance)
        limit = "" if reached else "at the most"
        return point | {"rate": rate}, Found(target, rate, rate * askable, reached, limit)

    def _labels_expected(self, budget: float) -> float:
        """How many labels asking at random aims at, so that two standard deviations less still spend the budget."""
        return budget + 2.0 * budget**0.5 if self.rules.settle_rates else budget

    def _search(
        self, point: dict[str, float], targets: list[float], role: str, start: float | None
    ) -> Generator[list[Play], list[Result], tuple[dict[float, list[Result]], dict[float, Found]]]:
        """Search the scales of these targets; returns also the results of each scale that was played."""
        assert self.candidate.knob is not None
        most = MOST_SCALES if role == "choose" else PATIENCE * MOST_SCALES
        search = find_scales(targets, self.candidate.knob, start=start, tolerance=self.rules.tolerance, most=most)
        seen: dict[float, list[Result]] = {}
        scale = next(search)
        while True:
            seen[scale] = yield self._plays(self.candidate.knob.turn(point, scale), 0, role)
            try:
                scale = search.send(mean(seen[scale], "query_ratio"))
            except StopIteration as stop:
                return seen, stop.value

    def _plays(self, parameters: dict[str, float], target: float, role: str) -> list[Play]:
        count = self.rules.permutations if role == "play" else self.rules.search_permutations
        budget = int(target) if self.rules.kind == "budget" else None
        named = tuple(sorted(parameters.items()))
        return [Play(self.candidate.algorithm, named, budget, role, number) for number in range(count)]

    # --- playing -----------------------------------------------------------------------------------------

    def _final(self, target: float, trial: Trial) -> Task:
        def then(final: Final) -> Iterable[Task]:
            self.finals.append(final)
            return []

        kind = f"play:{self.has_scale}"
        return Task(self._play(target, trial), self.candidate.label, kind, 1.3 * self.rules.permutations, then)

    def _play(self, target: float, trial: Trial) -> Generator[list[Play], list[Result], Final]:
        knob = self.candidate.knob
        if self.has_scale:
            assert knob is not None
            start = trial.found
            parameters = knob.turn(trial.point, start.scale)
        else:
            parameters, start = self._given(trial.point, target)
        if self._is_settled(start):
            assert knob is not None
            seen, found_all = yield from self._search(trial.point, [target], "play", start.scale)
            found = found_all[target]
            return Final(target, trial, knob.turn(trial.point, found.scale), found, seen[found.scale])
        results = yield self._plays(parameters, target, "play")
        return Final(target, trial, parameters, start, results)

    def _is_settled(self, start: Found) -> bool:
        """Whether the scale, or the rate, is moved on the reported permutations until their ratio is the wanted one."""
        is_moved = self.has_scale or (
            self.rules.kind == "ratio" and self.candidate.asks_by_rate and self.rules.settle_rates
        )
        return self.rules.settle and is_moved and (start.reached or start.limit == "jumps")


def mean(results: list[Result], metric: str) -> float:
    """The mean of a metric over plays."""
    return float(np.mean([result[metric] for result in results]))
