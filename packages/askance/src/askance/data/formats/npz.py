"""NumPy's ``.npz`` files: ``X``, or a CSR matrix as ``data``, ``indices``, ``indptr`` and ``shape``; labels in ``y``.

The arrays are read row by row from inside the file, never as a whole. Columns are called by their number, from 0. An
array ``cat3`` beside a dense ``X`` means that column 3 has codes of categories, whose names it lists. ``label=`` names
another array than ``y``. NaN is a missing value, in X and in y. Files that ``scipy.sparse.save_npz`` wrote have no
labels. Object arrays are refused: reading them could run code.
"""

from __future__ import annotations

import math
import zipfile
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from askance.data.encoding.assemble import rows_of
from askance.data.encoding.encoder import Cells, Encoder
from askance.data.encoding.kinds import (
    CATEGORY,
    DATE,
    LARGEST,
    NUMBER,
    SAMPLE_ROWS,
    TEXT,
    TIME,
    check_features,
    format_names,
    why_not_a_number,
)
from askance.data.encoding.scaling import SparseScaling
from askance.data.formats.labels import as_array
from askance.data.formats.read_options import ReadOptions
from askance.data.formats.source import Source
from askance.data.formats.stream import Field, Rows, Stream
from askance.errors import BadLine, InvalidInput, InvalidParameter

# --- arrays inside an archive, piece by piece ------------------------------------------------------------

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
        self._archive, self._file, self._row = archive, file, 0
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
        n = min(n, self.shape[0] - self._row)
        self._row += n
        if self._whole is not None:
            return self._whole[self._row - n : self._row]
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


def open_npz(source: Source, options: ReadOptions) -> Stream:
    """The stream of ``.npz`` files, dense or sparse as the first of them is."""
    archive = Archive(source.open_seekable(0), source.names[0])
    if "X" in archive.names:
        return DenseNpzStream(source, options, archive)
    if {"data", "indices", "indptr", "shape"} <= archive.names:
        return SparseNpzStream(source, options, archive)
    if not archive.names:
        raise InvalidInput(
            f"{source.names[0]!r} is a zip archive without NumPy arrays; unpack it first, or save a spreadsheet as CSV."
        )
    raise InvalidInput(
        f"{source.names[0]!r} holds neither an array X nor the arrays data, indices, indptr and shape of a CSR matrix; "
        f"there are: {format_names(sorted(archive.names))}."
    )


class NpzStream(Stream):
    """What dense and sparse files have in common: archives, rows, labels."""

    def __init__(self, source: Source, options: ReadOptions, archive: Archive) -> None:
        super().__init__(source, options)
        if isinstance(options.label, int) and options.label is not False:
            raise InvalidParameter(f"the labels of an .npz file are an array with a name, no number {options.label}.")
        self._archive: Archive | None = archive
        self._width = self._n_rows = 0
        self._begin_part(archive, 0)

    @abstractmethod
    def _begin(self, archive: Archive) -> tuple[int, int]:
        """Open the arrays of a file; the number of rows and of columns."""

    @abstractmethod
    def _take(self, n: int, first: int) -> tuple[Any, np.ndarray]:
        """The next rows as a matrix, and which of them could be read."""

    def _begin_part(self, archive: Archive, file_index: int) -> None:
        self._file_index, self._open_part = file_index, archive
        with archive.explaining():
            self._n_rows, width = self._begin(archive)
        if file_index and width != self._width:
            raise InvalidInput(f"{archive.name!r} has {width} columns, the files before it have {self._width}.")
        self._width, self._done = width, 0
        wanted = self.options.label
        if isinstance(wanted, str) and wanted not in archive.names:
            raise InvalidParameter(
                f"{archive.name!r} has no array {wanted!r} to be the label; there are: "
                f"{format_names(sorted(archive.names))}."
            )
        name = wanted if isinstance(wanted, str) else "y" if wanted is None and "y" in archive.names else None
        self.label_name = name
        self._y: ArchiveArray | None = archive.array(name) if name is not None else None
        if self._y is not None and self._y.shape != (self._n_rows,):
            raise InvalidInput(
                f"{archive.name!r} has {self._n_rows:,} rows, but its labels {name!r} have the shape {self._y.shape} "
                f"instead of ({self._n_rows},)."
            )

    def _restart(self) -> None:
        self._archive = None

    def _rows(self) -> Iterator[Rows]:
        for file_index in range(len(self.source)):
            if file_index or self._archive is None:
                self.close()
                archive = Archive(self.source.open_seekable(file_index), self.source.names[file_index])
                self._begin_part(archive, file_index)
            self._archive = None
            most = self._rows_per_batch(self._width)
            while self._done < self._n_rows:
                n = min(most, self._n_rows - self._done)
                X, good = self._take(n, self._done)
                y = self._labels(n, self._done, good)
                self._done += n
                if X.shape[0]:
                    yield X, y, None
        self.close()

    def share_read(self) -> float | None:
        return (self._file_index + (self._done / self._n_rows if self._n_rows else 1.0)) / len(self.source)

    def _labels(self, n: int, first: int, good: np.ndarray) -> np.ndarray | None:
        if self._y is None:
            return None
        y = self._y.take(n)[good]
        if y.dtype.kind == "S":
            y = np.char.decode(y, "utf-8", "replace")
        kind = self.options.labels
        if kind is not None and y.dtype.kind != {"int": "i", "float": "f", "text": "U"}[kind]:
            return self.labels.values([str(label) for label in y.tolist()])
        if y.dtype.kind == "f":
            if np.isinf(y).any():
                row = first + int(np.flatnonzero(good)[np.isinf(y).argmax()])
                raise BadLine(self.source.names[self._file_index], row, None, "its label is infinite.", unit="row")
            return (
                as_array([None if np.isnan(n) else n for n in y.tolist()], "float") if np.isnan(y).any() else y.copy()
            )
        if y.dtype.kind == "U":
            texts = np.char.strip(y)
            return as_array([None if self.labels.is_missing(text) else text for text in texts.tolist()], "text")
        return y.astype(np.int64)

    def _refuse_values(
        self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, first: int, n: int
    ) -> np.ndarray:
        """Refuse rows with values that are infinite or too large; which of the rows are good."""
        good = np.ones(n, np.bool_)
        for k in np.flatnonzero(np.abs(values) > LARGEST).tolist():
            if good[rows[k]]:
                reason = why_not_a_number(str(values[k]))
                self.refuse(self._bad_row(first + int(rows[k]), int(columns[k]), reason))
                good[rows[k]] = False
        return good

    def _bad_row(self, row: int, column: int, reason: str) -> BadLine:
        return BadLine(self.source.names[self._file_index], row, f"column {column}", reason, unit="row")


