"""Estimates that read scores: the area under the ROC curve and the calibration error.

**Area.** Scores are counted in bins b, sixteen to a factor of two. With P_b positives and N_b negatives in a bin, P and
N in all, and pairs within a bin counting half,

    AUC = sum_b P_b (N_1 + ... + N_{b-1} + N_b / 2) / (P N)
    ties = sum_b P_b N_b / (2 P N)                              how far the order within the bins could move it

How many events have their score in a bin is known. In each group, the mistakes among the events without an answer are
spread over the bins like the wrong answers; all other events are what is left. The interval adds up, as squares, the
limits of the groups' mistakes, each multiplied by what one mistake at its scores costs the area; the ties come on top.

The area is also the mean, over the events of either class, of a number between 0 and 1: the share of the other class on
its right side. With few answers of a class, nothing varies more than a coin with that mean: its Clopper and Pearson's
limits are added.

**Calibration.** The expected calibration error in ten bins of equal width, with n_b events, the mean probability p_b
and the share y_b of positives:

    ECE = sum_b |g_b|,        g_b = n_b (p_b - y_b) / n

Noise makes absolute values too large. With its standard deviation sigma_b and mu_b^2 = max(g_b^2 - sigma_b^2, 0),

    bias_b = E|Normal(mu_b, sigma_b)| - mu_b
           = sigma_b sqrt(2 / pi) exp(-mu_b^2 / (2 sigma_b^2)) + mu_b (1 - 2 Phi(-mu_b / sigma_b)) - mu_b

is taken off. The interval reaches from the largest bias that there can be, sigma_b sqrt(2 / pi), to none. Events of
which nothing is known are all positive, or all negative, whichever is worse.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from askance.evaluate.metrics.arrays import Numbers, divide
from askance.evaluate.quality.bins import ASK_BINS, SCORE_BINS, SQUARE_UNIT, UNIT
from askance.evaluate.quality.mistakes import UNKNOWN, Mistakes
from askance.evaluate.quality.result import Estimate
from askance.evaluate.quality.strata import StratumCounts

FEW = 20


def area(counts: StratumCounts, mistakes: Mistakes, level: float) -> Estimate:
    """The AUC from the counts of two classes whose places are predicted class and score bin."""
    shape = (2, SCORE_BINS, ASK_BINS)
    events = counts.events.reshape(shape)
    used = events.any(axis=(0, 2))
    answered = counts.answered.reshape(2, *shape)[:, :, used].astype(np.float64)
    without = events[:, used] - answered.sum(axis=0)
    each, by_unasked = mistakes.weights.each[:, None], mistakes.weights.by_unasked[:, None]
    wrong_answers = np.stack([answered[1, 0], answered[0, 1]])
    unasked = counts.unasked.reshape(2, *shape)[:, :, used]
    weight = each * wrong_answers + by_unasked * np.stack([unasked[1, 0], unasked[0, 1]]) / UNIT
    anywhere = divide(without, without.sum(axis=1)[:, None])
    distribution = np.where(weight.sum(axis=1)[:, None] > 0.0, divide(weight, weight.sum(axis=1)[:, None]), anywhere)
    groups = mistakes.unanswered
    seen_wrong = mistakes.seen[:, None]
    mixed = (distribution * seen_wrong + anywhere) / (seen_wrong + 1.0)

    def put_in_order(number: Numbers, extra: Numbers) -> Ordered | None:
        """The area with these numbers of mistakes without an answer; the extra ones are anywhere in their group."""
        wrong = distribution * number[:, None] + anywhere * extra[:, None]
        right = without - wrong
        positive = (answered[1].sum(axis=0) + wrong[0] + right[1]).sum(axis=1)
        negative = (answered[0].sum(axis=0) + right[0] + wrong[1]).sum(axis=1)
        return Ordered.of(positive, negative)

    nothing = np.zeros_like(groups.value)
    middle = put_in_order(groups.value, nothing)
    best = put_in_order(groups.fewest, nothing)
    worst = put_in_order(groups.value, groups.most - groups.value)
    if middle is None or best is None or worst is None:
        return UNKNOWN
    effect = np.sqrt((mixed * middle.gain[None, :, None] ** 2).sum(axis=1))
    up = np.sqrt((((groups.fewest - groups.low) * effect) ** 2).sum())
    down = np.sqrt((((groups.high - groups.most) * effect) ** 2).sum())
    # A few answers may stand for more events than their bins have, and the area may then leave [0, 1].
    value, most, least = (min(max(each.area, 0.0), 1.0) for each in (middle, best, worst))
    few_down, few_up = few(counts, mistakes, value, level)
    low, high = least - worst.ties - np.hypot(down, few_down), most + best.ties + np.hypot(up, few_up)
    return Estimate(value, float(max(min(low, value), 0.0)), float(min(max(high, value), 1.0)))


def few(counts: StratumCounts, mistakes: Mistakes, value: float, level: float) -> tuple[float, float]:
    """How far the area v could lie below and above because of a class with few answers.

        share (v - Q(alpha/2; m v, m (1 - v) + 1)),        share (Q(1 - alpha/2; m v + 1, m (1 - v)) - v)

    for a class with effectively m < FEW answers, the quantile Q of the beta distribution, and the largest share of its
    events that may have no answer. The moves of the two classes are added as squares."""
    from scipy.special import betaincinv

    shape = (2, 2, SCORE_BINS, ASK_BINS)
    answers = counts.answered.reshape(shape).sum(axis=2)
    unasked = counts.unasked.reshape(shape).sum(axis=2) / UNIT
    weight = mistakes.weights.weight(answers, unasked)
    square = mistakes.weights.squares(answers, unasked, counts.squares.reshape(shape).sum(axis=2) / SQUARE_UNIT)
    without = mistakes.weights.events + mistakes.weights.open
    groups, tail = mistakes.unanswered, (1.0 - level) / 2.0
    moves = np.zeros((2, 2))
    for truth in (0, 1):
        unanswered = float((groups.high[1 - truth] + without[truth] - groups.low[truth]).sum())
        seen = float(answers[truth].sum())
        total = float(weight[truth].sum())
        size = min(total * total / float(square[truth].sum()), seen) if total > 0.0 else seen
        if size >= FEW or unanswered <= 0.0:
            continue
        hits, misses = max(size * value, 1e-9), max(size * (1.0 - value), 1e-9)
        share = unanswered / (unanswered + seen)
        moves[truth, 0] = share * max(value - betaincinv(hits, misses + 1.0, tail), 0.0)
        moves[truth, 1] = share * max(betaincinv(hits + 1.0, misses, 1.0 - tail) - value, 0.0)
    return float(np.hypot(*moves[:, 0])), float(np.hypot(*moves[:, 1]))


class Ordered(NamedTuple):
    """The area of events in order, and what it gains when one event in a bin turns from negative to positive."""

    area: float
    ties: float
    """How far the order within the bins, which is not known, could move the area."""
    gain: Numbers
    """d AUC / d P_b - d AUC / d N_b = (below_b - AUC) / P - (above_b - AUC) / N."""

    @classmethod
    def of(cls, positive: Numbers, negative: Numbers) -> Ordered | None:
        """AUC = sum_b P_b below_b / P, where below_b is the share of the negatives below bin b, half of its own added,
        and above_b that of the positives above it. None if one of the classes is missing."""
        positives, negatives = positive.sum(), negative.sum()
        if positives < 0.5 or negatives < 0.5:
            return None
        below = (np.cumsum(negative) - 0.5 * negative) / negatives
        above = (positives - np.cumsum(positive) + 0.5 * positive) / positives
        area = float((positive * below).sum() / positives)
        ties = float(np.abs(positive * negative).sum() / (2.0 * positives * negatives))
        return cls(area, ties, (below - area) / positives - (above - area) / negatives)


def calibration(mistakes: Mistakes, expected: Numbers, z: float) -> Estimate:
    """sum_b |g_b| - sum_b bias_b, with ``mistakes`` the positives per bin, and ``expected`` the sums n_b p_b.

    The limits are (sum of the least |g_b|) - sum_b sigma_b sqrt(2 / pi) - z sigma and (sum of the largest) + z sigma,
    where sigma^2 = sum_b sigma_b^2."""
    from scipy.special import ndtr

    events = mistakes.events.sum(axis=1)
    total = events.sum()
    if not total:
        return UNKNOWN
    groups = mistakes.unanswered
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
    half_width = z * float(np.sqrt((noise * noise).sum()))
    value = max(raw - bias, 0.0)
    return Estimate(value, min(max(least - largest_bias - half_width, 0.0), value), min(most + half_width, 1.0))
