"""Rows with named fields, which ``RowFeatures`` turns into sparse rows: CSV, ARFF, JSON Lines and Parquet.

``NamedFieldsStream`` is what all of them share: the encoder, its state, which field is the label, and how gathered
cells become a batch. ``RowStream`` is for formats whose fields are nested or typed, JSON Lines and Parquet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from askance.data.encoding.assemble import csr
from askance.data.encoding.data_warnings import MOST_FIELDS
from askance.data.encoding.encoder import Cells
from askance.data.encoding.kinds import IGNORE, IGNORED_NAMES, TIME, check_features, find_label, format_names
from askance.data.encoding.rows import FieldError, RowFeatures
from askance.data.formats.buffer import Buffer
from askance.data.formats.labels import as_array
from askance.data.formats.pieces import ParsedRows
from askance.data.formats.read_options import ReadOptions
from askance.data.formats.source import Source
from askance.data.formats.stream import BATCH_ENTRIES, Field, Rows, Stream
from askance.errors import InvalidInput, InvalidParameter


def names_in(state: Mapping[str, Any]) -> list[str]:
    """The fields that a model knows, by its state; none where that is damaged, which is refused when it is read."""
    try:
        return [str(name) for name, _ in state.get("fields", ())]
    except (TypeError, ValueError):
        return []


def find_id(names: Iterable[str]) -> str | None:
    """The field that is called as an id usually is."""
    return next((name for name in names if name.strip().lower() in IGNORED_NAMES), None)


class NamedFieldsStream(Stream):
    """Rows with named fields."""

    format: str
    """What its rows are called in a model. A new format takes one of ``FORMATS_WITH_NAMES``: they read alike."""
    _features: RowFeatures
    _first: Mapping[str, Any]
    """The features as they were before the first row was read."""
    names: Sequence[str]
    """The fields of a table, or of the first rows."""
    _label: str | None = None
    """The field with the label."""
    _promoted_before = 0
    """How many fields of the model had been promoted before this stream."""

    def _new_features(self) -> RowFeatures:
        options = self.options
        return RowFeatures(
            options.features,
            hash_bits=options.hash_bits,
            ngrams=options.ngrams,
            raw=options.raw,
            na_values=self.missing.added,
        )

    def _features_of(self, state: Mapping[str, Any], what: str) -> RowFeatures:
        """The features of a model that goes on; refuses one of other data than ``what`` this is."""
        self._check_format(state, self.format, f"is {what}")
        self.labels.kind = self.labels.kind or state.get("labels")
        features = RowFeatures.from_dict(state)
        features.missing = self.missing
        return features

    @property
    def promoted(self) -> list[tuple[str, str, str]]:
        return self._features.encoder.promoted[self._promoted_before :]

    def state(self) -> dict[str, Any]:
        return {"format": self.format, "labels": self.labels.kind, **self._features.to_dict()} | {"label": self._label}

    # --- which field is what -----------------------------------------------------------------------------

    def _id_field(self) -> str | None:
        return find_id(name for name in self.names if name != self._label)

    def _index_of_label(self, names: Sequence[str], advice: str = "") -> int | None:
        """Which column of a table is the label: the one that was named, that the model knows, or that looks like it."""
        wanted, state = self.options.label, self._state
        if wanted is False:
            return None
        if wanted is None and state is not None:
            wanted = state.get("label") if state.get("label") in names else self._unknown_label(names, state)
        if wanted is None and self.options.frozen:
            return None
        if isinstance(wanted, str):
            if wanted not in names:
                raise InvalidParameter(
                    f"{self.name!r} has no field {wanted!r} to be the label; there are: {format_names(names)}."
                )
            return names.index(wanted)
        if wanted is not None:
            if not -len(names) <= wanted < len(names):
                raise InvalidParameter(f"there is no field number {wanted} in {self.name!r}, which has {len(names)}.")
            return wanted % len(names)
        if len(names) < 2:
            only = (
                f"a single field, {format_names(names)!r}, which leaves none beside the label" if names else "no fields"
            )
            raise InvalidInput(f"{self.name!r} has {only}{advice or '.'}")
        usual = find_label(names) or names[-1]
        if state is not None and usual in names_in(state):
            raise InvalidInput(
                f"{self.name!r} has no label: {usual!r} is a field that the model learns from; 'askance predict' takes "
                "such files, or name the field with --label."
            )
        return names.index(usual)

    def _unknown_label(self, names: Sequence[str], state: Mapping[str, Any]) -> str | None:
        """The label for a model that does not say what it is called, as one saved in Python: a field that it does not
        know, with the name of a label, or the only one; to look at rows, none but the former."""
        if state.get("label") is not None:
            return None
        known = set(names_in(state))
        unknown = [name for name in names if name not in known]
        only = unknown[0] if len(unknown) == 1 and not self.options.frozen else None
        return find_label(unknown) or only

    def _check_any_is_known(self, names: Collection[str]) -> None:
        """Refuse rows of which the model knows no field."""
        if self._features.kinds.keys().isdisjoint(names):
            raise InvalidInput(
                f"the first rows of {self.name!r} have the fields {format_names(names)}, none of which is a field of "
                f"the model; it knows {format_names(self._features.kinds)}."
            )

    def _check_fields(self, kinds: Mapping[str, str], names: Collection[str]) -> None:
        """Refuse a table without some of the fields that the model learned from."""
        missing = [name for name, kind in kinds.items() if kind not in (IGNORE, TIME) and name not in names]
        if missing:
            fields = "field" if len(missing) == 1 else "fields"
            raise InvalidInput(
                f"{self.name!r} does not have the {fields} {format_names(missing)}, which the model learned from; it "
                f"has: {format_names(names)}."
            )

    # --- from text to cells to rows ----------------------------------------------------------------------

    def _rows(self) -> Iterator[Rows]:
        """The rows of text files, in batches."""
        cells, labels = Cells(), list[Any]()
        for buffer in self._open_each_text():
            self._begin_file(buffer)
            while self._read_some(buffer, cells, labels):
                if cells.n_rows >= self.options.batch_rows or cells.n_cells >= BATCH_ENTRIES:
                    yield self._finish(cells, self._label_array(labels))
                    cells, labels = Cells(), []
        if cells.n_rows:
            yield self._finish(cells, self._label_array(labels))

    def _begin_file(self, buffer: Buffer) -> None:
        """Read what stands before the rows of a file."""
        raise NotImplementedError

    def _read_some(self, buffer: Buffer, cells: Cells, labels: list[Any]) -> bool:
        """Add the next rows of a file to a batch; False at its end."""
        raise NotImplementedError

    def _label_array(self, labels: list[Any]) -> np.ndarray | None:
        """The labels of a batch, from what ``_read_some`` has gathered."""
        return as_array(labels, self.labels.kind) if self._label is not None else None

    def _finish(self, cells: Cells, y: np.ndarray | None) -> Rows:
        """A batch of the rows that were read."""
        encoder = self._features.encoder
        X = encoder.matrix(cells, encoder.scaling.as_next if self.options.frozen else None)
        return X, y, np.array(cells.times) if cells.times else None

    def _finish_piece(self, cells: Cells, y: np.ndarray | None, first_line: int = 1, n_lines: int = 0) -> ParsedRows:
        """What ``parse`` gives for the rows of a piece."""
        lines, ids = self._take_origins(first_line)
        times = np.array(cells.times) if cells.times else None
        return ParsedRows(self._features.encoder.encode(cells), y, times, lines, ids, n_lines)

    def scale(self, rows: Any) -> Any:
        encoder = self._features.encoder
        return csr(*encoder.scale_rows(rows), encoder.width)


class RowStream(NamedFieldsStream):
    """Rows of Python objects, whose fields may be nested; a format reads them and finds the label."""

    what: ClassVar[str]
    """What its rows are called in an error."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        check_features(options.features)
        self._features = self._new_features() if self._state is None else self._features_of(self._state, self.what)
        self._promoted_before = len(self._features.encoder.promoted)

    @property
    def fields(self) -> list[Field]:
        """The label, and the fields known so far, in the order in which they appeared."""
        label = [Field(self._label, "label")] if self._label is not None else []
        return label + [Field(name, kind) for name, kind in self._features.kinds.items()]

    def _restart(self) -> None:
        self._features = RowFeatures.from_dict(self._first)

    def _keep_first_values(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Keep what the fields of the first rows hold; of very many fields, of the first ones."""
        kept = dict.fromkeys([*self.names[:MOST_FIELDS], *([] if self._label is None else [self._label])])
        self.first_values = {name: [row.get(name) for row in rows] for name in kept}

    def _label_of(self, value: Any) -> Any:
        """The label that the value of its field stands for."""
        try:
            return self.labels.of(value)
        except ValueError as error:
            raise FieldError(str(self._label), str(error)) from None

    def _add(self, cells: Cells, row: Mapping[str, Any]) -> None:
        """Add a flattened row to a batch."""
        add = self._features.add_known if self.options.frozen else self._features.add
        add(cells, row)