class SparseNpzStream(NpzStream):
    """The rows of a CSR matrix."""

    def __init__(self, source: Source, options: ReadOptions, archive: Archive) -> None:
        self._scaling = SparseScaling(options.raw)
        super().__init__(source, options, archive)
        if options.state is not None:
            self._take_state(options.state)

    @property
    def fields(self) -> list[Field]:
        """One entry that stands for all features, and the label."""
        label = [Field(self.label_name, "label")] if self.label_name else []
        return [Field(f"features counted from 0, {self._scaling.how}", "sparse"), *label]

    def state(self) -> dict[str, Any]:
        return {"format": "sparse arrays", **self._scaling.to_dict()}

    def _take_state(self, state: Mapping[str, Any]) -> None:
        self._check_format(state, "sparse arrays", "holds sparse arrays")
        self._scaling = SparseScaling.from_dict(state, self.options.frozen)

    def _restart(self) -> None:
        super()._restart()
        if self._state is not None:
            self._take_state(self._state)
        else:
            self._scaling.restart()

    def _begin(self, archive: Archive) -> tuple[int, int]:
        if "format" in archive.names and archive.whole("format").tobytes().rstrip(b"\0") != b"csr":
            raise InvalidInput(f"{archive.name!r} holds a sparse matrix that is not CSR; save X.tocsr() instead.")
        shape = archive.whole("shape")
        if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape.min() < 0 or shape[1] > 2**31 - 2:
            raise ValueError(f"the shape {shape.tolist()} is not one of a matrix")
        n_rows, width = int(shape[0]), int(shape[1])
        self._ends, self._columns, self._values = (archive.array(name) for name in ("indptr", "indices", "data"))
        for member, kinds in ((self._ends, "iu"), (self._columns, "iu"), (self._values, "biuf")):
            if len(member.shape) != 1 or member.dtype.kind not in kinds:
                raise ValueError("indptr, indices and data must be flat arrays of numbers")
        if self._ends.shape[0] != n_rows + 1 or self._columns.shape != self._values.shape:
            raise ValueError("the lengths of indptr, indices and data do not fit the shape")
        if not self._scaling.is_settled:
            first = archive.array("indptr").take(SAMPLE_ROWS + 1)
            self._scaling.settle(archive.array("data").take(int(first[-1])), width)
        self._end = int(self._ends.take(1)[0])
        if self._end != 0:
            raise ValueError("indptr does not begin with 0")
        return n_rows, width

    def _take(self, n: int, first: int) -> tuple[Any, np.ndarray]:
        assert isinstance(self._open_part, Archive)
        with self._open_part.explaining():
            starts = np.concatenate([[self._end], self._ends.take(n).astype(np.int64)]) - self._end
            lengths = np.diff(starts)
            if (lengths < 0).any() or self._end + starts[-1] > self._columns.shape[0]:
                raise ValueError("indptr descends, or is longer than the data")
            self._end += int(starts[-1])
            columns = self._columns.take(int(starts[-1])).astype(np.int64)
            values = self._values.take(int(starts[-1])).astype(np.float64)
            if len(columns) and (columns.min() < 0 or columns.max() >= self._width):
                raise ValueError(f"a column is outside the {self._width} that the shape tells")
        rows = np.repeat(np.arange(n), lengths)
        if np.isnan(values).any():  # as if they were not there
            present = ~np.isnan(values)
            rows, columns, values = rows[present], columns[present], values[present]
        good = self._refuse_values(rows, columns, values, first, n)
        if not good.all():
            kept = good[rows]
            rows, columns, values = (np.cumsum(good) - 1)[rows[kept]], columns[kept], values[kept]
        arrays = rows_of(rows.astype(np.int32), columns.astype(np.int32), values, int(good.sum()))
        return self._scaling.matrix(*arrays, self._width), good


