"""One event, in any of the forms it may come in, as the loop plays it. Fast: there is a person or a request waiting.

A good event is checked, freed of zeros and prepared in one compiled pass. One with missing values takes it once more,
without them; one whose columns are not sorted takes the way of a matrix of one row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from askance.compile import specialise
from askance.errors import InvalidInput
from askance.learner.events import (
    LARGEST,
    Preparation,
    SparseEvents,
    compress,
    gather,
    is_sparse,
    is_unusable,
    leave_out_gaps,
    numbers,
    room_for,
    unusable_value,
)
from askance.learner.loop import Block


def settle(columns, values, n_features, normalise, intercept, new_starts, new_columns, new_values):
    """Check and prepare an event given by its features. False: it is not sorted, or something is wrong with it."""
    before = -1
    for i in range(columns.size):
        if columns[i] <= before or columns[i] >= n_features or not abs(values[i]) <= LARGEST:
            return False
        before = columns[i]
    new_starts[0] = 0
    new_starts[1] = columns.size
    gather(new_starts, columns, values, normalise, intercept, new_starts, new_columns, new_values)
    return True


def settle_row(row, normalise, intercept, starts, columns, values):
    """Check and prepare an event given as a row of all features. False: something is wrong with it."""
    for i in range(row.size):
        if not abs(row[i]) <= LARGEST:
            return False
    compress(row.reshape(1, row.size), starts, columns, values)
    gather(starts, columns, values, normalise, intercept, starts, columns, values)
    return True


def read_one(x: Any, n_features: int, preparation: Preparation) -> Block:
    """Check one event, and make it playable: in arrays of its own, always of the same types."""
    if is_sparse(x):
        columns, values = _pair_of_row(x, n_features)
    elif isinstance(x, tuple) and is_pair(x):
        columns, values = numbers(x[0]), numbers(x[1])
        if columns.dtype.kind not in "iu" and columns.size:
            raise InvalidInput(f"the columns of an event must be whole numbers, got {columns.dtype}.")
        if columns.size != values.size:
            raise InvalidInput(f"the event has {columns.size} columns but {values.size} values; they go in pairs.")
    else:
        return _read_row(x, n_features, preparation)
    columns, values = np.array(columns, np.int64), np.array(values, np.float64)
    block = room_for(1, columns.size + 1)
    if specialise(settle)(columns, values, n_features, *preparation, *block):
        return block
    if leave_out_gaps(values) and specialise(settle)(columns, values, n_features, *preparation, *block):
        return block
    for column, value in zip(columns.tolist(), values.tolist(), strict=True):
        if not 0 <= column < n_features:
            raise InvalidInput(f"the event has column {column}, but there are {n_features}, 0 to {n_features - 1}.")
        if not abs(value) <= LARGEST:
            raise unusable_value(None, column, value)
    starts = np.array([0, columns.size], np.int32)
    return next(SparseEvents(starts, columns, values, n_features).blocks(preparation))[1]


def _pair_of_row(x: Any, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """The features of a sparse matrix of one row, or of a row taken from a sparse array."""
    if x.shape not in ((1, n_features), (n_features,)):
        raise InvalidInput(f"one event is a matrix of shape (1, {n_features}), got shape {x.shape}.")
    if x.ndim == 1:
        x = x.reshape(1, n_features)
    x = x.tocsr()
    stop = int(x.indptr[-1]) if len(x.indptr) == 2 and x.indptr[0] == 0 else -1
    if not 0 <= stop <= min(len(x.indices), len(x.data)):
        raise InvalidInput("the event is not a valid CSR matrix: indptr does not fit its shape, indices and data.")
    return x.indices[:stop], numbers(x.data)[:stop]


def _read_row(x: Any, n_features: int, preparation: Preparation) -> Block:
    row = numbers(x)
    if row.ndim == 2 and len(row) == 1:
        row = row[0]
    if row.ndim != 1 or row.size != n_features:
        raise InvalidInput(f"one event has {n_features} features, got an array of shape {row.shape}.")
    row = np.array(row, np.float64)
    block = room_for(1, n_features + 1)
    is_settled = specialise(settle_row)(row, *preparation, *block)
    if not is_settled and leave_out_gaps(row):
        is_settled = specialise(settle_row)(row, *preparation, *block)
    if not is_settled:
        column = int(np.argmax(is_unusable(row)))
        raise unusable_value(None, column, row.item(column))
    return block


def width_of_one(x: Any) -> int:
    """The number of features that one event tells of."""
    if isinstance(x, tuple) and is_pair(x):
        raise InvalidInput(
            "a pair (columns, values) does not tell the number of features; give n_features= to the classifier."
        )
    shape = np.shape(x)
    if not shape or not shape[-1]:
        raise InvalidInput(f"the first event has no features, so it does not tell how many there are; got {x!r}.")
    return int(shape[-1])


def is_pair(x: tuple[Any, ...]) -> bool:
    """Whether this is an event given by its columns and their values."""
    return len(x) == 2 and np.ndim(x[0]) == 1 and np.ndim(x[1]) == 1
