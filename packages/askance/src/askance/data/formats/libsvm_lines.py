"""The compiled parser of LIBSVM / SVMlight lines: ``label [qid:n] index:value index:value ... [# comment]``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from askance.data.encoding.assemble import merge_row, sort_row
from askance.data.encoding.kinds import LARGEST
from askance.data.formats.buffer import NEWLINE, RETURN
from askance.data.formats.cells import stands_for_missing
from askance.data.formats.labels import FULL, Places, find_label
from askance.data.formats.numbers import HARD, NOT_A_NUMBER, NUMBER, ZERO, Tables, read_number

SPACE, TAB, COMMENT, COLON = 32, 9, 35, 58
LETTER_Q, LETTER_I, LETTER_D = 113, 105, 100
LARGEST_INDEX = 2**31 - 3  # one more column than this, and an intercept, still are 32-bit numbers

# Why the parser stopped. It is then at the beginning of a line.
MORE_NEEDED, BATCH_FULL, ENTRIES_FULL, LABELS_FULL, HARD_NUMBER = 0, 1, 2, 3, 4
NO_LABEL, NO_COLON, BAD_INDEX, LARGE_INDEX, INDEX_ZERO, BAD_VALUE, LARGE_VALUE = 10, 11, 12, 13, 14, 15, 16


class Rows(NamedTuple):
    """Room for the rows of a batch."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    labels: np.ndarray
    """The number of each row's label."""
    lines: np.ndarray
    """The number of each row's line."""
    spare_columns: np.ndarray
    spare_values: np.ndarray


class ParserStop(NamedTuple):
    """Where the parser stopped, and why."""

    why: int
    position: int
    line: int
    n_rows: int
    n_entries: int
    width: int
    where: int
    """The position of what is wrong."""


def begins_query(data: np.ndarray, i: int) -> bool:
    """Whether ``qid:`` stands at ``data[i]``."""
    return (
        data[i] == LETTER_Q and data[i + 1] == LETTER_I and data[i + 2] == LETTER_D and data[i + 3] == COLON
    )  # fmt: skip


def parse_lines(
    data: np.ndarray,
    position: int,
    stop: int,
    at_end: bool,
    line: int,
    first_index: int,
    has_labels: bool,
    most_rows: int,
    most_entries: int,
    rows: Rows,
    n_rows: int,
    n_entries: int,
    width: int,
    places: Places,
    powers: Tables,
    missing: np.ndarray,
    solved_at: np.ndarray,
    solved: np.ndarray,
) -> ParserStop:
    """Parse whole lines of ``data[position:stop]`` into rows, until there is no more, or no room, or an error."""
    solution = 0
    while n_rows < most_rows and n_entries < most_entries:
        if position >= stop:
            return ParserStop(MORE_NEEDED, position, line, n_rows, n_entries, width, position)
        i = position
        while data[i] == SPACE or data[i] == TAB:
            i += 1
        is_row = data[i] != NEWLINE and data[i] != RETURN and data[i] != COMMENT
        entry = n_entries
        is_sorted = True
        last_column = -1
        new_width = width
        label_start = label_stop = i
        if is_row and has_labels:
            first = i
            while data[i] > COMMENT and data[i] != COLON:
                i += 1
            while data[i] != SPACE and not TAB <= data[i] <= RETURN and data[i] != COLON and data[i] != COMMENT:
                i += 1
            if data[i] == COLON:
                return ParserStop(NO_LABEL, position, line, n_rows, n_entries, width, first)
            label_start, label_stop = first, i
        elif is_row:  # a label may stand there all the same
            first = i
            while data[i] != SPACE and not TAB <= data[i] <= RETURN and data[i] != COLON and data[i] != COMMENT:
                i += 1
            if data[i] == COLON:
                i = first
        if is_row:
            while True:
                while data[i] == SPACE or data[i] == TAB:
                    i += 1
                first = i
                index: Any = 0
                while True:
                    digit = np.int64(data[i]) - ZERO
                    if digit < 0 or digit > 9:
                        break
                    index = index * 10 + digit
                    i += 1
                    if index > LARGEST_INDEX:
                        return ParserStop(LARGE_INDEX, position, line, n_rows, n_entries, width, first)
                if i == first:
                    if data[i] == NEWLINE or data[i] == RETURN or data[i] == COMMENT:
                        break
                    if begins_query(data, i):
                        while data[i] != SPACE and not TAB <= data[i] <= RETURN and data[i] != COMMENT:
                            i += 1
                        continue
                    return ParserStop(BAD_INDEX, position, line, n_rows, n_entries, width, first)
                if data[i] != COLON:
                    return ParserStop(NO_COLON, position, line, n_rows, n_entries, width, first)
                if index < first_index:
                    return ParserStop(INDEX_ZERO, position, line, n_rows, n_entries, width, first)
                column = index - first_index
                first = i + 1
                value, i, kind = read_number(data, first, powers)
                if kind == NOT_A_NUMBER or not (data[i] == SPACE or TAB <= data[i] <= RETURN or data[i] == COMMENT):
                    i = first
                    while not (data[i] == SPACE or TAB <= data[i] <= RETURN or data[i] == COMMENT):
                        i += 1
                    if not stands_for_missing(data, first, i, missing):
                        return ParserStop(BAD_VALUE, position, line, n_rows, n_entries, width, first)
                    value, kind = 0.0, NUMBER  # as if it were not there
                if kind == HARD:
                    while solution < solved_at.size and solved_at[solution] < first:
                        solution += 1
                    if solution == solved_at.size or solved_at[solution] != first:
                        return ParserStop(HARD_NUMBER, position, line, n_rows, n_entries, width, first)
                    value = solved[solution]
                if not abs(value) <= LARGEST:
                    return ParserStop(LARGE_VALUE, position, line, n_rows, n_entries, width, first)
                new_width = max(new_width, column + 1)
                if value != 0.0:
                    if entry >= rows.columns.size:
                        return ParserStop(ENTRIES_FULL, position, line, n_rows, n_entries, width, first)
                    is_sorted &= column > last_column
                    last_column = column
                    rows.columns[entry] = column
                    rows.values[entry] = value
                    entry += 1
        while data[i] != NEWLINE and data[i] != RETURN:  # a comment
            i += 1
        if i >= stop and not at_end:
            return ParserStop(MORE_NEEDED, position, line, n_rows, n_entries, width, i)
        if i < stop and data[i] == RETURN:
            if i + 1 == stop and not at_end:
                return ParserStop(MORE_NEEDED, position, line, n_rows, n_entries, width, i)
            if i + 1 < stop and data[i + 1] == NEWLINE:
                i += 1
        if is_row:
            if not is_sorted:
                sort_row(rows.columns, rows.values, n_entries, entry, rows.spare_columns, rows.spare_values)
                entry = merge_row(rows.columns, rows.values, n_entries, entry, n_entries)
                for k in range(n_entries, entry):
                    if not abs(rows.values[k]) <= LARGEST:
                        return ParserStop(LARGE_VALUE, position, line, n_rows, n_entries, width, position)
            label = find_label(data, label_start, label_stop, places)  # only now: the line is whole
            if label == FULL:
                return ParserStop(LABELS_FULL, position, line, n_rows, n_entries, width, label_start)
            rows.labels[n_rows] = label
            rows.lines[n_rows] = line
            n_rows += 1
            n_entries = entry
            width = new_width
            rows.starts[n_rows] = n_entries
        position = min(i + 1, stop)
        line += 1
    return ParserStop(BATCH_FULL, position, line, n_rows, n_entries, width, position)
