"""From scattered (row, column, value) entries to the rows of a sparse matrix: sorted, each column once, no zeros."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from askance.compile import no_inline, specialise

SHORT = 24  # entries, up to which sorting by insertion is the fastest way


@no_inline
def sort_row(
    columns: np.ndarray, values: np.ndarray, start: int, stop: int, spare_columns: np.ndarray, spare_values: np.ndarray
) -> None:
    """Sort the entries from ``start`` to ``stop`` by column; equal columns stay in order."""
    for first in range(start, stop, SHORT):  # short runs by insertion
        for i in range(first + 1, min(first + SHORT, stop)):
            column, value = columns[i], values[i]
            slot = i
            while slot > first and columns[slot - 1] > column:
                columns[slot] = columns[slot - 1]
                values[slot] = values[slot - 1]
                slot -= 1
            columns[slot] = column
            values[slot] = value
    size = SHORT
    while size < stop - start:  # then pairs of runs are merged
        for first in range(start, stop, 2 * size):
            middle, last = min(first + size, stop), min(first + 2 * size, stop)
            left, right = first, middle
            for i in range(first, last):
                if left < middle and (right >= last or columns[left] <= columns[right]):
                    spare_columns[i], spare_values[i] = columns[left], values[left]
                    left += 1
                else:
                    spare_columns[i], spare_values[i] = columns[right], values[right]
                    right += 1
        for i in range(start, stop):
            columns[i], values[i] = spare_columns[i], spare_values[i]
        size *= 2


def merge_row(columns: np.ndarray, values: np.ndarray, start: int, stop: int, target: int) -> int:
    """Move sorted entries to ``target`` and after, equal columns added up, zeros left out; returns where they end."""
    i = start
    while i < stop:
        column, value = columns[i], values[i]
        i += 1
        while i < stop and columns[i] == column:
            value += values[i]
            i += 1
        columns[target] = column
        values[target] = value
        target += value != 0.0
    return target


def gather_rows(
    rows: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    starts: np.ndarray,
    new_columns: np.ndarray,
    new_values: np.ndarray,
    spare_columns: np.ndarray,
    spare_values: np.ndarray,
) -> None:
    """Entries in any order, into sorted rows; ``starts`` has two numbers more than there are rows, all 0."""
    for i in range(rows.size):
        starts[rows[i] + 2] += 1
    for row in range(2, starts.size):
        starts[row] += starts[row - 1]
    for i in range(rows.size):  # now starts[row + 1] is where the next entry of the row goes
        slot = starts[rows[i] + 1]
        new_columns[slot] = columns[i]
        new_values[slot] = values[i]
        starts[rows[i] + 1] += 1
    target = 0
    for row in range(starts.size - 2):
        start, stop = starts[row], starts[row + 1]
        starts[row] = target
        sort_row(new_columns, new_values, start, stop, spare_columns, spare_values)
        target = merge_row(new_columns, new_values, start, stop, target)
    starts[starts.size - 2] = target


def count_words(
    starts: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    normalise: bool,
    spare_columns: np.ndarray,
    spare_values: np.ndarray,
) -> None:
    """Columns of words, text by text, into sorted columns with counts, in place; to unit length where wanted."""
    target = 0
    for text in range(starts.size - 1):
        start, stop = starts[text], starts[text + 1]
        starts[text] = target
        for i in range(start, stop):
            values[i] = 1.0
        sort_row(columns, values, start, stop, spare_columns, spare_values)
        end = merge_row(columns, values, start, stop, target)
        if normalise:
            unit_length(values, target, end)
        target = end
    starts[starts.size - 1] = target


def unit_length(values: np.ndarray, start: int, stop: int) -> None:
    """Divide the values from ``start`` to ``stop`` by the length of the vector they are."""
    squared_length = 0.0
    for i in range(start, stop):
        squared_length += values[i] * values[i]
    if squared_length > 0.0:
        length = sqrt(squared_length)
        for i in range(start, stop):
            values[i] /= length


def unit_rows(starts: np.ndarray, values: np.ndarray) -> None:
    """Divide every row by its length."""
    for row in range(starts.size - 1):
        unit_length(values, starts[row], starts[row + 1])


def word_counts(starts: np.ndarray, columns: np.ndarray, normalise: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where each text begins, its columns, sorted, and how often each occurs, divided by the length if wanted."""
    values = np.empty(len(columns))
    spare = np.empty(len(columns), np.int32), np.empty(len(columns))
    specialise(count_words)(starts, columns, values, normalise, *spare)
    return starts, columns[: starts[-1]], values[: starts[-1]]


def rows_of(
    rows: np.ndarray, columns: np.ndarray, values: np.ndarray, n_rows: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Entries in any order as rows: where each begins, columns and values. Entries of one cell are added up."""
    n_entries = len(rows)
    starts = np.zeros(n_rows + 2, np.int32)
    new_columns, new_values = np.empty(n_entries, np.int32), np.empty(n_entries)
    spare = np.empty(n_entries, np.int32), np.empty(n_entries)
    specialise(gather_rows)(rows, columns, values, starts, new_columns, new_values, *spare)
    starts = starts[:-1]
    return starts, new_columns[: starts[-1]], new_values[: starts[-1]]


def csr(starts: np.ndarray, columns: np.ndarray, values: np.ndarray, width: int) -> Any:
    """A CSR matrix of sorted rows without repetitions."""
    from scipy.sparse import csr_matrix

    X = csr_matrix((values, columns, starts), shape=(len(starts) - 1, width))
    X.has_sorted_indices = X.has_canonical_format = True
    return X
