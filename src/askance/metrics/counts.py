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
from askance.metrics.arrays import Labels, column, flagged, is_label, share


def ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0


@dataclass(frozen=True)
class Counts:
    """How often each of the four outcomes of a two-class prediction occurred.

    Examples
    --------
    >>> counts = Counts(true_positive=6, false_positive=2, true_negative=90, false_negative=2)
    >>> counts.precision, counts.recall, counts.f1
    (0.75, 0.75, 0.75)
    >>> counts.cost(c_p=0.75)
    2.0
    """

    true_positive: int
    false_positive: int
    true_negative: int
    false_negative: int

    @property
    def precision(self) -> float:
        """Share of the positive predictions that were right."""
        return ratio(self.true_positive, self.true_positive + self.false_positive)

    @property
    def recall(self) -> float:
        """Share of the positive events that were found."""
        return ratio(self.true_positive, self.true_positive + self.false_negative)

    @property
    def sensitivity(self) -> float:
        """The papers' word for recall."""
        return self.recall

    @property
    def specificity(self) -> float:
        """Share of the negative events that were left alone."""
        return ratio(self.true_negative, self.true_negative + self.false_positive)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return ratio(2 * self.true_positive, 2 * self.true_positive + self.false_positive + self.false_negative)

    def sum(self, alpha_p: float = 0.5) -> float:
        """``alpha_p`` sensitivity + (1 - ``alpha_p``) specificity, paper 1 Eq. 6."""
        alpha_p = share("alpha_p", alpha_p)
        return alpha_p * self.sensitivity + (1.0 - alpha_p) * self.specificity

    def cost(self, c_p: float = 0.9) -> float:
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
    is_positive, said_positive = is_label(truth, positive), is_label(predicted, positive)
    positives, alarms = flagged(is_positive), flagged(said_positive)
    hits = flagged(is_positive & said_positive)
    return Counts(
        true_positive=hits,
        false_positive=alarms - hits,
        true_negative=len(truth) - positives - alarms + hits,
        false_negative=positives - hits,
    )


def mistakes(truth: ArrayLike, predicted: ArrayLike) -> int:
    """Number of wrong predictions.

    >>> mistakes([1, 1, -1], [1, -1, -1])
    1
    """
    truth, predicted = pair(truth, predicted)
    # Labels of types that cannot be compared are never equal; NumPy then answers with one value for all.
    differs = np.asarray(truth != predicted, dtype=np.bool_)
    return flagged(np.broadcast_to(differs, truth.shape))


