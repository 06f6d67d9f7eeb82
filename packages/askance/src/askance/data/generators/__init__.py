"""Streams made on the spot, for demonstrations, tests and experiments: no download, the same for the same seed.

==========================  ==========================================================================================
:func:`messages`            short text messages, some of them spam
:func:`abrupt`              one linear concept, from a moment on another
:func:`gradual`             the second concept comes up little by little
:func:`recurring`           two or more concepts in turn, each again and again
:func:`novel_spam_attack`   paper 5, example 1: every day a message never seen before
:func:`splitting_the_difference`  paper 5, example 2: a spammer who creeps up to the boundary
:func:`imbalance`           any stream, thinned until the positive class has a given share
:func:`label_noise`         any labels, some of them wrong
:func:`verification_delay`  how long the answer to each event takes, and whether it comes at all
:func:`answers_by_arrival`  who is answered when, given the delays
==========================  ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askance.data.generators.texts import Messages, messages
from askance.errors import InvalidInput, InvalidParameter

__all__ = [
    "Concepts",
    "Messages",
    "abrupt",
    "answers_by_arrival",
    "gradual",
    "imbalance",
    "label_noise",
    "messages",
    "novel_spam_attack",
    "recurring",
    "splitting_the_difference",
    "verification_delay",
]

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]


# --- streams whose rule changes --------------------------------------------------------------------------
# An event is a vector of independent standard normal numbers. A concept is a direction; events beyond a threshold along
# it are positive, +1, the others -1. The directions of two concepts that follow each other form a given angle: at 90
# degrees the old rule is worth nothing, at 180 it is always wrong.


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
    progress = np.arange(size("n", n)) / n
    chance = (
        np.where(progress >= end, 1.0, 0.0) if start == end else np.clip((progress - start) / (end - start), 0.0, 1.0)
    )
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


# --- the two examples of paper 5, section 4 --------------------------------------------------------------
# Why the order of events matters, and what an adversary makes of it.

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MOST_HALVINGS = 50  # after which (a + b) / 2 is no longer a number of its own


class Attack(NamedTuple):
    """Events and labels, -1 and +1."""

    X: csr_matrix | NDArray[np.float64]
    y: NDArray[np.int64]


def novel_spam_attack(days: int, copies: int, *, random_state: int = 0) -> Attack:
    """Every day one new message, ``copies`` times, sharing no feature with any other; its label is a coin toss.

    Who memorises makes ``days`` / 2 mistakes, and who learns on the first day only, (``days`` - 1) ``copies`` / 2.
    Shuffling does not help: nothing carries over from one message to another.

    Examples
    --------
    >>> stream = novel_spam_attack(days=3, copies=2)
    >>> stream.X.toarray().tolist()
    [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    """
    if days < 1 or copies < 1:
        raise InvalidParameter(f"days and copies must be 1 or more, got days={days!r} and copies={copies!r}.")
    from scipy.sparse import csr_matrix

    message = np.repeat(np.arange(days), copies)
    label = np.random.default_rng(random_state).choice([-1, 1], size=days)
    rows = np.arange(len(message) + 1)
    X = csr_matrix((np.ones(len(message)), message, rows), shape=(len(message), days))
    return Attack(X, label[message].astype(np.int64))


def splitting_the_difference(n: int, *, random_state: int = 0) -> Attack:
    """A threshold on [0, 1], always asked about half-way between what is known to be negative and to be positive.

    With a the highest negative example so far (0 at first) and b the lowest positive one (1 at first), the next
    instance is (a + b) / 2, positive with probability 1/2. In order, almost every event is a coin toss, although all
    positives lie above all negatives; shuffled, Theta(log n) mistakes are enough.

    Notes
    -----
    After 50 halvings a double can no longer tell a from b. A longer stream has the instances in the same order, which
    is all the example is about, but at equal distances.

    Examples
    --------
    >>> stream = splitting_the_difference(4, random_state=1)
    >>> stream.X.ravel().tolist(), stream.y.tolist()
    ([0.5, 0.75, 0.625, 0.5625], [-1, 1, 1, 1])
    """
    y = np.random.default_rng(random_state).choice([-1, 1], size=size("n", n)).astype(np.int64)
    x = np.empty(n)
    if n <= MOST_HALVINGS:
        below, above = 0.0, 1.0
        for event, label in enumerate(y.tolist()):
            x[event] = (below + above) / 2.0
            below, above = (below, x[event]) if label > 0 else (x[event], above)
    else:
        negatives = int((y < 0).sum())
        x[y < 0] = np.arange(1, negatives + 1)  # they rise
        x[y > 0] = np.arange(n, negatives, -1)  # and the positives fall
        x /= n + 1
    return Attack(x[:, None], y)


# --- what happens outside the laboratory -----------------------------------------------------------------
# Rare positives, wrong labels, answers that take their time.

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
