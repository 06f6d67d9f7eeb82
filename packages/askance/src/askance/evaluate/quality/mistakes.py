"""Estimates of the metrics that count right and wrong predictions of one class against the rest.

The number of predictions of each kind is known: N_p positive and N_n negative ones. To be estimated is how many of them
were wrong: E_p (false alarms) and E_n (missed positives). With

    true positives    N_p - E_p        false positives    E_p
    true negatives    N_n - E_n        false negatives    E_n

every metric of ``metrics.register`` that is estimated is a function of E_p and E_n, and falls, or like the cost
grows, with both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from math import inf, nan
from typing import Any

import numpy as np

from askance.evaluate.metrics.arrays import Numbers, divide
from askance.evaluate.metrics.counts import Counts
from askance.evaluate.metrics.register import Metric, Weights
from askance.evaluate.quality.bins import SQUARE_UNIT, UNIT
from askance.evaluate.quality.result import Estimate
from askance.evaluate.quality.strata import StratumCounts, StratumWeights
from askance.evaluate.quality.unanswered import (
    Strata,
    UnansweredMistakes,
    combine_intervals,
    estimate_unanswered,
    mistakes_by_column,
    mistakes_of_all,
)

UNKNOWN = Estimate(nan, 0.0, 1.0)
"""Of a share of which nothing is known."""


@dataclass(frozen=True)
class Mistakes:
    """Per group ``[column, ask_bin]``: all events, mistakes among the answers, and mistakes among the other events."""

    events: Numbers
    seen: Numbers
    unanswered: UnansweredMistakes
    weights: StratumWeights
    strata: Strata
    level: float

    @classmethod
    def of(cls, counts: StratumCounts, column_of: Any, is_wrong: Any, level: float) -> Mistakes:
        """Count the mistakes in counts. ``column_of[place]`` is the column of a place, and ``is_wrong[truth, place]``
        says what a mistake is."""
        columns = int(np.max(column_of)) + 1

        def gather(cells: Any) -> Numbers:
            sums = np.zeros((columns, cells.shape[-1]))
            np.add.at(sums, column_of, cells)
            return sums

        wrong = np.asarray(is_wrong)[:, :, None]
        events = gather(counts.events)
        known = (
            events,
            gather(counts.asked),
            gather(counts.answered.sum(axis=0)),
            gather(counts.unasked.sum(axis=0)) / UNIT,
            gather(counts.squares.sum(axis=0)) / SQUARE_UNIT,
        )
        weights = StratumWeights.of(*known)
        seen = gather((counts.answered * wrong).sum(axis=0))
        seen_unasked = gather((counts.unasked * wrong).sum(axis=0)) / UNIT
        unanswered = estimate_unanswered(weights, weights.weight(seen, seen_unasked), level)
        return cls(events, seen, unanswered, weights, Strata.of_bins(*known, seen, seen_unasked), level)

    def estimate(self, metric: Any) -> Estimate:
        """Value and limits of a metric, a function of the mistakes ``[..., column]``."""
        by_column = mistakes_by_column(self.strata, self.unanswered.value.sum(axis=1), self.level)
        seen = self.seen.sum(axis=1, keepdims=True)
        return Estimate(*combine_intervals(lambda wrong: metric(wrong.sum(axis=-1)), by_column, seen))


def accuracy(mistakes: Mistakes) -> Estimate:
    """1 - (sum of E over the columns) / (sum of N)."""
    total = float(mistakes.events.sum())
    if not total:
        return UNKNOWN
    together = mistakes_of_all(mistakes.strata, mistakes.unanswered.value.sum(keepdims=True)[0], mistakes.level)
    seen = mistakes.seen.sum(keepdims=True)
    return Estimate(*combine_intervals(lambda wrong: 1.0 - wrong.sum(axis=(-1, -2)) / total, together, seen))


def macro_precision(mistakes: Mistakes) -> Estimate:
    """The mean over the classes of (N - E) / N: linear in the mistakes E, for the predictions N are known."""
    predicted = mistakes.events.sum(axis=1)
    return mistakes.estimate(lambda wrong: divide(predicted - wrong, predicted).mean(axis=-1))


@dataclass(frozen=True)
class EstimatedCounts(Counts):
    """Counts in which the mistakes are estimated, and the predictions are known."""

    predictions: float
    """N_p. The parts, which add up to it but for rounding, are not added."""

    @property
    def predicted_positive(self) -> Any:
        return self.predictions


def formulas(
    metrics: Iterable[Metric], predicted_negative: float, predicted_positive: float, weights: Weights
) -> dict[str, Any]:
    """Metrics of one class against the rest as functions of the mistakes ``[..., (E_n, E_p)]``."""

    def of_mistakes(metric: Metric, wrong: Any) -> Any:
        missed, alarms = wrong[..., 0], wrong[..., 1]
        counts = EstimatedCounts(
            predicted_positive - alarms, alarms, predicted_negative - missed, missed, predicted_positive
        )
        assert metric.of_class is not None
        return metric.of_class(counts, weights)

    return {metric.name: partial(of_mistakes, metric) for metric in metrics}


def one_against_rest(mistakes: Mistakes, metrics: Iterable[Metric], weights: Weights) -> dict[str, Estimate]:
    """Metrics of one class against the rest; ``mistakes`` has two columns, predicted negative and positive."""
    predicted_negative, predicted_positive = mistakes.events.sum(axis=1)
    if not predicted_negative + predicted_positive:
        return {metric.name: without_events(metric) for metric in metrics}
    found = formulas(metrics, predicted_negative, predicted_positive, weights)
    return {name: mistakes.estimate(formula) for name, formula in found.items()}


def without_events(metric: Metric) -> Estimate:
    """What is known before the first event: nothing, but that a cost is 0 so far."""
    return Estimate(0.0, 0.0, 0.0) if metric.largest == inf else Estimate(nan, metric.smallest, metric.largest)
