"""Tune a candidate: play every point of its grid to choose, then the best one for each target.

All of it is written as jobs (see ``scheduler``): generators that yield plays and are sent their results.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from askance.compare.candidate import Candidate
from askance.compare.play import Play
from askance.compare.results_cache import Result
from askance.compare.scheduler import Task
from askance.compare.search import MOST_SCALES, FoundScale, find_scales
from askance.compare.table import Table
from askance.errors import InvalidParameter
from askance.evaluate.metrics.register import metric_of

PATIENCE = 3
"""How many times as many scales are tried for the reported plays as for those that choose."""

Plays = Generator[list[Play], list[Result], "dict[float, Trial]"]


@dataclass(frozen=True)
class Rules:
    """How parameters are chosen and what is reported; the same for all candidates."""

    kind: str
    """What a target is: a query ratio, a budget or a query scale."""
    targets: list[float]
    permutations: int
    search_permutations: int
    metric: str
    tolerance: float
    settle: bool
    settle_rates: bool
    """Whether the rate of rules that ask at random is settled too."""


class Trial(NamedTuple):
    """A point of a grid at the scale for one target, with its score."""

    point: dict[str, float]
    found: FoundScale
    score: float | None
    """The mean metric on the choosing permutations; None if there was nothing to choose."""


class Final(NamedTuple):
    """The reported plays of a candidate for a target."""

    target: float
    trial: Trial
    parameters: dict[str, float]
    found: FoundScale
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
        scale_parameter = self.candidate.scale_parameter
        if self.rules.kind != "budget" and scale_parameter is not None and len(scale_parameter.letters) == 1:
            for point in self.points:
                if scale_parameter.letters[0] in point:
                    raise InvalidParameter(
                        f"{scale_parameter.letters[0]} of {self.candidate.label} is what sets the {self.rules.kind}; "
                        "leave it out, or compare at budgets."
                    )
        self._trials: dict[int, dict[float, Trial]] = {}

    @property
    def targets(self) -> list[float]:
        """The targets it plays for; a candidate that asks for every label has only one."""
        return [1.0] if self.candidate.scale_parameter is None and self.rules.kind != "budget" else self.rules.targets

    @property
    def has_scale(self) -> bool:
        """Whether there is a query scale to search."""
        return (
            self.rules.kind == "ratio"
            and self.candidate.scale_parameter is not None
            and not self.candidate.asks_by_rate
        )

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
                self._try_point(place),
            )

    def _try_point(self, place: int) -> Callable[[dict[float, Trial]], Iterable[Task]]:
        def then(trials: dict[float, Trial]) -> Iterable[Task]:
            self._trials[place] = trials
            if len(self._trials) < len(self.points):
                return []
            in_order = [self._trials[place] for place in range(len(self.points))]
            return [self._final(target, self._best([trials[target] for trials in in_order])) for target in self.targets]

        return then

    def _best(self, trials: list[Trial]) -> Trial:
        """The best score among the trials that reach the target or jump across it; if there is none, the nearest."""
        sign = metric_of(self.rules.metric).sign
        reaching = [trial for trial in trials if trial.found.reached or trial.found.limit == "jumps"]
        if not reaching:
            return min(trials, key=lambda trial: abs(trial.found.ratio - trial.found.wanted))

        def merit(trial: Trial) -> float:
            return -np.inf if trial.score is None or np.isnan(trial.score) else sign * trial.score

        return max(reaching, key=merit)

    def _try(self, point: dict[str, float]) -> Plays:
        """Try one point of the grid for all targets, on the choosing permutations."""
        if self.has_scale:
            seen, found = yield from self._search(point, self.targets, "choose", None)
            return {target: Trial(point, f, mean(seen[f.scale], self.rules.metric)) for target, f in found.items()}
        trials = {}
        for target in self.targets:
            parameters, given = self._given_parameters(point, target)
            score = None
            if len(self.points) > 1:
                results = yield self._plays(parameters, target, "choose")
                score = mean(results, self.rules.metric)
            trials[target] = Trial(point, given, score)
        return trials

    def _given_parameters(self, point: dict[str, float], target: float) -> tuple[dict[str, float], FoundScale]:
        """The parameters if there is nothing to search: for a budget, a scale, a rate, or every label."""
        askable = self.table.askable  # events without features are never asked
        scale_parameter, kind = self.candidate.scale_parameter, self.rules.kind
        if kind == "scale" and scale_parameter is not None:
            return scale_parameter.apply(point, target), FoundScale(target, target, askable, reached=True)
        is_capped = kind == "budget" and (self.candidate.is_auto or "rate" in point)
        if not self.candidate.asks_by_rate or is_capped:
            return point, FoundScale(target, 1.0, askable, reached=True)
        wanted = self._labels_expected(target) / self.table.n_events if kind == "budget" else target
        rate = min(1.0, wanted / askable)
        reached = kind == "budget" or wanted <= askable * (1.0 + self.rules.tolerance)
        limit = "" if reached else "at the most"
        return point | {"rate": rate}, FoundScale(target, rate, rate * askable, reached, limit)

    def _labels_expected(self, budget: float) -> float:
        """B + 2 sqrt(B): asking at random aims at so many labels that two standard deviations less still spend the
        budget B."""
        return budget + 2.0 * budget**0.5 if self.rules.settle_rates else budget

    def _search(
        self, point: dict[str, float], targets: list[float], role: str, start: float | None
    ) -> Generator[list[Play], list[Result], tuple[dict[float, list[Result]], dict[float, FoundScale]]]:
        """Search the scales of these targets; returns also the results of each scale that was played."""
        assert self.candidate.scale_parameter is not None
        most = MOST_SCALES if role == "choose" else PATIENCE * MOST_SCALES
        search = find_scales(
            targets, self.candidate.scale_parameter, start=start, tolerance=self.rules.tolerance, most=most
        )
        seen: dict[float, list[Result]] = {}
        scale = next(search)
        while True:
            seen[scale] = yield self._plays(self.candidate.scale_parameter.apply(point, scale), 0, role)
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
        scale_parameter = self.candidate.scale_parameter
        if self.has_scale:
            assert scale_parameter is not None
            start = trial.found
            parameters = scale_parameter.apply(trial.point, start.scale)
        else:
            parameters, start = self._given_parameters(trial.point, target)
        if self._is_settled(start):
            assert scale_parameter is not None
            seen, found_all = yield from self._search(trial.point, [target], "play", start.scale)
            found = found_all[target]
            return Final(target, trial, scale_parameter.apply(trial.point, found.scale), found, seen[found.scale])
        results = yield self._plays(parameters, target, "play")
        return Final(target, trial, parameters, start, results)

    def _is_settled(self, start: FoundScale) -> bool:
        """Whether the scale or the rate is searched again on the reported permutations, until their ratio is right."""
        is_moved = self.has_scale or (
            self.rules.kind == "ratio" and self.candidate.asks_by_rate and self.rules.settle_rates
        )
        return self.rules.settle and is_moved and (start.reached or start.limit == "jumps")


def mean(results: list[Result], metric: str) -> float:
    """The mean of a metric over plays."""
    return float(np.mean([result[metric] for result in results]))
