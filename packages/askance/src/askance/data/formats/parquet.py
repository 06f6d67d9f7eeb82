"""Parquet files, and Arrow's own (Feather), through pyarrow (the extra ``parquet``).

Numbers, truth values, decimals, times of day and durations are numbers; dates and timestamps are dates; strings are
guessed to be dates, categories or text; lists and structures become what they become in JSON rows. Nulls and NaN are
missing values. The label is found as in a CSV file. A piece of a file is read after the other, so that memory stays
small.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from askance.data.encoding.columns import add_table, ignored_for_good
from askance.data.encoding.encoder import Cells
from askance.data.encoding.kinds import (
    DATE,
    IGNORE,
    IGNORED_NAMES,
    NUMBER,
    SAMPLE_ROWS,
    format_names,
    last_name,
)  # fmt: skip
from askance.data.encoding.rows import FieldError, flatten
from askance.data.encoding.table import plain
from askance.data.formats.named_fields import RowStream
from askance.data.formats.pieces import ParsedRows, RowGroupPiece, cut_row_groups
from askance.data.formats.read_options import ReadOptions
from askance.data.formats.source import Source
from askance.data.formats.stream import Rows
from askance.errors import BadLine, InvalidInput
from askance.extras import how_to_install


def _pyarrow() -> Any:
    try:
        import pyarrow  # type: ignore[import-untyped,unused-ignore]
        import pyarrow.parquet  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise InvalidInput(f"reading Parquet and Feather needs pyarrow: {how_to_install('parquet')}.") from None
    return pyarrow


class ParquetStream(RowStream):
    """The rows of Parquet files."""

    format, what = "parquet", "Parquet"
    kept_as = "jsonl"

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        self._arrow = _pyarrow()
        self._file: Any = self._open(0)
        self._schema = self._file.schema_arrow
        self.names = self._schema.names
        self._label = self._find_label(self.names)
        self._look_at_first_rows()

    def _find_label(self, names: Sequence[str]) -> str | None:
        if len(set(names)) < len(names):
            raise InvalidInput(f"{self.name!r} has two fields with the same name.")
        index = self._index_of_label(names)
        return None if index is None else names[index]

    def _open(self, file_index: int) -> Any:
        self.close()
        self._file_index = file_index
        self._open_part = self.source.open_seekable(file_index)
        with self._explaining():
            return self._read(self._open_part)

    def _read(self, file: BinaryIO) -> Any:
        """What has ``schema_arrow`` and ``iter_batches``."""
        return self._arrow.parquet.ParquetFile(file)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except (BadLine, InvalidInput):
            raise
        except (self._arrow.ArrowException, OSError, ValueError) as error:
            reason = str(error).strip().split("\n")[0].rstrip(".")[:120] or type(error).__name__
            raise InvalidInput(
                f"{self.source.names[self._file_index]!r} cannot be read as {self.what}: {reason}."
            ) from None

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
        with self._explaining():
            first = next(self._file.iter_batches(batch_size=SAMPLE_ROWS), None)
            rows = first.to_pylist() if first is not None else []
        if self._state is not None and self.options.frozen:
            top = {name if name in self.names else name.split(".")[0]: k for name, k in self._features.kinds.items()}
            self._check_fields(top, self.names)
        elif self._state is not None and self._state.get("format") != self.format:
            self._check_any_is_known(self.names)
        self._keep_first_values([{name: plain(value) for name, value in row.items()} for row in rows])
        if self._label is not None:
            self.labels.settle_by_values(plain(row[self._label]) for row in rows)
        for name in self._schema.names if self._state is None else ():
            if name == self._label:
                continue
            if self._is_number(name):
                usual = IGNORE if last_name(name) in IGNORED_NAMES else DATE if self._is_date(name) else NUMBER
                kind = self._features.given.get(name, usual)
                self._features.encoder.add(name, kind)
                if kind == NUMBER and self._arrow.types.is_boolean(self._schema.field(name).type):
                    self._features.with_truths.add(name)
            else:
                self._features.guess_kinds(_flatten(name, rows))
        self._first = self._features.to_dict()

    def _rows(self) -> Iterator[Rows]:
        for file_index in range(len(self.source)):
            if file_index:
                self._file = self._open(file_index)
                self._check_schema(self._file, file_index)
            most = self._rows_per_batch(len(self._schema.names))
            batches, first = self._file.iter_batches(batch_size=most), 0
            while True:
                with self._explaining():
                    batch = next(batches, None)
                if batch is None:
                    break
                rows = self._finish(*self._take_rows(batch, first))
                first += batch.num_rows
                if rows[0].shape[0]:
                    yield rows
        self.close()

    def pieces(self) -> Iterator[RowGroupPiece] | None:
        """Rows of a row group."""
        paths = [self.source.stored_path(file_index) for file_index in range(len(self.source))]
        return None if None in paths else self._cut(paths)

    def _cut(self, paths: list[str]) -> Iterator[RowGroupPiece]:
        for file_index, path in enumerate(paths):
            file = self._open(file_index)
            self._check_schema(file, file_index)
            groups = file.metadata.num_row_groups
            sizes = [file.metadata.row_group(group).num_rows for group in range(groups)]
            self.close()
            yield from cut_row_groups(file_index, path, sizes)

    def parse(self, piece: RowGroupPiece, content: Any, first_line: int = 1) -> ParsedRows:
        self._file_index = piece.file_index
        return self._finish_piece(*self._take_rows(content, piece.first_row))

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__ |= kept | {"_arrow": _pyarrow()}

    def _check_schema(self, file: Any, file_index: int) -> None:
        if not file.schema_arrow.equals(self._schema):
            raise InvalidInput(
                f"{self.source.names[file_index]!r} does not have the same fields as {self.source.names[0]!r}."
            )

    def _take_rows(self, batch: Any, first: int) -> tuple[Cells, np.ndarray | None]:
        """The cells and the labels of some rows, the first of which has this number in its file."""
        kinds, names = self._features.kinds, self._schema.names
        numbers = {
            name: self._numbers(batch.column(name))
            for name in names
            if kinds.get(name) == NUMBER and self._is_number(name)
        }
        without = {*numbers, *ignored_for_good(self._features), self._label}
        with self._explaining():
            rows = self._plain_rows(batch, [name for name in names if name not in without])
            labels = batch.column(self._label).to_pylist() if self._label is not None else []
        y: dict[int, Any] = {}

        def row_at(row: int) -> dict[str, Any]:
            y[row] = self._label_of(plain(labels[row])) if labels else None
            return flatten({name: plain(value) for name, value in rows[row].items()})

        def refuse(row: int, error: FieldError) -> None:
            file, column = self.source.names[self._file_index], f"field {format_names([error.field])!r}"
            bad = BadLine(file, first + row, column, error.reason, unit="row")
            bad.field = error.field
            if self.options.quarantine is not None:
                bad.raw = _as_json(self._plain_rows(batch.slice(row, 1), names)[0])
            self.refuse(bad)

        cells = Cells()
        added = add_table(self._features, cells, batch.num_rows, numbers, row_at, refuse, self.options.frozen)
        if self.origins is not None and self.origins.id_field is not None:
            with self._explaining():
                ids = batch.column(self.origins.id_field).to_pylist()
            self.origins.add(self._file_index, (), [plain(ids[row]) for row in added])
        if self.options.keep_rows:
            whole = self._plain_rows(batch, [name for name in names if name != self._label])
            self._kept_rows += [flatten({name: plain(v) for name, v in whole[row].items()}) for row in added]
        return cells, self._label_array([y[row] for row in added])

    def _plain_rows(self, batch: Any, names: list[str]) -> list[dict[str, Any]]:
        """Some fields of the rows; Python's times have no nanoseconds."""
        if not names:
            return [{} for _ in range(batch.num_rows)]
        columns = [batch.column(name) for name in names]
        for k, column in enumerate(columns):
            if self._arrow.types.is_timestamp(column.type) and column.type.unit == "ns":
                columns[k] = column.cast(self._arrow.timestamp("us", column.type.tz), safe=False)
        rows: list[dict[str, Any]] = self._arrow.RecordBatch.from_arrays(columns, names).to_pylist()
        return rows

    def _numbers(self, column: Any) -> np.ndarray:
        """A column as float64, NaN where it is missing."""
        arrow = self._arrow
        with self._explaining():
            if arrow.types.is_temporal(column.type):
                whole = arrow.int32() if column.type.bit_width == 32 else arrow.int64()
                column = column.cast(whole)
            values = column.cast(arrow.float64(), safe=False).to_numpy(zero_copy_only=False).astype(np.float64)
        return self.missing.blank(values)


