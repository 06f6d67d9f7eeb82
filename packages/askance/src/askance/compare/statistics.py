"""Mean and standard deviation, paired t-tests against the best, ranks.

Plays are paired: permutation i has the same order and the same coin tosses for every candidate. So the t-test is that
for related samples, two-sided, of each candidate against the one with the best mean, as in the papers' tables; like
theirs it is not corrected for the number of candidates. What the findings say of a saving is (``holm``).

A candidate that could not reach a target is listed, with what it did instead, but is neither best nor ranked: it used
another number of labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from askance.compare.results import Results
from askance.evaluate.metrics.register import metric_of

LEVEL = 0.05


@dataclass(frozen=True)
class Line:
    """One candidate for one target."""

    dataset: str
    candidate: str
    target: float
    plays: int
    mean: float
    std: float
    """With n - 1 in the denominator; 0 for a single play."""
    labels: float
    """Labels bought, on average."""
    ratio: float
    """Their share of the events."""
    reached: bool
    note: str
    is_best: bool
    p: float | None
    """Of the paired t-test against the best; None for the best itself, and where there is nothing to test."""
    rank: float | None
    """Its place among the candidates, averaged over the permutations; ties share a place."""

    @property
    def is_as_good(self) -> bool:
        """Whether it is the best or cannot be told from it."""
        return self.is_best or (self.p is not None and self.p >= LEVEL)


def p_value(values: Any, others: Any) -> float | None:
    """Two-sided p of the paired t-test; None for fewer than two pairs.

    >>> round(p_value([0.80, 0.82, 0.81], [0.70, 0.75, 0.72]), 4)
    0.0102
    >>> p_value([0.5, 0.5], [0.5, 0.5])
    1.0
    """
    from scipy.stats import ttest_rel

    values, others = np.asarray(values, dtype=float), np.asarray(others, dtype=float)
    difference = values - others
    if len(difference) < 2 or np.isnan(difference).any():
        return None
    if np.ptp(difference) == 0.0:  # no spread: the statistic is 0 / 0 or infinite
        return 1.0 if difference[0] == 0.0 else 0.0
    return float(ttest_rel(values, others).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values of several tests at once, each corrected for all of them after Holm (1979): below the level, the chance
    that any of them is an error is below the level, too.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, largest = [0.0] * len(p_values), 0.0
    for done, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - done) * p_values[place]))
        corrected[place] = largest
    return corrected


def lines(results: Results, metric: str | None = None, dataset: str | None = None) -> list[Line]:
    """Every candidate for every target it played for, in the order of the candidates.

    Parameters
    ----------
    results : Results
    metric : str, optional
        The one the parameters were chosen by, unless given.
    dataset : str, optional
        The first, unless given.
    """
    metric = metric or results.settings["metric"]
    dataset = dataset or results.datasets[0]
    found = []
    for target in sorted({choice.target for choice in results.choices if choice.dataset == dataset}):
        found += _for_target(results, metric, dataset, target)
    place = {candidate: number for number, candidate in enumerate(results.candidates)}
    return sorted(found, key=lambda line: (place[line.candidate], line.target))


def _for_target(results: Results, metric: str, dataset: str, target: float) -> list[Line]:
    chosen = [c for c in results.choices if c.dataset == dataset and c.target == target]
    values = {c.candidate: results.values(metric, c.candidate, target, dataset) for c in chosen}
    labels = {c.candidate: results.values("labels", c.candidate, target, dataset) for c in chosen}
    # Passive algorithms meet at target 1.0; that is a contest of its own.
    ranked = {c.candidate: values[c.candidate] for c in chosen if c.reached}
    best = _best(ranked, metric)
    ranks = mean_ranks(ranked, metric)
    return [
        Line(
            dataset=dataset,
            candidate=c.candidate,
            target=target,
            plays=len(values[c.candidate]),
            mean=float(values[c.candidate].mean()),
            std=float(values[c.candidate].std(ddof=1)) if len(values[c.candidate]) > 1 else 0.0,
            labels=float(labels[c.candidate].mean()),
            ratio=c.ratio,
            reached=c.reached,
            note=c.note,
            is_best=c.candidate == best,
            p=None if best in (None, c.candidate) else p_value(values[c.candidate], ranked[best]),
            rank=ranks.get(c.candidate),
        )
        for c in chosen
    ]


def _best(values: dict[str, np.ndarray], metric: str) -> str | None:
    sign = metric_of(metric).sign
    means = {candidate: sign * float(row.mean()) for candidate, row in values.items() if not np.isnan(row).any()}
    return max(means, key=lambda candidate: means[candidate]) if means else None


def mean_ranks(values: dict[str, np.ndarray], metric: str) -> dict[str, float]:
    """The place of each candidate, 1 the best, within each permutation, averaged.

    >>> mean_ranks({"A": np.array([0.9, 0.8]), "B": np.array([0.7, 0.8])}, "f1")
    {'A': 1.25, 'B': 1.75}
    """
    from scipy.stats import rankdata

    if not values:
        return {}
    sign = -metric_of(metric).sign
    places = rankdata([sign * row for row in values.values()], axis=0)
    return dict(zip(values, places.mean(axis=1).tolist(), strict=True))


Place = tuple[str, float]
"""A data set and a target."""


@dataclass(frozen=True)
class Ranking:
    """A candidate's places over all data sets and targets."""

    candidate: str
    rank: float | None
    """The mean of its ranks over the places that all ranked candidates reached; None if there is none, or it reached
    no target at all."""
    cells: int
    """How many data sets and targets it reached."""
    wins: int
    """How often it was best."""
    as_good: int
    """How often it was best or could not be told from the best."""
    by_cell: dict[Place, float]
    """Its rank by data set and target."""