class DenseNpzStream(NpzStream):
    """The rows of a two-dimensional array."""

    def __init__(self, source: Source, options: ReadOptions, archive: Archive) -> None:
        self._encoder = Encoder(options.hash_bits, options.ngrams, options.raw)
        super().__init__(source, options, archive)
        self._names: dict[int, list[str]] = {}
        self._settle(archive)

    @property
    def fields(self) -> list[Field]:
        """The columns, and the label."""
        label = [Field(self.label_name, "label")] if self.label_name else []
        return [*(Field(name, kind) for name, kind in self._encoder.kinds.items()), *label]

    def state(self) -> dict[str, Any]:
        return {"format": "arrays", **self._encoder.to_dict()}

    def _settle(self, archive: Archive) -> None:
        names = [str(column) for column in range(self._width)]
        given = check_features(self.options.features, names)
        if not {TEXT, DATE, TIME}.isdisjoint(given.values()):
            raise InvalidParameter(
                "the columns of an array are numbers or codes of categories, not text, dates or times."
            )
        for column in range(self._width):
            if f"cat{column}" in archive.names:
                self._names[column] = [str(name) for name in archive.whole(f"cat{column}").tolist()]
        for column, name in enumerate(names):
            self._encoder.add(name, given.get(name) or (CATEGORY if column in self._names else NUMBER))
        self._fresh = self._encoder.to_dict()
        if self._state is not None:
            self._check_format(self._state, "arrays", "holds an array")
            self._encoder = Encoder.from_dict(self._state)
            if list(self._encoder.kinds) != names:
                raise InvalidInput(f"{self.name!r} does not have as many columns as the model was trained on.")
        self._numbers = np.array([c for c, name in enumerate(names) if self._encoder.kinds[name] == NUMBER], np.int64)
        self._slots = np.array([self._encoder.slots[str(column)] for column in self._numbers], np.int64)
        self._categories = [c for c, name in enumerate(names) if self._encoder.kinds[name] == CATEGORY]

    def _restart(self) -> None:
        super()._restart()
        self._encoder = Encoder.from_dict(self._fresh if self._state is None else self._state)

    def _begin(self, archive: Archive) -> tuple[int, int]:
        self._X = archive.array("X")
        if len(self._X.shape) != 2 or self._X.dtype.kind not in "biuf":
            raise InvalidInput(
                f"X in {archive.name!r} must be a two-dimensional array of numbers, one row per event; its shape is "
                f"{self._X.shape}, its type {self._X.dtype}."
            )
        if self._X.shape[1] > 2**31 - 2:
            raise ValueError("X has too many columns")
        return self._X.shape[0], self._X.shape[1]

    def _take(self, n: int, first: int) -> tuple[Any, np.ndarray]:
        X = self._X.take(n).astype(np.float64)
        rows, columns = np.nonzero(np.abs(X) > LARGEST)
        good = self._refuse_values(rows, columns, X[rows, columns], first, n)
        words = {}
        for column in self._categories:
            words[column] = [self._word(column, code) for code in X[:, column].tolist()]
            for row, word in enumerate(words[column]):
                if word is None and good[row] and not np.isnan(X[row, column]):
                    reason = f"{X[row, column]:g} is no code of the {len(self._names[column])} categories it has."
                    self.refuse(self._bad_row(first + row, column, reason))
                    good[row] = False
        cells = Cells()
        kept = np.flatnonzero(good)
        cells.n_rows = len(kept)
        if len(self._numbers):
            cells.add_numbers(0, self._slots, X[kept][:, self._numbers])
        for column, found in words.items():
            values = [found[row] or "" for row in kept.tolist()]
            cells.categories[str(column), 1.0] = list(range(len(kept))), values
        return self._encoder.matrix(cells, self._encoder.scaling.as_next if self.options.frozen else None), good

    def _word(self, column: int, code: float) -> str | None:
        """The category that a code stands for; None if it stands for none, or is missing."""
        if code != code:
            return None
        names = self._names.get(column)
        if names is None:
            return str(int(code)) if code == code // 1 else repr(code)
        return names[int(code)] if code == code // 1 and 0 <= code < len(names) else None
