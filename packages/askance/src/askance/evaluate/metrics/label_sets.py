"""Metrics of label sets: pure functions of two matrices with a row per event and a column per label.

With tp, fp and fn counted over the questions whose answer is known:

    micro F1            2 tp / (2 tp + fp + fn), counted over all labels together
    macro F1            the mean of the labels' own 2 tp / (2 tp + fp + fn)
    Hamming loss        the share of wrong answers
    subset accuracy     the share of events whose whole set is right, of those whose whole set is known

Ratios 0 / 0 are 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askance.errors import InvalidInput


def _known_and_right(truth: NDArray[Any], predicted: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    return truth >= 0, (truth == 1) == (predicted == 1)


def _f1(truth: NDArray[Any], predicted: NDArray[Any], axis: int | None) -> NDArray[np.float64]:
    known, _ = _known_and_right(truth, predicted)
    hits = (known & (truth == 1) & (predicted == 1)).sum(axis=axis)
    either = (known & (truth == 1)).sum(axis=axis) + (known & (predicted == 1)).sum(axis=axis)
    return np.asarray(2.0 * hits / np.maximum(either, 1))


def micro_f1(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """F1 of all questions together: frequent labels count more."""
    return float(_f1(truth, predicted, None))


def macro_f1(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """The mean of the labels' F1: each label counts the same."""
    return float(_f1(truth, predicted, 0).mean())


def hamming_loss(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """The share of questions whose answer was predicted wrongly."""
    known, right = _known_and_right(truth, predicted)
    return float((known & ~right).sum() / known.sum()) if known.any() else float("nan")


def subset_accuracy(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """The share of events all of whose labels were predicted rightly."""
    known, right = _known_and_right(truth, predicted)
    whole = known.all(axis=1)
    return float(right[whole].all(axis=1).mean()) if whole.any() else float("nan")


def summarise_label_sets(truth: ArrayLike, predicted: ArrayLike, asked: ArrayLike) -> dict[str, float | int]:
    """Everything there is to say about how label sets were predicted.

    Parameters
    ----------
    truth : matrix of 1 and 0, and -1 where it is not known whether the event has the label
    predicted, asked : matrices of bool
        Whether the label was predicted, and whether the answer was bought.

    Examples
    --------
    >>> found = summarise_label_sets([[1, 0], [1, 1]], [[1, 0], [1, 0]], [[True, False], [False, False]])
    >>> found["micro_f1"], found["hamming_loss"], found["subset_accuracy"], found["answers"]
    (0.8, 0.25, 0.5, 1)
    """
    from askance.evaluate.metrics.register import LABEL_SET_METRICS

    truth, predicted, asked = np.asarray(truth), np.asarray(predicted), np.asarray(asked)
    if truth.ndim != 2 or truth.shape != predicted.shape or truth.shape != asked.shape:
        raise InvalidInput(
            f"truth, predicted and asked are matrices of one shape, got {truth.shape}, {predicted.shape} and "
            f"{asked.shape}."
        )
    known = truth >= 0
    return {
        "events": len(truth),
        "labels": truth.shape[1],
        "answers": int((asked & known).sum()),
        "query_ratio": float((asked & known).sum() / known.sum()) if known.any() else float("nan"),
        **{metric.name: metric.formula(truth, predicted) for metric in LABEL_SET_METRICS.values()},
    }
