"""What happens to streams outside the laboratory: rare positives, wrong labels, answers that take their time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askance.data.generators.concepts import DELAY, NOISE, THINNING, generator_for, size, within
from askance.errors import InvalidInput, InvalidParameter

Integers = NDArray[np.int64]

NEVER = -1


def imbalance(y: ArrayLike, positive: Any, rate: float, *, random_state: int = 0) -> Integers:
    """The rows to keep, in order, so that about a share ``rate`` of them is ``positive``.

    Of one class all are kept, of the other a random part.

    Examples
    --------
    >>> y = np.array([1, -1] * 5000)
    >>> rows = imbalance(y, positive=1, rate=0.1)
    >>> bool(abs((y[rows] == 1).mean() - 0.1) < 0.02)
    True
    """
    if not 0.0 < rate < 1.0:
        raise InvalidParameter(f"rate must be between 0 and 1, both excluded, got {rate!r}.")
    labels = np.asarray(y)
    is_positive = np.asarray(labels == positive, dtype=np.bool_)
    positives = int(is_positive.sum())
    negatives = len(labels) - positives
    if not positives or not negatives:
        raise InvalidInput(f"y must hold {positive!r} and other labels, or there is no balance to change.")
    odds = rate / (1.0 - rate) * negatives / positives  # positives to keep for each negative kept
    keep = np.where(is_positive, min(odds, 1.0), min(1.0 / odds, 1.0))
    return np.flatnonzero(generator_for(random_state, THINNING).random(len(labels)) < keep)


def label_noise(y: ArrayLike, rate: float, *, random_state: int = 0) -> NDArray[Any]:
    """The labels, each with probability ``rate`` replaced by another one, all others alike.

    >>> y = np.array(["ham"] * 700 + ["spam"] * 300)
    >>> int((label_noise(y, 0.1) != y).sum())
    96
    """
    within("rate", rate, 0.0, 1.0)
    labels = np.asarray(y)
    classes, index = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise InvalidInput("y must hold two or more different labels, or none can be mistaken for another.")
    rng = generator_for(random_state, NOISE)
    is_wrong = rng.random(len(labels)) < rate
    shift = rng.integers(1, len(classes), size=len(labels))
    return np.asarray(classes[np.where(is_wrong, (index + shift) % len(classes), index)])


def verification_delay(
    n: int, mean: float, *, spread: str = "geometric", lost: float = 0.0, random_state: int = 0
) -> Integers:
    """How many events later the answer to each of ``n`` events comes; -1 if it never does.

    Parameters
    ----------
    n : int
        Number of events.
    mean : float
        Mean delay in events, 0 or more.
    spread : {"geometric", "constant"}, default "geometric"
        Whether each answer takes its own time, long ones included, or all the same.
    lost : float in [0, 1], default 0
        Share of the answers that never come.
    random_state : int, default 0

    Examples
    --------
    >>> verification_delay(5, mean=100, spread="constant").tolist()
    [100, 100, 100, 100, 100]
    """
    size("n", n)
    within("lost", lost, 0.0, 1.0)
    if not 0.0 <= mean < float("inf"):
        raise InvalidParameter(f"mean must be a number of events, 0 or more, got {mean!r}.")
    if spread not in ("geometric", "constant"):
        raise InvalidParameter(f'spread must be "geometric" or "constant", got {spread!r}.')
    rng = generator_for(random_state, DELAY)
    steps = rng.geometric(1.0 / (1.0 + mean), size=n) - 1 if spread == "geometric" else np.full(n, round(mean))
    return np.where(rng.random(n) < lost, NEVER, steps).astype(np.int64)


def answers_by_arrival(delay: ArrayLike) -> Iterator[tuple[int, list[int]]]:
    """For each event in turn, its number and those whose answers are there by then, in the order they came.

    >>> [(now, there) for now, there in answers_by_arrival([2, 0, -1])]
    [(0, []), (1, [1]), (2, [0])]
    """
    waits = np.asarray(delay)
    due: dict[int, list[int]] = {}
    for now, wait in enumerate(waits.tolist()):
        if wait != NEVER:
            due.setdefault(now + wait, []).append(now)
        yield now, due.pop(now, [])
