"""The arrays a learner owns: one shape for every rule, so that one loop and one file format serve them all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    """Everything that a model has learned, and scratch. Arrays that a rule does not need are empty."""

    table: np.ndarray
    """(features, numbers, vectors): what is kept per feature. Number 0 is the weight. The numbers of a feature lie side
    by side, so that one event touches few cache lines."""
    matrix: np.ndarray
    """(features, features): a full covariance, without its pending steps."""
    pending: np.ndarray
    """(features, steps): rank-one steps not yet taken from ``matrix``."""
    extra: np.ndarray
    """A few numbers of the rule's own, such as counters."""
    scores: np.ndarray
    """Scratch, one per weight vector: the scores of the current event."""
    variances: np.ndarray
    """Scratch, one per weight vector: the variances of those scores."""
    work: np.ndarray
    """Scratch of the rule's own, in rows."""


SAVED = ("table", "matrix", "pending", "extra")
"""The arrays that are the model; the others are scratch."""


class Event(NamedTuple):
    """One event: the non-zero features ``columns[start:stop]`` with ``values[start:stop]``.

    Whole arrays with two bounds, for a slice costs more than the arithmetic of a short event.
    """

    columns: np.ndarray
    values: np.ndarray
    start: int | np.uint64
    stop: int | np.uint64
    has_followers: bool = False
    """Whether the features of later events are worth fetching while this one is scored (see ``sparse.column_at``)."""


class Score(NamedTuple):
    """The prediction of one event."""

    predicted: int
    """The index of the predicted class."""
    margin: float
    """w.x, or the best score minus the second best."""
    variance: float
    """How unsure the model is of the margin, x' S x; 0 if the kernel does not compute it."""


class Tally(NamedTuple):
    """The counts so far, as query rules see them."""

    seen: int
    """Events, this one included: the t of the papers."""
    asked: int
    """Labels asked before this event."""
    mistakes: int
    """Wrong predictions among the answers so far."""


def declare_record(*fields: str | tuple[str, int]) -> np.dtype[np.void]:
    """Names for the numbers of a plain float64 array, or of a part of one; ``("name", n)`` names n in a row.

    A view of the array as such a record has them as attributes, in compiled kernels and in Python alike. The array
    itself stays what it is, and goes to model files as it is. ``record.itemsize // 8`` is how many numbers it has.

    >>> circle = declare_record(("centre", 2), "radius")
    >>> numbers = np.array([1.0, 2.0, 3.0])
    >>> numbers.view(circle)[0].radius += 1.0
    >>> numbers
    array([1., 2., 4.])
    """
    named: list[tuple[str, int]] = [(field, 1) if isinstance(field, str) else field for field in fields]
    for name, _ in named:
        assert not hasattr(np.record, name), f"{name} is an attribute that every NumPy record has."
    return np.dtype((np.record, [(name, "f8") if size == 1 else (name, "f8", (size,)) for name, size in named]))


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


KEEP_EXACT = 10_000  # up to so many features a model is exactly as wide as its stream


def room_for(width: int) -> int:
    """How wide to make a model for a stream that is ``width`` columns wide so far, and may grow.

    >>> room_for(300), room_for(1_000_000)
    (300, 1250000)
    """
    return width if width <= KEEP_EXACT else min(width + width // 4, 2**31 - 2)
