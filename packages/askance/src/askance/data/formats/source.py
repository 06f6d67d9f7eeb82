"""Where the bytes come from: a file, a folder of files, or the standard input, compressed or not.

The first bytes of a file show how it is compressed; its name does not count. Memory holds the piece in hand and no
more; only formats that must be read from the end (``.npz``, Parquet) are copied to a temporary file when
they come compressed or through a pipe.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import dropwhile
from pathlib import Path
from typing import Any, BinaryIO

from askance.errors import InvalidInput, InvalidParameter, InvalidType

COMPRESSIONS = {
    "gzip": re.compile(rb"\x1f\x8b\x08"),
    "bzip2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
}
SUFFIXES = (".gz", ".gzip", ".bz2", ".xz")
LONGEST_MAGIC = 10
STDIN = "-"


def without_compression(name: str) -> str:
    """The name of a file without ``.gz`` and the like."""
    stem, suffix = os.path.splitext(name)
    return stem if suffix.lower() in SUFFIXES else name


class Input:
    """The bytes of one file, decompressed, with its name and how far it was read.

    Examples
    --------
    >>> import gzip, io
    >>> part = Input(io.BytesIO(gzip.compress(b"one line\\n")), "example")
    >>> part.read(100)
    b'one line\\n'
    """

    unit = "line"
    """What a line of it is called in an error."""

    def __init__(
        self, raw: BinaryIO, name: str, size: int | None = None, owned: bool = True, inner: Input | None = None
    ) -> None:
        self.name = name
        self._size = size
        self._inner = inner  # what it is made from, by a conversion
        self._peeked, self._position = b"", 0
        start = b""
        while len(start) < LONGEST_MAGIC and (more := raw.read(LONGEST_MAGIC - len(start))):
            start += _check(more)  # a pipe may hand out a byte at a time
        self._raw = io.BufferedReader(_Bytes(raw, start, owned), 1 << 16)
        self.compression = next((how for how, magic in COMPRESSIONS.items() if magic.match(start)), None)
        self.is_stored = self.compression is None and inner is None
        """Whether its bytes are those of the file."""
        if self.is_stored and 0 < len(start) < LONGEST_MAGIC and name.lower().endswith(SUFFIXES):
            raise InvalidInput(f"{name!r} is cut off: it is too short for a compressed file.")
        match self.compression:
            case "gzip":
                self._bytes: Any = gzip.GzipFile(fileobj=self._raw, mode="rb")
            case "bzip2":
                self._bytes = bz2.BZ2File(self._raw)
            case "xz":
                self._bytes = lzma.LZMAFile(self._raw)  # noqa: SIM115
            case _:
                self._bytes = self._raw

    def peek(self, n_lines: int, most: int) -> bytes:
        """The first lines, or bytes, which will be read again."""
        room = bytearray(1 << 14)
        self._position = len(self._peeked)  # on from where a peek before this one has ended
        with memoryview(room) as view:
            while len(self._peeked) < most and self._peeked.count(b"\n") < n_lines and (got := self.readinto(view)):
                self._peeked += view[:got].tobytes()
                self._position = len(self._peeked)
        self._position = 0
        return self._peeked[:most]

    def readinto(self, room: memoryview) -> int:
        """Read what is there into ``room``; 0 at the end."""
        if self._position < len(self._peeked):
            piece = self._peeked[self._position : self._position + len(room)]
            room[: len(piece)] = piece
            self._position += len(piece)
            return len(piece)
        with self._explaining():
            got = self._bytes.readinto1(room) if hasattr(self._bytes, "readinto1") else self._bytes.readinto(room)
        return int(got)

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; empty at the end."""
        room = bytearray(size)
        filled = 0
        with memoryview(room) as view:
            while filled < size and (got := self.readinto(view[filled:])):
                filled += got
        return bytes(room[:filled])

    def share_read(self) -> float | None:
        """The share of the file that was read, in bytes as they are stored; None where its size is not known."""
        if self._inner is not None:
            return self._inner.share_read()
        return min(1.0, self._raw.tell() / self._size) if self._size else None

    def close(self) -> None:
        """Let go of the file."""
        if self._bytes is not self._raw:
            self._bytes.close()
        self._raw.close()

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except EOFError:
            raise InvalidInput(f"{self.name!r} is cut off: its {self.compression} data ends too early.") from None
        except (OSError, zlib.error, lzma.LZMAError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise InvalidInput(f"{self.name!r} is damaged: its {self.compression} data cannot be read.") from None


class _Bytes(io.RawIOBase):
    """Bytes that were read already, then those of another object, which is left open where it is somebody else's."""

    def __init__(self, raw: BinaryIO, start: bytes, owned: bool) -> None:
        self._raw, self._start, self._owned = raw, start, owned
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        if self._start:
            got = self._start[: len(room)]
            self._start = self._start[len(got) :]
        else:
            # read1 gives what a pipe has now instead of waiting for more
            got = _check(self._raw.read1(len(room)) if hasattr(self._raw, "read1") else self._raw.read(len(room)))
        room[: len(got)] = got
        self._position += len(got)
        return len(got)

    def tell(self) -> int:
        return self._position

    def close(self) -> None:
        if not self.closed:
            super().close()
            if self._owned:
                self._raw.close()


def _check(piece: Any) -> bytes:
    if not isinstance(piece, bytes):
        raise InvalidType("a stream is read from bytes; open the file in binary mode, 'rb'.")
    return piece


class Source:
    """The files to be read, in order.

    Parameters
    ----------
    source : str, path, list of paths, or object with ``read``
        A file; a folder, whose files are read in the order of their names (hidden ones are left out); several of
        both, in their order; ``"-"``, the standard input; or an object opened in binary mode.
    """

    def __init__(self, source: Any) -> None:
        self._object: Any = None
        self._taken = False
        self._peeked_part: Input | None = None
        if isinstance(source, str) and source == STDIN:
            self._object = sys.stdin.buffer
            self.name, self.names = STDIN, [STDIN]
        elif hasattr(source, "read"):
            self._object = source
            name = getattr(source, "name", None)
            self.name = os.path.basename(name) if isinstance(name, str) else "stream"
            self.names = [self.name]
        elif isinstance(source, list | tuple) and source:
            self.paths = _from_first_filled([file for path in source for file in _files(Path(path))])
            self.names = [str(file) for file in self.paths]
            self.name = self.names[0] if len(self.names) == 1 else f"{self.names[0]} and {len(self.names) - 1} more"
        elif isinstance(source, str | os.PathLike):
            path = Path(source)
            self.paths = _files(path)
            self.name = path.name or str(path)
            self.names = [str(file.name) for file in self.paths]
        else:
            raise InvalidType(f"a stream is read from a path, '-' or an object opened in binary mode, got {source!r}.")

    def __len__(self) -> int:
        return len(self.names)

    @property
    def can_be_read_again(self) -> bool:
        """Whether it can be opened more than once."""
        return self._object is None

    def open(self, index: int) -> Input:
        """The bytes of one of the files."""
        if self._peeked_part is not None and index == 0:
            part, self._peeked_part = self._peeked_part, None
            return part
        return self._open(index)

    def _open(self, index: int) -> Input:
        if self._object is None:
            path = self.paths[index]
            return Input(path.open("rb", buffering=0), self.names[index], path.stat().st_size)
        if self._taken:
            raise InvalidInput(f"{self.name!r} can be played only once; write it to a file to play it again.")
        self._taken = True
        return Input(self._object, self.name, owned=False)

    def peek(self, n_lines: int, most: int) -> bytes:
        """The first lines, or bytes, of the first file, which will be read again."""
        if self._peeked_part is None:
            self._peeked_part = self.open(0)
        return self._peeked_part.peek(n_lines, most)

    def size_of(self, index: int) -> int:
        """The size of one of the files, in bytes; 0 if it is not known."""
        return self.paths[index].stat().st_size if self._object is None else 0

    def stored_path(self, index: int) -> str | None:
        """The path of one of the files, if its bytes are those that are read; None for what is converted."""
        if self._object is not None:
            return None
        part = self.open(index)
        part.close()
        return str(self.paths[index].absolute()) if part.is_stored else None

    def open_seekable(self, index: int) -> BinaryIO:
        """The bytes of one of the files as an object that can be read from any place."""
        part = self.open(index)
        if self._object is None and part.compression is None:
            part.close()
            return self.paths[index].open("rb")
        copy = tempfile.TemporaryFile(prefix="askance-")  # noqa: SIM115
        try:
            while piece := part.read(1 << 20):
                copy.write(piece)
        except BaseException:
            copy.close()
            raise
        finally:
            part.close()
        copy.seek(0)
        return copy


Conversion = Callable[[Input], Iterator[bytes] | None]
"""From the bytes of a file to the bytes that are read in their place, piece by piece; None to leave a file as it is."""


class Converted(Source):
    """The files of another source, each converted while it is read; ``unit`` is what errors call a line of them."""

    def __init__(self, inner: Source, convert: Conversion, unit: str = "line") -> None:
        self._inner, self._convert, self._unit = inner, convert, unit
        self.name, self.names = inner.name, inner.names
        self._peeked_part: Input | None = None
        self._object = inner._object
        self.paths = getattr(inner, "paths", [])

    def _open(self, index: int) -> Input:
        part = self._inner.open(index)
        pieces = self._convert(part)
        if pieces is None:
            return part
        made = Input(io.BufferedReader(_Pieces(pieces, part)), part.name, inner=part)
        made.unit = self._unit
        return made


class _Pieces(io.RawIOBase):
    """Bytes that come piece by piece; closes what they are made from."""

    def __init__(self, pieces: Iterator[bytes], part: Input) -> None:
        self._pieces, self._part = pieces, part
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        while not self._ready:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._ready = memoryview(piece)
        size = min(len(room), len(self._ready))
        room[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._part.close()


def _is_empty(path: Path) -> bool:
    """Whether a file has no content, so that it does not tell what those after it look like; a pipe may have some."""
    return path.is_file() and path.stat().st_size == 0


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        if not files:
            raise InvalidInput(f"the folder {str(path)!r} holds no files.")
        return _from_first_filled(files)
    if not path.exists():
        raise InvalidInput(f"there is no file or folder {str(path)!r}.")
    return [path]


def _from_first_filled(files: list[Path]) -> list[Path]:
    """The files from the first that is not empty on, by which the format and the fields are told; all if all are."""
    return list(dropwhile(_is_empty, files)) or files


# --- other encodings than UTF-8 --------------------------------------------------------------------------

PIECE = 1 << 16  # bytes
NOT_UTF8 = "it is not UTF-8 text; if it has another encoding, say which, such as --encoding latin-1."


def recode(encoding: str) -> Conversion:
    """The conversion of files from this encoding to UTF-8.

    >>> import io
    >>> b"".join(recode("latin-1")(Input(io.BytesIO(b"gr\\xf6\\xdfe"), "example"))).decode()
    'größe'
    """
    try:
        decoder = codecs.getincrementaldecoder(encoding)
        is_text = isinstance(decoder().decode(b"", True), str)
    except (LookupError, TypeError):
        is_text = False
    if not is_text:
        raise InvalidParameter(
            f"there is no encoding {encoding!r}; known are such as utf-8, latin-1, cp1252 and utf-16."
        )

    def convert(part: Input) -> Iterator[bytes]:
        text, line = decoder(), 1
        while True:
            piece = part.read(PIECE)
            try:
                decoded = text.decode(piece, not piece)
            except UnicodeError:
                raise InvalidInput(
                    f"{part.name!r} is no {encoding} text: see line {line} and those after it."
                ) from None
            line += decoded.count("\n")
            if decoded:
                yield decoded.encode("utf-8", "surrogatepass")
            if not piece:
                return

    return convert
