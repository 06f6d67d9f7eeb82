"""The few loops over an event's non-zero features that the rules are made of.

Sums run in the order of the columns and are never reassociated: compiled or interpreted, in a stream or one by
one, the same event gives the same bits.
"""

from __future__ import annotations

import numpy as np

from askance.learner.state import Event, Score, State

WEIGHT = 0  # the place of the weight among the numbers of a feature


def dot(table: np.ndarray, event: Event) -> tuple[float, float]:
    """w.x and ||x||^2 of the first weight vector, in one pass."""
    total = 0.0
    squared_length = 0.0
    for i in range(event.start, event.stop):
        value = event.values[i]
        total += table[event.columns[i], WEIGHT, 0] * value
        squared_length += value * value
    return total, squared_length


def add(table: np.ndarray, vector: int, event: Event, step: float) -> None:
    """w += step x, for one weight vector."""
    for i in range(event.start, event.stop):
        table[event.columns[i], WEIGHT, vector] += step * event.values[i]


def side(margin: float) -> int:
    """The class index that a margin predicts; sign(0) = +1."""
    return 1 if margin >= 0.0 else 0


def sign(answer: int) -> float:
    """The label -1 or +1 of a class index 0 or 1."""
    return 2.0 * answer - 1.0


def linear_margin(parameters: np.ndarray, state: State, event: Event) -> Score:
    """The margin w.x of a single weight vector."""
    margin, squared_length = dot(state.table, event)
    return Score(side(margin), margin, 0.0, squared_length)