class FeatherStream(ParquetStream):
    """The rows of Arrow IPC files, which Feather files are; in a model they are called as those of Parquet are."""

    what = "Feather"

    def _read(self, file: BinaryIO) -> Any:
        return ArrowFile(self._arrow, file)

    def pieces(self) -> None:
        """Files of Arrow are not cut."""


class ArrowFile:
    """The rows of an Arrow IPC file in batches of any size, as a Parquet file gives them."""

    def __init__(self, arrow: Any, file: BinaryIO) -> None:
        self._arrow = arrow
        self._reader = arrow.ipc.open_file(file)
        self.schema_arrow = self._reader.schema

    def iter_batches(self, batch_size: int) -> Iterator[Any]:
        """All rows, so many at a time; only the last batch has fewer."""
        waiting: list[Any] = []
        n_rows = 0
        for number in range(self._reader.num_record_batches):
            batch = self._reader.get_batch(number)
            while n_rows + batch.num_rows >= batch_size:
                taken = batch_size - n_rows
                yield self._join([*waiting, batch.slice(0, taken)])
                waiting, n_rows, batch = [], 0, batch.slice(taken)
            if batch.num_rows:
                waiting.append(batch)
                n_rows += batch.num_rows
        if waiting:
            yield self._join(waiting)

    def _join(self, batches: list[Any]) -> Any:
        table = self._arrow.Table.from_batches(batches, self.schema_arrow).unify_dictionaries()
        return table.combine_chunks().to_batches()[0]


def _as_json(row: dict[str, Any]) -> bytes:
    """A row as a line of JSON."""
    fields = {name: plain(value) for name, value in row.items()}
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _flatten(name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One field of some rows, flattened; rows that cannot be are left out."""
    found = []
    for row in rows:
        try:
            found.append(flatten({name: plain(row[name])}))
        except FieldError:
            continue
    return found
