"""Have the events changed? ``drift.EventSignal`` within the committee: no label needed, one event at a time.

The formulas are those of ``drift/events.py``. What is kept of each feature are sums, so that an event costs as many
steps as it has features, and the end of a block one for each feature of the stream. Absent values count as 0: with

    z_0 = clip(-mu / sigma)        what each event of a block adds to the sum of z if it does not have the feature,

an event that has it adds z - z_0, and the end of the block B z_0. If the signal speaks, every covariance moves a share
of the way back to what it was at first (see ``change.inflate_members``), and the signal begins anew. Weights stay: that
events changed does not say that the model is wrong.

The numbers lie at the end of ``state.extra``: a ``SIGNAL``, then a row for each feature, of at most ``MOST_FEATURES``.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from askance.compile import no_inline
from askance.evaluate.drift.events import (
    BLOCK,
    FARTHEST,
    FINEST,
    HORIZON,
    LATEST,
    LEAST_REFERENCE,
    MOST_FEATURES,
    SMALLEST,
    STRETCHES,
)
from askance.learner.state import declare_record

SIGNAL = declare_record(
    "events",  # the events of the stream so far
    "completed",  # the blocks completed since the last alarm
    "alarms",  # how many there were
    "last_alarm",  # the event that raised the last one
)
SIGNAL_SIZE = SIGNAL.itemsize // 8

# The numbers of a feature:
VALUE, MEAN, VARIANCE, INVERSE, ABSENT = 0, 1, 2, 3, 4
"""Scratch for the value in the current event, 0 between events; mu, sigma^2, 1 / sigma and z_0 of the reference."""
SUM, SQUARES, SHIFT = 5, 6, 7
"""Of the first of the latest blocks: sum of x, sum of x^2, sum of z. Those of the others follow."""
PER_BLOCK = 3
ROW_SIZE = SUM + PER_BLOCK * LATEST
HASH_SHIFT = np.uint64(33 - MOST_FEATURES.bit_length())


def signal_size(n_features):
    """How many numbers the signal has."""
    return SIGNAL_SIZE + ROW_SIZE * min(n_features, MOST_FEATURES)


def signal_at(state):
    """Where the numbers of the signal begin in ``state.extra``."""
    return state.extra.size - signal_size(state.table.shape[0] - 1)


def view_signal(state):
    first = signal_at(state)
    return state.extra[first : first + SIGNAL_SIZE].view(SIGNAL)[0]


@no_inline
def view_rows(state):
    return state.extra[signal_at(state) + SIGNAL_SIZE :].reshape((-1, ROW_SIZE))


def row_of(column):
    """The row of a column: of the first MOST_FEATURES, their own; of the others, one by their hash."""
    if column < MOST_FEATURES:
        return np.uint64(column)
    return (np.uint64(column) * np.uint64(2654435761) & np.uint64(0xFFFFFFFF)) >> HASH_SHIFT


def sign_of(column):
    """The sign with which a column enters its row, by the next bit of its hash."""
    if column < MOST_FEATURES:
        return 1.0
    bits = (np.uint64(column) * np.uint64(2654435761) & np.uint64(0xFFFFFFFF)) >> (HASH_SHIFT - np.uint64(1))
    return 1.0 if bits & np.uint64(1) > 0 else -1.0


def clip_shift(z):
    return min(FARTHEST, max(-FARTHEST, z))


@no_inline
def watch_event(state, event):
    """Take in an event of the stream; returns whether it raises an alarm."""
    signal, rows = view_signal(state), view_rows(state)
    block = PER_BLOCK * (int(signal.completed) % LATEST)
    is_known = signal.completed - (LATEST - 1) >= LEAST_REFERENCE
    for i in range(event.start, event.stop):
        column = event.columns[i]
        rows[row_of(column), VALUE] += sign_of(column) * event.values[i]
    for i in range(event.start, event.stop):
        row = rows[row_of(event.columns[i])]
        value = row[VALUE]
        if value != 0.0:
            row[VALUE] = 0.0
            row[SUM + block] += value
            row[SQUARES + block] += value * value
            if is_known:
                row[SHIFT + block] += clip_shift((value - row[MEAN]) * row[INVERSE]) - row[ABSENT]
    signal.events += 1.0
    if signal.events % BLOCK > 0.0:
        return False
    for k in range(rows.shape[0]):
        rows[k, SHIFT + block] += BLOCK * rows[k, ABSENT]
    if has_moved(signal, rows):
        signal.alarms += 1.0
        signal.last_alarm = signal.events
        signal.completed = 0.0
        for k in range(rows.shape[0]):
            rows[k] = 0.0
        return True
    signal.completed += 1.0
    begin_block(signal, rows)
    return False


def has_moved(signal, rows):
    """n t^2 / 2 > L (1 + FARTHEST |t| / 3) for the mean t of z over the latest block or the latest four, and any row;
    n = events known / (events + known)."""
    limit = log(2.0 * rows.shape[0] * len(STRETCHES) * HORIZON / BLOCK)  # L
    for blocks in STRETCHES:
        reference = signal.completed - (LATEST - 1) - (blocks - 1)  # of the first block of the stretch
        if reference < LEAST_REFERENCE:
            continue
        worth = BLOCK * blocks * reference / (blocks + reference)  # n
        for k in range(rows.shape[0]):
            total = 0.0
            for back in range(blocks):
                total += rows[k, SHIFT + PER_BLOCK * (int(signal.completed - back) % LATEST)]
            mean = abs(total) / (BLOCK * blocks)  # |t|
            if 0.5 * worth * mean * mean > limit * (1.0 + FARTHEST * mean / 3.0):
                return True
    return False


def begin_block(signal, rows):
    """Let the oldest of the latest blocks, if they are ``LATEST``, enter the reference, and make room for a new one.

    With its share s = 1 / (blocks of the reference), mean m and variance v:

        mu += s (m - mu),     sigma^2 = (1 - s) sigma^2 + s v + s (1 - s) (m - mu)^2     the old mu in both"""
    block = PER_BLOCK * (int(signal.completed) % LATEST)
    reference = signal.completed - (LATEST - 1)
    if reference < 1.0:
        return
    share = 1.0 / reference
    for k in range(rows.shape[0]):
        row = rows[k]
        mean = row[SUM + block] / BLOCK
        variance = max(0.0, row[SQUARES + block] / BLOCK - mean * mean)
        step = mean - row[MEAN]
        row[MEAN] += share * step
        row[VARIANCE] = (1.0 - share) * row[VARIANCE] + share * variance + share * (1.0 - share) * step * step
        row[INVERSE] = 1.0 / max(sqrt(row[VARIANCE]), FINEST * abs(row[MEAN]), SMALLEST)
        row[ABSENT] = clip_shift(-row[MEAN] * row[INVERSE]) if reference >= LEAST_REFERENCE else 0.0
        row[SUM + block] = 0.0
        row[SQUARES + block] = 0.0
        row[SHIFT + block] = 0.0


def keep_signal(state, wider, kept):
    """Copy the signal of ``state`` into that of a state with more features; column k is ``kept[k]`` there.

    If a column gets another row, the signal begins anew: what a row was is no longer known of each of its columns."""
    first, second = view_signal(state), view_signal(wider)
    for name in SIGNAL.names:
        second[name] = first[name]
    rows, new_rows = view_rows(state), view_rows(wider)
    if first.completed >= LATEST:  # there is a reference, in which the new features were always 0
        new_rows[:, INVERSE] = 1.0 / SMALLEST
    if len(kept) <= MOST_FEATURES and max(kept, default=0) < MOST_FEATURES:
        new_rows[kept] = rows
    elif (kept == np.arange(len(kept))).all():
        new_rows[: len(rows)] = rows
    else:
        new_rows[:] = 0.0
        second.completed = 0.0
        second.events -= second.events % BLOCK
