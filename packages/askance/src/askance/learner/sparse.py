"""The few loops over an event's non-zero features that the rules are made of.

Sums run in the order of the columns and are never reassociated: compiled or interpreted, in a stream or one by
one, the same event gives the same bits.
"""

from __future__ import annotations

import numpy as np

from askance.compile import prefetch
from askance.learner.state import Event, Score, State

WEIGHT = 0  # the place of the weight among the numbers of a feature
LOOK_AHEAD = np.uint64(256)  # non-zeros between a hint to the cache and its use; 160 to 512 measured alike
FAR_AHEAD = np.uint64(1024)  # the same for the events themselves, which must be there before LOOK_AHEAD reads them
LINE_OF_VALUES = np.uint64(8)  # how many there are in a cache line
LINE_OF_COLUMNS = np.uint64(16)


def column_at(table: np.ndarray, event: Event, i: int) -> int:
    """The i-th column. In a large table, also fetch what will be wanted soon: a plain index for the result, a speed-up
    of up to two for the scoring loops, in which each event's features are met first."""
    if event.has_followers:
        prefetch(table, event.columns[i + LOOK_AHEAD])
    return event.columns[i]


def fetch_events_to_come(event: Event) -> None:
    """Fetch as much of the stream as the event is long, from where it will be read in a while: the processor does so by
    itself, but not from one page of memory to the next."""
    for i in range(event.start + FAR_AHEAD, event.stop + FAR_AHEAD, LINE_OF_COLUMNS):
        prefetch(event.columns, i)
        prefetch(event.values, i)
        prefetch(event.values, i + LINE_OF_VALUES)


def dot(table: np.ndarray, event: Event) -> float:
    """w.x of the first weight vector."""
    total = 0.0
    for i in range(event.start, event.stop):
        total += table[column_at(table, event, i), WEIGHT, 0] * event.values[i]
    return total


def squared_norm(event: Event) -> float:
    """||x||^2."""
    total = 0.0
    for i in range(event.start, event.stop):
        total += event.values[i] * event.values[i]
    return total


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
    margin = dot(state.table, event)
    return Score(side(margin), margin, 0.0)
