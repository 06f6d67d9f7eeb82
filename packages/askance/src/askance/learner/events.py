"""From whatever a user passes to what the loop plays: rows of sorted, finite, non-zero features.

The loop sees blocks of CSR rows with 32-bit columns and float64 values. A CSR matrix that already is of that form is
played where it lies. Anything else (a dense array, other types, explicit zeros, normalising, an intercept) is
converted block by block, so that the copy stays small. Everything is checked before the first event is played: a bad
value leaves the model as it was. A NaN is a missing value: it is left out, as if a sparse row did not have it.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from askance.compile import specialise
from askance.data.missing import OF_PANDAS
from askance.errors import InvalidInput
from askance.learner.loop import Block

LARGEST = 1e150  # beyond it, the squares and products of values leave no room for their sums
MOST_FEATURES = 2**31 - 2  # columns are kept in 32 bits
SMALLEST = 1e-150  # a value below it counts as zero: its square would
INSPECTED_AT_ONCE = 512  # entries: what one pass over them has fetched, the next finds in the nearest cache
BLOCK_ENTRIES = 1 << 16  # non-zeros (or dense values) converted at a time: they stay in the cache


# --- compiled passes -------------------------------------------------------------------------------------


def inspect(starts, columns, bits, without_sign, smallest, largest, n_features):
    """Tell what keeps CSR rows from being played as they are: (misplaced, unsorted, too large, too small), 0 for no.

    ``bits`` are the values' bit patterns: comparing those without their signs compares magnitudes, NaN and infinity
    being the largest of all. Simple loops over pieces that stay in the cache: the compiler does many values at once.
    """
    misplaced = 0
    for row in range(starts.size - 1):
        misplaced += starts[row + 1] < starts[row]
    if misplaced > 0 or starts[0] < 0:
        return 1, 0, 0, 0
    unsorted = 0
    too_large = 0
    too_small = 0
    row = 1
    for first in range(0, columns.size, INSPECTED_AT_ONCE):
        piece = bits[first : first + INSPECTED_AT_ONCE]
        greatest = least = piece[0] & without_sign
        for i in range(piece.size):
            magnitude = piece[i] & without_sign
            greatest = max(greatest, magnitude)
            least = min(least, magnitude)
        too_large += greatest > largest
        too_small += least < smallest
        some = columns[first : first + INSPECTED_AT_ONCE]
        lowest = highest = some[0]
        for i in range(some.size):
            lowest = min(lowest, some[i])
            highest = max(highest, some[i])
        misplaced += (lowest < 0) | (highest >= n_features)
        for i in range(some.size - 1):
            unsorted += some[i + 1] <= some[i]
        if first > 0:
            unsorted += columns[first] <= columns[first - 1]
        while row < starts.size - 1 and starts[row] < first + some.size:
            begin = np.uint64(starts[row])
            if begin > np.uint64(0):  # from one row to the next, columns may descend
                unsorted -= (starts[row] < starts[row + 1]) & (columns[begin] <= columns[begin - np.uint64(1)])
            row += 1
    return misplaced, unsorted, too_large, too_small


def compress(rows, starts, columns, values):
    """CSR rows from dense ones."""
    place = 0
    starts[0] = 0
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            value = rows[row, column]
            columns[place] = column
            values[place] = value
            place += abs(value) >= SMALLEST
        starts[row + 1] = place


def gather(starts, columns, values, normalise, intercept, new_starts, new_columns, new_values):
    """Copy CSR rows without their zeros, scaled to unit length and with a constant 1 appended where wanted.

    ``intercept`` is the column of the constant, or -1.
    """
    place = 0
    new_starts[0] = 0
    for row in range(starts.size - 1):
        squared_length = 0.0
        first = place
        for i in range(starts[row], starts[row + 1]):
            value = values[i]
            if abs(value) >= SMALLEST:
                new_columns[place] = columns[i]
                new_values[place] = value
                squared_length += value * value
                place += 1
        if normalise and squared_length > 0.0:
            length = np.sqrt(squared_length)
            for i in range(first, place):
                new_values[i] /= length
        if intercept >= 0:
            new_columns[place] = intercept
            new_values[place] = 1.0
            place += 1
        new_starts[row + 1] = place


# --- events ----------------------------------------------------------------------------------------------


class Preparation(NamedTuple):
    """What is done to an event before a rule sees it."""

    normalise: bool
    """Divide it by its length."""
    intercept: int
    """The column of a constant 1 to append, or -1."""

    def apply(self, block: Block, has_zeros: bool) -> Block:
        """The block, prepared; the same one where nothing is to be done."""
        if not (self.normalise or self.intercept >= 0 or has_zeros):
            return block
        n_rows = len(block.starts) - 1
        new = room_for(n_rows, len(block.values) + n_rows)
        specialise(gather)(*block, self.normalise, self.intercept, *new)
        return new


class Events(ABC):
    """Checked events, ready to be played."""

    n_events: int
    times: np.ndarray | None = None
    """When they came, in seconds, if that is known of the events themselves."""

    @abstractmethod
    def blocks(self, preparation: Preparation) -> Iterator[tuple[slice, Block]]:
        """The events in order, prepared: which of them, and their rows."""


class DenseEvents(Events):
    """Rows of a two-dimensional array."""

    def __init__(self, X: np.ndarray) -> None:
        self.n_events = len(X)
        self._X = X
        self._rows_at_once = max(1, BLOCK_ENTRIES // max(1, X.shape[1]))
        self._has_gaps = False
        if X.dtype.kind == "f":
            for first in range(0, len(X), self._rows_at_once):
                rows = X[first : first + self._rows_at_once]
                if not float(np.abs(rows).max(initial=0.0)) <= LARGEST:  # NaN is not <= anything
                    self._has_gaps = True
                    for row, column in np.argwhere(is_unusable(rows))[:1].tolist():
                        raise unusable_value(first + row, column, rows[row, column])

    def blocks(self, preparation: Preparation) -> Iterator[tuple[slice, Block]]:
        for first in range(0, self.n_events, self._rows_at_once):
            rows = np.array(self._X[first : first + self._rows_at_once], dtype=np.float64, order="C")
            if self._has_gaps:
                leave_out_gaps(rows)
            block = room_for(len(rows), rows.size + 1)  # one more: compress writes before it knows
            specialise(compress)(rows, *block)
            yield slice(first, first + len(rows)), preparation.apply(block, has_zeros=False)


class SparseEvents(Events):
    """Rows of a CSR matrix, given by its three arrays."""

    _arrays: tuple[np.ndarray, np.ndarray, np.ndarray]
    _has_zeros: bool

    def __init__(
        self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray, n_features: int, n_events: int = 1
    ) -> None:
        if values.dtype != np.float32:
            values = np.asarray(values, dtype=np.float64)
        if columns.dtype not in (np.int32, np.int64):
            columns = columns.astype(np.int64)
        stop = int(starts[-1]) if len(starts) else -1
        if len(starts) != n_events + 1 or starts[0] != 0 or not 0 <= stop <= min(len(columns), len(values)):
            raise InvalidInput("X is not a valid CSR matrix: indptr does not fit its shape, indices and data.")
        columns, values = columns[:stop], values[:stop]
        misplaced, unsorted, too_large, zeros = _inspect(starts, columns, values, n_features)
        if misplaced:
            raise _misplaced_column(starts, columns, n_features)
        if too_large:
            for i in np.flatnonzero(is_unusable(values))[:1].tolist():
                raise unusable_value(int(np.searchsorted(starts, i, side="right")) - 1, columns[i], values[i])
            values, zeros = values.copy(), 1
            leave_out_gaps(values)
        if unsorted:
            from scipy.sparse import csr_matrix

            X = csr_matrix((values, columns, starts), shape=(n_events, n_features), copy=True)
            X.sum_duplicates()  # sorts, too
            tidy = SparseEvents(X.indptr, X.indices, X.data, n_features, n_events)
            starts, columns, values = tidy._arrays
            zeros = int(tidy._has_zeros)
        self.n_events = n_events
        self._arrays = starts, columns, values
        self._has_zeros = zeros > 0

    def blocks(self, preparation: Preparation) -> Iterator[tuple[slice, Block]]:
        starts, columns, values = self._arrays
        is_ready = not (preparation.normalise or preparation.intercept >= 0 or self._has_zeros)
        if is_ready and _plays_as_it_is(starts, columns, values):
            yield slice(0, self.n_events), Block(starts, columns.view(np.uint32), values)
            return
        parts = [(0, self.n_events)] if columns.size <= BLOCK_ENTRIES else _even_parts(starts)
        for first, last in parts:
            low, high = int(starts[first]), int(starts[last])
            block = Block(
                (starts[first : last + 1] - low).astype(np.int32),
                columns[low:high].astype(np.uint32),
                values[low:high].astype(np.float64),
            )
            yield slice(first, last), preparation.apply(block, self._has_zeros)


def in_pieces(blocks: Iterator[tuple[slice, Block]], most: int) -> Iterator[tuple[slice, Block]]:
    """The same blocks, none of more than so many events."""
    for which, block in blocks:
        for first in range(which.start, which.stop, most):
            last = min(first + most, which.stop)
            starts = block.starts[first - which.start : last - which.start + 1]
            yield slice(first, last), block._replace(starts=starts)


def is_sparse(X: Any) -> bool:
    """Whether this is a matrix of SciPy's. None has been made where that part of SciPy was never loaded."""
    issparse = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return issparse is not None and bool(issparse(X))


