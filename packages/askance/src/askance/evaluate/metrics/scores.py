"""Metrics of scores and of probabilities: the area under the ROC curve, and those of paper 5 §6.1.2."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askance.errors import InvalidInput, InvalidParameter
from askance.evaluate.metrics.arrays import Flags, Numbers, as_flags, column, is_label, numbers

# The doubles next to 0 and to 1. A probability of exactly 0 or 1 is one that was rounded there.
SMALLEST = float(np.nextafter(0.0, 1.0))
LARGEST = float(np.nextafter(1.0, 0.0))

CALIBRATION_BINS = 10


def probabilities(values: ArrayLike, length: int) -> Numbers:
    array = numbers("probability_positive", values, length)
    outside = (array < 0.0) | (array > 1.0)
    if outside.any():
        event = int(outside.argmax())
        raise InvalidInput(f"probability_positive must be in [0, 1], got {float(array[event])!r} at event {event}.")
    return array


def nlp(truth: ArrayLike, probability_positive: ArrayLike, positive: Any) -> float:
    """Negative log predictive probability: the mean of -log P(y | x), natural logarithm.

    0 is perfect, log 2 = 0.693... is guessing. A probability that was rounded to exactly 0 or 1 and turned
    out wrong would cost infinitely much; it is moved to the nearest number inside. NaN for an empty stream.

    Examples
    --------
    >>> round(nlp(["spam", "ham"], [0.8, 0.4], positive="spam"), 6)
    0.366985
    """
    truth = column("truth", truth)
    return mean_surprise(is_label(truth, positive), probabilities(probability_positive, len(truth)))


def mean_surprise(is_positive: Flags, probability_positive: Numbers) -> float:
    if not len(is_positive):
        return float("nan")
    inside = np.clip(probability_positive, SMALLEST, LARGEST)
    # log1p keeps log(1 - p) exact when p is tiny.
    return float(-np.where(is_positive, np.log(inside), np.log1p(-inside)).mean())


def calibration_error(truth: ArrayLike, probability_positive: ArrayLike, positive: Any) -> float:
    """The expected calibration error, ten bins of equal width; NaN for an empty stream.

    It is the mean over all events of ``|mean probability - share of positives|`` of their bin. 0 is perfect.

    Examples
    --------
    >>> round(calibration_error([1, 1, -1, -1], [0.95, 0.85, 0.15, 0.25], positive=1), 6)
    0.15
    """
    truth = column("truth", truth)
    return expected_calibration_error(is_label(truth, positive), probabilities(probability_positive, len(truth)))


def expected_calibration_error(is_positive: Flags, probability_positive: Numbers) -> float:
    if not len(is_positive):
        return float("nan")
    place = calibration_bins(probability_positive)
    expected = np.bincount(place, probability_positive, minlength=CALIBRATION_BINS)
    found = np.bincount(place, is_positive, minlength=CALIBRATION_BINS)
    return float(np.abs(expected - found).sum() / len(is_positive))


def calibration_bins(probability_positive: Numbers) -> NDArray[np.int64]:
    """Which of ten bins of equal width each probability falls into."""
    return np.minimum((probability_positive * CALIBRATION_BINS).astype(np.int64), CALIBRATION_BINS - 1)


def weighted_loss(
    truth: ArrayLike,
    probability_positive: ArrayLike,
    positive: Any,
    *,
    false_negative_cost: float,
    false_positive_cost: float,
) -> float:
    """Total cost of the mistakes when the cheaper label is chosen for every event.

    If the probabilities are right, calling an event positive pays from P(+1 | x) = c_FP / (c_FP + c_FN) on,
    the Bayes threshold; predictions are made anew with it. (Paper 5 writes c_p for the cost of a false
    positive and c_n for a false negative, the reverse of papers 1 and 4; hence the long names.)

    Examples
    --------
    At nine to one, a probability of 0.2 is enough to raise the alarm:

    >>> weighted_loss([1, -1, -1], [0.2, 0.2, 0.05], 1, false_negative_cost=9, false_positive_cost=1)
    1.0
    """
    truth = column("truth", truth)
    return total_loss(
        is_label(truth, positive),
        probabilities(probability_positive, len(truth)),
        false_negative_cost,
        false_positive_cost,
    )


def total_loss(
    is_positive: Flags, probability_positive: Numbers, false_negative_cost: float, false_positive_cost: float
) -> float:
    both = false_positive_cost + false_negative_cost
    if not (false_negative_cost >= 0.0 and false_positive_cost >= 0.0 and 0.0 < both < float("inf")):
        raise InvalidParameter(
            f"costs must be finite, not negative and not both zero, got false_negative_cost="
            f"{false_negative_cost!r} and false_positive_cost={false_positive_cost!r}."
        )
    says_positive = probability_positive >= false_positive_cost / both
    missed = as_flags(is_positive & ~says_positive)
    alarms = as_flags(~is_positive & says_positive)
    return float(false_negative_cost * missed + false_positive_cost * alarms)


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
