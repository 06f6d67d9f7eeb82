"""Arrays inside an ``.npz`` archive, read piece by piece: files larger than memory can be played."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from askance.errors import BadLine, InvalidInput

PIECE = 1 << 24  # bytes at most that are asked for at once


class Archive:
    """The arrays of a file by name."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self._file = file
        with self.explaining():
            self._zip = zipfile.ZipFile(file)
        self.names = {entry[:-4] for entry in self._zip.namelist() if entry.endswith(".npy")}

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Say in one sentence that the file is damaged, whatever goes wrong inside."""
        try:
            yield
        except (BadLine, InvalidInput):
            raise
        except Exception as error:  # zipfile, zlib and NumPy's header parser raise whatever comes up
            reason = str(error).split("\n")[0][:100].rstrip(".") or type(error).__name__
            raise InvalidInput(f"{self.name!r} is damaged, or no .npz file: {reason}.") from None

    def array(self, name: str) -> ArchiveArray:
        """An array, to be read from front to back."""
        with self.explaining():
            return ArchiveArray(self, self._zip.open(f"{name}.npy"), name)

    def whole(self, name: str, most: int = 1 << 20) -> np.ndarray:
        """All of a small array."""
        member = self.array(name)
        size = member.shape[0] if member.shape else 1
        if size > most:
            raise InvalidInput(f"the array {name!r} of {self.name!r} is longer than expected: {size:,}.")
        return member.take(size)

    def close(self) -> None:
        """Let go of the file."""
        self._zip.close()
        self._file.close()


class ArchiveArray:
    """One array: its shape and dtype, and its rows one piece after the other."""

    def __init__(self, archive: Archive, file: Any, name: str) -> None:
        self._archive, self._file, self._place = archive, file, 0
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        self.shape, is_fortran, self.dtype = read(file)
        if self.dtype.hasobject or self.dtype.kind not in "biufUS":
            what = "Python objects, which are never read" if self.dtype.hasobject else str(self.dtype)
            raise InvalidInput(f"the array {name!r} of {archive.name!r} holds {what}; save it as numbers or strings.")
        if any(length < 0 for length in self.shape):
            raise ValueError(f"the array {name!r} has a negative shape")
        self._whole: np.ndarray | None = None
        if is_fortran and len(self.shape) > 1:  # stored column by column: there is no other way
            self._whole = self._numbers(math.prod(self.shape)).reshape(self.shape[::-1]).T

    def take(self, n: int) -> np.ndarray:
        """The next ``n`` rows (or numbers); fewer at the end."""
        if not self.shape:
            with self._archive.explaining():
                return self._numbers(1)
        n = min(n, self.shape[0] - self._place)
        self._place += n
        if self._whole is not None:
            return self._whole[self._place - n : self._place]
        with self._archive.explaining():
            return self._numbers(n * math.prod(self.shape[1:])).reshape(n, *self.shape[1:])

    def _numbers(self, n: int) -> np.ndarray:
        wanted = n * self.dtype.itemsize
        pieces = []
        while wanted > 0 and (piece := self._file.read(min(wanted, PIECE))):
            pieces.append(piece)
            wanted -= len(piece)
        if wanted:
            raise EOFError("an array ends too early")
        return np.frombuffer(b"".join(pieces), self.dtype) if n else np.zeros(0, self.dtype)
