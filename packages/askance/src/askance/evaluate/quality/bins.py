"""The bins in which events are counted: by ask probability p, and by score.

The bins are few and fixed. So the state of an estimate has a fixed size, one answer costs a few additions of whole
numbers, and any order of the answers leaves the same state, to the last bit.

    ask bin h   2^-(h+1) <= p < 2^-h; p = 1 is in bin 0, all below 2^-20 in bin 20, and p = 0, not to be asked, in 21
    score bin   sixteen to a factor of two of |score|, on both sides of zero, for the 24 binary exponents up to that of
                the largest |score|; what is smaller shares a bin with zero

Of the events of a group, those not asked are a sample with probabilities 1 - p, the asked ones one with probabilities
p. An answer stands for (1 - p) / p events not asked: its unasked weight. Within an ask bin these differ little, and
only their ratios are used, so they are kept as 2^-h (1 - p) / p, rounded to whole multiples of 2^-20: sums are exact.

Scores have any scale, and the area under the ROC curve does not depend on it. So a score has a key, a whole number that
grows with it over all floating-point numbers. The bin of a key depends on the largest exponent seen so far; when a
larger one comes, the bins move down (``Ledger.place``). In the end the bins depend on the events alone, not on their
order.
"""

from __future__ import annotations

from math import frexp

import numpy as np
from numpy.typing import NDArray

from askance.evaluate.metrics.scores import CALIBRATION_BINS

ASK_BINS = 22
RAREST = 20
NEVER = 21
UNIT = 1 << 20
SQUARE_SHIFT = 10  # bits that squares of unasked weights lose, which leaves room for two thousand million answers
SQUARE_UNIT = UNIT * UNIT >> SQUARE_SHIFT


def ask_bin_of(probability: float) -> int:
    """The ask bin of one ask probability, h = ceil(-log2 p) - 1 within 0 to 20; also a kernel.

    >>> [ask_bin_of(p) for p in (1.0, 0.5, 0.49, 0.01, 1e-9, 0.0)]
    [0, 0, 1, 6, 20, 21]
    """
    if probability <= 0.0:
        return NEVER
    return min(RAREST, max(0, -frexp(probability)[1]))


Integers = NDArray[np.int64]

BINS_PER_EXPONENT = 16
SCORE_EXPONENTS = 24
LOWEST_EXPONENT = -1100  # below that of the smallest number there is, so that keys of scores other than 0 are above 0
BINS_PER_SIDE = BINS_PER_EXPONENT * SCORE_EXPONENTS
SCORE_BINS = 2 * BINS_PER_SIDE + 1
LOWEST_TOP = SCORE_EXPONENTS  # before there is any score


def ask_bins_of(probability: NDArray[np.float64]) -> Integers:
    """The ask bins of many ask probabilities."""
    exponent = np.frexp(probability)[1].astype(np.int64)
    return np.where(probability <= 0.0, NEVER, np.clip(-exponent, 0, RAREST))


def unasked_weight(probability: float, h: int) -> int:
    """2^-h (1 - p) / p as a multiple of 2^-20; a p below 2^-21 counts as 2^-21."""
    p = max(probability, 0.5 ** (RAREST + 1))
    return round((1.0 - p) / p * 0.5**h * UNIT)


def unasked_weights(probability: NDArray[np.float64], h: Integers) -> Integers:
    """``unasked_weight`` for many ask probabilities."""
    p = np.maximum(probability, 0.5 ** (RAREST + 1))
    return np.rint((1.0 - p) / p * 0.5**h * UNIT).astype(np.int64)


def score_key(score: float) -> int:
    """The key of one signed score: 16 times its binary exponent plus the sixteenth within it, with the score's sign.

    >>> [score_key(score) - score_key(1.0) for score in (1.0, 1.06, 1.07, 2.0, 4.0)]
    [0, 0, 1, 16, 32]
    >>> score_key(0.0), score_key(-1.0) == -score_key(1.0)
    (0, True)
    """
    if score == 0.0:
        return 0
    mantissa, exponent = frexp(abs(score))
    key = (exponent - LOWEST_EXPONENT) * BINS_PER_EXPONENT + int((mantissa - 0.5) * (2 * BINS_PER_EXPONENT))
    return key if score > 0.0 else -key


def score_keys(score: NDArray[np.float64]) -> Integers:
    """The keys of many scores."""
    mantissa, exponent = np.frexp(np.abs(score))
    step = ((mantissa - 0.5) * (2 * BINS_PER_EXPONENT)).astype(np.int64)
    key = (exponent.astype(np.int64) - LOWEST_EXPONENT) * BINS_PER_EXPONENT + step
    return np.where(score == 0.0, 0, np.where(score > 0.0, key, -key))


def score_bin(key: int, top: int) -> int:
    """The bin of a key, where ``top`` is the largest exponent, ``abs(key) // 16``, of all keys.

    >>> one = score_key(1.0)
    >>> [score_bin(key, one // 16) - BINS_PER_SIDE for key in (-one, 0, one, one + 15, one - 16 * 23, one - 16 * 24)]
    [-369, 0, 369, 384, 1, 0]
    """
    step = max(abs(key) - (top + 1 - SCORE_EXPONENTS) * BINS_PER_EXPONENT + 1, 0)
    return BINS_PER_SIDE + (step if key > 0 else -step)


def score_bins(keys: Integers, top: int) -> Integers:
    """The bins of many keys."""
    step = np.maximum(np.abs(keys) - (top + 1 - SCORE_EXPONENTS) * BINS_PER_EXPONENT + 1, 0)
    return BINS_PER_SIDE + np.where(keys > 0, step, -step)


def top_exponent(keys: Integers) -> int:
    """The largest exponent of many keys."""
    return max(int(np.abs(keys).max(initial=0)) // BINS_PER_EXPONENT, LOWEST_TOP)


def probability_bin(probability_positive: float) -> int:
    """``calibration_bins`` for one event."""
    return min(int(probability_positive * CALIBRATION_BINS), CALIBRATION_BINS - 1)


def as_score(probability_positive: float) -> float:
    """A probability as a signed score: log2 of the odds, with a straight line between the powers of two."""
    p = min(max(probability_positive, 1e-18), 1.0 - 2.0**-53)
    mantissa, exponent = frexp(p / (1.0 - p) if p >= 0.5 else (1.0 - p) / p)
    size = exponent - 2.0 + 2.0 * mantissa
    return size if p >= 0.5 else -size


def as_scores(probability_positive: NDArray[np.float64]) -> NDArray[np.float64]:
    """``as_score`` for many probabilities."""
    p = np.clip(probability_positive, 1e-18, 1.0 - 2.0**-53)
    mantissa, exponent = np.frexp(np.where(p >= 0.5, p / (1.0 - p), (1.0 - p) / p))
    size = exponent - 2.0 + 2.0 * mantissa
    return np.where(p >= 0.5, size, -size)
