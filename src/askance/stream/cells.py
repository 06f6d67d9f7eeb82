"""The compiled splitter of delimited lines into cells, and the parser of the cells that are numbers.

Used for CSV, TSV and ARFF. Blanks around a cell do not count. A cell in quotes may contain delimiters, and (in CSV)
line ends; a doubled quote (in ARFF, one after a backslash) stands for itself. After a closing quote the cell must end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from askance.features.kinds import LARGEST
from askance.stream.buffer import NEWLINE, RETURN
from askance.stream.labels import FULL, Places, find_label
from askance.stream.numbers import HARD, NUMBER, Tables, read_number

SPACE, TAB, QUOTE, APOSTROPHE, BACKSLASH, PERCENT, COMMA, POINT = 32, 9, 34, 39, 92, 37, 44, 46
NONE = 0  # in place of a byte that means nothing special; a cell never contains a zero byte

# Why the splitter stopped. It is then at the beginning of a row.
MORE_NEEDED, BATCH_FULL = 0, 1
WRONG_COUNT, OPEN_QUOTE, AFTER_QUOTE, ZERO_BYTE = 10, 11, 12, 13

# What is in a cell that should be a number.
PRESENT, MISSING, BAD, UNDECIDED = 0, 1, 2, 3


class Dialect(NamedTuple):
    """The bytes that mean something."""

    delimiter: int
    quote: int = QUOTE
    other_quote: int = NONE
    escape: int = NONE
    """What makes the next byte stand for itself inside quotes; NONE: the quote itself does, doubled."""
    comment: int = NONE
    """A line that begins with it is left out."""
    is_multiline: bool = True
    """Whether a cell in quotes may contain line ends."""


class Stop(NamedTuple):
    """Where the splitter stopped, and why."""

    why: int
    position: int
    line: int
    n_rows: int
    where: int
    """The position of what is wrong, or the number of cells found."""
    after: int
    """The position after the row, where its end is known."""
    line_after: int
    is_ascii: bool
    """Whether the cells that were split by this call have ASCII bytes only."""


class Cells(NamedTuple):
    """Room for cells: cell c of row r is ``data[starts[r, c]:stops[r, c]]``."""

    starts: np.ndarray
    stops: np.ndarray
    lines: np.ndarray
    """The number of each row's (first) line."""


def split_lines(
    data: np.ndarray, position: int, stop: int, at_end: bool, line: int, dialect: Dialect, most_rows: int, cells: Cells
) -> Stop:
    """Split ``data[position:stop]`` into rows of cells. Cells with escapes are unescaped where they lie."""
    n_rows = 0
    n_cells = cells.starts.shape[1]
    is_ascii = True
    while n_rows < most_rows:
        if position >= stop:
            return Stop(MORE_NEEDED, position, line, n_rows, position, position, line, is_ascii)
        i = position
        row_line = line
        found = 0
        has_escapes = False
        high = 0
        while data[i] != dialect.delimiter and (data[i] == SPACE or data[i] == TAB):
            i += 1
        if data[i] == NEWLINE or data[i] == RETURN or (dialect.comment != NONE and data[i] == dialect.comment):
            while data[i] != NEWLINE and data[i] != RETURN:
                i += 1
            found = -1
        while found >= 0:
            while data[i] != dialect.delimiter and (data[i] == SPACE or data[i] == TAB):
                i += 1
            start = i
            quote = data[i]
            if quote == dialect.quote or (quote == dialect.other_quote and quote != NONE):
                i += 1
                start = i
                while True:
                    byte = data[i]
                    if byte == quote:
                        if dialect.escape != NONE or data[i + 1] != quote:
                            break
                        has_escapes = True
                        i += 1
                    elif byte == dialect.escape and byte != NONE and data[i + 1] != NEWLINE and data[i + 1] != RETURN:
                        has_escapes = True
                        i += 1
                        high |= data[i]
                    elif byte == NEWLINE or byte == RETURN:  # noqa: SIM109
                        if i >= stop or not dialect.is_multiline:
                            why = MORE_NEEDED if i >= stop and not at_end else OPEN_QUOTE
                            return Stop(why, position, row_line, n_rows, start - 1, position, row_line, is_ascii)
                        line += byte == NEWLINE or data[i + 1] != NEWLINE or i + 1 >= stop
                    elif byte == 0:
                        return Stop(ZERO_BYTE, position, row_line, n_rows, i, position, row_line, is_ascii)
                    high |= byte
                    i += 1
                end = i
                i += 1
                while data[i] != dialect.delimiter and (data[i] == SPACE or data[i] == TAB):
                    i += 1
                if data[i] != dialect.delimiter and data[i] != NEWLINE and data[i] != RETURN:
                    return Stop(AFTER_QUOTE, position, row_line, n_rows, i, position, row_line, is_ascii)
            else:
                while data[i] != dialect.delimiter and data[i] != NEWLINE and data[i] != RETURN:
                    if data[i] == 0:
                        return Stop(ZERO_BYTE, position, row_line, n_rows, i, position, row_line, is_ascii)
                    high |= data[i]
                    i += 1
                end = i
                while end > start and (data[end - 1] == SPACE or data[end - 1] == TAB):
                    end -= 1
            if found < n_cells:
                cells.starts[n_rows, found] = start
                cells.stops[n_rows, found] = end
            found += 1
            if data[i] != dialect.delimiter:
                break
            i += 1
        if i >= stop and not at_end:
            return Stop(MORE_NEEDED, position, row_line, n_rows, i, position, row_line, is_ascii)
        if i < stop and data[i] == RETURN:
            if i + 1 == stop and not at_end:
                return Stop(MORE_NEEDED, position, row_line, n_rows, i, position, row_line, is_ascii)
            if i + 1 < stop and data[i + 1] == NEWLINE:
                i += 1
        line += 1
        if found >= 0:
            if found != n_cells:
                return Stop(WRONG_COUNT, position, row_line, n_rows, found, min(i + 1, stop), line, is_ascii)
            if has_escapes:
                for cell in range(n_cells):
                    cells.stops[n_rows, cell] = unescape(
                        data, cells.starts[n_rows, cell], cells.stops[n_rows, cell], dialect
                    )
            cells.lines[n_rows] = row_line
            n_rows += 1
            is_ascii &= high < 128
        position = min(i + 1, stop)
    return Stop(BATCH_FULL, position, line, n_rows, position, position, line, is_ascii)


