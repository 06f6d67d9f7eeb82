"""Estimates of metrics of all classes together: averages over the classes, and functions of the whole confusion matrix.

They depend on the confusion matrix C, with true classes k as rows and predictions j as columns. It is estimated group
by group (predicted class and ask bin): a group with n events without an answer adds

    C_kj += answers of class k + n q_k,        q_k = (weight of the answers of class k) / (weight of all)

(see ``strata``). A metric f is a function of the right predictions C_kk and the row sums R_k; the column sums
are known. So it changes with each cell by

    z_kj = df / dC_kj = [k = j] df / dC_kk + df / dR_k

which is measured: f is computed once more with each of these numbers a little larger, and a little smaller. The
interval comes from this first-order change. Ask bins are joined (see ``unanswered``). A group with m answers varies by

    (n^2 / (m - 1) + n) Var(z)        under (m q_k + mix_k) / (m + 1): one answer of the column's own mix added

and the limits are taken on the log-odds scale. A class with fewer than ten answers varies more than first-order changes
tell: its recall has Clopper and Pearson's limits besides. What cannot be estimated is added in full: groups without any
answer, and classes of which no event was ever seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from askance.evaluate.metrics.arrays import Numbers, divide
from askance.evaluate.metrics.counts import PerClass
from askance.evaluate.metrics.register import Metric, Weights
from askance.evaluate.quality.bins import ASK_BINS, NEVER, SQUARE_UNIT, UNIT
from askance.evaluate.quality.result import Estimate
from askance.evaluate.quality.strata import StratumCounts, StratumWeights
from askance.evaluate.quality.unanswered import join_bins, normal_quantile

FEW = 10  # answers of a class; with fewer, first-order changes are not enough
STEP = 1e-6  # of a count, for slopes


def join_cells(counts: StratumCounts) -> tuple[Numbers, Numbers, Numbers]:
    """Answers and their unasked weights per true class, ``[class, column, group]``, and N, k, m, O and the squares per
    column and group. Groups are ask bins joined (see ``unanswered``). Events that stay open are the last group."""
    unit = 2.0 ** np.arange(ASK_BINS)
    unasked, squares = counts.unasked * (unit / UNIT), counts.squares.sum(axis=0) * (unit * unit / SQUARE_UNIT)
    known = np.stack([counts.events, counts.asked, counts.answered.sum(axis=0), unasked.sum(axis=0), squares])
    cells = np.concatenate([known, counts.answered, unasked])
    joined = np.zeros((*cells.shape[:2], ASK_BINS))
    for column in range(cells.shape[1]):
        groups, open_events = join_bins(cells[:, column])
        joined[:, column, : groups.shape[1]] = groups
        joined[0, column, NEVER] = open_events
    answered, of_classes = np.split(joined[len(known) :], 2)
    return answered, of_classes, joined[: len(known)]


class ConfusionMatrix:
    """The estimated confusion matrix C; rows are true classes, columns predictions."""

    def __init__(self, counts: StratumCounts) -> None:
        """Estimate C_kj = answers of k + sum n q_k from counts whose places are the predicted classes."""
        answered, unasked = counts.answered.astype(np.float64), counts.unasked / UNIT
        mix = counts.answered.sum(axis=2) + 1e-9
        self.mix: Numbers = mix / mix.sum(axis=0)
        weights = StratumWeights.of(
            counts.events.astype(np.float64),
            counts.asked.astype(np.float64),
            answered.sum(axis=0),
            unasked.sum(axis=0),
            counts.squares.sum(axis=0) / SQUARE_UNIT,
        )
        without = weights.events + weights.open
        self.without = float(without.sum())
        shares = self.shares_of(weights, answered, unasked)
        self.matrix = counts.answered.sum(axis=2) + (without * shares).sum(axis=2)
        self.answers = counts.answered.sum(axis=(1, 2))
        self.right_answers = counts.answered.sum(axis=2).diagonal()
        self.never_seen = self.answers == 0
        right, events = self.matrix.diagonal(), self.matrix.sum(axis=1)
        occurs = ~self.never_seen & (events > 0.0)
        self.per_class = PerClass(
            np.where(occurs, right, 0.0), np.where(occurs, events, 0.0), self.matrix.sum(axis=0), occurs
        )
        answered, unasked, known = join_cells(counts)
        self.joined = StratumWeights.of(*known)
        size = self.joined.size
        self.smooth = (size * self.shares_of(self.joined, answered, unasked) + self.mix[:, :, None]) / (size + 1.0)

    def shares_of(self, weights: StratumWeights, answered: Numbers, unasked: Numbers) -> Numbers:
        """q_k = (weight of the answers of class k) / (weight of all), the column's own mix where there are none."""
        known = divide(weights.weight(answered, unasked), weights.total)
        return np.where(weights.total > 0.0, known, self.mix[:, :, None])

    def deviation(self, gradient: Numbers) -> tuple[float, float]:
        """The standard deviation of a metric with gradient z, and how far groups without answers could move it.

            sqrt(sum over groups of (n^2 / (m - 1) + n) Var(z)),        sum over groups of open max_k |z_k - E(z)|

        with E and Var under the smoothed shares of the group."""
        z = gradient[:, :, None]
        mean = (self.smooth * z).sum(axis=0)
        variance = (self.smooth * (z - mean) ** 2).sum(axis=0)
        degrees = np.where(self.joined.size > 0.0, np.maximum(self.joined.size - 1.0, 1.0), 0.0)
        factor = divide(self.joined.events**2, degrees) + self.joined.events
        unknown = (self.joined.open * np.abs(z - mean).max(axis=0)).sum()
        return float(np.sqrt((factor * variance).sum())), float(unknown)

    def estimate(self, metric: Metric, formula: Formula, level: float) -> Estimate:
        """The value f of a metric, and its limits."""
        at = self.per_class
        if not at.occurs.any():
            return Estimate(0.0, metric.smallest, metric.largest)
        value, z = float(formula(at)), normal_quantile(level)
        found = interval_within(
            value, self.deviation(gradient_of(formula, at)), self.rare_moves(formula, value, level), z, metric
        )
        return self.with_unseen(formula, found) if self.without and self.never_seen.any() else found

    def rare_moves(self, formula: Formula, value: float, level: float) -> tuple[float, float]:
        """How far the metric could lie below and above because of classes with few answers: the root of the sum of the
        squares of its moves with the recall of each, which has Clopper and Pearson's limits.

        With r right and w wrong answers, these are quantiles of Beta(r, w + 1) and Beta(r + 1, w)."""
        from scipy.special import betaincinv

        at = self.per_class
        few = np.flatnonzero((self.answers > 0) & (self.answers < FEW))
        if not len(few):
            return 0.0, 0.0
        right = self.right_answers[few].astype(np.float64)
        wrong, tail = self.answers[few] - right, (1.0 - level) / 2.0
        recall = divide(at.right, at.events)[few]
        low = np.where(right > 0, betaincinv(np.maximum(right, 1.0), wrong + 1.0, tail), 0.0)
        high = np.where(wrong > 0, betaincinv(right + 1.0, np.maximum(wrong, 1.0), 1.0 - tail), 1.0)
        rows = np.repeat(at.right[None], 2 * len(few), axis=0)
        limits = np.concatenate([np.minimum(low, recall), np.maximum(high, recall)])
        rows[np.arange(2 * len(few)), np.tile(few, 2)] = limits * np.tile(at.events[few], 2)
        moves = np.asarray(formula(replace(at, right=rows)), float) - value
        down, up = np.minimum(moves, 0.0), np.maximum(moves, 0.0)
        return float(np.sqrt((down * down).sum())), float(np.sqrt((up * up).sum()))

    def with_unseen(self, formula: Formula, found: Estimate) -> Estimate:
        """The limits where classes that were never seen may have occurred nevertheless, all predicted rightly or none.

        The other classes are as right, or as wrong, as the limits without these classes say."""
        at = self.per_class
        size = np.maximum(at.predictions, 1.0)
        none = np.zeros_like(size)

        def value(others: str, unseen: str | None) -> float:
            """The metric with the other classes ``as they are``, all ``right`` or all ``wrong``."""
            rest = {"as they are": at.right, "right": np.where(at.occurs, at.events, at.right), "wrong": none}[others]
            of_unseen = {None: at.right, "right": size, "wrong": none}[unseen]
            predictions = np.where(at.occurs, at.events, at.predictions) if others == "right" else at.predictions
            return float(
                formula(
                    PerClass(
                        np.where(self.never_seen, of_unseen, rest),
                        at.events if unseen is None else np.where(self.never_seen, size, at.events),
                        predictions if unseen is None else np.where(self.never_seen, size, predictions),
                        at.occurs if unseen is None else at.occurs | self.never_seen,
                    )
                )
            )

        def limit(end: float, all_of: str) -> float:
            start, stop = found.value, value(all_of, None)
            part = min(max((end - start) / (stop - start), 0.0), 1.0) if stop != start else 0.0
            first, last = value("as they are", all_of), value(all_of, all_of)
            return first + part * (last - first)

        return Estimate(
            found.value, min(limit(found.low, "wrong"), found.low), max(limit(found.high, "right"), found.high)
        )


