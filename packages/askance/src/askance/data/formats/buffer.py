"""The piece of a text file in hand: bytes in an array that the compiled parsers walk through.

A line ends with ``\\n``, ``\\r\\n`` or ``\\r``. The byte after the last one is always a newline, so that a parser needs
no test for the end in its inner loops; reaching it means that more is needed. What a parser has not used when it stops
is moved to the front and read on from there, so memory holds one piece and no more, however large the file.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from askance.errors import BadLine, InvalidInput

PIECE = 1 << 20  # bytes read at a time
SAMPLE = 1 << 22  # bytes that are looked at before the first row is read,
SAMPLE_LINES = 100  # or more of them, up to LONGEST_LINE, until there are so many lines: one may be very long
LONGEST_LINE = 1 << 26  # bytes; a longer line (or a quote that is never closed) is an error instead of a full memory

NEWLINE, RETURN = 10, 13
LINE_END = re.compile(rb"[\r\n]")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
OTHER_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


class Buffer:
    """``data[position:stop]`` are the bytes not yet used; ``line`` is the number of the line that begins there."""

    def __init__(self, part: Any, is_beginning: bool = True) -> None:
        self.part = part
        self.is_sample = not is_beginning  # of which only a look is taken
        self.data = np.empty(PIECE + 1, np.uint8)
        self.position = self.stop = 0
        self._dropped = 0
        self.line = 1
        self.at_end = False
        self._fill(len(BYTE_ORDER_MARK) + 1)
        start = self.data[: self.stop].tobytes() if is_beginning else b""
        for mark, encoding in OTHER_MARKS.items():
            if start.startswith(mark):
                raise InvalidInput(f"{part.name!r} is {encoding} text; say so, --encoding {encoding.lower()}.")
        if start.startswith(BYTE_ORDER_MARK):
            self.position = len(BYTE_ORDER_MARK)

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.part.name

    @property
    def offset(self) -> int:
        """How many bytes of the file were used."""
        return self._dropped + self.position

    def refill(self) -> None:
        """Move what is left to the front and read more after it; a line longer than the array makes it grow."""
        left = self.stop - self.position
        if self.position:
            self.data[:left] = self.data[self.position : self.stop].copy()
            self._dropped += self.position
            self.position, self.stop = 0, left
        elif left >= len(self.data) - 1:
            if left >= LONGEST_LINE:
                raise self.bad_line(self.line, None, f"it is longer than {LONGEST_LINE >> 20} MiB.")
            grown = np.empty(min(2 * left, LONGEST_LINE) + 1, np.uint8)
            grown[:left] = self.data[:left]
            self.data = grown
        # What is left is looked at once more: of a long line, that must not be for every few bytes that a pipe gives.
        more = left // 2 if left >= PIECE else 1
        self._fill(min(more, len(self.data) - 1 - self.stop))

    def _fill(self, least: int) -> None:
        wanted = self.stop + least
        room = memoryview(self.data.data)
        while self.stop < wanted and not self.at_end:
            got = self.part.readinto(room[self.stop : len(self.data) - 1])
            self.stop += got
            self.at_end = got == 0
        self.data[self.stop] = NEWLINE

    def next_line(self, position: int) -> int:
        """Where the line after the one at ``position`` begins, or -1 if its end is not in the array yet."""
        end, window = position, 256
        while end < self.stop:  # in growing steps: the end is near, or the line is long
            found = LINE_END.search(self.data[end : min(end + window, self.stop)].tobytes())
            if found:
                end += found.start()
                break
            end, window = min(end + window, self.stop), 4 * window
        if end == self.stop:
            return self.stop if self.at_end else -1
        if self.data[end] == RETURN:
            if end + 1 == self.stop and not self.at_end:
                return -1
            if end + 1 < self.stop and self.data[end + 1] == NEWLINE:
                end += 1
        return end + 1

    def skip_line(self) -> None:
        """Leave the line at ``position`` out, however long it is."""
        while (after := self.next_line(self.position)) < 0:
            ends_with_return = self.stop > self.position and self.data[self.stop - 1] == RETURN
            self.position = self.stop - ends_with_return  # a newline may follow, and belong to it
            self.refill()
        self.position = after
        self.line += 1

    def lines(self) -> Iterator[tuple[int, bytes | BadLine]]:
        """The lines with their numbers, without their ends; an error in place of one that is too long."""
        while True:
            end = self._last_end()
            if end >= 0:
                for text in self.data[self.position : end].tobytes().splitlines():
                    self.line += 1
                    yield self.line - 1, text
                self.position = end
            elif self.at_end:
                return
            else:
                try:
                    self.refill()
                except BadLine as error:
                    self.skip_line()
                    yield error.line, error

    def take_line(self) -> bytes | None:
        """The next line, without its end; None after the last."""
        while (after := self.next_line(self.position)) < 0:
            self.refill()
        if after == self.position:
            return None
        text = self.data[self.position : after].tobytes().rstrip(b"\r\n")
        self.position = after
        self.line += 1
        return text

    def used_lines(self) -> dict[int, bytes]:
        """The lines that were used just now and still are in the array, by their numbers, without their ends."""
        lines = self.data[: self.position].tobytes().splitlines()
        return dict(enumerate(lines, self.line - len(lines)))

    @classmethod
    def of(cls, content: bytes, name: str, unit: str = "line") -> Buffer:
        """Text in memory, from anywhere in a file."""
        return cls(FilePart(io.BytesIO(content), name, unit), is_beginning=False)

    def first_lines(self, n_lines: int) -> bytes:
        """A copy of the first lines, to be looked at before they are read: as many as end within some megabytes."""
        end, found = self.position, 0
        while found < n_lines and (end - self.position < SAMPLE or found < SAMPLE_LINES):
            after = self.next_line(end)
            if after < 0:
                left = self.stop - self.position
                if (found >= SAMPLE_LINES and left >= SAMPLE) or left >= LONGEST_LINE:
                    break
                consumed = end - self.position
                self.refill()
                end = self.position + consumed
            elif after == end:
                break
            else:
                end, found = after, found + 1
        return self.data[self.position : end].tobytes()

    def holds_only(self, content: bytes) -> bool:
        """Whether these first lines are all there is."""
        return self.at_end and len(content) == self.stop - self.position

    def _last_end(self) -> int:
        """The end of the last whole line in the array, or -1."""
        if self.at_end:
            return self.stop if self.stop > self.position else -1
        rest = self.data[self.position : self.stop].tobytes()
        end = max(rest.rfind(b"\n"), rest.rfind(b"\r", 0, max(0, len(rest) - 1)))
        return self.position + end + 1 if end >= 0 else -1

    def bad_line(self, line: int, column: str | None, reason: str) -> BadLine:
        """The error for a line of this file."""
        return BadLine(self.name, line, column, reason, self.part.unit)


class FilePart(NamedTuple):
    """Bytes from anywhere in a file, as a ``Buffer`` reads them."""

    file: Any
    name: str
    unit: str = "line"

    def readinto(self, room: memoryview) -> int:
        """Read what is there into ``room``; 0 at the end."""
        return int(self.file.readinto(room))


def format_token(token: bytes, most: int = 40) -> str:
    """A piece of a line for an error message: readable, on one line, not too long."""
    text = token.decode("utf-8", errors="backslashreplace")
    return repr(text if len(text) <= most else text[: most - 3] + "...")
