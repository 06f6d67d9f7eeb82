"""Write every decision to a file while the stream runs: CSV, JSON Lines, NumPy or Parquet, by the file's name.

Memory stays constant, and the file appears under its name only once it is complete. Rows have

    event          the event's number in the life of the model, from 1; 0 for one without a label, only predicted
    file           the file of the folder that it is in
    line           its line, if files have lines
    id             its id, if there is a field of that name
    truth          its label; if it has none, empty, null, or NaN among numbers of an ``.npz`` file
    predicted      the label predicted when it came
    margin         w.x, or the best score minus the second best
    probability    its ask probability
    asked          whether its label was requested
    audit          whether it was requested for the random sample that ``explore`` keeps

File, line and id are there only if the stream has them. An ``.npz`` file has all of these as arrays, and the classes in
``classes``.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np

from askance.atomic import atomic_write
from askance.errors import InvalidParameter, ModelFileError
from askance.extras import how_to_install
from askance.learner.trace import Trace
from askance.runner.model import check_can_be_written
from askance.spreadsheets import safe

DECIDED = ("truth", "predicted", "margin", "probability", "asked", "audit")


def open_trace(path: str | os.PathLike[str], origins: Sequence[str] = ()) -> TraceFile:
    """A trace file of the kind that its name says, with these columns of ``Batch.origins``."""
    target = Path(path)
    name = target.name.lower()
    check_can_be_written(target)
    kinds: dict[str, type[TraceFile]] = {".csv": CsvTrace, ".jsonl": JsonlTrace, ".npz": NpzTrace}
    kinds |= {".csv.gz": CsvTrace, ".jsonl.gz": JsonlTrace, ".parquet": ParquetTrace}
    for suffix, kind in kinds.items():
        if name.endswith(suffix):
            return kind(target, origins)
    raise InvalidParameter(f"the trace {str(path)!r} must end in .csv, .jsonl (both also with .gz), .npz or .parquet.")


class TraceFile(ABC):
    """Writes pieces of a trace, one after the other. Leaving the ``with`` without an error puts the file in place."""

    def __init__(self, target: Path, origins: Sequence[str] = ()) -> None:
        self.target = target
        self.names = ("event", *origins, *DECIDED)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with self._explaining(), ExitStack() as stack:
            self._name = stack.enter_context(atomic_write(self.target))
            self._begin(self._name)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            with self._explaining(), self._stack:
                self._end(True)
            return
        try:
            with suppress(OSError):  # the first error is the one to report
                self._end(False)
        finally:
            self._stack.__exit__(kind, error, at)

    def add(self, trace: Trace, first_event: int, origins: Mapping[str, np.ndarray] | None = None) -> None:
        """Write one more piece, whose first event has this number."""
        found = columns_of(trace, first_event) | dict(origins or {})
        with self._explaining():
            self._add(trace, {name: found[name] for name in self.names})

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Name the file, as its user knows it, if it cannot be written."""
        try:
            yield
        except OSError as error:
            why = error.strerror or (os.strerror(error.errno) if error.errno else str(error))
            raise ModelFileError(f"cannot write the trace {str(self.target)!r}: {why}.") from None

    @abstractmethod
    def _begin(self, name: str) -> None:
        """Open the file to write to."""

    @abstractmethod
    def _add(self, trace: Trace, columns: dict[str, np.ndarray]) -> None:
        """Write one more piece."""

    @abstractmethod
    def _end(self, complete: bool) -> None:
        """Close the file, complete or given up."""


def columns_of(trace: Trace, first_event: int) -> dict[str, np.ndarray]:
    """The columns of a piece of a trace."""
    return {
        "event": np.where(trace.is_labeled, first_event - 1 + np.cumsum(trace.is_labeled), 0),
        "truth": trace.truth,
        "predicted": trace.predicted,
        "margin": trace.margin,
        "probability": trace.probability,
        "asked": trace.asked,
        "audit": trace.audit,
    }


class TextTrace(TraceFile):
    """Lines of text, compressed if the name ends in ``.gz``."""

    _file: IO[str]

    def _begin(self, name: str) -> None:
        if self.target.name.lower().endswith(".gz"):
            self._file = gzip.open(name, "wt", encoding="utf-8", newline="", compresslevel=5)  # noqa: SIM115
        else:
            self._file = open(name, "w", encoding="utf-8", newline="")  # noqa: SIM115

    def _end(self, complete: bool) -> None:
        self._file.close()


class CsvTrace(TextTrace):
    """Comma-separated values, with a line of names; asked and audit are 0 or 1."""

    def _begin(self, name: str) -> None:
        super()._begin(name)
        self._rows = csv.writer(self._file, lineterminator="\n")
        self._rows.writerow(self.names)

    def _add(self, trace: Trace, columns: dict[str, np.ndarray]) -> None:
        columns |= {name: columns[name].astype(np.int8) for name in ("asked", "audit")}
        self._rows.writerows(zip(*map(_cells, columns.values()), strict=True))


