"""Were the labels drawn with the very random numbers that decide which events are asked?

Event t is asked if u_t, the t-th number of ``numpy.random.default_rng(random_state).random()``, is below its ask
probability. Whoever makes a stream up with the same generator and the same seed may get labels from the same numbers.
Then those who are asked are not as the others, whatever their probability, and no weight makes up for it. If label and
number are independent, the mean of u over n events of a class is 1/2, give or take 1 / sqrt(12 n).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from askance.errors import DataWarning

LOOKED_AT = 4096  # events at the beginning of a call
LEAST_EVENTS = 20  # of a class
TOO_FAR = 8.0  # standard deviations: by chance once in 10^15 calls


def warn_of_shared_seed(truth: np.ndarray, uniforms: np.ndarray, random_state: Any) -> None:
    """Warn if the mean of u over some class is further from 1/2 than chance allows; ``truth`` is negative for none."""
    known = truth[:LOOKED_AT] >= 0
    labels, numbers = truth[:LOOKED_AT][known], uniforms[:LOOKED_AT][known]
    counts, sums = np.bincount(labels), np.bincount(labels, numbers)
    is_enough = counts >= LEAST_EVENTS
    off = np.abs(sums - 0.5 * counts)[is_enough] / np.sqrt(counts[is_enough] / 12.0)
    if np.any(off > TOO_FAR):
        from askance.learner.reader import frames_of_ours

        warnings.warn(
            "the labels depend on the random numbers that decide which events are asked: they were probably drawn by "
            f"numpy.random.default_rng({random_state!r}), which random_state={random_state!r} stands for, too. Weights "
            "and intervals of such a run mean nothing: take another random_state (--seed of the commands), or another "
            "seed for the data.",
            DataWarning,
            stacklevel=frames_of_ours(),
        )