def rank_table(results: Results, metric: str | None = None) -> list[Ranking]:
    """The candidates by mean rank over the wanted targets of all data sets, best first; passive ones left out.

    A mean over fewer targets is no match for one over all: it goes over those that every candidate reached, or, if it
    reached none, is not there (``find_shared_places`` says which they are).
    """
    everything = [line for dataset in results.datasets for line in lines(results, metric, dataset)]
    wanted = set(results.targets)
    rankings = []
    for candidate in results.candidates:
        own = [line for line in everything if line.candidate == candidate and line.target in wanted]
        if not own:
            continue
        ranks = {(line.dataset, line.target): line.rank for line in own if line.rank is not None}
        rankings.append(
            Ranking(
                candidate,
                None,
                len(ranks),
                sum(line.is_best for line in own),
                sum(line.is_as_good for line in own if line.reached),
                ranks,
            )
        )
    shared = find_shared_places(rankings)
    rankings = [replace(row, rank=_mean_over(row.by_cell, shared)) for row in rankings]
    return sorted(rankings, key=lambda row: np.inf if row.rank is None else row.rank)


def find_shared_places(rankings: Sequence[Ranking]) -> list[Place]:
    """The data sets and targets that mean ranks go over: those of all candidates that have any."""
    ranked = [row.by_cell for row in rankings if row.by_cell]
    return [place for place in ranked[0] if all(place in places for places in ranked)] if ranked else []


def places_left_out(rankings: Sequence[Ranking]) -> dict[Place, list[str]]:
    """The other ones that somebody reached, with those who did not."""
    shared, ranked = find_shared_places(rankings), [row for row in rankings if row.by_cell]
    places = sorted({place for row in ranked for place in row.by_cell if place not in shared})
    return {place: [row.candidate for row in ranked if place not in row.by_cell] for place in places}


def _mean_over(ranks: dict[Place, float], places: Sequence[Place]) -> float | None:
    return float(np.mean([ranks[place] for place in places])) if ranks and places else None