def unescape(data: np.ndarray, start: int, stop: int, dialect: Dialect) -> int:
    """Remove from a cell in quotes the bytes that only make the next one stand for itself; returns its new end."""
    quote = data[start - 1] if start > 0 else 0
    if not (quote == dialect.quote or (quote == dialect.other_quote and quote != NONE)):
        return stop
    escape = dialect.escape if dialect.escape != NONE else quote
    place = start
    i = start
    while i < stop:
        if data[i] == escape and i + 1 < stop:
            i += 1
        data[place] = data[i]
        place += 1
        i += 1
    return place


def parse_cells(
    data: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    chosen: np.ndarray,
    powers: Tables,
    values: np.ndarray,
    what: np.ndarray,
) -> int:
    """Parse the chosen cells of every row as numbers; returns how many are neither present nor missing."""
    others = 0
    for row in range(starts.shape[0]):
        for k in range(chosen.size):
            start, stop = starts[row, chosen[k]], stops[row, chosen[k]]
            values[row, k] = np.nan
            what[row, k] = MISSING
            if start < stop:
                value, end, kind = read_number(data, start, powers)
                if (kind != NUMBER and kind != HARD) or end != stop or not abs(value) <= LARGEST:
                    if not stands_for_missing(data, start, stop):
                        what[row, k] = BAD
                        others += 1
                elif kind == HARD:
                    what[row, k] = UNDECIDED
                    others += 1
                else:
                    what[row, k] = PRESENT
                    values[row, k] = value
    return others


def points_for_commas(data: np.ndarray, starts: np.ndarray, stops: np.ndarray, chosen: np.ndarray) -> None:
    """Write the numbers in the chosen cells of every row with a decimal point where they have a comma."""
    for row in range(starts.shape[0]):
        for k in range(chosen.size):
            for i in range(starts[row, chosen[k]], stops[row, chosen[k]]):
                if data[i] == COMMA:
                    data[i] = POINT


def find_labels(
    data: np.ndarray, starts: np.ndarray, stops: np.ndarray, first: int, places: Places, found: np.ndarray
) -> int:
    """The numbers of labels, from the one numbered ``first`` on; returns how many there is room for."""
    for row in range(first, starts.size):
        found[row] = find_label(data, starts[row], stops[row], places)
        if found[row] == FULL:
            return row
    return starts.size


QUESTION_MARK, SLASH = 63, 47
UPPER_N, UPPER_A, UPPER_U, UPPER_L = 78, 65, 85, 76
LOWER_N, LOWER_U, LOWER_L, LOWER_O, LOWER_E = 110, 117, 108, 111, 101


def stands_for_missing(data: np.ndarray, start: int, stop: int) -> bool:
    """Whether a cell that is not empty is one of ``?``, ``NA``, ``N/A``, ``null``, ``NULL`` and ``None``."""
    first = data[start]
    length = stop - start
    if length == 1:
        return first == QUESTION_MARK
    if length == 2:
        return first == UPPER_N and data[start + 1] == UPPER_A
    if length == 3:
        return first == UPPER_N and data[start + 1] == SLASH and data[start + 2] == UPPER_A
    if length == 4:
        second, third, fourth = data[start + 1], data[start + 2], data[start + 3]
        if first == UPPER_N:
            if second == UPPER_U:
                return third == UPPER_L and fourth == UPPER_L
            return second == LOWER_O and third == LOWER_N and fourth == LOWER_E
        return first == LOWER_N and second == LOWER_U and third == LOWER_L and fourth == LOWER_L
    return False
