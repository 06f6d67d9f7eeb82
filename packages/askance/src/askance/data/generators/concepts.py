"""Streams whose rule changes: abruptly, gradually, or back and forth.

An event is a vector of independent standard normal numbers. A concept is a direction; events beyond a threshold along
it are positive, +1, the others -1. The directions of two concepts that follow each other form a given angle: at 90
degrees the old rule is worth nothing, at 180 it is always wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from askance.errors import InvalidParameter

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]


class Concepts(NamedTuple):
    """A generated stream: events, labels -1 and +1, and the number of the concept behind each."""

    X: Numbers
    y: Integers
    concept: Integers


def abrupt(
    n: int,
    *,
    at: float = 0.5,
    angle: float = 90.0,
    n_features: int = 20,
    positive_rate: float = 0.5,
    random_state: int = 0,
) -> Concepts:
    """One concept, and from event ``at`` * n on another.

    Parameters
    ----------
    n : int
        Number of events, 1 or more.
    at : float in [0, 1], default 0.5
        When the change comes, as a share of the stream.
    angle : float, default 90
        Between the directions of the two concepts, in degrees.
    n_features : int, default 20
        2 or more.
    positive_rate : float in (0, 1), default 0.5
        Share of positive events under either concept.
    random_state : int, default 0

    Examples
    --------
    >>> stream = abrupt(1000, at=0.25)
    >>> np.bincount(stream.concept).tolist()
    [250, 750]
    """
    within("at", at, 0.0, 1.0)
    concept = (np.arange(size("n", n)) >= at * n).astype(np.int64)
    return make_concepts(concept, 2, angle, n_features, positive_rate, random_state)


def gradual(
    n: int,
    *,
    start: float = 0.4,
    end: float = 0.6,
    angle: float = 90.0,
    n_features: int = 20,
    positive_rate: float = 0.5,
    random_state: int = 0,
) -> Concepts:
    """Between ``start`` * n and ``end`` * n, ever more events follow the second concept; see :func:`abrupt`.

    >>> stream = gradual(1000, start=0.2, end=0.8)
    >>> stream.concept[:200].any(), stream.concept[800:].all()
    (np.False_, np.True_)
    """
    within("start", start, 0.0, 1.0)
    within("end", end, 0.0, 1.0)
    if start > end:
        raise InvalidParameter(f"start must not be after end, got start={start!r} and end={end!r}.")
    place = np.arange(size("n", n)) / n
    chance = np.where(place >= end, 1.0, 0.0) if start == end else np.clip((place - start) / (end - start), 0.0, 1.0)
    rng = generator_for(random_state, DRIFT).random(n)
    return make_concepts((rng < chance).astype(np.int64), 2, angle, n_features, positive_rate, random_state)


def recurring(
    n: int,
    *,
    period: int = 1000,
    concepts: int = 2,
    angle: float = 90.0,
    n_features: int = 20,
    positive_rate: float = 0.5,
    random_state: int = 0,
) -> Concepts:
    """Concepts 0, 1, ... in turn, ``period`` events each, and again from the start; see :func:`abrupt`.

    >>> recurring(6, period=2).concept.tolist()
    [0, 0, 1, 1, 0, 0]
    """
    size("period", period)
    if concepts < 2:
        raise InvalidParameter(f"concepts must be 2 or more, got {concepts!r}.")
    concept = np.arange(size("n", n), dtype=np.int64) // period % concepts
    return make_concepts(concept, concepts, angle, n_features, positive_rate, random_state)


DRIFT, THINNING, NOISE, DELAY = 1, 2, 3, 4


def generator_for(random_state: int | None, use: int) -> np.random.Generator:
    """Random numbers for one use alone. Those of the seed itself are the ones a classifier of the same seed asks with:
    a label that were wrong by them would be wrong just where it is asked for."""
    return np.random.default_rng(None if random_state is None else [random_state, use])


def make_concepts(
    concept: Integers, concepts: int, angle: float, n_features: int, positive_rate: float, random_state: int
) -> Concepts:
    """Events, and their labels under the concept of each."""
    if n_features < 2:
        raise InvalidParameter(f"n_features must be 2 or more, got {n_features!r}: concepts differ in direction.")
    if not 0.0 < positive_rate < 1.0:
        raise InvalidParameter(f"positive_rate must be between 0 and 1, both excluded, got {positive_rate!r}.")
    from scipy.special import ndtri

    rng = np.random.default_rng(random_state)
    directions = [unit(rng.standard_normal(n_features))]
    for _ in range(concepts - 1):
        last = directions[-1]
        other = rng.standard_normal(n_features)
        across = unit(other - (other @ last) * last)
        directions.append(np.cos(np.deg2rad(angle)) * last + np.sin(np.deg2rad(angle)) * across)
    X = rng.standard_normal((len(concept), n_features))
    along = (X * np.array(directions)[concept]).sum(axis=1)
    return Concepts(X, np.where(along > -ndtri(positive_rate), 1, -1).astype(np.int64), concept)


def unit(vector: Numbers) -> Numbers:
    return vector / np.linalg.norm(vector)


def size(name: str, value: int) -> int:
    if value < 1:
        raise InvalidParameter(f"{name} must be 1 event or more, got {value!r}.")
    return value


def within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise InvalidParameter(f"{name} must be between {low:g} and {high:g}, got {value!r}.")
