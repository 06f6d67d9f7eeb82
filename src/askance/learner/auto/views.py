"""Three ways of looking at an event, made as the stream goes: to unit length, as it is, and standardised.

    unit        x / ||x||, which suits text and anything whose length says little
    raw         x / (root mean square of ||x||), which keeps the length
    standard    up to ``MOST_CENTRED`` features: (x - mean) / spread of every feature, absent values being zeros like
                any other; more features: x / (root mean square where present) times
                log(1 + events / events with the feature), then to unit length: an absent value stays absent, and rare
                features count for more

All have a length of about 1, so that prior variances and step sizes mean the same whatever the data, and end with a
constant: one more feature, as large as one of the others in an event of the usual number of features. A larger constant
learns fast that one class is rare, and then predicts the other whatever the event. The means and spreads are those of
the events watched so far, this one included; nothing is looked at twice. They forget: an event counts as one of the
last ``LONG``.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from askance.learner.auto.layout import CENTRED, LENGTH, MODEST, PRESENT_USUALLY, WATCHED
from askance.learner.sparse import column_at, squared_norm
from askance.learner.state import Event

UNIT, RAW, STANDARD = 0, 1, 2

# rows of state.work, after those of the full covariances
PRESENT, ALL, VALUES = 3, 4, 5
"""The columns of the event and the constant, all columns, and from there on the values, a row for each view."""
WORK_ROWS = 8

MOST_CENTRED = 512

LONG = 20_000.0
FARTHEST = 30.0  # spreads from the mean; what lies beyond is held there


def watch(state, event):
    """Let an event into the means and spreads, which are the last two numbers of each feature."""
    table = state.table
    mean = table.shape[1] - np.uint64(2)
    spread = table.shape[1] - np.uint64(1)
    state.extra[WATCHED] += 1.0
    share = 1.0 / min(state.extra[WATCHED], LONG)
    state.extra[LENGTH] += share * (squared_norm(event) - state.extra[LENGTH])
    state.extra[PRESENT_USUALLY] += share * (float(event.stop - event.start) - state.extra[PRESENT_USUALLY])
    if state.extra[CENTRED] > 0.0:
        i = event.start
        for feature in range(table.shape[0] - 1):
            value = 0.0
            if i < event.stop and event.columns[i] == feature:
                value = event.values[i]
                i += np.uint64(1)
            before = value - table[feature, mean, 0]
            table[feature, mean, 0] += share * before
            table[feature, spread, 0] = (1.0 - share) * (table[feature, spread, 0] + share * before * before)
    else:
        for i in range(event.start, event.stop):
            column = event.columns[i]
            table[column, mean, 0] += 1.0
            table[column, spread, 0] += event.values[i] * event.values[i]


def see(state, event):
    """Fill all views of an event."""
    last = state.table.shape[0] - 1
    columns = state.work[PRESENT].view(np.uint32)
    unit = state.work[VALUES + UNIT]
    raw = state.work[VALUES + RAW]
    standard = state.work[VALUES + STANDARD]
    length = sqrt(squared_norm(event))
    inverse = 1.0 / length if length > 0.0 else 0.0
    usual = 1.0 / sqrt(state.extra[LENGTH]) if state.extra[LENGTH] > 0.0 else 0.0
    place = np.uint64(0)
    for i in range(event.start, event.stop):
        columns[place] = column_at(state.table, event, i)
        unit[place] = event.values[i] * inverse
        raw[place] = event.values[i] * usual
        place += np.uint64(1)
    columns[place] = last
    unit[place] = constant(state, state.extra[PRESENT_USUALLY])
    raw[place] = constant(state, state.extra[PRESENT_USUALLY])
    if state.extra[CENTRED] > 0.0:
        centre(state, event, standard)
    else:
        rescale(state, event, standard)


def constant(state, features):
    """As large as one of so many features in an event of length 1."""
    return 1.0 / sqrt(max(1.0, features)) if state.extra[MODEST] > 0.0 else 1.0


def centre(state, event, standard):
    """(x - mean) / spread for every feature, over the root of how many of them vary."""
    table = state.table
    mean = table.shape[1] - np.uint64(2)
    spread = table.shape[1] - np.uint64(1)
    last = table.shape[0] - 1
    varying = 0
    i = event.start
    for feature in range(last):
        value = 0.0
        if i < event.stop and event.columns[i] == feature:
            value = event.values[i]
            i += np.uint64(1)
        standard[feature] = 0.0
        if table[feature, spread, 0] > 0.0:
            varying += 1
            z = (value - table[feature, mean, 0]) / sqrt(table[feature, spread, 0])
            standard[feature] = min(FARTHEST, max(-FARTHEST, z))
    inverse = 1.0 / sqrt(max(1, varying))
    for feature in range(last):
        standard[feature] *= inverse
    standard[last] = constant(state, varying)


def rescale(state, event, standard):
    """x over its usual size, the rarer the larger, to unit length."""
    table = state.table
    count = table.shape[1] - np.uint64(2)
    squares = table.shape[1] - np.uint64(1)
    total = 0.0
    place = 0
    for i in range(event.start, event.stop):
        column = event.columns[i]
        present = max(1.0, table[column, count, 0])
        size = sqrt(table[column, squares, 0] / present) if table[column, squares, 0] > 0.0 else abs(event.values[i])
        value = event.values[i] / size * log(1.0 + state.extra[WATCHED] / present)
        standard[place] = value
        total += value * value
        place += 1
    inverse = 1.0 / sqrt(total) if total > 0.0 else 0.0
    for i in range(place):
        standard[i] *= inverse
    standard[place] = constant(state, state.extra[PRESENT_USUALLY])


def seen_as(state, event, view):
    """The event in one of the views, which ``see`` filled."""
    is_dense = view == STANDARD and state.extra[CENTRED] > 0.0
    columns = state.work[ALL if is_dense else PRESENT].view(np.uint32)
    size = np.uint64(state.table.shape[0]) if is_dense else np.uint64(event.stop - event.start + np.uint64(1))
    return Event(columns, state.work[VALUES + view], np.uint64(0), size, False)
