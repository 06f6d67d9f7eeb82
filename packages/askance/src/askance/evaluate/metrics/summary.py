"""All metrics of one played stream in a dictionary."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askance.errors import InvalidParameter
from askance.evaluate.costs import cost_matrix
from askance.evaluate.metrics.arrays import Labels, column, numbers, share
from askance.evaluate.metrics.counts import PerClass, class_index, cross, labels_used, query_ratio
from askance.evaluate.metrics.register import METRICS, Metric, Weights
from askance.evaluate.metrics.scores import probabilities

Values = dict[str, float | int]


class PlayedStream(Protocol):
    """What is read of a trace."""

    @property
    def truth_index(self) -> NDArray[Any]: ...
    @property
    def predicted_index(self) -> NDArray[Any]: ...
    @property
    def asked(self) -> NDArray[Any]: ...
    @property
    def classes(self) -> NDArray[Any]: ...
    @property
    def signed_margin(self) -> NDArray[Any]: ...
    @property
    def probability_positive(self) -> NDArray[Any] | None: ...
    @property
    def seconds(self) -> float: ...
    def __len__(self) -> int: ...


def weights_for(alpha_p: float, c_p: float, costs: Any, classes: Labels) -> Weights:
    """The weights that a user gave, checked."""
    matrix = None if costs is None else cost_matrix(costs, classes)
    return Weights(share("alpha_p", alpha_p), share("c_p", c_p), matrix)


def metrics_from_matrix(matrix: NDArray[np.int64], positive_index: int | None, weights: Weights) -> Values:
    """The metrics that a confusion matrix tells (rows: truth, columns: prediction)."""
    per_class = PerClass.of(matrix)
    return {
        metric.name: metric_from_matrix(metric, per_class, positive_index, weights)
        for metric in METRICS.values()
        if metric.is_there(positive_index, weights)
    }


def metric_from_matrix(metric: Metric, per_class: PerClass, positive_index: int | None, weights: Weights) -> Any:
    """One of them."""
    if metric.of_costs is not None and weights.costs is not None:
        return metric.of_costs(per_class, weights.costs)
    if metric.of_matrix is not None or positive_index is None:
        return np.asarray(metric.of_classes(per_class, weights)).item()
    assert metric.of_class is not None
    return metric.of_class(per_class.counts(positive_index), weights)


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
    costs: Any = None,
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
    costs : optional
        What each mistake costs in ``cost``, in place of ``c_p``: see ``askance.evaluate.costs``.
    seconds : float, optional
        Passed through.

    Returns
    -------
    dict
        ``events``, ``labels``, ``query_ratio``, ``accuracy``, ``balanced_accuracy``, ``mistakes``, and
        ``precision``, ``recall``, ``f1``, ``mcc``. With ``costs`` also ``cost``. With a positive class also
        ``sensitivity``, ``specificity``, ``sum``, ``cost``, and for two classes, where the input is given,
        ``auc``, ``nlp``, ``weighted_loss``.
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
    weights = weights_for(alpha_p, c_p, costs, classes)
    return _measure(
        class_index("truth", truth, classes),
        class_index("predicted", predicted, classes),
        asked,
        len(classes),
        position_of(positive, classes),
        weights,
        None if margin is None else numbers("margin", margin, len(truth)),
        None if probability_positive is None else probabilities(probability_positive, len(truth)),
        seconds,
    )


def summarise_trace(
    trace: PlayedStream, positive_index: int | None, weights: Weights, *, everything: bool = True
) -> Values:
    """As ``summarise``, of a trace in which every event has a label.

    Without ``everything`` only what follows from counts: the metrics that need a sort or probabilities take longer.
    """
    probability = trace.probability_positive if everything else None
    return _measure(
        trace.truth_index.astype(np.int64),
        trace.predicted_index.astype(np.int64),
        trace.asked,
        len(trace.classes),
        positive_index,
        weights,
        numbers("margin", trace.signed_margin, len(trace)) if everything else None,
        None if probability is None else probabilities(probability, len(trace)),
        trace.seconds,
    )


def _measure(
    true_class: NDArray[np.int64],
    predicted_class: NDArray[np.int64],
    asked: NDArray[Any],
    n_classes: int,
    positive_index: int | None,
    weights: Weights,
    margin: NDArray[np.float64] | None,
    probability: NDArray[np.float64] | None,
    seconds: float | None,
) -> Values:
    summary: Values = {
        "events": len(true_class),
        "labels": labels_used(asked),
        "query_ratio": query_ratio(asked),
        **metrics_from_matrix(cross(true_class, predicted_class, n_classes), positive_index, weights),
    }
    if n_classes == 2 and positive_index is not None:
        summary |= _metrics_from_scores(true_class == 1, margin, probability, positive_index, weights)
    if seconds is not None:
        summary["seconds"] = float(seconds)
    return summary


def _metrics_from_scores(
    is_second: NDArray[np.bool_],
    margin: NDArray[np.float64] | None,
    probability: NDArray[np.float64] | None,
    positive_index: int,
    weights: Weights,
) -> Values:
    """The metrics of two classes that need scores, or probabilities, where there are any."""
    found: Values = {}
    score = margin if probability is None else probability
    for metric in METRICS.values():
        if metric.of_scores is not None and score is not None:
            # Turning both the events and the order round would leave the area as it is.
            found[metric.name] = metric.of_scores(is_second, score)
        if metric.of_probabilities is not None and metric.is_summarised and probability is not None:
            if metric.is_about_positive and positive_index == 0:
                found[metric.name] = metric.of_probabilities(~is_second, 1.0 - probability, weights)
            else:
                found[metric.name] = metric.of_probabilities(is_second, probability, weights)
    return found


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
