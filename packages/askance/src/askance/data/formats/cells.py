"""The compiled splitter of delimited lines into cells, and the parser of the cells that are numbers.

Used for CSV, TSV and ARFF. Blanks around a cell do not count. A cell in quotes may contain delimiters, and (in CSV)
line ends; a doubled quote (in ARFF, one after a backslash) stands for itself. After a closing quote the cell must end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from askance.compile import is_compiler_loaded, specialise
from askance.data.encoding.kinds import LARGEST, SAMPLE_ROWS
from askance.data.formats.buffer import NEWLINE, RETURN, Buffer
from askance.data.formats.labels import FULL, LabelTable, find_label
from askance.data.formats.numbers import HARD, NUMBER, Tables, read_number
from askance.errors import BadLine

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
    end = start
    i = start
    while i < stop:
        if data[i] == escape and i + 1 < stop:
            i += 1
        data[end] = data[i]
        end += 1
        i += 1
    return end


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
    data: np.ndarray, starts: np.ndarray, stops: np.ndarray, first: int, labels: LabelTable, found: np.ndarray
) -> int:
    """The numbers of labels, from the one numbered ``first`` on; returns how many there is room for."""
    for row in range(first, starts.size):
        found[row] = find_label(data, starts[row], stops[row], labels)
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


# --- lines into rows of cells ----------------------------------------------------------------------------

Refuse = Callable[[BadLine], None]
MOST_CELLS_AT_ONCE = 1 << 20
_SPECIAL = re.compile(rb"[\"'\\{}%\r\n]|^[ \t]|[ \t]$")
MOST_CELLS = 200_000  # that are looked at to guess kinds
SHORT = 10_000  # bytes that are split sooner than the compiler is loaded, so that a wrong name is reported at once
NEVER_CLOSED = "a quote is opened and never closed."


def ignore(_: object) -> None:
    """Let a bad line pass, while only looking."""


class Split:
    """Rows of cells that were split at once, as positions in the bytes they came from."""

    def __init__(self, data: np.ndarray, room: CellSpans, n_rows: int, is_ascii: bool) -> None:
        self.data = data
        self.starts, self.stops, self.lines = (array[:n_rows] for array in room)
        self.n_rows = n_rows
        self.is_ascii = is_ascii

    def text(self, row: int, column: int) -> str:
        """A cell as text."""
        return self.data[self.starts[row, column] : self.stops[row, column]].tobytes().decode("utf-8", "replace")

    def copy(self) -> Split:
        """The same rows, which stay as they are when the bytes are changed."""
        spans = CellSpans(self.starts, self.stops, self.lines)
        return Split(self.data.copy(), spans, self.n_rows, self.is_ascii)

    def line(self, row: int, dialect: Dialect) -> bytes:
        """A row as a line that has the same cells."""
        cells = (self.data[a:b].tobytes() for a, b in zip(self.starts[row], self.stops[row], strict=True))
        return bytes([dialect.delimiter]).join(_quote(cell, dialect) for cell in cells)

    def column(self, column: int, rows: np.ndarray) -> list[str]:
        """The cells of a column, for some of the rows, as texts."""
        if not len(rows):
            return []
        starts, stops = self.starts[rows, column], self.stops[rows, column]
        first, last = int(starts.min()), int(stops.max())
        held = self.data[first : max(first, last)].tobytes()
        return [
            held[start:stop].decode("utf-8")
            for start, stop in zip((starts - first).tolist(), (stops - first).tolist(), strict=True)
        ]


def _quote(cell: bytes, dialect: Dialect) -> bytes:
    """A cell in quotes, where it needs them."""
    if dialect.quote == NONE or not (_SPECIAL.search(cell) or dialect.delimiter in cell):
        return cell
    quote = bytes([dialect.quote])
    if dialect.escape == NONE:
        return quote + cell.replace(quote, 2 * quote) + quote
    escape = bytes([dialect.escape])
    return quote + cell.replace(escape, 2 * escape).replace(quote, escape + quote) + quote


def csv_line(cells: Sequence[str], dialect: Dialect) -> str:
    """Cells as a line."""
    return chr(dialect.delimiter).join(_quote(cell.encode(), dialect).decode() for cell in cells)


def _room(n_rows: int, n_cells: int) -> CellSpans:
    shape = n_rows, n_cells
    return CellSpans(np.empty(shape, np.int64), np.empty(shape, np.int64), np.empty(n_rows, np.int64))


def _split_once(buffer: Buffer, dialect: Dialect, room: CellSpans) -> Stop:
    where = buffer.data, buffer.position, buffer.stop, buffer.at_end, buffer.line
    is_short = buffer.is_sample and buffer.stop <= SHORT and not is_compiler_loaded()
    split_now = split_lines if is_short else specialise(split_lines)
    return Stop(*split_now(*where, dialect, len(room.lines), room))


def split(buffer: Buffer, dialect: Dialect, n_cells: int, most_rows: int, refuse: Refuse) -> Split | None:
    """The next rows of a file, as many as are at hand; None at its end. Lines that cannot be split are refused."""
    room = _room(max(1, min(most_rows, MOST_CELLS_AT_ONCE // n_cells)), n_cells)
    while True:
        stop = _split_once(buffer, dialect, room)
        buffer.position, buffer.line = stop.position, stop.line
        if stop.n_rows:  # these first; what stopped the splitter comes up again
            return Split(buffer.data, room, stop.n_rows, stop.is_ascii)
        if stop.why == MORE_NEEDED:
            if buffer.at_end:
                return None
            try:
                buffer.refill()
            except BadLine as error:  # longer than a line may be
                refuse(error)
                buffer.skip_line()
        elif stop.why == WRONG_COUNT:
            cells = "1 cell" if stop.where == 1 else f"{stop.where} cells"
            bad = buffer.bad_line(buffer.line, None, f"it has {cells} where {n_cells} are expected.")
            bad.raw = buffer.data[stop.position : stop.after].tobytes().rstrip(b"\r\n")
            refuse(bad)
            buffer.position, buffer.line = stop.after, stop.line_after
        elif stop.why != BATCH_FULL:
            bad = _explain(stop, buffer)
            after = buffer.next_line(buffer.position)
            bad.raw = None if after < 0 else buffer.data[buffer.position : after].tobytes().rstrip(b"\r\n")
            refuse(bad)
            buffer.skip_line()


def first_row(buffer: Buffer, dialect: Dialect) -> list[str]:
    """The cells of the next row, however many there are; none at the end of the file."""
    n_cells = 1
    while True:
        room = _room(1, n_cells)
        stop = _split_once(buffer, dialect, room)
        if stop.why == WRONG_COUNT:
            n_cells = stop.where
            continue
        buffer.position, buffer.line = stop.position, stop.line
        if stop.n_rows:
            row = Split(buffer.data, room, 1, stop.is_ascii)
            return [row.text(0, column) for column in range(n_cells)]
        if stop.why != MORE_NEEDED:
            raise _explain(stop, buffer)
        if buffer.at_end:
            return []
        buffer.refill()


def count_sample_rows(n_cells: int) -> int:
    """How many rows of so many cells kinds are guessed by, at most."""
    return min(SAMPLE_ROWS, max(20, MOST_CELLS // n_cells))


def sample_of(content: bytes, name: str, dialect: Dialect, n_cells: int, is_cut: bool = False) -> list[list[str]]:
    """The rows that can be split in some bytes, as texts. Bytes that are cut off may end within a quoted cell of many
    lines, whose inner lines are no rows."""
    buffer = Buffer.of(content, name)
    texts: list[list[str]] = []
    most = count_sample_rows(n_cells)

    def refuse(error: BadLine) -> None:
        if is_cut and error.reason == NEVER_CLOSED:
            buffer.position, buffer.at_end = buffer.stop, True

    while len(texts) < most and (rows := split(buffer, dialect, n_cells, most - len(texts), refuse)) is not None:
        texts += [[rows.text(row, column) for column in range(n_cells)] for row in range(rows.n_rows)]
    return texts


def _explain(stop: Stop, buffer: Buffer) -> BadLine:
    reason = {
        OPEN_QUOTE: NEVER_CLOSED,
        AFTER_QUOTE: "something follows a closing quote before the cell ends.",
        ZERO_BYTE: "it contains a zero byte, which no text does.",
    }[stop.why]
    before = buffer.data[stop.position : stop.where].tobytes()
    ends = before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")  # of lines inside quotes
    return buffer.bad_line(buffer.line, f"character {stop.where - stop.position + 1}" if not ends else None, reason)
