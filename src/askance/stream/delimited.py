"""Tables as text, one row of cells per line: what CSV, TSV and ARFF have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from askance.errors import BadLine, InvalidInput
from askance.features.encoder import DATE_WEIGHT, Cells, Encoder
from askance.features.kinds import (
    CATEGORY,
    DATE,
    MISSING,
    NUMBER,
    TEXT,
    TIME,
    check_features,
    guess,
    listed,
    why_not_a_number,
)  # fmt: skip
from askance.features.times import date_words, seconds_in, why_not_a_date
from askance.learner.compile import specialise
from askance.stream import cells as kernels
from askance.stream.batch import BATCH_ENTRIES, Field, Rows, Settings, Stream
from askance.stream.buffer import Buffer
from askance.stream.cells import Dialect
from askance.stream.numbers import tables
from askance.stream.origins import find_id
from askance.stream.source import Source
from askance.stream.split import Split, split


class DelimitedStream(Stream):
    """Rows of cells with named fields. A format tells where its cells begin, by ``_begin_part``."""

    dialect: Dialect
    names: list[str]
    has_names = True
    has_lines = True
    table = "table"
    missing_labels = frozenset(("",))
    comma_places: tuple[int, ...] = ()
    """Fields whose numbers have a decimal comma."""
    declared: dict[str, list[str]] = {}  # noqa: RUF012
    """The values that a category may have, where the file says so."""

    def __init__(self, source: Source, settings: Settings, state: Mapping[str, Any] | None = None) -> None:
        super().__init__(source, settings)
        self._encoder = Encoder(settings.hash_bits, settings.ngrams, settings.raw)
        self._state = state
        self._label = -1
        self._buffer = self._open_text(0)

    @abstractmethod
    def _begin_part(self, buffer: Buffer) -> None:
        """Read what stands before the rows of a file."""

    @property
    def fields(self) -> list[Field]:
        """The fields in the order of the file."""
        return [
            Field(name, "label" if place == self._label else self._encoder.kinds[name])
            for place, name in enumerate(self.names)
        ]

    def state(self) -> dict[str, Any]:
        """What was learned from the rows so far."""
        label = self.names[self._label] if self._label >= 0 else None
        return {"format": self.table, "label": label, "labels": self.labels.kind, **self._encoder.to_dict()}

    # --- what the fields are -----------------------------------------------------------------------------

    def _settle(self, kinds: Mapping[str, str], sample: Sequence[Sequence[str]]) -> None:
        """Decide on the label and the kinds of the fields: given, known from the file, saved, or guessed."""
        self._label = self._find_label()
        names = [name for place, name in enumerate(self.names) if place != self._label]
        given = check_features(self.settings.features, names)
        if self._state is not None:
            self._take_state(self._state, names)
        else:
            for place, name in enumerate(self.names):
                if place != self._label:
                    kind = given.get(name) or kinds.get(name) or guess(name, [row[place] for row in sample])
                    self._encoder.add(name, kind)
        labels = [row[self._label] for row in sample] if self._label >= 0 else []
        self.labels.settle(text for text in labels if text not in self.missing_labels)
        at = {name: place for place, name in enumerate(self.names)}
        self._places = {
            kind: [at[name] for name, found in self._encoder.kinds.items() if found == kind]
            for kind in (NUMBER, CATEGORY, TEXT, DATE, TIME)
        }
        self.labels.missing = frozenset(text.encode() for text in self.missing_labels)
        self._slots = np.array([self._encoder.slots[self.names[place]] for place in self._places[NUMBER]], np.int64)

    def _id_field(self) -> str | None:
        return find_id([name for place, name in enumerate(self.names) if place != self._label])

    def _kind(self, name: str) -> str:
        return self._encoder.kinds[name]

    def _find_label(self) -> int:
        advice = "; does something else than a comma, a tab, a semicolon or a bar separate its cells?"
        place = self._place_of_label(self.names, self._state, advice)
        return -1 if place is None else place

    def _take_state(self, state: Mapping[str, Any], names: Sequence[str]) -> None:
        if state.get("format") != self.table:
            raise InvalidInput(
                f"the model was trained on {state.get('format')!r} data, but {self.name!r} is a {self.table}."
            )
        self._encoder = Encoder.from_dict(state)
        if self._encoder.kinds.keys() != set(names):  # in another order, they are found by their names
            raise InvalidInput(
                f"the fields of {self.name!r} are not those the model was trained on: {listed(self._encoder.kinds)}."
            )
        self.labels.kind = self.labels.kind or state.get("labels")

    # --- rows --------------------------------------------------------------------------------------------

    def _restart(self) -> None:
        self.labels.forget()
        fresh = Encoder(self._encoder.hasher.bits, self._encoder.ngrams, self._encoder.raw)
        for name, kind in self._encoder.kinds.items():
            fresh.add(name, kind)
        self._encoder = fresh if self._state is None else Encoder.from_dict(self._state)
        self._buffer = self._open_text(0)

    def _rows(self) -> Iterator[Rows]:
        cells, labels = Cells(), []
        for place in range(len(self.source)):
            if place:
                self._buffer = self._open_text(place)
            self._begin_part(self._buffer)
            while (found := self._some_rows(self._buffer, cells)) is not None:
                labels.append(found)
                if cells.n_rows >= self.settings.batch_rows or cells.n_cells >= BATCH_ENTRIES:
                    yield self._finished(cells, labels)
                    cells, labels = Cells(), []
        self.close()
        if cells.n_rows:
            yield self._finished(cells, labels)

    def _some_rows(self, buffer: Buffer, cells: Cells) -> np.ndarray | None:
        """Add the next rows to a batch; returns the numbers of their labels, or None at the end of the file."""
        most = self.settings.batch_rows - cells.n_rows
        rows = split(buffer, self.dialect, len(self.names), most, self.refuse)
        return None if rows is None else self._add(rows, cells)

    def _finished(self, cells: Cells, labels: list[np.ndarray]) -> Rows:
        X = self._encoder.matrix(cells)
        times = np.array(cells.times) if self._places[TIME] else None
        return X, self.labels.decode(np.concatenate(labels)) if self._label >= 0 else None, times

    def _add(self, rows: Split, cells: Cells) -> np.ndarray:
        """Add the rows that can be read to a batch; returns the numbers of their labels."""
        wrong: dict[int, tuple[int, str]] = {}
        self._check_text(rows, wrong)
        numbers = self._numbers(rows, wrong)
        labels = self._find_labels(rows, wrong)
        hashed = {place: self._hash(rows, place, wrong) for place in self._places[CATEGORY]}
        dates = {place: self._dates(rows, place, wrong) for place in self._places[DATE]}
        times = self._times(rows, wrong)
        for row in sorted(wrong):
            place, reason = wrong[row]
            self.refuse(BadLine(self._buffer.name, int(rows.lines[row]), self._column(place), reason))
        keep = np.array([row for row in range(rows.n_rows) if row not in wrong] if wrong else range(rows.n_rows), int)
        at = (np.arange(len(keep)) + cells.n_rows).astype(np.int32)
        if len(self._slots):
            cells.add_numbers(cells.n_rows, self._slots, numbers[keep])
        for columns in hashed.values():
            cells.add_columns(at, columns[keep])
        for date_columns in dates.values():
            for columns in date_columns:  # of the weekday, and of the hour where there is one
                has_one = columns[keep] >= 0
                cells.add_columns(at[has_one], columns[keep][has_one], DATE_WEIGHT)
        for place in self._places[TEXT]:
            for row, text in zip(at.tolist(), rows.column(place, keep), strict=True):
                cells.add_text(row, self.names[place], text)
        if self._places[TIME]:
            cells.times += times[keep].tolist()
        cells.n_rows += len(keep)
        if self.origins is not None:
            named = self.origins.id_field
            ids = rows.column(self.names.index(named), keep) if named is not None else []
            self.origins.add(self._place, rows.lines[keep], ids)
        return labels[keep]

    def _column(self, place: int) -> str:
        return f"column {place + 1}" + (f" ({listed([self.names[place]])!r})" if self.has_names else "")

    def _check_text(self, rows: Split, wrong: dict[int, tuple[int, str]]) -> None:
        if rows.is_ascii:
            return
        for row in range(rows.n_rows):
            for place in range(len(self.names)):
                held = rows.data[rows.starts[row, place] : rows.stops[row, place]].tobytes()
                if not held.isascii():
                    try:
                        held.decode("utf-8")
                    except UnicodeDecodeError:
                        wrong.setdefault(row, (place, "it is not UTF-8 text."))

    def _numbers(self, rows: Split, wrong: dict[int, tuple[int, str]]) -> np.ndarray:
        chosen = np.array(self._places[NUMBER], np.int64)
        values = np.empty((rows.n_rows, len(chosen)))
        what = np.empty((rows.n_rows, len(chosen)), np.uint8)
        commas = np.array([place for place in self.comma_places if place in self._places[NUMBER]], np.int64)
        if len(commas):
            specialise(kernels.points_for_commas)(rows.data, rows.starts, rows.stops, commas)
        others = specialise(kernels.parse_cells)(rows.data, rows.starts, rows.stops, chosen, tables(), values, what)
        if others:
            for row, k in np.argwhere(what >= kernels.BAD).tolist():
                text = rows.text(row, self._places[NUMBER][k])
                if what[row, k] == kernels.UNDECIDED:
                    values[row, k] = float(text)
                else:
                    wrong.setdefault(row, (self._places[NUMBER][k], why_not_a_number(text)))
        return values

    def _times(self, rows: Split, wrong: dict[int, tuple[int, str]]) -> np.ndarray:
        """When the rows came; nothing where no field tells."""
        times = np.zeros(rows.n_rows)
        place = self._places[TIME][0] if self._places[TIME] else -1
        for row in range(rows.n_rows) if place >= 0 else ():
            try:
                times[row] = seconds_in(rows.text(row, place) or None)
            except ValueError as error:
                wrong.setdefault(row, (place, str(error)))
        return times

    def _dates(self, rows: Split, place: int, wrong: dict[int, tuple[int, str]]) -> np.ndarray:
        """The columns of what is learned from the dates of a field: of weekdays and of hours, -1 for none."""
        codes = np.zeros(rows.n_rows, np.int64)
        known: dict[tuple[str, ...], int] = {(): 0}
        good = np.array([row for row in range(rows.n_rows) if row not in wrong], np.int64)
        for row, text in zip(good.tolist(), rows.column(place, good), strict=True):
            words = date_words(text)
            if words is None:
                words = ("",) if text in MISSING else ()
                if not words:
                    wrong.setdefault(row, (place, why_not_a_date(text)))
            codes[row] = known.setdefault(words, len(known))
        table = np.full((2, len(known)), -1, np.int32)
        for words, code in known.items():
            table[: len(words), code] = self._encoder.hasher.categories(self.names[place], list(words))
        return table[:, codes]

    def _hash(self, rows: Split, place: int, wrong: dict[int, tuple[int, str]]) -> np.ndarray:
        """The columns of categories; refuses those that the file did not declare."""
        name, hasher = self.names[place], self._encoder.hasher
        starts, stops = rows.starts[:, place].copy(), rows.stops[:, place].copy()
        columns = hasher.cells(name, rows.data, starts, stops)
        if name in self.declared:
            allowed = hasher.categories(name, [*self.declared[name], *self.missing_labels])
            for row in np.flatnonzero(~np.isin(columns, allowed)).tolist():
                wrong.setdefault(row, (place, f"{rows.text(row, place)[:40]!r} is not one of its declared values."))
        return columns

    def _find_labels(self, rows: Split, wrong: dict[int, tuple[int, str]]) -> np.ndarray:
        found = np.zeros(rows.n_rows, np.int32)
        if self._label < 0:
            return found
        starts, stops = rows.starts[:, self._label].copy(), rows.stops[:, self._label].copy()
        done = 0
        while True:
            done = specialise(kernels.find_labels)(rows.data, starts, stops, done, self.labels.places, found)
            if done == rows.n_rows:
                break
            self.labels.make_room()
        self.labels.understand(self.declared.get(self.names[self._label]))
        if self.labels.wrong:
            for row, number in enumerate(found.tolist()):
                if number in self.labels.wrong:
                    wrong.setdefault(row, (self._label, self.labels.wrong[number]))
        return found
