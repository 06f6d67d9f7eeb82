"""The arrays a learner owns: one shape for every rule, so that one loop and one file format serve them all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    """Everything a model has learned, and room to work in. Arrays a rule does not need are empty."""

    table: np.ndarray
    """(features, numbers, vectors): what is kept per feature. Number 0 is the weight; the numbers of a feature
    lie side by side, so that one event touches as few cache lines as it can."""
    matrix: np.ndarray
    """(features, features): a full covariance, without its pending steps."""
    pending: np.ndarray
    """(features, steps): rank-one steps not yet taken from ``matrix``."""
    extra: np.ndarray
    """A few numbers of the rule's own, such as counters."""
    scores: np.ndarray
    """Scratch, one per weight vector: the scores of the event in hand."""
    variances: np.ndarray
    """Scratch, one per weight vector: the variances of those scores."""
    work: np.ndarray
    """Scratch of the rule's own, in rows."""


SAVED = ("table", "matrix", "pending", "extra")
"""The arrays that are the model; the others are scratch."""


class Event(NamedTuple):
    """One event: the non-zero features ``columns[start:stop]`` with ``values[start:stop]``.

    Whole arrays with two bounds, because a slice costs more than the arithmetic of a short event.
    """

    columns: np.ndarray
    values: np.ndarray
    start: int | np.uint64
    stop: int | np.uint64
    has_followers: bool = False
    """Whether the features of later events are worth fetching while this one is scored (see ``sparse.column_at``)."""


class Score(NamedTuple):
    """What the model says of one event."""

    predicted: int
    """The index of the predicted class."""
    margin: float
    """w.x, or the best score minus the second best."""
    variance: float
    """How unsure the model is of the margin; 0 where the kernel does not compute it."""


class Tally(NamedTuple):
    """What has happened so far, as query rules see it."""

    seen: int
    """Events, this one included: the t of the papers."""
    asked: int
    """Labels asked for, before this event."""
    mistakes: int
    """Wrong predictions among the labels answered so far."""


def fresh_state(
    n_features: int,
    n_vectors: int,
    start_values: tuple[float, ...],
    *,
    extra: int = 0,
    matrix: bool = False,
    pending: int = 0,
    work: tuple[int, int] = (0, 0),
) -> State:
    """A state whose table holds ``start_values`` for every feature and vector."""
    table = np.zeros((n_features, len(start_values), n_vectors))
    for number, value in enumerate(start_values):
        if value != 0.0:  # untouched zero pages cost no memory
            table[:, number, :] = value
    side = n_features if matrix else 0
    return State(
        table=table,
        matrix=np.zeros((side, side)),
        pending=np.zeros((n_features if pending else 0, pending)),
        extra=np.zeros(extra),
        scores=np.zeros(n_vectors),
        variances=np.zeros(n_vectors),
        work=np.zeros(work),
    )