def _cells(column: np.ndarray) -> list[Any]:
    cells: list[Any] = column.tolist()
    return cells if column.dtype.kind in "biuf" else [safe(cell) for cell in cells]


class JsonlTrace(TextTrace):
    """One JSON object per line."""

    def _add(self, trace: Trace, columns: dict[str, np.ndarray]) -> None:
        encode = json.JSONEncoder(ensure_ascii=False).encode
        for row in zip(*(column.tolist() for column in columns.values()), strict=True):
            self._file.write(encode(dict(zip(columns, row, strict=True))) + "\n")


class ParquetTrace(TraceFile):
    """Parquet, with one row group per piece."""

    def _begin(self, name: str) -> None:
        try:
            import pyarrow  # type: ignore[import-untyped,unused-ignore]
            import pyarrow.compute  # type: ignore[import-untyped,unused-ignore]
            import pyarrow.parquet  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            raise InvalidParameter(f"writing Parquet needs pyarrow: {how_to_install('parquet')}.") from None
        self._arrow = pyarrow
        self._writer: Any = None

    def _add(self, trace: Trace, columns: dict[str, np.ndarray]) -> None:
        columns["truth"] = trace.classes.take(trace.truth_index)
        arrays = {name: self._array(column) for name, column in columns.items()}
        arrays["truth"] = self._arrow.compute.if_else(self._arrow.array(trace.is_labeled), arrays["truth"], None)
        piece = self._arrow.table(arrays)
        if self._writer is None:
            self._writer = self._arrow.parquet.ParquetWriter(self._name, piece.schema)
        self._writer.write_table(piece)

    def _array(self, column: np.ndarray) -> Any:
        """A column; Python objects become texts, or missing."""
        if column.dtype != object:
            return self._arrow.array(column)
        texts = [None if value is None else str(value) for value in column.tolist()]
        return self._arrow.array(texts, self._arrow.string())

    def _end(self, complete: bool) -> None:
        if self._writer is not None:
            self._writer.close()


class NpzTrace(TraceFile):
    """NumPy arrays; each grows in a temporary file, and all are put into the archive at the end."""

    def _begin(self, name: str) -> None:
        self._classes: np.ndarray | None = None
        self._parts: dict[str, IO[bytes]] = {}
        self._types: dict[str, np.dtype[Any]] = {}
        self._lengths: list[int] = []

    def _add(self, trace: Trace, columns: dict[str, np.ndarray]) -> None:
        self._classes = trace.classes
        labels = _labels_of(trace.classes)
        truth = labels[trace.truth_index] if trace.is_labeled.all() else _with_gaps(labels, trace)
        columns |= {"truth": truth, "predicted": labels[trace.predicted_index]}
        for name, column in columns.items():
            column = _texts_of(column) if column.dtype == object else column
            if name not in self._parts:
                self._parts[name] = tempfile.TemporaryFile(dir=self.target.parent)  # noqa: SIM115
                self._types[name] = column.dtype
            self._types[name] = np.promote_types(self._types[name], column.dtype)
            np.save(self._parts[name], np.ascontiguousarray(column), allow_pickle=False)
        self._lengths.append(len(trace))

    def _end(self, complete: bool) -> None:
        try:
            if complete:
                self._gather()
        finally:
            for part in self._parts.values():
                part.close()

    def _gather(self) -> None:
        with zipfile.ZipFile(self._name, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            for name, part in self._parts.items():
                part.seek(0)
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    member.write(_head((sum(self._lengths),), self._types[name]))
                    for _ in self._lengths:  # texts as wide as the widest
                        piece = np.load(part, allow_pickle=False).astype(self._types[name], copy=False)
                        member.write(piece.tobytes())
            if self._classes is not None:
                with archive.open("classes.npy", "w") as member:
                    np.lib.format.write_array(member, _labels_of(self._classes), allow_pickle=False)


def _labels_of(classes: np.ndarray) -> np.ndarray:
    """Classes as an array that can be written without a pickle."""
    return _texts_of(classes) if classes.dtype == object else classes


def _with_gaps(labels: np.ndarray, trace: Trace) -> np.ndarray:
    """The true labels, a missing one as the empty text, or as NaN among numbers."""
    truth = labels[trace.truth_index]
    if truth.dtype.kind in "US":
        return np.where(trace.is_labeled, truth, "")
    return np.where(trace.is_labeled, truth.astype(np.float64), np.nan)


def _texts_of(values: np.ndarray) -> np.ndarray:
    """Objects as texts, a missing one as the empty text."""
    return np.array(["" if value is None else str(value) for value in values.tolist()], np.str_)


def _head(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bytes:
    """The header of an array in a ``.npy`` file."""
    head = io.BytesIO()
    about = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, about)
    return head.getvalue()
