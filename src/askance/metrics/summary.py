"""All metrics of one played stream in a dictionary."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askance.errors import InvalidParameter
from askance.metrics.arrays import Labels, column, numbers, share
from askance.metrics.counts import PerClass, class_index, cross, labels_used, query_ratio
from askance.metrics.probability import mean_surprise, probabilities, total_loss
from askance.metrics.ranking import area


def counted(
    matrix: NDArray[np.int64], positive_index: int | None, alpha_p: float, c_p: float
) -> dict[str, float | int]:
    """The metrics that a confusion matrix tells (rows: truth, columns: prediction)."""
    per_class = PerClass.of(matrix)
    events = int(matrix.sum())
    wrong = events - int(matrix.trace())
    found: dict[str, float | int] = {
        "accuracy": 1.0 - wrong / events if events else float("nan"),
        "balanced_accuracy": per_class.balanced_accuracy(),
        "mistakes": wrong,
    }
    if positive_index is None:
        found["precision"] = per_class.macro_precision()
        found["recall"] = per_class.macro_recall()
        found["f1"] = per_class.macro_f1()
    else:
        counts = per_class.counts(positive_index)
        found["precision"] = counts.precision
        found["recall"] = found["sensitivity"] = counts.recall
        found["specificity"] = counts.specificity
        found["f1"] = counts.f1
        found["sum"] = counts.sum(alpha_p)
        found["cost"] = counts.cost(c_p)
    return found


def summarise(
    truth: ArrayLike,
    predicted: ArrayLike,
    asked: ArrayLike,
    *,
    classes: ArrayLike,
    margin: ArrayLike | None = None,
    probability_positive: ArrayLike | None = None,
    positive: Any = None,
    alpha_p: float = 0.5,
    c_p: float = 0.9,
    seconds: float | None = None,
) -> dict[str, float | int]:
    """Everything there is to say about how a stream was predicted.

    Parameters
    ----------
    truth, predicted : array of labels, one per event
    asked : array of bool
        Whether the label of the event was bought.
    classes : array of labels
        All classes, sorted; with two of them the second is the one that margin and probability point to.
    margin : array of float, optional
        Signed scores of two classes; needed for ``auc`` where there are no probabilities.
    probability_positive : array of float, optional
        P(second class | x); needed for ``nlp`` and ``weighted_loss``, and what ``auc`` orders by if given.
    positive : label, optional
        The class to be found. Default: the second of two classes. Among three or more, naming one measures
        it against all the others.
    alpha_p : float in [0, 1], default 0.5
        Weight of sensitivity in ``sum``; specificity gets the rest.
    c_p : float in [0, 1], default 0.9
        Cost of a missed positive in ``cost`` and ``weighted_loss``; a false alarm costs 1 - ``c_p``.
    seconds : float, optional
        Passed through.

    Returns
    -------
    dict
        ``events``, ``labels``, ``query_ratio``, ``accuracy``, ``balanced_accuracy``, ``mistakes``, and
        ``precision``, ``recall``, ``f1``. With a positive class also ``sensitivity``, ``specificity``,
        ``sum``, ``cost``, and for two classes, where the input is given, ``auc``, ``nlp``, ``weighted_loss``.
        With three or more classes and no ``positive``, precision, recall and F1 are macro averages. Ratios
        0 / 0 are 0.0; ``auc`` is NaN when only one class occurred; means over no events are NaN.

    Examples
    --------
    >>> summary = summarise(
    ...     truth=["ham", "spam", "ham", "spam"],
    ...     predicted=["ham", "spam", "spam", "spam"],
    ...     asked=[True, True, False, False],
    ...     margin=[-1.0, 0.5, 0.2, 2.0],
    ...     classes=["ham", "spam"],
    ... )
    >>> summary["accuracy"], summary["recall"], summary["specificity"], summary["auc"], summary["labels"]
    (0.75, 1.0, 0.5, 1.0, 2)
    """
    truth = column("truth", truth)
    predicted = column("predicted", predicted, len(truth))
    asked = column("asked", asked, len(truth))
    classes = column("classes", classes)
    alpha_p, c_p = share("alpha_p", alpha_p), share("c_p", c_p)
    positive_index = position_of(positive, classes)

    true_class = class_index("truth", truth, classes)
    matrix = cross(true_class, class_index("predicted", predicted, classes), len(classes))
    summary: dict[str, float | int] = {
        "events": len(truth),
        "labels": labels_used(asked),
        "query_ratio": query_ratio(asked),
        **counted(matrix, positive_index, alpha_p, c_p),
    }
    if len(classes) == 2 and positive_index is not None:
        is_second = true_class == 1
        if probability_positive is not None:
            probability = probabilities(probability_positive, len(truth))
            # Turning both the events and the order round leaves the area as it is, and so does the surprise.
            summary["auc"] = area(is_second, probability)
            summary["nlp"] = mean_surprise(is_second, probability)
            if positive_index == 1:
                summary["weighted_loss"] = total_loss(is_second, probability, c_p, 1.0 - c_p)
            else:
                summary["weighted_loss"] = total_loss(~is_second, 1.0 - probability, c_p, 1.0 - c_p)
        elif margin is not None:
            summary["auc"] = area(is_second, numbers("margin", margin, len(truth)))
    if seconds is not None:
        summary["seconds"] = float(seconds)
    return summary


def position_of(positive: Any, classes: Labels) -> int | None:
    """Which class is the positive one; None if there are three or more and none was named."""
    if positive is None:
        return 1 if len(classes) == 2 else None
    for position, label in enumerate(classes.tolist()):
        if label == positive:
            return position
    raise InvalidParameter(
        f"positive is {positive!r}, which is not one of the classes "
        f"{', '.join(repr(label) for label in classes.tolist()[:10])}."
    )
