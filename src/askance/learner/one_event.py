"""One event, in any of the forms it may come in, as the loop plays it. Fast: there is a person or a request waiting.

A good event is checked, freed of zeros and prepared in one compiled pass. Anything else takes the way of a matrix of
one row, which sorts it or says what is wrong with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from askance.errors import InvalidInput
from askance.learner.compile import specialise
from askance.learner.events import LARGEST, Preparation, SparseEvents, compress, gather, numbers, room_for
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
    """Check one event, and make it playable."""
    if isinstance(x, tuple) and _is_pair(x):
        columns, values = numbers(x[0]), numbers(x[1])
        if columns.dtype.kind not in "iu" and columns.size:
            raise InvalidInput(f"the columns of an event must be whole numbers, got {columns.dtype}.")
        if columns.size != values.size:
            raise InvalidInput(f"the event has {columns.size} columns but {values.size} values; they go in pairs.")
    elif sp.issparse(x):
        x = x.tocsr()
        if x.shape != (1, n_features):
            raise InvalidInput(f"one event is a matrix of shape (1, {n_features}), got shape {x.shape}.")
        columns, values = x.indices, numbers(x.data)
        if x.indptr.tolist() != [0, columns.size] or columns.size != values.size:
            return _as_matrix(x.indptr, columns, values, n_features, preparation)
    else:
        return _read_row(x, n_features, preparation)
    if columns.dtype.char not in "il":
        columns = columns.astype(np.int64)
    if values.dtype.char not in "df":
        values = values.astype(np.float64)
    block = room_for(1, columns.size + 1)
    if specialise(settle)(columns, values, n_features, *preparation, *block):
        return block
    return _as_matrix(np.array([0, columns.size], np.int32), columns, values, n_features, preparation)


def _read_row(x: Any, n_features: int, preparation: Preparation) -> Block:
    row = numbers(x)
    if row.ndim == 2 and len(row) == 1:
        row = row[0]
    if row.ndim != 1 or row.size != n_features:
        raise InvalidInput(f"one event has {n_features} features, got an array of shape {row.shape}.")
    row = np.ascontiguousarray(row, np.float64)
    block = room_for(1, n_features + 1)
    if specialise(settle_row)(row, *preparation, *block):
        return block
    columns = np.flatnonzero(row)
    return _as_matrix(np.array([0, columns.size], np.int32), columns, row[columns], n_features, preparation)


def _as_matrix(
    starts: np.ndarray, columns: np.ndarray, values: np.ndarray, n_features: int, preparation: Preparation
) -> Block:
    return next(SparseEvents(starts, columns, values, n_features).blocks(preparation))[1]


def width_of_one(x: Any) -> int:
    """The number of features that one event tells of."""
    if isinstance(x, tuple) and _is_pair(x):
        raise InvalidInput(
            "a pair (columns, values) does not tell the number of features; give n_features= to the classifier."
        )
    shape = np.shape(x)
    return int(shape[-1]) if shape else 0


def _is_pair(x: tuple[Any, ...]) -> bool:
    return len(x) == 2 and np.ndim(x[0]) == 1 and np.ndim(x[1]) == 1
