"""The compiled splitter of delimited lines into cells, and the parser of the cells that are numbers.

Used for CSV, TSV and ARFF. Blanks around a cell do not count. A cell in quotes may contain delimiters, and (in CSV)
line ends; a doubled quote (in ARFF, one after a backslash) stands for itself. After a closing quote the cell must end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from askance.data.encoding.kinds import LARGEST
from askance.data.formats.buffer import NEWLINE, RETURN
from askance.data.formats.labels import FULL, Places, find_label
from askance.data.formats.numbers import HARD, NUMBER, Tables, read_number

SPACE, TAB, QUOTE, APOSTROPHE, BACKSLASH, PERCENT, COMMA, POINT = 32, 9, 34, 39, 92, 37, 44, 46
ZERO, ONE, LOWER = 48, 49, 32
LAST_ASCII, FIRST_SEPARATOR = 127, 28  # the latter of files, groups, records and units
TRUE, FALSE = (116, 114, 117, 101), (102, 97, 108, 115, 101)  # the letters of the words, in lower case
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


class CellSpans(NamedTuple):
    """Room for cells: cell c of row r is ``data[starts[r, c]:stops[r, c]]``."""

    starts: np.ndarray
    stops: np.ndarray
    lines: np.ndarray
    """The number of each row's (first) line."""


def split_lines(
    data: np.ndarray,
    position: int,
    stop: int,
    at_end: bool,
    line: int,
    dialect: Dialect,
    most_rows: int,
    cells: CellSpans,
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
    missing: np.ndarray,
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
                    if not stands_for_missing(data, start, stop, missing):
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


def digits_for_truths(data: np.ndarray, starts: np.ndarray, stops: np.ndarray, chosen: np.ndarray) -> None:
    """Write 1.00 and 0.000 in the chosen cells of every row that have the words true and false, in any case."""
    for row in range(starts.shape[0]):
        for k in range(chosen.size):
            start, stop = starts[row, chosen[k]], stops[row, chosen[k]]
            is_true = is_word(data, start, stop, TRUE)
            if is_true or is_word(data, start, stop, FALSE):
                for i in range(start, stop):
                    data[i] = ZERO
                data[start + 1] = POINT
                if is_true:
                    data[start] = ONE


def is_word(data: np.ndarray, start: int, stop: int, word: tuple[int, ...]) -> bool:
    """Whether a cell is a word, given by its letters in lower case."""
    is_same = stop - start == len(word)
    for i in range(len(word)):
        is_same = is_same and data[start + i] | LOWER == word[i]
    return is_same


def find_labels(
    data: np.ndarray, starts: np.ndarray, stops: np.ndarray, first: int, places: Places, found: np.ndarray
) -> int:
    """The numbers of labels, from the one numbered ``first`` on; returns how many there is room for."""
    for row in range(first, starts.size):
        found[row] = find_label(data, starts[row], stops[row], places)
        if found[row] == FULL:
            return row
    return starts.size


def find_missing(data: np.ndarray, starts: np.ndarray, stops: np.ndarray, words: np.ndarray, found: np.ndarray) -> None:
    """Which cells of a column are one of the words, blanks around it not counted."""
    for row in range(starts.size):
        start, stop = starts[row], stops[row]
        while start < stop and is_blank(data[start]):
            start += 1
        while start < stop and is_blank(data[stop - 1]):
            stop -= 1
        found[row] = start == stop or stands_for_missing(data, start, stop, words)


def is_blank(byte: int) -> bool:
    """Whether a byte is a character that Python's ``strip`` removes."""
    return byte == SPACE or TAB <= byte <= RETURN or FIRST_SEPARATOR <= byte < SPACE


def stands_for_missing(data: np.ndarray, start: int, stop: int, words: np.ndarray) -> bool:
    """Whether a cell is one of the words, each a row of bytes that is filled up with zeros, in ascending order."""
    length = stop - start
    if length > words.shape[1]:
        return False
    for row in range(words.shape[0] - 1, -1, -1):
        if words[row, 0] < data[start]:  # most letters come after all words
            break
        if words[row, 0] > data[start]:
            continue
        is_same = length == words.shape[1] or words[row, length] == 0
        for i in range(length):
            is_same &= data[start + i] == words[row, i]
        if is_same:
            return True
    return False