Formula = Callable[[PerClass], Any]


def estimate_classes(
    counts: StratumCounts, metrics: Sequence[Metric], weights: Weights, level: float
) -> dict[str, Estimate]:
    """The metrics of all classes together."""
    cells = ConfusionMatrix(counts)
    return {
        metric.name: cells.estimate(metric, partial(metric.of_classes, weights=weights), level) for metric in metrics
    }


def gradient_of(formula: Formula, at: PerClass) -> Numbers:
    """z_kj = [k = j] df / dC_kk + df / dR_k, by differences; 0 for the row of a class that has no events."""
    classes = len(at.right)
    step = STEP * np.where(at.events > 0.0, at.events, np.maximum(at.predictions, 1.0))
    moves = np.diag(step)

    def slope(name: str) -> Numbers:
        values = getattr(at, name)
        rows = np.concatenate([values + moves, np.maximum(values - moves, 0.0)])
        above, below = np.split(np.asarray(formula(replace(at, **{name: rows})), float), 2)
        return (above - below) / (step + np.minimum(step, values))

    return slope("right")[:, None] * np.eye(classes) + slope("events")[:, None]


def interval_within(
    value: float, deviation: tuple[float, float], rare: tuple[float, float], z: float, metric: Metric
) -> Estimate:
    """The interval of a value v with standard deviation sigma, widened by rare classes and by what is unknown.

        logit(low), logit(high) = logit(v) -+ z sigma / (v (1 - v))

    with v and sigma in units of the metric's range. The moves from v to these limits and those of the rare classes are
    added as squares, the unknown in full. Without a largest value the limits are v -+ z sigma."""
    sigma, unknown = deviation
    if metric.largest == np.inf:
        down = up = z * sigma
    else:
        width = metric.largest - metric.smallest
        share = metric.as_share(value)
        inside = min(max(share, 1e-6), 1.0 - 1e-6)
        step = min(z * sigma / width / (inside * (1.0 - inside)), 700.0)
        odds = inside / (1.0 - inside)
        low, high = odds * np.exp(-step), odds * np.exp(step)
        down = width * (share - min(low / (1.0 + low), share))
        up = width * (max(high / (1.0 + high), share) - share)
    return Estimate(
        value,
        float(max(value - np.hypot(down, rare[0]) - unknown, metric.smallest)),
        float(min(value + np.hypot(up, rare[1]) + unknown, metric.largest)),
    )
