"""Where an event is filed: by the octave of its ask probability, and by its score.

The files are few and fixed, so that the state of an estimate has a fixed size, one answer costs a few additions of
whole numbers, and any order of the answers leaves the same state, to the last bit.

    octave h    2^-(h+1) <= p < 2^-h; 0 holds p = 1 too, 20 everything below 2^-20, and 21 what could not be asked
    score bin   sixteen to the octave of |score|, on both sides of zero

Of the events of a group, those never answered are a sample with probabilities 1 - p, the answered ones one with
probabilities p. An answer stands for (1 - p) / p events without one: its odds. Within an octave they differ little,
and only their ratios are used, so they are kept relative to the octave, as whole multiples of 2^-20.
"""

from __future__ import annotations

from math import frexp

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

OCTAVES = 22
RAREST = 20
NEVER = 21
UNIT = 1 << 20
SQUARE_SHIFT = 10  # squares of odds lose so many bits, and then have room for two thousand million answers
SQUARE_UNIT = UNIT * UNIT >> SQUARE_SHIFT

BINS_PER_OCTAVE = 16
SMALLEST_EXPONENT = -6  # |score| below 2^-6 shares a bin with zero
LARGEST_EXPONENT = 10  # and above 2^10 with infinity
BINS_PER_SIDE = BINS_PER_OCTAVE * (LARGEST_EXPONENT - SMALLEST_EXPONENT)
SCORE_BINS = 2 * BINS_PER_SIDE + 1

CALIBRATION_BINS = 10


def octave(probability: float) -> int:
    """The octave of one ask probability.

    >>> [octave(p) for p in (1.0, 0.5, 0.49, 0.01, 1e-9, 0.0)]
    [0, 0, 1, 6, 20, 21]
    """
    if probability <= 0.0:
        return NEVER
    return min(max(-frexp(probability)[1], 0), RAREST)


def octaves(probability: NDArray[np.float64]) -> Integers:
    """The octaves of many."""
    exponent = np.frexp(probability)[1].astype(np.int64)
    return np.where(probability <= 0.0, NEVER, np.clip(-exponent, 0, RAREST))


def odds(probability: float, h: int) -> int:
    """(1 - p) / p relative to the octave, as a multiple of 2^-20; what is rarer than octave 20 counts as its edge."""
    p = max(probability, 0.5 ** (RAREST + 1))
    return round((1.0 - p) / p * 0.5**h * UNIT)


def many_odds(probability: NDArray[np.float64], h: Integers) -> Integers:
    p = np.maximum(probability, 0.5 ** (RAREST + 1))
    return np.rint((1.0 - p) / p * 0.5**h * UNIT).astype(np.int64)


def score_bin(score: float) -> int:
    """The bin of one signed score; equal scores share a bin, and a larger score never has a smaller one.

    >>> [score_bin(score) for score in (-1e9, -1.0, -0.9, 0.0, 0.9, 1.0, 1e9)]
    [0, 159, 163, 256, 349, 353, 512]
    """
    mantissa, exponent = frexp(abs(score))
    step = (exponent - 1 - SMALLEST_EXPONENT) * BINS_PER_OCTAVE + int((mantissa - 0.5) * (2 * BINS_PER_OCTAVE))
    step = min(step, BINS_PER_SIDE - 1) + 1 if abs(score) >= 2.0**SMALLEST_EXPONENT else 0
    return BINS_PER_SIDE + step if score > 0.0 else BINS_PER_SIDE - step


def score_bins(score: NDArray[np.float64]) -> Integers:
    """The bins of many."""
    mantissa, exponent = np.frexp(np.abs(score))
    octave_of_size = exponent.astype(np.int64) - 1 - SMALLEST_EXPONENT
    step = octave_of_size * BINS_PER_OCTAVE + ((mantissa - 0.5) * (2 * BINS_PER_OCTAVE)).astype(np.int64)
    step = np.where(np.abs(score) >= 2.0**SMALLEST_EXPONENT, np.minimum(step, BINS_PER_SIDE - 1) + 1, 0)
    return BINS_PER_SIDE + np.where(score > 0.0, step, -step)


def probability_bin(probability_positive: float) -> int:
    """Ten bins of equal width, as calibration errors are usually defined."""
    return min(int(probability_positive * CALIBRATION_BINS), CALIBRATION_BINS - 1)


def probability_bins(probability_positive: NDArray[np.float64]) -> Integers:
    return np.minimum((probability_positive * CALIBRATION_BINS).astype(np.int64), CALIBRATION_BINS - 1)


def as_score(probability_positive: float) -> float:
    """A probability as a signed score: log2 of the odds, with a straight line between the powers of two."""
    p = min(max(probability_positive, 1e-18), 1.0 - 2.0**-53)
    mantissa, exponent = frexp(p / (1.0 - p) if p >= 0.5 else (1.0 - p) / p)
    size = exponent - 2.0 + 2.0 * mantissa
    return size if p >= 0.5 else -size


def as_scores(probability_positive: NDArray[np.float64]) -> NDArray[np.float64]:
    """Many of them."""
    p = np.clip(probability_positive, 1e-18, 1.0 - 2.0**-53)
    mantissa, exponent = np.frexp(np.where(p >= 0.5, p / (1.0 - p), (1.0 - p) / p))
    size = exponent - 2.0 + 2.0 * mantissa
    return np.where(p >= 0.5, size, -size)
