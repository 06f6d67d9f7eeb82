"""Metrics that count right and wrong predictions.

Paper 1 §5.1. Of T_p positive and T_n negative events, M_p positives (false negatives) and M_n negatives
(false positives) are predicted wrongly:

    sensitivity = (T_p - M_p) / T_p             sum  = alpha_p sensitivity + (1 - alpha_p) specificity
    specificity = (T_n - M_n) / T_n             cost = c_p M_p + (1 - c_p) M_n

A ratio 0 / 0 (precision when nothing was predicted positive, recall when nothing was) is 0.0, as in
scikit-learn. A mean over no events is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askance.errors import InvalidInput
from askance.evaluate.metrics.arrays import Flags, Labels, Numbers, as_flags, column, divide, is_label, share


@dataclass(frozen=True)
class Counts:
    """How often each of the four outcomes of a two-class prediction occurred: numbers, or arrays of them.

    Examples
    --------
    >>> counts = Counts(true_positive=6, false_positive=2, true_negative=90, false_negative=2)
    >>> counts.precision, counts.recall, counts.f1
    (0.75, 0.75, 0.75)
    >>> counts.cost(c_p=0.75)
    2.0
    """

    true_positive: Any
    false_positive: Any
    true_negative: Any
    false_negative: Any

    @property
    def predicted_positive(self) -> Any:
        """How many events were predicted positive."""
        return self.true_positive + self.false_positive

    @property
    def precision(self) -> Any:
        """Share of the positive predictions that were right."""
        return divide(self.true_positive, self.predicted_positive)

    @property
    def recall(self) -> Any:
        """Share of the positive events that were found."""
        return divide(self.true_positive, self.true_positive + self.false_negative)

    @property
    def sensitivity(self) -> Any:
        """The papers' word for recall."""
        return self.recall

    @property
    def specificity(self) -> Any:
        """Share of the negative events that were left alone."""
        return divide(self.true_negative, self.true_negative + self.false_positive)

    @property
    def f1(self) -> Any:
        """Harmonic mean of precision and recall."""
        found = 2 * self.true_positive
        return divide(found, found + (self.false_negative + self.false_positive))

    @property
    def balanced_accuracy(self) -> Any:
        """The mean of recall and specificity; a class that did not occur does not count."""
        positives, negatives = self.true_positive + self.false_negative, self.true_negative + self.false_positive
        occurring = np.asarray(positives > 0, float) + (negatives > 0)
        return (self.recall + self.specificity) / np.maximum(occurring, 1.0)

    @property
    def matthews(self) -> Any:
        """The correlation of truth and prediction, from -1 to 1; 0.0 if one of the two never varies.

        (TP TN - FP FN) / sqrt((TP + FP) (TN + FN) (TP + FN) (TN + FP))"""
        positives, negatives = self.true_positive + self.false_negative, self.true_negative + self.false_positive
        predicted_negative = self.true_negative + self.false_negative
        agreement = self.true_positive * self.true_negative - self.false_positive * self.false_negative
        squared = 1.0 * self.predicted_positive * predicted_negative * positives * negatives
        return divide(agreement, np.sqrt(np.maximum(squared, 0.0)))

    def sum(self, alpha_p: float = 0.5) -> Any:
        """``alpha_p`` sensitivity + (1 - ``alpha_p``) specificity, paper 1 Eq. 6."""
        alpha_p = share("alpha_p", alpha_p)
        return alpha_p * self.sensitivity + (1.0 - alpha_p) * self.specificity

    def cost(self, c_p: float = 0.9) -> Any:
        """``c_p`` per missed positive and 1 - ``c_p`` per false alarm, paper 1 Eq. 7."""
        c_p = share("c_p", c_p)
        return c_p * self.false_negative + (1.0 - c_p) * self.false_positive


def pair(truth: ArrayLike, predicted: ArrayLike) -> tuple[Labels, Labels]:
    truth = column("truth", truth)
    return truth, column("predicted", predicted, len(truth))


def count(truth: ArrayLike, predicted: ArrayLike, positive: Any) -> Counts:
    """Count the outcomes of ``positive`` against all other labels.

    Examples
    --------
    >>> count(["ham", "spam", "spam", "ham"], ["ham", "spam", "ham", "spam"], "spam")
    Counts(true_positive=1, false_positive=1, true_negative=1, false_negative=1)
    """
    truth, predicted = pair(truth, predicted)
    is_positive, is_predicted_positive = is_label(truth, positive), is_label(predicted, positive)
    positives, alarms = as_flags(is_positive), as_flags(is_predicted_positive)
    return _counts(as_flags(is_positive & is_predicted_positive), positives, alarms, len(truth))


def specificity(truth: ArrayLike, predicted: ArrayLike, positive: Any) -> float:
    """Share of the events that are not ``positive`` and were not called so; 0.0 if there were none.

    >>> specificity([1, 1, -1, -1], [1, -1, -1, -1], positive=1)
    1.0
    """
    return count(truth, predicted, positive).specificity


def weighted_sum(truth: ArrayLike, predicted: ArrayLike, positive: Any, *, alpha_p: float = 0.5) -> float:
    """``alpha_p`` sensitivity + (1 - ``alpha_p``) specificity: the papers' *sum*, higher is better.

    >>> weighted_sum([1, 1, -1, -1], [1, -1, -1, -1], positive=1, alpha_p=0.5)
    0.75
    """
    return count(truth, predicted, positive).sum(alpha_p)


