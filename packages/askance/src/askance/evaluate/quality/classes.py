"""Estimates of the averages over three or more classes: balanced accuracy, macro recall and macro F1.

They depend on the whole confusion matrix C, with true classes k as rows and predictions j as columns. It is estimated
group by group (predicted class and ask bin): a group with n events without an answer adds

    C_kj += answers of class k + n q_k,        q_k = (weight of the answers of class k) / (weight of all)

(see ``stratum_weights``). With row sums R_k and column sums P_k,

    recall_k = C_kk / R_k                 d recall_k / d C_kj = ([k = j] - recall_k) / R_k
    F1_k = 2 C_kk / (R_k + P_k)           d F1_k / d C_kj = (2 [k = j] - F1_k) / (R_k + P_k)        for P_k is known

The interval comes from the first-order change z of the metric with each cell. Ask bins are joined (see ``joint``). A
group with m answers varies by

    (n^2 / (m - 1) + n) Var(z)        under (m q_k + mix_k) / (m + 1): one answer of the column's own mix added

and the limits are taken on the log-odds scale. A class with fewer than ten answers varies more than first-order changes
tell: its recall has Clopper and Pearson's limits besides. What cannot be estimated is added in full: groups without any
answer, and classes of which no event was ever seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from askance.evaluate.metrics.arrays import Numbers, divide
from askance.evaluate.quality.ask_bins import ASK_BINS, NEVER, SQUARE_UNIT, UNIT
from askance.evaluate.quality.joint import join_bins
from askance.evaluate.quality.result import Estimate
from askance.evaluate.quality.stratum_counts import StratumCounts
from askance.evaluate.quality.stratum_weights import StratumWeights
from askance.evaluate.quality.unanswered import normal_quantile

FEW = 10


def join_cells(counts: StratumCounts) -> tuple[Numbers, Numbers, Numbers]:
    """Answers and their unasked weights per true class, ``[class, column, group]``, and N, k, m, O and the squares per
    column and group. Groups are ask bins joined (see ``joint``). Events that stay open are the last group."""
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
        self.right = counts.answered.sum(axis=2).diagonal()
        self.never_seen = self.answers == 0
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

    def rare_recall(self, recall: Numbers, level: float) -> tuple[Numbers, Numbers]:
        """How far the recall of a class with few answers could lie below and above, by Clopper and Pearson's limits.

        With r right and w wrong answers, these are quantiles of Beta(r, w + 1) and Beta(r + 1, w)."""
        from scipy.special import betaincinv

        few = (self.answers > 0) & (self.answers < FEW)
        right, wrong = self.right.astype(np.float64), (self.answers - self.right).astype(np.float64)
        tail = (1.0 - level) / 2.0
        low = np.where(right > 0, betaincinv(np.maximum(right, 1.0), wrong + 1.0, tail), 0.0)
        high = np.where(wrong > 0, betaincinv(right + 1.0, np.maximum(wrong, 1.0), 1.0 - tail), 1.0)
        return np.where(few, np.maximum(recall - low, 0.0), 0.0), np.where(few, np.maximum(high - recall, 0.0), 0.0)


def averages(counts: StratumCounts, level: float) -> dict[str, Estimate]:
    """Balanced accuracy, macro recall and macro F1: means of recall_k over the classes that occur, of recall_k over all
    classes, and of F1_k over all classes."""
    z = normal_quantile(level)
    cells = ConfusionMatrix(counts)
    events, predictions, right = cells.matrix.sum(axis=1), cells.matrix.sum(axis=0), cells.matrix.diagonal()
    classes = len(right)
    unanswered = int(cells.never_seen.sum()) if cells.without else 0
    occurs = ~cells.never_seen & (events > 0.0)
    own = np.eye(classes)

    recall = np.where(occurs, right / np.where(events > 0.0, events, 1.0), 0.0)
    by_recall = np.where(occurs[:, None], (own - recall[:, None]) / np.where(events > 0.0, events, 1.0)[:, None], 0.0)
    both = events + predictions
    f1 = np.where(both > 0.0, 2.0 * right / np.where(both > 0.0, both, 1.0), 0.0)
    by_f1 = np.where(both[:, None] > 0.0, (2.0 * own - f1[:, None]) / np.where(both > 0.0, both, 1.0)[:, None], 0.0)

    count = max(int(occurs.sum()), 1)
    below, above = cells.rare_recall(recall, level)
    rare = np.array([np.sqrt((below**2).sum()), np.sqrt((above**2).sum())])
    part = 2.0 * events / np.where(both > 0.0, both, 1.0)  # F1_k = recall_k 2 R_k / (R_k + P_k)
    rare_f1 = np.array([np.sqrt(((below * part) ** 2).sum()), np.sqrt(((above * part) ** 2).sum())])
    macro = interval_of_share(recall.mean(), cells.deviation(by_recall / classes), rare / classes, z)
    balanced = interval_of_share(recall.sum() / count, cells.deviation(by_recall / count), rare / count, z)
    macro_f1 = interval_of_share(f1.mean(), cells.deviation(by_f1 / classes), rare_f1 / classes, z)
    # A class that was never seen may have occurred nevertheless, with a recall of 0 or 1.
    some = int(occurs.sum()) / (int(occurs.sum()) + unanswered) if unanswered else 1.0
    return {
        "balanced_accuracy": Estimate(balanced.value, balanced.low * some, balanced.high * some + 1.0 - some),
        "recall": Estimate(macro.value, macro.low, min(macro.high + unanswered / classes, 1.0)),
        "f1": Estimate(macro_f1.value, macro_f1.low, min(macro_f1.high + unanswered / classes, 1.0)),
    }


def interval_of_share(value: Any, deviation: tuple[float, float], rare: Numbers, z: float) -> Estimate:
    """The interval of a share v with standard deviation sigma, widened by rare classes and by what is unknown.

        logit(low), logit(high) = logit(v) -+ z sigma / (v (1 - v))

    The moves from v to these limits and those of the rare classes are added as squares, the unknown in full."""
    value, (sigma, unknown) = float(value), deviation
    inside = min(max(value, 1e-6), 1.0 - 1e-6)
    step = min(z * sigma / (inside * (1.0 - inside)), 700.0)
    odds = inside / (1.0 - inside)
    low, high = odds * np.exp(-step), odds * np.exp(step)
    down, up = value - min(low / (1.0 + low), value), max(high / (1.0 + high), value) - value
    return Estimate(
        value,
        float(max(value - np.hypot(down, rare[0]) - unknown, 0.0)),
        float(min(value + np.hypot(up, rare[1]) + unknown, 1.0)),
    )