def read_events(X: Any) -> Events:
    """Check a two-dimensional array or a CSR matrix, and make it playable."""
    if X.shape[1] > MOST_FEATURES:
        raise InvalidInput(f"X has {X.shape[1]:,} columns; at most {MOST_FEATURES:,} are possible: hash the features.")
    if is_sparse(X):
        return SparseEvents(X.indptr, X.indices, numbers(X.data), X.shape[1], X.shape[0])
    return DenseEvents(numbers(X))


# --- details ---------------------------------------------------------------------------------------------


def numbers(x: Any) -> np.ndarray:
    """An array of real numbers; other things are refused, not guessed at."""
    try:
        array = np.asarray(fill_gaps(x))
        if array.dtype.kind not in "fiub":
            if array.dtype.kind not in "O" and array.size:
                raise TypeError
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"events are made of real numbers that fit a float, got {shorten(x)}.") from None
    return array


def fill_gaps(x: Any) -> Any:
    """An array with NaN in the places that are masked, or that hold pandas' missing value; anything else as it is."""
    if np.ma.isMaskedArray(x):
        return np.ma.filled(x.astype(np.float64), np.nan)
    if isinstance(x, np.ndarray) and x.dtype.kind == "O":
        is_gap = np.array([type(value).__name__ in OF_PANDAS for value in x.ravel()], bool).reshape(x.shape)
        return np.where(is_gap, np.nan, x)
    return x


