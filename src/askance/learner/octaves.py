"""How rare a question was: the octaves by which events and answers are filed, and what is kept of their odds.

Octave h holds the probabilities of asking with 2^-(h+1) <= p < 2^-h; 0 holds p = 1 too, 20 everything below 2^-20, and
21 what could not be asked. An answer stands for (1 - p) / p events not asked: its odds. They are kept relative to the
octave, as whole multiples of 2^-20, so that sums of them are exact.
"""

from __future__ import annotations

from math import frexp

OCTAVES = 22
RAREST = 20
NEVER = 21
UNIT = 1 << 20
SQUARE_SHIFT = 10  # squares of odds lose so many bits, and then have room for two thousand million answers
SQUARE_UNIT = UNIT * UNIT >> SQUARE_SHIFT


def octave_of(probability: float) -> int:
    """The octave of one probability of asking; also a kernel.

    >>> [octave_of(p) for p in (1.0, 0.5, 0.49, 0.01, 1e-9, 0.0)]
    [0, 0, 1, 6, 20, 21]
    """
    if probability <= 0.0:
        return NEVER
    return min(RAREST, max(0, -frexp(probability)[1]))
