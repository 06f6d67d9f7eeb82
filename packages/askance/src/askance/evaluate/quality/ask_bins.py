"""Ask bins: events with about the same ask probability p, within a factor of two, and what their answers stand for.

    bin h       2^-(h+1) <= p < 2^-h
    bin 0       p = 1 too
    bin 20      everything below 2^-20
    bin 21      p = 0: events that could not be asked

An answer stands for (1 - p) / p events that were not asked: its unasked weight. In bin h it is kept as 2^-h (1 - p) /
p, rounded to whole multiples of 2^-20, so that sums of them are exact.
"""

from __future__ import annotations

from math import frexp

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
