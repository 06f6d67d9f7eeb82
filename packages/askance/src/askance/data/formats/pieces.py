"""A stream cut into pieces that can be parsed in any process: so many bytes of whole lines, or rows of a row group.

Where the cuts are follows from the files alone. A piece is parsed by a copy of the stream (``Stream.parse``), and what
comes of it is scaled by the stream itself (``Stream.scale``), since every number is standardised by all those before
it. A copy knows the fields as they were when it was made. If a piece has anything that would change them (a new field,
a bad line, a value that makes a kind wider), the copy says so, and the stream parses the piece itself.
"""

from __future__ import annotations

import functools
import pickle
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from askance.data.formats.buffer import BYTE_ORDER_MARK
from askance.errors import AskanceError, InvalidInput

if TYPE_CHECKING:
    from askance.data.formats.source import Input
    from askance.data.formats.stream import Stream

PIECE_BYTES = 1 << 21
PIECE_ROWS = 16_384  # of a row group


class ParsedRows(NamedTuple):
    """What a copy of a stream makes of a piece."""

    rows: Any
    """The rows, of which only the scale is open; a form of the format's own."""
    y: np.ndarray | None
    times: np.ndarray | None
    lines: np.ndarray
    """The line of each row, from 1 in the piece, with ``origins=True``."""
    ids: list[Any]
    n_lines: int
    """How many lines the piece has."""


class TextPiece(NamedTuple):
    """Some whole lines of a file: where they are, or themselves if the file is compressed or converted."""

    file_index: int
    path: str
    start: int
    stop: int
    content: bytes | None = None
    skipped_lines: int = 0
    """How many lines stand before the first piece of a file."""

    def load(self) -> bytes:
        """The lines."""
        if self.content is not None:
            return self.content
        with _open(self.path) as file:
            file.seek(self.start)
            return bytes(file.read(self.stop - self.start))


class RowGroupPiece(NamedTuple):
    """Some rows of a row group of a Parquet file."""

    file_index: int
    path: str
    start: int
    """The first row in the group."""
    stop: int
    group: int
    first_row: int
    """The number of its first row in the file."""

    def load(self) -> Any:
        """The rows, as a record batch."""
        table = read_row_group(self.path, self.group).slice(self.start, self.stop - self.start).combine_chunks()
        return table.to_batches(max_chunksize=self.stop - self.start)[0]


@functools.lru_cache(maxsize=1)
def read_row_group(path: str, group: int) -> Any:
    """A row group as a table; a process works on several pieces of it, one after the other."""
    import pyarrow.parquet  # type: ignore[import-untyped,unused-ignore]

    with _open(path) as file:
        return pyarrow.parquet.ParquetFile(file).read_row_group(group, use_threads=False)


def _open(path: str) -> Any:
    try:
        return open(path, "rb")
    except OSError as error:
        raise InvalidInput(
            f"a worker cannot read {path!r} ({error.strerror}); every worker needs the files, under the same path."
        ) from None


# --- cutting ---------------------------------------------------------------------------------------------


def cut_lines(file_index: int, path: str, start: int, size: int) -> Iterator[TextPiece]:
    """The lines of a file from ``start`` on, in pieces that end with a newline; a longer line makes a longer piece."""
    with _open(path) as file:
        while start < size:
            stop = start + PIECE_BYTES
            file.seek(stop - 1)
            while stop < size:  # on to the end of the line
                some = file.read(1 << 16)
                found = some.find(b"\n")
                stop += found if found >= 0 else len(some)
                if found >= 0 or not some:
                    break
            stop = min(stop, size)
            yield TextPiece(file_index, path, start, stop)
            start = stop


def cut_input(file_index: int, part: Input) -> Iterator[TextPiece]:
    """The lines of a file that is decompressed, or converted, as it is read."""
    rest: list[bytes] = []
    start, is_first = 0, True
    while more := part.read(PIECE_BYTES):
        more, is_first = more.removeprefix(BYTE_ORDER_MARK) if is_first else more, False
        end = more.rfind(b"\n") + 1
        if end:
            content = b"".join([*rest, more[:end]])
            yield TextPiece(file_index, part.name, start, start + len(content), content)
            start, rest = start + len(content), []
        rest.append(more[end:])
    if content := b"".join(rest):
        yield TextPiece(file_index, part.name, start, start + len(content), content)


def cut_row_groups(file_index: int, path: str, sizes: list[int]) -> Iterator[RowGroupPiece]:
    """The rows of a Parquet file whose row groups have these sizes."""
    before = 0
    for group, size in enumerate(sizes):
        for start in range(0, size, PIECE_ROWS):
            yield RowGroupPiece(file_index, path, start, min(start + PIECE_ROWS, size), group, before + start)
        before += size


def count_lines(content: bytes) -> int:
    """How many lines some bytes have, whichever way they end."""
    ends = int(np.count_nonzero(np.frombuffer(content, np.uint8) == ord("\n")))
    if b"\r" in content:
        ends += content.count(b"\r") - content.count(b"\r\n")
    return ends + (not content.endswith((b"\n", b"\r")))


# --- in a worker -----------------------------------------------------------------------------------------


class CopiedSource(NamedTuple):
    """What a copy of a stream knows of the files: their names."""

    name: str
    names: list[str]


def copy_stream(stream: Stream) -> bytes:
    """A copy that can be sent. It raises at a bad line, for only the stream itself counts and keeps them."""
    return pickle.dumps(stream, protocol=pickle.HIGHEST_PROTOCOL)


class _Opened(threading.local):
    """The copy that a thread works with: parsing changes it, so that no other may have it."""

    copy: bytes | None = None
    stream: Any = None


_opened = _Opened()


def _open_copy(copy: bytes) -> Stream:
    if _opened.copy != copy:
        _opened.copy, _opened.stream = copy, pickle.loads(copy)
    stream: Stream = _opened.stream
    return stream


def parse_piece(copy: bytes, piece: Any) -> ParsedRows | None:
    """What a copy of a stream makes of a piece; None if the stream has to look at it itself."""
    content = piece.load()
    stream = _open_copy(copy)
    before = stream.fields_state()
    try:
        parsed = stream.parse(piece, content)
    except AskanceError:
        parsed = None
    if parsed is None or stream.fields_state() != before:
        _opened.copy = None  # it has changed
        return None
    return parsed
