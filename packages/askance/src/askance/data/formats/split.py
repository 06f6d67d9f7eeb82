"""Lines into rows of cells, as many as are at hand, with what is wrong with the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from askance.compile import is_compiler_loaded, specialise
from askance.data.encoding.kinds import SAMPLE_ROWS
from askance.data.formats import cells as kernels
from askance.data.formats.buffer import Buffer
from askance.data.formats.cells import Dialect, Stop
from askance.errors import BadLine

Refuse = Callable[[BadLine], None]
MOST_CELLS_AT_ONCE = 1 << 20
_SPECIAL = re.compile(rb"[\"'\\{}%\r\n]|^[ \t]|[ \t]$")
MOST_CELLS = 200_000  # that are looked at to guess kinds
SHORT = 10_000  # bytes that are split sooner than the compiler is loaded, so that a wrong name is told at once
NEVER_CLOSED = "a quote is opened and never closed."


def ignore(_: object) -> None:
    """Let a bad line pass, while only looking."""


class Split:
    """Rows of cells that were split at once, as positions in the bytes they came from."""

    def __init__(self, data: np.ndarray, room: kernels.CellSpans, n_rows: int, is_ascii: bool) -> None:
        self.data = data
        self.starts, self.stops, self.lines = (array[:n_rows] for array in room)
        self.n_rows = n_rows
        self.is_ascii = is_ascii

    def text(self, row: int, column: int) -> str:
        """A cell as text."""
        return self.data[self.starts[row, column] : self.stops[row, column]].tobytes().decode("utf-8", "replace")

    def copy(self) -> Split:
        """The same rows, which stay as they are when the bytes are changed."""
        spans = kernels.CellSpans(self.starts, self.stops, self.lines)
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
    if dialect.quote == kernels.NONE or not (_SPECIAL.search(cell) or dialect.delimiter in cell):
        return cell
    quote = bytes([dialect.quote])
    if dialect.escape == kernels.NONE:
        return quote + cell.replace(quote, 2 * quote) + quote
    escape = bytes([dialect.escape])
    return quote + cell.replace(escape, 2 * escape).replace(quote, escape + quote) + quote


def csv_line(cells: Sequence[str], dialect: Dialect) -> str:
    """Cells as a line."""
    return chr(dialect.delimiter).join(_quote(cell.encode(), dialect).decode() for cell in cells)


def _room(n_rows: int, n_cells: int) -> kernels.CellSpans:
    shape = n_rows, n_cells
    return kernels.CellSpans(np.empty(shape, np.int64), np.empty(shape, np.int64), np.empty(n_rows, np.int64))


def _split_once(buffer: Buffer, dialect: Dialect, room: kernels.CellSpans) -> Stop:
    where = buffer.data, buffer.position, buffer.stop, buffer.at_end, buffer.line
    is_short = buffer.is_sample and buffer.stop <= SHORT and not is_compiler_loaded()
    split_lines = kernels.split_lines if is_short else specialise(kernels.split_lines)
    return Stop(*split_lines(*where, dialect, len(room.lines), room))


def split(buffer: Buffer, dialect: Dialect, n_cells: int, most_rows: int, refuse: Refuse) -> Split | None:
    """The next rows of a file, as many as are at hand; None at its end. Lines that cannot be split are refused."""
    room = _room(max(1, min(most_rows, MOST_CELLS_AT_ONCE // n_cells)), n_cells)
    while True:
        stop = _split_once(buffer, dialect, room)
        buffer.position, buffer.line = stop.position, stop.line
        if stop.n_rows:  # these first; what stopped the splitter comes up again
            return Split(buffer.data, room, stop.n_rows, stop.is_ascii)
        if stop.why == kernels.MORE_NEEDED:
            if buffer.at_end:
                return None
            try:
                buffer.refill()
            except BadLine as error:  # longer than a line may be
                refuse(error)
                buffer.skip_line()
        elif stop.why == kernels.WRONG_COUNT:
            cells = "1 cell" if stop.where == 1 else f"{stop.where} cells"
            bad = buffer.bad_line(buffer.line, None, f"it has {cells} where {n_cells} are expected.")
            bad.raw = buffer.data[stop.position : stop.after].tobytes().rstrip(b"\r\n")
            refuse(bad)
            buffer.position, buffer.line = stop.after, stop.line_after
        elif stop.why != kernels.BATCH_FULL:
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
        if stop.why == kernels.WRONG_COUNT:
            n_cells = stop.where
            continue
        buffer.position, buffer.line = stop.position, stop.line
        if stop.n_rows:
            row = Split(buffer.data, room, 1, stop.is_ascii)
            return [row.text(0, place) for place in range(n_cells)]
        if stop.why != kernels.MORE_NEEDED:
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
        texts += [[rows.text(row, place) for place in range(n_cells)] for row in range(rows.n_rows)]
    return texts


def _explain(stop: Stop, buffer: Buffer) -> BadLine:
    reason = {
        kernels.OPEN_QUOTE: NEVER_CLOSED,
        kernels.AFTER_QUOTE: "something follows a closing quote before the cell ends.",
        kernels.ZERO_BYTE: "it contains a zero byte, which no text does.",
    }[stop.why]
    before = buffer.data[stop.position : stop.where].tobytes()
    ends = before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")  # of lines inside quotes
    return buffer.bad_line(buffer.line, f"character {stop.where - stop.position + 1}" if not ends else None, reason)
