"""Metrics that look at the order the scores put the events in."""

from __future__ import annotations

import numpy as np

from askance.evaluate.metrics.arrays import Flags, Numbers, as_flags


def area(is_positive: Flags, score: Numbers) -> float:
    """Area under the ROC curve: how often a positive event scores above a negative one, a tie counting half.

    ``score`` may be a margin or a probability; only its order matters. NaN if one of the two kinds of event
    is missing, for then there is no pair to compare.

    Examples
    --------
    >>> area(np.array([False, True, False, True]), np.array([0.1, 0.4, 0.4, 0.9]))
    0.875
    """
    positives = as_flags(is_positive)
    negatives = len(is_positive) - positives
    if not positives or not negatives:
        return float("nan")
    order = np.argsort(score)
    ordered = score[order]
    starts = np.concatenate(([0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))  # of equal scores
    positives_here = np.add.reduceat(is_positive[order], starts, dtype=np.int64)
    negatives_here = np.diff(starts, append=len(ordered)) - positives_here
    negatives_below = np.cumsum(negatives_here) - negatives_here
    # Twice the number of pairs in the right order, so that ties stay whole numbers and the sum is exact.
    twice_the_pairs = int((positives_here * (2 * negatives_below + negatives_here)).sum())
    return twice_the_pairs / (2 * positives * negatives)
