"""A weight and a variance per feature: what the diagonal second-order rules share."""

from __future__ import annotations

import numpy as np

from askance.learner.sparse import WEIGHT, column_at, side
from askance.learner.state import Score

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
