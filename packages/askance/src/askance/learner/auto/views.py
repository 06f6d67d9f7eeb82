"""Three views of an event, made as the stream goes: to unit length, as it is, and standardised.

    unit        x / ||x||                          for text, and whatever has a length that says little
    raw         x / sqrt(mean ||x||^2)             keeps the length
    standard    z / sqrt(d),   z_k = (x_k - mu_k) / sigma_k               up to ``centred`` features
                z / ||z||,     z_k = x_k / rms_k log(1 + t / t_k)         more features

mu_k and sigma_k are the mean and standard deviation of feature k, absent values counting as 0, and d is the number of
features that vary. With more features an absent value stays absent: rms_k is the root mean square over the t_k events,
of t so far, that have the feature, and rare features count for more.

All views have a length of about 1, so that prior variances and step sizes mean the same whatever the data. All end with
a constant feature, 1 / sqrt(n) for events with n features: as large as one of the others. A larger constant learns fast
that one class is rare, and then predicts the other whatever the event. A fourth view, the curved one, is made from the
standardised one (see ``fourier``).

The statistics are those of the events so far, this one included; no event is read twice. They forget: an event counts
as one of the last ``LONG``.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from askance.learner.auto.layout import view_head
from askance.learner.fourier import LONG, standardise, update_moments
from askance.learner.sparse import column_at, squared_norm
from askance.learner.state import Event

UNIT, RAW, STANDARD, CURVED = 0, 1, 2, 3

# Rows of state.work, after those of the full covariances:
PRESENT, ALL, VALUES = 3, 4, 5
"""The columns of the event with the constant's; all columns; from here on, the values, one row for each view."""
WORK_ROWS = 8


def update_statistics(state, event):
    """Update the statistics, the last two numbers of each feature, by an event: mean and variance (see
    ``learner.fourier``) or, with more features, t_k += 1 and the sum of squares += x_k^2 for the features that the
    event has."""
    table = state.table
    head = view_head(state)
    head.watched += 1.0
    share = 1.0 / min(head.watched, LONG)
    head.mean_squared_length += share * (squared_norm(event) - head.mean_squared_length)
    head.mean_present += share * (float(event.stop - event.start) - head.mean_present)
    if head.is_centred > 0.0:
        update_moments(table, table.shape[0] - 1, event, share)
    else:
        count = table.shape[1] - np.uint64(2)
        squares = table.shape[1] - np.uint64(1)
        for i in range(event.start, event.stop):
            column = event.columns[i]
            table[column, count, 0] += 1.0
            table[column, squares, 0] += event.values[i] * event.values[i]


def fill_views(state, event):
    """Write all views of an event into ``state.work``: x / ||x||, x / sqrt(mean ||x||^2), and the standardised one."""
    head = view_head(state)
    last = state.table.shape[0] - 1
    columns = state.work[PRESENT].view(np.uint32)
    unit = state.work[VALUES + UNIT]
    raw = state.work[VALUES + RAW]
    standard = state.work[VALUES + STANDARD]
    length = sqrt(squared_norm(event))
    inverse = 1.0 / length if length > 0.0 else 0.0
    usual = 1.0 / sqrt(head.mean_squared_length) if head.mean_squared_length > 0.0 else 0.0
    place = np.uint64(0)
    for i in range(event.start, event.stop):
        columns[place] = column_at(state.table, event, i)
        unit[place] = event.values[i] * inverse
        raw[place] = event.values[i] * usual
        place += np.uint64(1)
    columns[place] = last
    unit[place] = constant(head, head.mean_present)
    raw[place] = constant(head, head.mean_present)
    if head.is_centred > 0.0:
        varying = standardise(state.table, last, event, standard)
        standard[last] = constant(head, varying)
    else:
        rescale(state, event, standard)


def constant(head, features):
    """1 / sqrt(n), as large as one of n features in an event of length 1; 1 unless the committee is ``modest``."""
    return 1.0 / sqrt(max(1.0, features)) if head.is_modest > 0.0 else 1.0


def rescale(state, event, standard):
    """z / ||z|| with z_k = x_k / rms_k log(1 + t / t_k), for the features that the event has."""
    head = view_head(state)
    table = state.table
    count = table.shape[1] - np.uint64(2)
    squares = table.shape[1] - np.uint64(1)
    total = 0.0
    place = 0
    for i in range(event.start, event.stop):
        column = event.columns[i]
        present = max(1.0, table[column, count, 0])
        size = sqrt(table[column, squares, 0] / present) if table[column, squares, 0] > 0.0 else abs(event.values[i])
        value = event.values[i] / size * log(1.0 + head.watched / present)
        standard[place] = value
        total += value * value
        place += 1
    inverse = 1.0 / sqrt(total) if total > 0.0 else 0.0
    for i in range(place):
        standard[i] *= inverse
    standard[place] = constant(head, head.mean_present)


def view_event(state, event, view):
    """The event in one of the views that ``fill_views`` wrote."""
    is_dense = view == STANDARD and view_head(state).is_centred > 0.0
    columns = state.work[ALL if is_dense else PRESENT].view(np.uint32)
    size = np.uint64(state.table.shape[0]) if is_dense else np.uint64(event.stop - event.start + np.uint64(1))
    return Event(columns, state.work[VALUES + view], np.uint64(0), size, False)
