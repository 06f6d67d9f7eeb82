"""The few loops over an event's non-zero features that the rules are made of.

Sums run in the order of the columns and are never reassociated: compiled or interpreted, in a stream or one by
one, the same event gives the same bits.

With one weight vector per class (papers 1 §4 and 2 §4) and the scores s_r = w^r.x, the prediction is the best score,
the margin is the best minus the second best, and ties go to the lowest class. An answer y moves two vectors: that of y,
and that of its rival, the best of the rest.
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


# --- with a variance per weight --------------------------------------------------------------------------


VARIANCE = 1  # its place among the numbers of a feature, beside the weight


def margin_and_variance(parameters, state, event):
    """The margin w.x and its variance sum_i S_i x_i^2, in one pass over both."""
    table = state.table
    margin = 0.0
    variance = 0.0
    for i in range(event.start, event.stop):
        column = column_at(table, event, i)
        value = event.values[i]
        margin += table[column, WEIGHT, 0] * value
        variance += table[column, VARIANCE, 0] * (value * value)
    return Score(side(margin), margin, variance)


def inflate_diagonal(table: np.ndarray, share: float, at_first: float | np.ndarray) -> None:
    """Take every variance this share of the way back to what it was at first."""
    table[:, VARIANCE] += share * (at_first - table[:, VARIANCE])


def forget_variances(table, event, memory, at_first):
    """Divide the event's variances by the memory factor; none grows beyond what it was at first."""
    if memory < 1.0:
        for i in range(event.start, event.stop):
            column = event.columns[i]
            table[column, VARIANCE, 0] = min(at_first, table[column, VARIANCE, 0] / memory)


def variance_of(table, event):
    """sum_i S_i x_i^2 alone."""
    variance = 0.0
    for i in range(event.start, event.stop):
        value = event.values[i]
        variance += table[event.columns[i], VARIANCE, 0] * (value * value)
    return variance


# --- with a weight vector per class ----------------------------------------------------------------------


def fill_scores(state, event):
    """Put s_r = w^r.x for every class r into ``state.scores``."""
    scores = state.scores
    for vector in range(scores.size):
        scores[vector] = 0.0
    for i in range(event.start, event.stop):
        column = column_at(state.table, event, i)
        value = event.values[i]
        for vector in range(scores.size):
            scores[vector] += state.table[column, WEIGHT, vector] * value


def best_except(scores, left_out):
    """The class with the highest score other than ``left_out``; the lowest such class if several have it."""
    best = 1 if left_out == 0 else 0
    for vector in range(best + 1, scores.size):
        if vector != left_out and scores[vector] > scores[best]:
            best = vector
    return best


def judge(scores, variance):
    """The prediction and its margin, from the scores."""
    predicted = best_except(scores, -1)
    runner_up = best_except(scores, predicted)
    return Score(predicted, scores[predicted] - scores[runner_up], variance)


def best_of(parameters, state, event):
    """Predict the class with the highest score."""
    fill_scores(state, event)
    return judge(state.scores, 0.0)


def hinge_loss(scores, answer, rival):
    """max(0, 1 - (s_y - s_rival))."""
    return max(0.0, 1.0 - (scores[answer] - scores[rival]))


def move_apart(table, answer, rival, event, step):
    """w^answer += step x and w^rival -= step x."""
    for i in range(event.start, event.stop):
        column = event.columns[i]
        change = step * event.values[i]
        table[column, WEIGHT, answer] += change
        table[column, WEIGHT, rival] -= change
