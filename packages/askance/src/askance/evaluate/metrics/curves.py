"""A metric as the stream goes on: over time, over the labels bought, cumulative or over a window.

A point of a curve is a metric of all events up to there, or of the last ``window`` of them. Points are evenly spaced
over the events or over the labels, so that curves of streams of any length have the same size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askance.errors import InvalidParameter
from askance.evaluate.metrics.arrays import column
from askance.evaluate.metrics.counts import PerClass, class_index
from askance.evaluate.metrics.register import METRICS, USUAL_WEIGHTS, Weights
from askance.evaluate.metrics.summary import metric_from_matrix, position_of, weights_for

POINTS = 100
OVER = ("events", "labels")
PIECE = 1 << 20  # events read at once


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
    costs: Any = None,
    points: int = POINTS,
    window: int | None = None,
    over: str = OVER[0],
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
        A metric that counts right and wrong predictions, such as accuracy, f1 or, for two classes or a ``positive``
        one, sum and cost.
    positive, alpha_p, c_p, costs
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
    weights = weights_for(alpha_p, c_p, costs, classes)
    if points < 1 or (window is not None and window < 1):
        raise InvalidParameter(f"points and window must be 1 or more, got points={points}, window={window}.")

    cell = class_index("truth", truth, classes) * len(classes) + class_index("predicted", predicted, classes)
    return curve_of_cells(
        cell, bought, len(classes), metric, positive_index, weights, points=points, window=window, over=over
    )


def curve_of_cells(
    cell: NDArray[Any],
    asked: NDArray[np.bool_],
    n_classes: int,
    metric: str,
    positive_index: int | None,
    weights: Weights,
    *,
    points: int = POINTS,
    window: int | None = None,
    over: str = OVER[0],
) -> Curve:
    """The curve of events whose cells of the confusion matrix, truth * n_classes + prediction, are known.

    The arrays may lie in files: they are read a piece at a time.
    """
    refuse_metric(metric, positive_index, weights)
    labels_until = np.cumsum([0, *(np.count_nonzero(piece) for piece in _pieces(asked))])
    events = _points(asked, labels_until, points, over)
    latest = _matrices_before(events, cell, n_classes)
    before = _matrices_before(np.maximum(events - window, 0), cell, n_classes) if window is not None else None
    values = []
    for matrix in latest:
        counts = matrix - next(before) if before is not None else matrix
        values.append(float(metric_from_matrix(METRICS[metric], PerClass.of(counts), positive_index, weights)))
    return Curve(metric, events, _labels_before(events, asked, labels_until), np.array(values, np.float64))


def refuse_metric(metric: str, positive_index: int | None, weights: Weights = USUAL_WEIGHTS) -> None:
    """Refuse a metric of which there is no curve."""
    with_curve = [known for known in METRICS.values() if known.has_curve]
    there = [known.name for known in with_curve if known.is_there(positive_index, weights)]
    if metric not in there and any(metric == known.name for known in with_curve):
        raise InvalidParameter(
            f"a curve of {metric!r} needs a positive class: name it{', or give costs' if metric == 'cost' else ''}."
        )
    if metric not in there:
        raise InvalidParameter(f"there is no curve of {metric!r}; there are {', '.join(there)}.")


def _pieces(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    return (array[first : first + PIECE] for first in range(0, len(array), PIECE))


def _points(asked: NDArray[np.bool_], labels_until: NDArray[np.int64], points: int, over: str) -> NDArray[np.int64]:
    """The numbers of events at which to measure, the last one included."""
    if over not in OVER:
        raise InvalidParameter(f'over must be "events" or "labels", got {over!r}.')
    most = len(asked) if over == "events" else int(labels_until[-1])
    wanted = np.unique(np.linspace(0, most, min(points, most) + 1).round().astype(np.int64)[1:])
    if over == "events":
        return wanted
    found = []
    for number, piece in enumerate(_pieces(asked)):
        bought = np.flatnonzero(piece)
        here = wanted[(wanted > labels_until[number]) & (wanted <= labels_until[number + 1])]
        found.append(number * PIECE + bought[here - labels_until[number] - 1] + 1)
    return np.concatenate([np.zeros(0, np.int64), *found])


def _labels_before(
    events: NDArray[np.int64], asked: NDArray[np.bool_], labels_until: NDArray[np.int64]
) -> NDArray[np.int64]:
    """How many labels were bought among the first ``n`` events for each ``n`` of ``events``."""
    counts = np.zeros(len(events), np.int64)
    for place, event in enumerate(events.tolist()):
        piece = (event - 1) // PIECE
        counts[place] = labels_until[piece] + np.count_nonzero(asked[piece * PIECE : event])
    return counts


def _matrices_before(events: NDArray[np.int64], cell: NDArray[Any], n_classes: int) -> Iterator[NDArray[np.int64]]:
    """A confusion matrix of the first ``n`` events for each ``n`` of ``events``, which ascend."""
    counts, done = np.zeros(n_classes * n_classes, np.int64), 0
    for event in events.tolist():
        for piece in _pieces(cell[done:event]):
            counts = counts + np.bincount(piece, minlength=n_classes * n_classes)
        done = event
        yield counts.reshape(n_classes, n_classes)