def shorten(x: Any) -> str:
    """A value for an error message."""
    text = " ".join(repr(x).split())
    return text if len(text) < 80 else text[:76] + " ..."


def _inspect(starts: np.ndarray, columns: np.ndarray, values: np.ndarray, n_features: int) -> tuple[int, ...]:
    bits, *limits = BITS[values.dtype.char]
    return specialise(inspect)(starts, columns, values.view(bits), *limits, n_features)


BITS: dict[str, tuple[Any, ...]] = {
    "d": (np.uint64, np.uint64(2**63 - 1), np.float64(SMALLEST).view(np.uint64), np.float64(LARGEST).view(np.uint64)),
    "f": (np.uint32, np.uint32(2**31 - 1), np.uint32(1), np.finfo(np.float32).max.view(np.uint32)),
}


def room_for(n_rows: int, n_entries: int) -> Block:
    """Arrays for this many rows and entries."""
    return Block(np.empty(n_rows + 1, np.int32), np.empty(n_entries, np.uint32), np.empty(n_entries))


def _plays_as_it_is(*arrays: np.ndarray) -> bool:
    return all(
        array.dtype == dtype and array.flags.c_contiguous and array.flags.writeable
        for array, dtype in zip(arrays, (np.int32, np.int32, np.float64), strict=True)
    )


def _even_parts(starts: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges of rows with about ``BLOCK_ENTRIES`` entries each, at least one row."""
    first, n_rows = 0, len(starts) - 1
    while first < n_rows:
        last = int(np.searchsorted(starts, starts[first] + BLOCK_ENTRIES, side="right")) - 1
        last = min(max(last, first + 1), n_rows)
        yield first, last
        first = last


# --- what may be wrong -----------------------------------------------------------------------------------


def is_unusable(values: np.ndarray) -> np.ndarray:
    """Which values are infinite or too large; NaN, a missing one, is not."""
    return np.abs(values.astype(np.float64)) > LARGEST


def leave_out_gaps(values: np.ndarray) -> bool:
    """Put zeros, which no row keeps, into the place of missing values; whether there were any."""
    is_missing = np.isnan(values)
    values[is_missing] = 0.0
    return bool(is_missing.any())


def unusable_value(row: int | None, column: int, value: float) -> InvalidInput:
    """The error for a value that is infinite or too large."""
    where = f"column {column} of the event" if row is None else f"row {row}, column {column} of X"
    if np.isinf(value):
        return InvalidInput(f"{where} is {value:+}; infinity cannot be learned from: clip or drop it first.")
    return InvalidInput(f"{where} is {value}, beyond 1e150: sums of squares overflow; scale the features first.")


def _misplaced_column(starts: np.ndarray, columns: np.ndarray, n_features: int) -> InvalidInput:
    if (np.diff(starts) < 0).any():
        return InvalidInput("X is not a valid CSR matrix: its indptr descends.")
    i = int(np.flatnonzero((columns < 0) | (columns >= n_features))[0])
    row = int(np.searchsorted(starts, i, side="right")) - 1
    return InvalidInput(
        f"row {row} of X has column index {columns[i]}, but X has {n_features} columns, 0 to {n_features - 1}."
    )


# --- one event -------------------------------------------------------------------------------------------


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