def accuracy(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Share of right predictions; NaN for an empty stream.

    >>> accuracy([1, 1, -1, -1], [1, -1, -1, -1])
    0.75
    """
    truth, predicted = pair(truth, predicted)
    return 1.0 - mistakes(truth, predicted) / len(truth) if len(truth) else float("nan")


def precision(truth: ArrayLike, predicted: ArrayLike, positive: Any) -> float:
    """Share of the ``positive`` predictions that were right; 0.0 if there were none.

    >>> precision([1, 1, -1, -1], [1, 1, 1, -1], positive=1)
    0.6666666666666666
    """
    return count(truth, predicted, positive).precision


def recall(truth: ArrayLike, predicted: ArrayLike, positive: Any) -> float:
    """Share of the ``positive`` events that were found; 0.0 if there were none.

    >>> recall([1, 1, -1, -1], [1, -1, -1, -1], positive=1)
    0.5
    """
    return count(truth, predicted, positive).recall


def sensitivity(truth: ArrayLike, predicted: ArrayLike, positive: Any) -> float:
    """The papers' word for :func:`recall`.

    >>> sensitivity([1, 1, -1, -1], [1, -1, -1, -1], positive=1)
    0.5
    """
    return recall(truth, predicted, positive)


def specificity(truth: ArrayLike, predicted: ArrayLike, positive: Any) -> float:
    """Share of the events that are not ``positive`` and were not called so; 0.0 if there were none.

    >>> specificity([1, 1, -1, -1], [1, -1, -1, -1], positive=1)
    1.0
    """
    return count(truth, predicted, positive).specificity


def f1(truth: ArrayLike, predicted: ArrayLike, positive: Any) -> float:
    """Harmonic mean of precision and recall; 0.0 if ``positive`` neither occurred nor was predicted.

    >>> f1([1, 1, -1, -1], [1, -1, -1, -1], positive=1)
    0.6666666666666666
    """
    return count(truth, predicted, positive).f1


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


def confusion_matrix(truth: ArrayLike, predicted: ArrayLike, classes: ArrayLike | None = None) -> NDArray[np.int64]:
    """Events by true class (row) and predicted class (column), in the order of ``classes``.

    Without ``classes``: the sorted labels that occur.

    >>> confusion_matrix(["a", "b", "c", "c"], ["a", "b", "c", "b"])
    array([[1, 0, 0],
           [0, 1, 0],
           [0, 1, 1]])
    """
    truth, predicted = pair(truth, predicted)
    if classes is None:
        classes = np.union1d(truth, predicted)
    classes = column("classes", classes)
    return cross(class_index("truth", truth, classes), class_index("predicted", predicted, classes), len(classes))


def cross(truth: NDArray[np.int64], predicted: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """The confusion matrix of class numbers below ``width``."""
    cells = truth * width + predicted
    return np.bincount(cells, minlength=width * width).reshape(width, width).astype(np.int64, copy=False)


@dataclass(frozen=True)
class PerClass:
    """Right predictions, events and predictions of every class, read off a confusion matrix."""

    right: NDArray[np.int64]
    events: NDArray[np.int64]
    predictions: NDArray[np.int64]

    @classmethod
    def of(cls, matrix: NDArray[np.int64]) -> PerClass:
        return cls(matrix.diagonal(), matrix.sum(axis=1), matrix.sum(axis=0))

    def counts(self, position: int) -> Counts:
        """The class at ``position`` against all others."""
        right = int(self.right[position])
        events, predictions = int(self.events[position]), int(self.predictions[position])
        return Counts(
            true_positive=right,
            false_positive=predictions - right,
            true_negative=int(self.events.sum()) - events - predictions + right,
            false_negative=events - right,
        )

    def macro_precision(self) -> float:
        return mean_ratio(self.right, self.predictions)

    def macro_recall(self) -> float:
        return mean_ratio(self.right, self.events)

    def macro_f1(self) -> float:
        return mean_ratio(2 * self.right, self.events + self.predictions)

    def balanced_accuracy(self) -> float:
        occurs = self.events > 0
        return mean_ratio(self.right[occurs], self.events[occurs])


def mean_ratio(part: NDArray[np.int64], whole: NDArray[np.int64]) -> float:
    if not len(part):
        return float("nan")
    return float(np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0).mean())


def macro_precision(truth: ArrayLike, predicted: ArrayLike, classes: ArrayLike | None = None) -> float:
    """Mean over the classes of each one's precision; a class that was never predicted counts 0.

    >>> macro_precision(["a", "b", "c", "c"], ["a", "b", "c", "b"])
    0.8333333333333334
    """
    return PerClass.of(confusion_matrix(truth, predicted, classes)).macro_precision()


def macro_recall(truth: ArrayLike, predicted: ArrayLike, classes: ArrayLike | None = None) -> float:
    """Mean over the classes of each one's recall; a class that never occurred counts 0.

    >>> macro_recall(["a", "b", "c", "c"], ["a", "b", "c", "b"])
    0.8333333333333334
    """
    return PerClass.of(confusion_matrix(truth, predicted, classes)).macro_recall()


def macro_f1(truth: ArrayLike, predicted: ArrayLike, classes: ArrayLike | None = None) -> float:
    """Mean over the classes of each one's F1; a class neither seen nor predicted counts 0.

    >>> macro_f1(["a", "b", "c", "c"], ["a", "b", "c", "b"])
    0.7777777777777777
    """
    return PerClass.of(confusion_matrix(truth, predicted, classes)).macro_f1()


def balanced_accuracy(truth: ArrayLike, predicted: ArrayLike, classes: ArrayLike | None = None) -> float:
    """Mean recall of the classes that occurred; unlike :func:`macro_recall`, others do not count.

    >>> balanced_accuracy([1, -1, -1, -1], [-1, -1, -1, -1])
    0.5
    """
    return PerClass.of(confusion_matrix(truth, predicted, classes)).balanced_accuracy()


def labels_used(asked: ArrayLike) -> int:
    """How many labels were bought.

    >>> labels_used([True, False, False, True])
    2
    """
    return flagged(column("asked", asked))


def query_ratio(asked: ArrayLike) -> float:
    """Share of the events whose label was bought; NaN for an empty stream.

    >>> query_ratio([True, False, False, True])
    0.5
    """
    asked = column("asked", asked)
    return labels_used(asked) / len(asked) if len(asked) else float("nan")
