"""Rows with named, perhaps nested fields: what JSON Lines and Parquet have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from askance.data.encoding.assemble import csr
from askance.data.encoding.data_warnings import MOST_FIELDS
from askance.data.encoding.encoder import Cells
from askance.data.encoding.kinds import check_features
from askance.data.encoding.rows import FieldError, RowFeatures
from askance.data.formats.labels import as_array
from askance.data.formats.pieces import ParsedRows
from askance.data.formats.read_options import ReadOptions
from askance.data.formats.source import Source
from askance.data.formats.stream import Field, Rows, Stream, find_id


class RowStream(Stream):
    """Rows whose fields become features as ``data.encoding.rows`` tells; a format reads them and finds the label."""

    format: ClassVar[str]
    """What its rows are called in a model."""
    what: ClassVar[str]
    """What they are called in an error."""

    _label: str | None
    _names: Sequence[str]
    """The fields of the first rows."""
    _first: Mapping[str, Any]
    """The features as they were before the first row was read."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        check_features(options.features)
        self._features = self._fresh()
        self._before = self._features.encoder.widened

    @property
    def fields(self) -> list[Field]:
        """The label, and the fields known so far, in the order in which they appeared."""
        label = [Field(self._label, "label")] if self._label is not None else []
        return label + [Field(name, kind) for name, kind in self._features.kinds.items()]

    def state(self) -> dict[str, Any]:
        """What was learned from the rows so far."""
        return {"format": self.format, "labels": self.labels.kind, **self._features.to_dict()} | {"label": self._label}

    @property
    def widened(self) -> list[tuple[str, str, str]]:
        """The fields that got a wider kind while they were read."""
        return self._features.encoder.widened[len(self._before) :]

    def _id_field(self) -> str | None:
        return find_id([name for name in self._names if name != self._label])

    def _fresh(self) -> RowFeatures:
        """The features as they are before the first row: new ones, or those of the model that goes on."""
        if self._state is None:
            bits, ngrams, raw = self.options.hash_bits, self.options.ngrams, self.options.raw
            return RowFeatures(
                self.options.features, hash_bits=bits, ngrams=ngrams, raw=raw, na_values=self.missing.added
            )
        self._check_format(self._state, self.format, f"is {self.what}")
        self.labels.kind = self.labels.kind or self._state.get("labels")
        features = RowFeatures.from_dict(self._state)
        features.missing = self.missing
        return features

    def _restart(self) -> None:
        self._features = RowFeatures.from_dict(self._first)

    def _keep_first_values(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Keep what the fields of the first rows hold; of very many fields, of the first ones."""
        kept = dict.fromkeys([*self._names[:MOST_FIELDS], *([] if self._label is None else [self._label])])
        self.first_values = {name: [row.get(name) for row in rows] for name in kept}

    def _label_of(self, value: Any) -> Any:
        """What the value of the label's field stands for."""
        try:
            return self.labels.of(value)
        except ValueError as error:
            raise FieldError(str(self._label), str(error)) from None

    def _add(self, cells: Cells, row: Mapping[str, Any]) -> None:
        """Add a flattened row to a batch."""
        if not self.options.frozen:
            self._features.add(cells, row)
            return
        plan = self._features.plan_transform(row)
        if plan.error is not None:
            raise plan.error
        self._features.fill(cells, plan)

    def _finish_piece(self, cells: Cells, labels: list[Any], first_line: int = 1, n_lines: int = 0) -> ParsedRows:
        """What ``parse`` gives for the rows of a piece."""
        lines, ids = self._take_origins(first_line)
        y = as_array(labels, self.labels.kind) if self._label is not None else None
        times = np.array(cells.times) if cells.times else None
        return ParsedRows(self._features.encoder.encode(cells), y, times, lines, ids, n_lines)

    def scale(self, rows: Any) -> Any:
        """The rows that ``parse`` gave, with their numbers standardised."""
        encoder = self._features.encoder
        return csr(*encoder.scale_rows(rows), encoder.width)

    def _finish(self, cells: Cells, labels: list[Any]) -> Rows:
        """A batch of the rows that were read."""
        encoder = self._features.encoder
        X = encoder.matrix(cells, encoder.scaling.as_next if self.options.frozen else None)
        times = np.array(cells.times) if cells.times else None
        return X, as_array(labels, self.labels.kind) if self._label is not None else None, times
