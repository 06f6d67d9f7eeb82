"""Functions that scikit-learn has as well, under the names they had here; they go with the other old names."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askance.deprecation import GONE_WITH
from askance.metrics.arrays import column, is_label, numbers
from askance.metrics.counts import PerClass, class_index, count, cross, mean, pair
from askance.metrics.ranking import area


def _matrix(truth: ArrayLike, predicted: ArrayLike, classes: ArrayLike | None = None) -> NDArray[np.int64]:
    truth, predicted = pair(truth, predicted)
    known = column("classes", np.union1d(truth, predicted) if classes is None else classes)
    return cross(class_index("truth", truth, known), class_index("predicted", predicted, known), len(known))


def _per_class(truth: ArrayLike, predicted: ArrayLike, classes: ArrayLike | None = None) -> PerClass:
    return PerClass.of(_matrix(truth, predicted, classes))


def _mistakes(truth: ArrayLike, predicted: ArrayLike) -> int:
    truth, predicted = pair(truth, predicted)
    # Labels of types that cannot be compared are never equal; NumPy then answers with one value for all.
    return int(np.count_nonzero(np.broadcast_to(np.asarray(truth != predicted, np.bool_), truth.shape)))


def _accuracy(truth: ArrayLike, predicted: ArrayLike) -> float:
    events = len(column("truth", truth))
    return 1.0 - _mistakes(truth, predicted) / events if events else float("nan")


def _auc(truth: ArrayLike, score: ArrayLike, positive: Any) -> float:
    truth = column("truth", truth)
    return area(is_label(truth, positive), numbers("score", score, len(truth)))


def _macro(name: str) -> Callable[..., float]:
    return lambda truth, predicted, classes=None: mean(getattr(_per_class(truth, predicted, classes).each, name))


def _of_class(name: str) -> Callable[..., float]:
    return lambda truth, predicted, positive: getattr(count(truth, predicted, positive), name)


DEPRECATED: dict[str, tuple[Callable[..., Any], str]] = {
    "accuracy": (_accuracy, "accuracy_score"),
    "auc": (_auc, "roc_auc_score"),
    "balanced_accuracy": (
        lambda truth, predicted, classes=None: _per_class(truth, predicted, classes).balanced_accuracy(),
        "balanced_accuracy_score",
    ),
    "confusion_matrix": (_matrix, "confusion_matrix"),
    "f1": (_of_class("f1"), "f1_score"),
    "macro_f1": (_macro("f1"), 'f1_score with average="macro"'),
    "macro_precision": (_macro("precision"), 'precision_score with average="macro"'),
    "macro_recall": (_macro("recall"), 'recall_score with average="macro"'),
    "mistakes": (_mistakes, "zero_one_loss with normalize=False"),
    "precision": (_of_class("precision"), "precision_score"),
    "recall": (_of_class("recall"), "recall_score"),
    "sensitivity": (_of_class("recall"), "recall_score"),
}
"""By name: the function, and what scikit-learn calls it."""


def deprecated(name: str) -> Callable[..., Any]:
    """A function that goes, with a warning that says what to use instead."""
    function, instead = DEPRECATED[name]
    warnings.warn(
        f"askance.metrics.{name} goes with {GONE_WITH}; use scikit-learn's {instead}.", DeprecationWarning, stacklevel=3
    )
    return function
