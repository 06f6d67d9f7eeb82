"""Lines into rows of cells, as many as are at hand, with what is wrong with the others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from askance.errors import BadLine
from askance.features.kinds import SAMPLE_ROWS
from askance.learner.compile import specialise
from askance.stream import cells as kernels
from askance.stream.buffer import Buffer
from askance.stream.cells import Dialect, Stop

Refuse = Callable[[BadLine], None]
MOST_CELLS_AT_ONCE = 1 << 20
MOST_CELLS = 200_000  # that are looked at to guess kinds


def ignore(_: object) -> None:
    """Let a bad line pass, while only looking."""


class Split:
    """Rows of cells that were split at once, as positions in the bytes they came from."""

    def __init__(self, data: np.ndarray, room: kernels.Cells, n_rows: int, is_ascii: bool) -> None:
        self.data = data
        self.starts, self.stops, self.lines = (array[:n_rows] for array in room)
        self.n_rows = n_rows
        self.is_ascii = is_ascii

    def text(self, row: int, column: int) -> str:
        """A cell as text."""
        return self.data[self.starts[row, column] : self.stops[row, column]].tobytes().decode("utf-8", "replace")

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


def _room(n_rows: int, n_cells: int) -> kernels.Cells:
    shape = n_rows, n_cells
    return kernels.Cells(np.empty(shape, np.int64), np.empty(shape, np.int64), np.empty(n_rows, np.int64))


def _split_once(buffer: Buffer, dialect: Dialect, room: kernels.Cells) -> Stop:
    where = buffer.data, buffer.position, buffer.stop, buffer.at_end, buffer.line
    return Stop(*specialise(kernels.split_lines)(*where, dialect, len(room.lines), room))


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
            refuse(buffer.bad_line(buffer.line, None, f"it has {cells} where {n_cells} are expected."))
            buffer.position, buffer.line = stop.after, stop.line_after
        elif stop.why != kernels.BATCH_FULL:
            refuse(_explain(stop, buffer))
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


def sample_of(content: bytes, name: str, dialect: Dialect, n_cells: int) -> list[list[str]]:
    """The rows that can be split in some bytes, as texts."""
    buffer = Buffer.of(content, name)
    texts: list[list[str]] = []
    most = min(SAMPLE_ROWS, max(20, MOST_CELLS // n_cells))
    while len(texts) < most and (rows := split(buffer, dialect, n_cells, most - len(texts), ignore)) is not None:
        texts += [[rows.text(row, place) for place in range(n_cells)] for row in range(rows.n_rows)]
    return texts


def _explain(stop: Stop, buffer: Buffer) -> BadLine:
    reason = {
        kernels.OPEN_QUOTE: "a quote is opened and never closed.",
        kernels.AFTER_QUOTE: "something follows a closing quote before the cell ends.",
        kernels.ZERO_BYTE: "it contains a zero byte, which no text does.",
    }[stop.why]
    before = buffer.data[stop.position : stop.where].tobytes()
    ends = before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")  # of lines inside quotes
    return buffer.bad_line(buffer.line, f"character {stop.where - stop.position + 1}" if not ends else None, reason)
