"""The two examples of paper 5, section 4: why the order of events matters, and what an adversary makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askance.data.generators.concepts import size
from askance.errors import InvalidParameter

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
        for place, label in enumerate(y.tolist()):
            x[place] = (below + above) / 2.0
            below, above = (below, x[place]) if label > 0 else (x[place], above)
    else:
        negatives = int((y < 0).sum())
        x[y < 0] = np.arange(1, negatives + 1)  # they rise
        x[y > 0] = np.arange(n, negatives, -1)  # and the positives fall
        x /= n + 1
    return Attack(x[:, None], y)
