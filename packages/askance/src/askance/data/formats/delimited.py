"""Tables as text, one row of cells per line: what CSV, TSV and ARFF have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from askance.compile import specialise
from askance.data.encoding.encoder import DATE_WEIGHT, Cells, Encoder
from askance.data.encoding.kind_evidence import TypeMismatches
from askance.data.encoding.kinds import (
    CATEGORY,
    DATE,
    IGNORE,
    NUMBER,
    TEXT,
    TIME,
    check_features,
    date_words,
    format_names,
    guess,
    looks_like_a_number,
    seconds_in,
    why_not_a_date,
    why_not_a_number,
)  # fmt: skip
from askance.data.encoding.rows import FieldError, RowFeatures
from askance.data.formats import cells as kernels
from askance.data.formats.buffer import Buffer
from askance.data.formats.cells import Dialect, Split, split
from askance.data.formats.named_fields import NamedFieldsStream
from askance.data.formats.numbers import tables
from askance.data.formats.pieces import ParsedRows
from askance.data.formats.read_options import ReadOptions
from askance.data.formats.source import NOT_UTF8, Source
from askance.data.formats.stream import Field
from askance.errors import BadLine, InvalidInput

# --- rows that may change what the fields are ------------------------------------------------------------
# Nearly all rows of a table are read many at once. Only while a column that was empty so far begins, or when so many
# values do not fit that a settled kind gives way, does the order of rows matter. These few are taken one by one, as
# rows of JSON are.


class Wrong(NamedTuple):
    """A value that a column cannot take."""

    column: int
    reason: str


def has_open_kinds(features: RowFeatures, rows: Split, names: Sequence[str]) -> bool:
    """Whether a column begins in these rows, or its kind is not settled."""
    for name in features.evidence.unsettled:
        if features.kinds[name] != IGNORE:
            return True
        if name not in names:
            continue
        column = names.index(name)
        for row in np.flatnonzero(rows.stops[:, column] > rows.starts[:, column]).tolist():
            if not features.missing.covers(rows.text(row, column)):
                return True
    return False


def count_mismatches(
    mismatches: TypeMismatches, mismatched: dict[str, list[int]], present: dict[str, np.ndarray], wrong: Iterable[int]
) -> bool:
    """Count the type mismatches of columns; False, and nothing counted, if a field may have to be promoted for them.

    ``mismatched`` are the rows of each column with such a value, ``present`` which rows have a value at all.
    """
    found = {}
    for name in mismatched.keys() | set(mismatches.names):
        is_counted = present[name].copy()
        is_counted[list(wrong)] = False
        is_counted[mismatched.get(name, [])] = True
        numbers = np.cumsum(is_counted)
        ends = numbers[mismatched.get(name, [])].tolist()
        if not mismatches.stay_few(name, ends):
            return False
        found[name] = (int(numbers[-1]) if len(numbers) else 0, ends)
    for name, (values, ends) in found.items():
        mismatches.take_many(name, values, ends)
    return True


class DelimitedStream(NamedFieldsStream):
    """Rows of cells with named fields. A format skips what stands before its cells in ``_begin_file``."""

    dialect: Dialect
    names: list[str]
    has_names = True
    has_lines = True
    format = "table"
    kept_as = "csv"
    comma_columns: tuple[int, ...] = ()
    """Fields whose numbers have a decimal comma."""
    truth_columns: tuple[int, ...] = ()
    """Fields of numbers that are written as true and false."""
    declared: dict[str, list[str]] = {}  # noqa: RUF012
    """The values that a category may have, where the file says so."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        self._features = self._new_features()
        self._label_index = -1
        self._buffer = self._open_text(0)

    @property
    def _encoder(self) -> Encoder:
        return self._features.encoder

    @property
    def fields(self) -> list[Field]:
        """The fields in the order of the file."""
        return [Field(name, "label" if name == self._label else self._kind(name)) for name in self.names]

    # --- what the fields are -----------------------------------------------------------------------------

    def _settle(self, kinds: Mapping[str, str], sample: Sequence[Sequence[str]], is_enough: bool = True) -> None:
        """Decide on the label and the kinds of the fields: given, known from the file, saved, or guessed; for good if
        the sample is enough to judge by."""
        self._label_index = self._find_label()
        self._label = self.names[self._label_index] if self._label_index >= 0 else None
        self.first_values = {name: [row[column] for row in sample] for column, name in enumerate(self.names)}
        names = [name for column, name in enumerate(self.names) if column != self._label_index]
        given = check_features(self.options.features, names)
        if self._state is not None:
            self._take_state(self._state, names, kinds)
        else:
            odd = {self.names[column]: NUMBER for column in (*self.comma_columns, *self.truth_columns)}
            for column, name in enumerate(self.names):
                if column != self._label_index:
                    final = given.get(name) or kinds.get(name)
                    kind = final or odd.get(name) or guess(name, [row[column] for row in sample], self.missing)
                    self._features.begin(name, kind, is_final=final is not None, is_settled=is_enough)
        if sample and is_enough and set(self._encoder.kinds.values()) <= {IGNORE}:
            self.refuse_no_columns()
        self._features.with_commas |= {self.names[column] for column in self.comma_columns}
        self.comma_columns = tuple(
            column for column, name in enumerate(self.names) if name in self._features.with_commas
        )
        self._features.with_truths |= {self.names[column] for column in self.truth_columns}
        if self._state is None:
            self._features.declared = self._declared_words()
        self._features.time_field = next((name for name, kind in self._encoder.kinds.items() if kind == TIME), None)
        self._first = self._features.to_dict()
        self._promoted_before = len(self._encoder.promoted)
        labels = [row[self._label_index] for row in sample] if self._label_index >= 0 else []
        self.labels.settle(labels)
        self._at = {name: column for column, name in enumerate(self.names)}
        self._arrange()

    def _declared_words(self) -> dict[str, list[str]]:
        """Words that would stand for a missing value, but that the file declares as values of a field."""
        words = {name: sorted(filter(self.missing.covers, values)) for name, values in self.declared.items()}
        return {name: found for name, found in words.items() if found and name in self._encoder.kinds}

    def _arrange(self) -> None:
        """Find the columns of each kind."""
        self._columns = {
            kind: [self._at[name] for name, found in self._encoder.kinds.items() if found == kind and name in self._at]
            for kind in (NUMBER, CATEGORY, TEXT, DATE, TIME)
            if kind != TIME or not self.options.frozen
        }
        self._columns.setdefault(TIME, [])
        truths = (self._at[name] for name in self._features.with_truths if self._encoder.kinds[name] == NUMBER)
        self.truth_columns = tuple(truths)
        self._slots = np.array([self._encoder.slots[self.names[column]] for column in self._columns[NUMBER]], np.int64)

    def _kind(self, name: str) -> str:
        return self._encoder.kinds.get(name, IGNORE)

    def _find_label(self) -> int:
        advice = "; does something else than a comma, a tab, a semicolon or a bar separate its cells?"
        index = self._index_of_label(self.names, advice)
        return -1 if index is None else index

    def _take_state(self, state: Mapping[str, Any], names: Sequence[str], kinds: Mapping[str, str]) -> None:
        """Go on with the fields of a model. One that came in another format may not know all of these: the others
        have the kinds that the file declares, or are learned from their first values on."""
        self._features = self._features_of(state, f"a {self.format}")
        if self.options.frozen:
            self._check_fields(self._encoder.kinds, names)
        elif state.get("format") != self.format:
            self._check_fields(self._encoder.kinds, names)
            for name in (name for name in names if name not in self._encoder.kinds):
                self._features.begin(name, kinds.get(name, IGNORE), is_final=name in kinds)
        elif self._encoder.kinds.keys() != set(names):  # in another order, they are found by their names
            raise InvalidInput(
                f"the fields of {self.name!r} are not those the model was trained on: "
                f"{format_names(self._encoder.kinds)}."
            )

    # --- rows --------------------------------------------------------------------------------------------

    def _restart(self) -> None:
        self.labels.forget()
        time_field = self._features.time_field
        self._features = RowFeatures.from_dict(self._first)
        self._features.time_field = time_field
        self._arrange()
        self._buffer = self._open_text(0)

    def _read_some(self, buffer: Buffer, cells: Cells, labels: list[Any]) -> bool:
        most = self.options.batch_rows - cells.n_rows
        rows = split(buffer, self.dialect, len(self.names), most, self.refuse)
        if rows is not None:
            labels.append(self._add(rows, cells))
        return rows is not None

    def _label_array(self, labels: list[Any]) -> np.ndarray | None:
        return self.labels.decode(np.concatenate(labels)) if self._label is not None else None

    def parse(self, piece: Any, content: bytes, first_line: int = 1) -> ParsedRows:
        buffer = self._hold(content, piece.file_index, first_line)
        cells, labels = Cells(), [np.zeros(0, np.int32)]
        while (rows := split(buffer, self.dialect, len(self.names), self.options.batch_rows, self.refuse)) is not None:
            labels.append(self._add(rows, cells))
        return self._finish_piece(cells, self._label_array(labels), first_line, buffer.line - first_line)

    def _add(self, rows: Split, cells: Cells) -> np.ndarray:
        """Add the rows that can be read to a batch; returns the numbers of their labels."""
        as_they_are = rows.copy() if self.comma_columns or self.truth_columns else rows
        unreadable: dict[int, Wrong] = {}
        self._check_text(rows, unreadable)
        no_text, misfits = dict(unreadable), dict[int, Wrong]()
        mismatched: dict[str, list[int]] = {}
        numbers = self._numbers(rows, misfits, mismatched)
        labels = self._find_labels(rows, unreadable)
        hashed = {column: self._hash(rows, column, unreadable) for column in self._columns[CATEGORY]}
        dates = {column: self._dates(rows, column, unreadable, misfits, mismatched) for column in self._columns[DATE]}
        times = self._times(rows, misfits)
        wrong = unreadable | misfits | no_text
        if self._has_to_go_one_by_one(rows, numbers, unreadable, wrong, mismatched):
            before = cells.n_rows
            wrong = self._add_one_by_one(as_they_are, cells, unreadable)
            self._arrange()
            keep = np.array([row for row in range(rows.n_rows) if row not in wrong], int)
            assert cells.n_rows == before + len(keep)
        else:
            keep = np.array(
                [row for row in range(rows.n_rows) if row not in wrong] if wrong else range(rows.n_rows), int
            )
            self._add_many(rows, cells, keep, numbers, hashed, dates)
            if self._columns[TIME]:
                cells.times += times[keep].tolist()
        for row in sorted(wrong):
            column, reason = wrong[row]
            bad = BadLine(self._buffer.name, int(rows.lines[row]), self._describe_column(column), reason)
            bad.field, bad.raw = self.names[column], as_they_are.line(row, self.dialect)
            self.refuse(bad)
        if self.origins is not None:
            named = self.origins.id_field
            ids = rows.column(self.names.index(named), keep) if named is not None else []
            self.origins.add(self._file_index, rows.lines[keep], ids)
        if self.options.keep_rows:
            known = [column for column, name in enumerate(self.names) if self._kind(name) != IGNORE]
            columns = [rows.column(column, keep) for column in known]
            names = [self.names[column] for column in known]
            self._kept_rows += [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        return labels[keep]

    def _has_to_go_one_by_one(
        self,
        rows: Split,
        numbers: np.ndarray,
        unreadable: Mapping[int, Wrong],
        wrong: Mapping[int, Wrong],
        mismatched: dict[str, list[int]],
    ) -> bool:
        """Whether some of these rows may change the kinds of fields; if not, their type mismatches are counted."""
        if self.options.frozen:  # what does not fit may be left out, of a field whose kind is open
            return len(wrong) > len(unreadable)
        if has_open_kinds(self._features, rows, self.names):
            return True
        mismatched = {name: [row for row in found if row not in unreadable] for name, found in mismatched.items()}
        present = {}
        numbered = {column: k for k, column in enumerate(self._columns[NUMBER])}
        for name in mismatched.keys() | set(self._features.mismatches.names):
            column = self._at[name]
            if column in numbered:
                present[name] = ~np.isnan(numbers[:, numbered[column]])
            else:
                present[name] = np.array(
                    [not self.missing.covers(rows.text(row, column)) for row in range(rows.n_rows)], np.bool_
                )
        return not count_mismatches(self._features.mismatches, mismatched, present, wrong)

    def _add_one_by_one(self, rows: Split, cells: Cells, unreadable: Mapping[int, Wrong]) -> dict[int, Wrong]:
        """Add those rows to a batch that can be taken; what is wrong with the others."""
        features = self._features
        add = features.add_known if self.options.frozen else features.add
        columns = {name: self._at[name] for name in features.kinds if name in self._at}
        wrong = dict(unreadable)
        for row in range(rows.n_rows):
            if row in unreadable:
                continue
            texts: dict[str, Any] = {name: rows.text(row, column) for name, column in columns.items()}
            if features.time_field in texts:
                texts[features.time_field] = texts[features.time_field] or None  # an empty time is missing
            try:
                add(cells, texts)
            except FieldError as error:
                is_number = features.kinds[error.field] == NUMBER
                reason = why_not_a_number(texts[error.field]) if is_number else error.reason
                wrong[row] = Wrong(columns[error.field], reason)
        return wrong

    def _add_many(
        self,
        rows: Split,
        cells: Cells,
        keep: np.ndarray,
        numbers: np.ndarray,
        hashed: Mapping[int, np.ndarray],
        dates: Mapping[int, np.ndarray],
    ) -> None:
        """Add some of the rows to a batch, column by column."""
        at = (np.arange(len(keep)) + cells.n_rows).astype(np.int32)
        if len(self._slots):
            cells.add_numbers(cells.n_rows, self._slots, numbers[keep])
        for columns in hashed.values():
            cells.add_columns(at, columns[keep])
        for date_columns in dates.values():
            for columns in date_columns:  # of the weekday, and of the hour where there is one
                has_one = columns[keep] >= 0
                cells.add_columns(at[has_one], columns[keep][has_one], DATE_WEIGHT)
        for column in self._columns[TEXT]:
            for row, text in zip(at.tolist(), rows.column(column, keep), strict=True):
                cells.add_text(row, self.names[column], self._features.text_of(self.names[column], text))
        cells.n_rows += len(keep)

    def _describe_column(self, column: int) -> str:
        return f"column {column + 1}" + (f" ({format_names([self.names[column]])!r})" if self.has_names else "")

    def _check_text(self, rows: Split, wrong: dict[int, Wrong]) -> None:
        if rows.is_ascii:
            return
        for row in range(rows.n_rows):
            for column in range(len(self.names)):
                held = rows.data[rows.starts[row, column] : rows.stops[row, column]].tobytes()
                if not held.isascii():
                    try:
                        held.decode("utf-8")
                    except UnicodeDecodeError:
                        wrong.setdefault(row, Wrong(column, NOT_UTF8))

    def _numbers(self, rows: Split, wrong: dict[int, Wrong], mismatched: dict[str, list[int]]) -> np.ndarray:
        chosen = np.array(self._columns[NUMBER], np.int64)
        values = np.empty((rows.n_rows, len(chosen)))
        what = np.empty((rows.n_rows, len(chosen)), np.uint8)
        commas = np.array([column for column in self.comma_columns if column in self._columns[NUMBER]], np.int64)
        if len(commas):
            specialise(kernels.points_for_commas)(rows.data, rows.starts, rows.stops, commas)
        if self.truth_columns:
            specialise(kernels.digits_for_truths)(
                rows.data, rows.starts, rows.stops, np.array(self.truth_columns, np.int64)
            )
        others = specialise(kernels.parse_cells)(
            rows.data, rows.starts, rows.stops, chosen, tables(), self.missing.table, values, what
        )
        values = self.missing.blank(values)
        if others:
            for row, k in np.argwhere(what >= kernels.BAD).tolist():
                text = rows.text(row, self._columns[NUMBER][k])
                if what[row, k] == kernels.UNDECIDED:
                    values[row, k] = float(text)
                else:
                    wrong.setdefault(row, Wrong(self._columns[NUMBER][k], why_not_a_number(text)))
                    name = self.names[self._columns[NUMBER][k]]
                    if name in self._features.evidence and not looks_like_a_number(text):
                        mismatched.setdefault(name, []).append(row)
        return values

    def _times(self, rows: Split, wrong: dict[int, Wrong]) -> np.ndarray:
        """When the rows came; zeros without a field of the kind ``time``."""
        times = np.zeros(rows.n_rows)
        column = self._columns[TIME][0] if self._columns[TIME] else -1
        for row in range(rows.n_rows) if column >= 0 else ():
            try:
                times[row] = seconds_in(rows.text(row, column) or None)
            except ValueError as error:
                wrong.setdefault(row, Wrong(column, str(error)))
        return times

    def _dates(
        self,
        rows: Split,
        column: int,
        unreadable: Mapping[int, Wrong],
        wrong: dict[int, Wrong],
        mismatched: dict[str, list[int]],
    ) -> np.ndarray:
        """The columns of what is learned from the dates of a field: of weekdays and of hours, -1 for none."""
        codes = np.zeros(rows.n_rows, np.int64)
        known: dict[tuple[str, ...], int] = {(): 0}
        good = np.array([row for row in range(rows.n_rows) if row not in unreadable], np.int64)
        for row, text in zip(good.tolist(), rows.column(column, good), strict=True):
            words = date_words(text)
            if words is None:
                words = ("",) if self.missing.covers(text) else ()
                if not words:
                    wrong.setdefault(row, Wrong(column, why_not_a_date(text)))
                    if self.names[column] in self._features.evidence:
                        mismatched.setdefault(self.names[column], []).append(row)
            codes[row] = known.setdefault(words, len(known))
        table = np.full((2, len(known)), -1, np.int32)
        for words, code in known.items():
            table[: len(words), code] = self._encoder.hasher.categories(self.names[column], list(words))
        return table[:, codes]

    def _hash(self, rows: Split, column: int, wrong: dict[int, Wrong]) -> np.ndarray:
        """The columns of categories; refuses those that the file did not declare."""
        name, hasher = self.names[column], self._encoder.hasher
        starts, stops = rows.starts[:, column].copy(), rows.stops[:, column].copy()
        if self._features.reads_words_alike:
            is_missing = self._missing_cells(rows, column, starts, stops, wrong)
            stops[is_missing] = starts[is_missing]
        columns = hasher.cells(name, rows.data, starts, stops)
        if name in self.declared:
            allowed = hasher.categories(name, [*self.declared[name], *self.missing.words])
            for row in np.flatnonzero(~np.isin(columns, allowed)).tolist():
                wrong.setdefault(
                    row, Wrong(column, f"{rows.text(row, column)[:40]!r} is not one of its declared values.")
                )
        return columns

    def _missing_cells(
        self, rows: Split, column: int, starts: np.ndarray, stops: np.ndarray, wrong: Mapping[int, Wrong]
    ) -> np.ndarray:
        """Which cells of a category, from ``starts`` to ``stops``, stand for a missing value."""
        values = self._features.declared.get(self.names[column], ())
        words = self.missing.table_without(values) if values else self.missing.table
        found = np.zeros(rows.n_rows, np.bool_)
        specialise(kernels.find_missing)(rows.data, starts, stops, words, found)
        # A number stands for a missing value however it is written; and not all blanks are ASCII.
        edges = rows.data[starts] | rows.data[np.maximum(stops - 1, starts)]
        hard = np.arange(rows.n_rows) if self.missing.numbers else np.flatnonzero(edges > kernels.LAST_ASCII)
        hard = np.array([row for row in hard.tolist() if row not in wrong], np.int64)
        texts = rows.column(column, hard)
        missing = {text for text in set(texts) if self.missing.covers(text, values)}
        found[hard] = [text in missing for text in texts]
        return found

    def _find_labels(self, rows: Split, wrong: dict[int, Wrong]) -> np.ndarray:
        found = np.zeros(rows.n_rows, np.int32)
        if self._label_index < 0:
            return found
        starts, stops = rows.starts[:, self._label_index].copy(), rows.stops[:, self._label_index].copy()
        done = 0
        while True:
            done = specialise(kernels.find_labels)(rows.data, starts, stops, done, self.labels.table, found)
            if done == rows.n_rows:
                break
            self.labels.make_room()
        self.labels.understand(self.declared.get(self.names[self._label_index]))
        if self.labels.wrong:
            for row, number in enumerate(found.tolist()):
                if number in self.labels.wrong:
                    wrong.setdefault(row, Wrong(self._label_index, self.labels.wrong[number]))
        return found