def cost(truth: ArrayLike, predicted: ArrayLike, positive: Any, *, c_p: float = 0.9) -> float:
    """``c_p`` per missed positive and 1 - ``c_p`` per false alarm: the papers' *cost*, lower is better.

    >>> cost([1, 1, -1, -1], [1, -1, 1, -1], positive=1, c_p=0.75)
    1.0
    """
    return count(truth, predicted, positive).cost(c_p)


def class_index(name: str, labels: Labels, classes: Labels) -> NDArray[np.int64]:
    """The position of every label in ``classes``."""
    if len(classes) <= 4 and labels.dtype != object:
        index = np.full(len(labels), -1, dtype=np.int64)
        for position, label in enumerate(classes):
            index[is_label(labels, label)] = position
    else:  # more comparisons, or slow ones: look every label up
        positions = {label: position for position, label in enumerate(classes.tolist())}
        found = map(positions.get, labels.tolist(), repeat(-1))
        index = np.fromiter(found, dtype=np.int64, count=len(labels))
    if (index < 0).any():
        event = int((index < 0).argmax())
        raise InvalidInput(
            f"{name} is {labels[event : event + 1].tolist()[0]!r} at event {event}, "
            f"which is not one of the classes {', '.join(repr(label) for label in classes.tolist()[:10])}."
        )
    return index


def cross(truth: NDArray[np.int64], predicted: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """The confusion matrix of class numbers below ``width``."""
    cells = truth * width + predicted
    return np.bincount(cells, minlength=width * width).reshape(width, width).astype(np.int64, copy=False)


@dataclass(frozen=True)
class PerClass:
    """Right predictions, events and predictions of every class, read off a confusion matrix.

    Classes are along the last axis. An estimate looks at many similar matrices at once: the counts then have a row for
    each, and there is no ``matrix``."""

    right: NDArray[Any]
    events: NDArray[Any]
    predictions: NDArray[Any]
    occurs: Flags
    """The classes that occurred."""
    matrix: Any = None

    @classmethod
    def of(cls, matrix: NDArray[np.int64]) -> PerClass:
        """Read a confusion matrix (rows: truth, columns: prediction)."""
        events = matrix.sum(axis=1)
        return cls(matrix.diagonal(), events, matrix.sum(axis=0), events > 0, matrix)

    def counts(self, position: int) -> Counts:
        """The class at ``position`` against all others."""
        right = int(self.right[position])
        events, predictions = int(self.events[position]), int(self.predictions[position])
        return _counts(right, events, predictions, int(self.events.sum()))

    @property
    def each(self) -> Counts:
        """Each class against all others: the counts are arrays."""
        return _counts(self.right, self.events, self.predictions, self.events.sum(axis=-1, keepdims=True))

    def mistakes(self) -> Any:
        """Number of wrong predictions."""
        return self.events.sum(axis=-1) - self.right.sum(axis=-1)

    def accuracy(self) -> Any:
        """Share of right predictions; NaN without events."""
        return 1.0 - ratio(self.mistakes(), self.events.sum(axis=-1))

    def cost(self, costs: NDArray[np.float64]) -> float:
        """The sum of what the mistakes cost (rows: truth, columns: prediction)."""
        return float((self.matrix * costs).sum())

    def balanced_accuracy(self) -> Any:
        """Mean recall of the classes that occurred; NaN without events."""
        recall = np.where(self.occurs, divide(self.right, self.events), 0.0)
        return ratio(recall.sum(axis=-1), self.occurs.sum(axis=-1))

    def matthews(self) -> Any:
        """The correlation of truth and prediction for any number of classes (Gorodkin 2004): with C right of N events,
        R_k events and P_k predictions of class k,

            (C N - sum R_k P_k) / sqrt((N^2 - sum R_k^2) (N^2 - sum P_k^2))

        0.0 if one of the two never varies."""
        events, predictions = np.asarray(self.events, float), np.asarray(self.predictions, float)
        total, predicted = events.sum(axis=-1), predictions.sum(axis=-1)
        agreement = self.right.sum(axis=-1) * total - (events * predictions).sum(axis=-1)
        spread = (total**2 - (events**2).sum(axis=-1)) * (predicted**2 - (predictions**2).sum(axis=-1))
        return divide(agreement, np.sqrt(np.maximum(spread, 0.0)))


def _counts(right: Any, events: Any, predictions: Any, total: Any) -> Counts:
    return Counts(
        true_positive=right,
        false_positive=predictions - right,
        true_negative=total - events - predictions + right,
        false_negative=events - right,
    )


def ratio(part: Any, whole: Any) -> Any:
    """part / whole, NaN where there is nothing of the whole."""
    return np.where(whole > 0, divide(part, whole), np.nan)[()]


def macro(values: Numbers, per_class: PerClass) -> Any:
    """The mean over all classes; one that did not occur counts with its value, which is 0 for a ratio 0 / 0."""
    return values.mean(axis=-1) if values.shape[-1] else np.nan


def labels_used(asked: ArrayLike) -> int:
    """How many labels were bought.

    >>> labels_used([True, False, False, True])
    2
    """
    return as_flags(column("asked", asked))


def query_ratio(asked: ArrayLike) -> float:
    """Share of the events whose label was bought; NaN for an empty stream.

    >>> query_ratio([True, False, False, True])
    0.5
    """
    asked = column("asked", asked)
    return labels_used(asked) / len(asked) if len(asked) else float("nan")
