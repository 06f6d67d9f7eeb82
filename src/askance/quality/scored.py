"""Estimates that look at scores: the area under the ROC curve and the calibration error.

**Area.** Scores are filed in bins, sixteen to the octave; pairs within a bin count half. How many events have their
score in a bin is known. In each group the wrong ones among the unseen are spread over the bins as the wrong ones seen,
and all others are what is left. The interval is that of the mistakes of the groups, each multiplied by what one mistake
at its scores costs the area, and what the order within the bins might do. The area is also the mean, over the events
of either class, of a number between 0 and 1: the share of the other class on its right side. With few answers of a
class, nothing varies more than a coin with that mean; its Clopper and Pearson's limits are added.

**Calibration.** The expected calibration error in ten bins of equal width: the mean over all events of
|mean probability - share of positives| of their bin. Noise makes such absolute values too large; the bias of a normal
deviate is taken off, and the interval reaches from the largest bias there can be to none. Events about which nothing is
known are all positive, or all negative, whichever is worse.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from askance.learner.octaves import OCTAVES, SQUARE_UNIT, UNIT
from askance.quality.bins import SCORE_BINS
from askance.quality.counted import UNKNOWN, Mistakes
from askance.quality.result import Estimate
from askance.quality.standing import Numbers, divide
from askance.quality.tally import Tally

FEW = 20


def area(tally: Tally, mistakes: Mistakes, level: float) -> Estimate:
    """Of a tally of two classes whose places are predicted class and score bin."""
    shape = (2, SCORE_BINS, OCTAVES)
    events = tally.events.reshape(shape)
    used = events.any(axis=(0, 2))
    answered = tally.answered.reshape(2, *shape)[:, :, used].astype(np.float64)
    without = events[:, used] - answered.sum(axis=0)
    each, by_odds = mistakes.standing.each[:, None], mistakes.standing.by_odds[:, None]
    wrong_answers = np.stack([answered[1, 0], answered[0, 1]])
    odds = tally.odds.reshape(2, *shape)[:, :, used]
    weight = each * wrong_answers + by_odds * np.stack([odds[1, 0], odds[0, 1]]) / UNIT
    anywhere = divide(without, without.sum(axis=1)[:, None])
    spread = np.where(weight.sum(axis=1)[:, None] > 0.0, divide(weight, weight.sum(axis=1)[:, None]), anywhere)
    groups = mistakes.unseen
    seen_wrong = mistakes.seen[:, None]
    mixed = (spread * seen_wrong + anywhere) / (seen_wrong + 1.0)

    def ordered(number: Numbers, extra: Numbers) -> Ordered | None:
        """The order there would be with these numbers of unseen mistakes, the extra ones anywhere in their group."""
        wrong = spread * number[:, None] + anywhere * extra[:, None]
        right = without - wrong
        positive = (answered[1].sum(axis=0) + wrong[0] + right[1]).sum(axis=1)
        negative = (answered[0].sum(axis=0) + right[0] + wrong[1]).sum(axis=1)
        return Ordered.of(positive, negative)

    nothing = np.zeros_like(groups.value)
    middle = ordered(groups.value, nothing)
    best = ordered(groups.fewest, nothing)
    worst = ordered(groups.value, groups.most - groups.value)
    if middle is None or best is None or worst is None:
        return UNKNOWN
    effect = np.sqrt((mixed * middle.gain[None, :, None] ** 2).sum(axis=1))
    up = np.sqrt((((groups.fewest - groups.low) * effect) ** 2).sum())
    down = np.sqrt((((groups.high - groups.most) * effect) ** 2).sum())
    # A few answers may stand for more events than their bins have, and the area then leave what is possible.
    value, most, least = (min(max(each.area, 0.0), 1.0) for each in (middle, best, worst))
    few_down, few_up = few(tally, mistakes, value, level)
    low, high = least - worst.ties - np.hypot(down, few_down), most + best.ties + np.hypot(up, few_up)
    return Estimate(value, float(max(min(low, value), 0.0)), float(min(max(high, value), 1.0)))


def few(tally: Tally, mistakes: Mistakes, value: float, level: float) -> tuple[float, float]:
    """How far the area could lie below and above because of a class with few answers."""
    from scipy.special import betaincinv

    shape = (2, 2, SCORE_BINS, OCTAVES)
    answers = tally.answered.reshape(shape).sum(axis=2)
    odds = tally.odds.reshape(shape).sum(axis=2) / UNIT
    weight = mistakes.standing.weight(answers, odds)
    square = mistakes.standing.squares(answers, odds, tally.squares.reshape(shape).sum(axis=2) / SQUARE_UNIT)
    without = mistakes.standing.events + mistakes.standing.open
    groups, tail = mistakes.unseen, (1.0 - level) / 2.0
    moves = np.zeros((2, 2))
    for truth in (0, 1):
        unseen = float((groups.high[1 - truth] + without[truth] - groups.low[truth]).sum())
        seen = float(answers[truth].sum())
        total = float(weight[truth].sum())
        size = min(total * total / float(square[truth].sum()), seen) if total > 0.0 else seen
        if size >= FEW or unseen <= 0.0:
            continue
        hits, misses = max(size * value, 1e-9), max(size * (1.0 - value), 1e-9)
        share = unseen / (unseen + seen)
        moves[truth, 0] = share * max(value - betaincinv(hits, misses + 1.0, tail), 0.0)
        moves[truth, 1] = share * max(betaincinv(hits + 1.0, misses, 1.0 - tail) - value, 0.0)
    return float(np.hypot(*moves[:, 0])), float(np.hypot(*moves[:, 1]))


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


def calibration(mistakes: Mistakes, expected: Numbers, z: float) -> Estimate:
    """``mistakes`` are the positives per bin of probabilities; ``expected`` the sums of the probabilities."""
    from scipy.special import ndtr

    events = mistakes.events.sum(axis=1)
    total = events.sum()
    if not total:
        return UNKNOWN
    groups = mistakes.unseen
    gap = (expected - (mistakes.seen + groups.value).sum(axis=1)) / total
    unknown = (groups.low <= 0.0) & (groups.most >= groups.high) & (groups.high > 0.0)
    noise = np.sqrt((np.where(unknown, 0.0, (groups.high - groups.low) / (2.0 * z)) ** 2).sum(axis=1)) / total
    fewer = np.where(unknown, groups.value, 0.0).sum(axis=1) / total
    more = np.where(unknown, groups.high - groups.value, 0.0).sum(axis=1) / total
    size = np.sqrt(np.maximum(gap * gap - noise * noise, 0.0))
    ratio = np.divide(size, noise, out=np.full_like(size, 30.0), where=noise > 0.0)
    folded = noise * np.sqrt(2.0 / np.pi) * np.exp(-0.5 * ratio**2) + size * (1.0 - 2.0 * ndtr(-ratio))
    raw, bias = float(np.abs(gap).sum()), float((folded - size).sum())
    least = float(np.maximum(np.maximum(gap - more, -gap - fewer), 0.0).sum())
    most = float(np.maximum(gap + fewer, more - gap).sum())
    largest_bias = float((noise * np.sqrt(2.0 / np.pi)).sum())
    spread = z * float(np.sqrt((noise * noise).sum()))
    value = max(raw - bias, 0.0)
    return Estimate(value, min(max(least - largest_bias - spread, 0.0), value), min(most + spread, 1.0))
