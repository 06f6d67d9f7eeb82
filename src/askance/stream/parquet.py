"""Parquet files, through pyarrow (``pip install 'askance[parquet]'``).

Numbers, truth values, decimals, times of day and durations are numbers; dates and timestamps are dates; strings are
guessed to be dates, categories or text; lists and structures become what they become in JSON rows. Nulls are missing
values. The label is found as in a CSV file. A piece of a file is read after the other, so that memory stays small.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from askance.errors import BadLine, InvalidInput
from askance.features.encoder import Cells
from askance.features.kinds import (
    DATE,
    IGNORE,
    IGNORED_NAMES,
    LARGEST,
    NUMBER,
    SAMPLE_ROWS,
    last_name,
    listed,
    why_not_a_number,
)  # fmt: skip
from askance.features.rows import FieldError, flatten
from askance.stream.batch import BATCH_ENTRIES, Rows, Settings
from askance.stream.row_stream import RowStream
from askance.stream.source import Source


def _pyarrow() -> Any:
    try:
        import pyarrow  # type: ignore[import-untyped,unused-ignore]
        import pyarrow.parquet  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise InvalidInput("reading Parquet needs pyarrow: pip install 'askance[parquet]'.") from None
    return pyarrow


class ParquetStream(RowStream):
    """The rows of Parquet files."""

    format, what = "parquet", "Parquet"

    def __init__(self, source: Source, settings: Settings, state: Mapping[str, Any] | None = None) -> None:
        super().__init__(source, settings, state)
        self._arrow = _pyarrow()
        self._file: Any = self._open(0)
        self._schema = self._file.schema_arrow
        self._names = self._schema.names
        self._label = self._find_label(self._names)
        self._look_at_first_rows()

    def _find_label(self, names: Sequence[str]) -> str | None:
        if len(set(names)) < len(names):
            raise InvalidInput(f"{self.name!r} has two fields with the same name.")
        place = self._place_of_label(names, self._state)
        return None if place is None else names[place]

    def _open(self, place: int) -> Any:
        self.close()
        self._place = place
        self._open_part = self.source.open_seekable(place)
        with self._explained():
            return self._arrow.parquet.ParquetFile(self._open_part)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (BadLine, InvalidInput):
            raise
        except (self._arrow.ArrowException, OSError, ValueError) as error:
            reason = str(error).strip().split("\n")[0].rstrip(".")[:120] or type(error).__name__
            raise InvalidInput(f"{self.source.names[self._place]!r} cannot be read as Parquet: {reason}.") from None

    def _restart(self) -> None:
        super()._restart()
        self._file = self._open(0)

    def _is_number(self, name: str) -> bool:
        types, kind = self._arrow.types, self._schema.field(name).type
        tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_temporal)
        return any(is_of(kind) for is_of in tests)

    def _is_date(self, name: str) -> bool:
        types, kind = self._arrow.types, self._schema.field(name).type
        return bool(types.is_date(kind) or types.is_timestamp(kind))

    def _look_at_first_rows(self) -> None:
        """Settle the kinds of the fields, and what the labels are, by the first rows."""
        with self._explained():
            first = next(self._file.iter_batches(batch_size=SAMPLE_ROWS), None)
            rows = first.to_pylist() if first is not None else []
        if self._label is not None:
            self.labels.settle_by_values(_plain(row[self._label]) for row in rows)
        for name in self._schema.names if self._state is None else ():
            if name == self._label:
                continue
            if self._is_number(name):
                usual = IGNORE if last_name(name) in IGNORED_NAMES else DATE if self._is_date(name) else NUMBER
                self._features.encoder.add(name, self._features.given.get(name, usual))
            else:
                self._features.guess_kinds(_flattened(name, rows))
        self._settled = len(self._features.kinds)

    def _rows(self) -> Iterator[Rows]:
        for place in range(len(self.source)):
            if place:
                self._file = self._open(place)
                if not self._file.schema_arrow.equals(self._schema):
                    raise InvalidInput(
                        f"{self.source.names[place]!r} does not have the same fields as {self.source.names[0]!r}."
                    )
            most = max(1, min(self.settings.batch_rows, BATCH_ENTRIES // max(1, len(self._schema.names))))
            batches, first = self._file.iter_batches(batch_size=most), 0
            while True:
                with self._explained():
                    batch = next(batches, None)
                if batch is None:
                    break
                rows = self._play(batch, first)
                first += batch.num_rows
                if rows[0].shape[0]:
                    yield rows
        self.close()

    def _play(self, batch: Any, first: int) -> Rows:
        kinds = self._features.kinds
        numbers = [name for name in self._schema.names if kinds.get(name) == NUMBER and self._is_number(name)]
        others = [n for n in self._schema.names if n not in numbers and n != self._label and kinds.get(n) != IGNORE]
        table = np.empty((batch.num_rows, len(numbers)))
        wrong: dict[int, tuple[str, str]] = {}
        for k, name in enumerate(numbers):
            table[:, k], is_bad = self._numbers(batch.column(name))
            for row in np.flatnonzero(is_bad).tolist():
                wrong.setdefault(row, (name, why_not_a_number(str(table[row, k]))))
        with self._explained():
            rows = self._plain_rows(batch, others)
            labels = batch.column(self._label).to_pylist() if self._label is not None else []
        cells, kept, y = Cells(), [], []
        for row in range(batch.num_rows):
            try:
                if row in wrong:
                    raise FieldError(*wrong[row])
                label = self._label_of(_plain(labels[row])) if labels else None
                self._features.add(cells, flatten({name: _plain(value) for name, value in rows[row].items()}))
            except FieldError as error:
                file, column = self.source.names[self._place], f"field {listed([error.field])!r}"
                self.refuse(BadLine(file, first + row, column, error.reason, unit="row"))
                continue
            kept.append(row)
            y.append(label)
        if self.origins is not None and self.origins.id_field is not None:
            with self._explained():
                ids = batch.column(self.origins.id_field).to_pylist()
            self.origins.add(self._place, (), [_plain(ids[row]) for row in kept])
        slots = np.array([self._features.encoder.slots[name] for name in numbers], np.int64)
        if numbers:
            cells.add_numbers(0, slots, table[kept])
        return self._finished(cells, y)

    def _plain_rows(self, batch: Any, names: list[str]) -> list[dict[str, Any]]:
        """Some fields of the rows; Python's times have no nanoseconds."""
        if not names:
            return [{} for _ in range(batch.num_rows)]
        columns = [batch.column(name) for name in names]
        for place, column in enumerate(columns):
            if self._arrow.types.is_timestamp(column.type) and column.type.unit == "ns":
                columns[place] = column.cast(self._arrow.timestamp("us", column.type.tz), safe=False)
        rows: list[dict[str, Any]] = self._arrow.RecordBatch.from_arrays(columns, names).to_pylist()
        return rows

    def _numbers(self, column: Any) -> tuple[np.ndarray, np.ndarray]:
        """A column as float64, NaN where it is null, and which values cannot be learned from."""
        arrow = self._arrow
        with self._explained():
            if arrow.types.is_temporal(column.type):
                whole = arrow.int32() if column.type.bit_width == 32 else arrow.int64()
                column = column.cast(whole)
            values = column.cast(arrow.float64(), safe=False).to_numpy(zero_copy_only=False).astype(np.float64)
            is_present = column.is_valid().to_numpy(zero_copy_only=False)
        return values, is_present & ~(np.abs(values) <= LARGEST)


def _flattened(name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One field of some rows, flattened; rows that cannot be are left out."""
    found = []
    for row in rows:
        try:
            found.append(flatten({name: _plain(row[name])}))
        except FieldError:
            continue
    return found


def _plain(value: Any) -> Any:
    """A value that pyarrow gives as one that JSON could have given."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    try:
        return float(value)  # decimals
    except (TypeError, ValueError, OverflowError):
        return str(value)
