"""A metric as the stream goes on: over time, over the labels bought, cumulative or over a window.

A point of a curve is a metric of all events up to there, or of the last ``window`` of them. Points are evenly spaced
over the events or over the labels, so that curves of streams of any length have the same size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askance.errors import InvalidParameter
from askance.metrics.arrays import column, share
from askance.metrics.counts import class_index
from askance.metrics.summary import counted, position_of


@dataclass(frozen=True)
class Curve:
    """A metric at several points of a stream."""

    metric: str
    events: NDArray[np.int64]
    """How many events had come by then."""
    labels: NDArray[np.int64]
    """How many labels had been bought by then."""
    values: NDArray[np.float64]
    """The metric, of all events so far or of a window of the latest."""


def curve(
    truth: ArrayLike,
    predicted: ArrayLike,
    asked: ArrayLike,
    *,
    classes: ArrayLike,
    metric: str = "accuracy",
    positive: Any = None,
    alpha_p: float = 0.5,
    c_p: float = 0.9,
    points: int = 100,
    window: int | None = None,
    over: str = "events",
) -> Curve:
    """A metric as the stream goes on.

    Parameters
    ----------
    truth, predicted : array of labels, one per event
    asked : array of bool
        Whether the label of the event was bought.
    classes : array of labels
        All classes, sorted.
    metric : str, default "accuracy"
        A metric that counts right and wrong predictions: accuracy, balanced_accuracy, mistakes, precision, recall, f1,
        and for two classes or a ``positive`` one also sensitivity, specificity, sum and cost.
    positive, alpha_p, c_p
        As in ``summarise``.
    points : int, default 100
        How many points the curve has at most.
    window : int, optional
        Count the latest so many events only; all of them unless given.
    over : "events" or "labels", default "events"
        What the points are evenly spaced over.

    Examples
    --------
    >>> drawn = curve([1, 1, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0], classes=[0, 1], points=4)
    >>> drawn.events, drawn.labels, drawn.values.round(2)
    (array([1, 2, 3, 4]), array([1, 1, 2, 2]), array([0.  , 0.5 , 0.67, 0.75]))
    """
    truth = column("truth", truth)
    predicted = column("predicted", predicted, len(truth))
    bought = np.asarray(column("asked", asked, len(truth)), dtype=np.bool_)
    classes = column("classes", classes)
    positive_index = position_of(positive, classes)
    alpha_p, c_p = share("alpha_p", alpha_p), share("c_p", c_p)
    if points < 1 or (window is not None and window < 1):
        raise InvalidParameter(f"points and window must be 1 or more, got points={points}, window={window}.")

    labels = np.concatenate([[0], np.cumsum(bought)])
    events = _points(labels, points, over)
    cell = class_index("truth", truth, classes) * len(classes) + class_index("predicted", predicted, classes)
    until = _counts_before(events, cell, len(classes))
    if window is not None:
        until = until - _counts_before(np.maximum(events - window, 0), cell, len(classes))
    values = [counted(matrix, positive_index, alpha_p, c_p) for matrix in until]
    if values and metric not in values[0]:
        raise InvalidParameter(f"there is no curve of {metric!r}; there are {', '.join(values[0])}.")
    return Curve(metric, events, labels[events], np.array([float(value[metric]) for value in values]))


def _points(labels: NDArray[np.int64], points: int, over: str) -> NDArray[np.int64]:
    """The numbers of events at which to measure, the last one included."""
    n_events, n_labels = len(labels) - 1, int(labels[-1])
    if over == "events":
        return np.unique(np.linspace(0, n_events, min(points, n_events) + 1).round().astype(np.int64)[1:])
    if over == "labels":
        wanted = np.unique(np.linspace(0, n_labels, min(points, n_labels) + 1).round().astype(np.int64)[1:])
        return np.searchsorted(labels, wanted)
    raise InvalidParameter(f'over must be "events" or "labels", got {over!r}.')


def _counts_before(events: NDArray[np.int64], cell: NDArray[np.int64], n_classes: int) -> NDArray[np.int64]:
    """A confusion matrix of the first ``n`` events for each ``n`` of ``events``."""
    counts = np.zeros((len(events), n_classes * n_classes), dtype=np.int64)
    for kind in np.unique(cell):
        counts[:, kind] = np.searchsorted(np.flatnonzero(cell == kind), events)
    return counts.reshape(len(events), n_classes, n_classes)
