"""Estimates that look at scores: the area under the ROC curve and the calibration error.

**Area.** Scores are filed in bins, sixteen to the octave; pairs within a bin count half. How many events have their
score in a bin is known. In each group the wrong ones among the unseen are spread over the bins as the wrong ones seen,
and all others are what is left. The interval is that of the mistakes of the groups, each multiplied by what one mistake
at its scores costs the area, and what the order within the bins might do.

**Calibration.** The expected calibration error in ten bins of equal width: the mean over all events of
|mean probability - share of positives| of their bin. Noise makes such absolute values too large; the bias of a normal
deviate is taken off, and the interval reaches from the largest bias there can be to none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from askance.metrics.arrays import column, is_label
from askance.metrics.probability import probabilities
from askance.quality.bins import CALIBRATION_BINS, OCTAVES, SCORE_BINS, probability_bins
from askance.quality.counted import UNKNOWN, Mistakes
from askance.quality.limits import Numbers
from askance.quality.result import Estimate
from askance.quality.tally import Tally


def area(tally: Tally, mistakes: Mistakes) -> Estimate:
    """Of a tally of two classes whose places are predicted class and score bin."""
    shape = (2, SCORE_BINS, OCTAVES)
    answered = tally.answered.reshape(2, *shape).astype(np.float64)
    without = tally.events.reshape(shape) - answered.sum(axis=0)
    odds = tally.odds.reshape(2, *shape).astype(np.float64)
    wrong_odds = np.stack([odds[1, 0], odds[0, 1]])
    total_odds = wrong_odds.sum(axis=1)
    all_without = np.maximum(without.sum(axis=1), 1.0)
    spread = np.where(
        total_odds[:, None] > 0.0,
        wrong_odds / np.where(total_odds > 0.0, total_odds, 1.0)[:, None],
        without / all_without[:, None],
    )
    groups = mistakes.unseen
    seen_wrong = mistakes.seen[:, None]
    anywhere = without / all_without[:, None]
    mixed = (spread * seen_wrong + anywhere) / (seen_wrong + 1.0)

    def ordered(number: Numbers, extra: Numbers) -> Ordered | None:
        """The order there would be with these numbers of unseen mistakes, the extra ones anywhere in their group."""
        wrong = spread * number[:, None] + anywhere * extra[:, None]
        right = without - wrong
        positive = (answered[1].sum(axis=0) + wrong[0] + right[1]).sum(axis=1)
        negative = (answered[0].sum(axis=0) + right[0] + wrong[1]).sum(axis=1)
        return Ordered.of(positive, negative)

    nothing = np.zeros_like(groups.value)
    at_best, at_worst = groups.low <= 0.0, groups.high >= groups.events
    middle = ordered(groups.value, nothing)
    best = ordered(np.where(at_best, groups.low, groups.value), nothing)
    worst = ordered(groups.value, np.where(at_worst, groups.high - groups.value, 0.0))
    if middle is None or best is None or worst is None:
        return UNKNOWN
    effect = np.sqrt((mixed * middle.gain[None, :, None] ** 2).sum(axis=1))
    up = np.sqrt((((groups.value - groups.low) * effect * ~at_best) ** 2).sum())
    down = np.sqrt((((groups.high - groups.value) * effect * ~at_worst) ** 2).sum())
    value = min(max(middle.area, 0.0), 1.0)
    low, high = worst.area - worst.ties - down, best.area + best.ties + up
    return Estimate(value, float(max(min(low, value), 0.0)), float(min(max(high, value), 1.0)))


class Ordered(NamedTuple):
    """The area of an order, and what it gains when one event in a bin turns from negative to positive."""

    area: float
    ties: float
    """How far the order within the bins, which is not known, could move the area."""
    gain: Numbers

    @classmethod
    def of(cls, positive: Numbers, negative: Numbers) -> Ordered | None:
        positives, negatives = positive.sum(), negative.sum()
        if positives < 0.5 or negatives < 0.5:
            return None
        below = (np.cumsum(negative) - 0.5 * negative) / negatives
        above = (positives - np.cumsum(positive) + 0.5 * positive) / positives
        area = float((positive * below).sum() / positives)
        ties = float(np.abs(positive * negative).sum() / (2.0 * positives * negatives))
        return cls(area, ties, (below - area) / positives - (above - area) / negatives)


def calibration_error(truth: ArrayLike, probability_positive: ArrayLike, positive: Any) -> float:
    """The expected calibration error with all labels known, ten bins of equal width; NaN for an empty stream.

    >>> round(calibration_error([1, 1, -1, -1], [0.95, 0.85, 0.15, 0.25], positive=1), 6)
    0.15
    """
    truth = column("truth", truth)
    probability = probabilities(probability_positive, len(truth))
    if not len(truth):
        return float("nan")
    place = probability_bins(probability)
    expected = np.bincount(place, probability, minlength=CALIBRATION_BINS)
    found = np.bincount(place, is_label(truth, positive), minlength=CALIBRATION_BINS)
    return float(np.abs(expected - found).sum() / len(truth))


def calibration(mistakes: Mistakes, expected: Numbers, z: float) -> Estimate:
    """``mistakes`` are the positives per bin of probabilities; ``expected`` the sums of the probabilities."""
    from scipy.special import ndtr

    events = mistakes.events.sum(axis=1)
    total = events.sum()
    if not total:
        return UNKNOWN
    groups = mistakes.unseen
    gap = (expected - (mistakes.seen + groups.value).sum(axis=1)) / total
    noise = np.sqrt((((groups.high - groups.low) / (2.0 * z)) ** 2).sum(axis=1)) / total
    size = np.sqrt(np.maximum(gap * gap - noise * noise, 0.0))
    ratio = np.divide(size, noise, out=np.full_like(size, 30.0), where=noise > 0.0)
    folded = noise * np.sqrt(2.0 / np.pi) * np.exp(-0.5 * ratio**2) + size * (1.0 - 2.0 * ndtr(-ratio))
    raw, bias = float(np.abs(gap).sum()), float((folded - size).sum())
    largest_bias = float((noise * np.sqrt(2.0 / np.pi)).sum())
    spread = z * float(np.sqrt((noise * noise).sum()))
    value = max(raw - bias, 0.0)
    return Estimate(value, min(max(raw - largest_bias - spread, 0.0), value), min(raw + spread, 1.0))
