"""Estimates of the averages over three or more classes: balanced accuracy, macro recall and macro F1.

They depend on the whole confusion matrix. Its cells are estimated group by group (predicted class and octave), as
the seen answers plus the unseen events times the weighted shares of the true classes (see ``standing``). The interval
comes from the first-order change of the metric with each cell: with the gradient z of a cell, a group of n events
without an answer and m answers varies by

    (n^2 / m + n) Var(z)        under the shares of the group, one answer of the column's own mix added

and the limits are taken on the log-odds scale. A class seen in fewer than ten answers varies by more than first-order
changes tell: its recall has Clopper and Pearson's limits besides. What cannot be estimated is added in full: groups
without any answer, and classes of which no event was ever seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from askance.learner.octaves import SQUARE_UNIT, UNIT
from askance.quality.limits import normal_quantile
from askance.quality.result import Estimate
from askance.quality.standing import Numbers, Standing, divide
from askance.quality.tally import Tally

FEW = 10


class Cells:
    """The confusion matrix, estimated; rows are true classes, columns predictions."""

    def __init__(self, tally: Tally) -> None:
        """Of a tally whose places are the predicted classes."""
        odds, squares = tally.odds / UNIT, tally.squares.sum(axis=0) / SQUARE_UNIT
        answered = tally.answered.astype(np.float64)
        self.standing = Standing.of(
            tally.events.astype(np.float64),
            tally.asked.astype(np.float64),
            answered.sum(axis=0),
            odds.sum(axis=0),
            squares,
        )
        size, total = self.standing.size, self.standing.total
        mix = tally.answered.sum(axis=2) + 1e-9
        mix = mix / mix.sum(axis=0)
        self.shares = np.where(total > 0.0, divide(self.standing.weight(answered, odds), total), mix[:, :, None])
        self.smooth = (size * self.shares + mix[:, :, None]) / (size + 1.0)
        without = self.standing.events + self.standing.open
        self.without = float(without.sum())
        self.matrix = tally.answered.sum(axis=2) + (without * self.shares).sum(axis=2)
        self.answers = tally.answered.sum(axis=(1, 2))
        self.right = tally.answered.sum(axis=2).diagonal()
        self.never_seen = self.answers == 0

    def deviation(self, gradient: Numbers) -> tuple[float, float]:
        """The standard deviation of a metric with this gradient, and how far unknown groups could move it."""
        z = gradient[:, :, None]
        mean = (self.smooth * z).sum(axis=0)
        variance = (self.smooth * (z - mean) ** 2).sum(axis=0)
        factor = divide(self.standing.events**2, self.standing.size) + self.standing.events
        unknown = (self.standing.open * np.abs(z - mean).max(axis=0)).sum()
        return float(np.sqrt((factor * variance).sum())), float(unknown)

    def rare_recall(self, recall: Numbers, level: float) -> tuple[Numbers, Numbers]:
        """How far the recall of each class could lie below and above, for classes with few answers."""
        from scipy.special import betaincinv

        few = (self.answers > 0) & (self.answers < FEW)
        right, wrong = self.right.astype(np.float64), (self.answers - self.right).astype(np.float64)
        tail = (1.0 - level) / 2.0
        low = np.where(right > 0, betaincinv(np.maximum(right, 1.0), wrong + 1.0, tail), 0.0)
        high = np.where(wrong > 0, betaincinv(right + 1.0, np.maximum(wrong, 1.0), 1.0 - tail), 1.0)
        return np.where(few, np.maximum(recall - low, 0.0), 0.0), np.where(few, np.maximum(high - recall, 0.0), 0.0)


def averages(tally: Tally, level: float) -> dict[str, Estimate]:
    """Balanced accuracy, macro recall and macro F1."""
    z = normal_quantile(level)
    cells = Cells(tally)
    events, predictions, right = cells.matrix.sum(axis=1), cells.matrix.sum(axis=0), cells.matrix.diagonal()
    classes = len(right)
    unseen = int(cells.never_seen.sum()) if cells.without else 0
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
    part = 2.0 * events / np.where(both > 0.0, both, 1.0)  # of F1 that one unit of recall is worth
    rare_f1 = np.array([np.sqrt(((below * part) ** 2).sum()), np.sqrt(((above * part) ** 2).sum())])
    macro = limits(recall.mean(), cells.deviation(by_recall / classes), rare / classes, z)
    balanced = limits(recall.sum() / count, cells.deviation(by_recall / count), rare / count, z)
    macro_f1 = limits(f1.mean(), cells.deviation(by_f1 / classes), rare_f1 / classes, z)
    # A class never seen may have occurred all the same, found always or never.
    some = int(occurs.sum()) / (int(occurs.sum()) + unseen) if unseen else 1.0
    return {
        "balanced_accuracy": Estimate(balanced.value, balanced.low * some, balanced.high * some + 1.0 - some),
        "recall": Estimate(macro.value, macro.low, min(macro.high + unseen / classes, 1.0)),
        "f1": Estimate(macro_f1.value, macro_f1.low, min(macro_f1.high + unseen / classes, 1.0)),
    }


def limits(value: Any, deviation: tuple[float, float], rare: Numbers, z: float) -> Estimate:
    """The interval of a share on the log-odds scale, widened by rare classes and by what is unknown."""
    value, (spread, unknown) = float(value), deviation
    inside = min(max(value, 1e-6), 1.0 - 1e-6)
    step = min(z * spread / (inside * (1.0 - inside)), 700.0)
    odds = inside / (1.0 - inside)
    low, high = odds * np.exp(-step), odds * np.exp(step)
    down, up = value - min(low / (1.0 + low), value), max(high / (1.0 + high), value) - value
    return Estimate(
        value,
        float(max(value - np.hypot(down, rare[0]) - unknown, 0.0)),
        float(min(value + np.hypot(up, rare[1]) + unknown, 1.0)),
    )
