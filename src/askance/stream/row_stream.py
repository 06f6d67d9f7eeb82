"""Rows with named, perhaps nested fields: what JSON Lines and Parquet have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from askance.errors import InvalidInput
from askance.features.encoder import Cells
from askance.features.kinds import check_features
from askance.features.rows import FieldError, RowFeatures
from askance.stream.batch import Field, Rows, Settings, Stream
from askance.stream.labels import as_array
from askance.stream.origins import find_id
from askance.stream.source import Source


class RowStream(Stream):
    """Rows whose fields become features as ``askance.features.rows`` tells; a format reads them and finds the label."""

    format: ClassVar[str]
    """What its rows are called in a model."""
    what: ClassVar[str]
    """What they are called in an error."""

    _label: str | None
    _names: Sequence[str]
    """The fields of the first rows."""
    _settled: int
    """How many fields were known after the first rows."""

    def __init__(self, source: Source, settings: Settings, state: Mapping[str, Any] | None = None) -> None:
        super().__init__(source, settings)
        check_features(settings.features)
        self._state = state
        self._features = self._fresh()

    @property
    def fields(self) -> list[Field]:
        """The label, and the fields known so far, in the order in which they appeared."""
        label = [Field(self._label, "label")] if self._label is not None else []
        return label + [Field(name, kind) for name, kind in self._features.kinds.items()]

    def state(self) -> dict[str, Any]:
        """What was learned from the rows so far."""
        return {"format": self.format, "label": self._label, "labels": self.labels.kind, **self._features.to_dict()}

    def _id_field(self) -> str | None:
        return find_id([name for name in self._names if name != self._label])

    def _fresh(self) -> RowFeatures:
        """The features as they are before the first row: new ones, or those of the model that goes on."""
        if self._state is None:
            bits, ngrams, raw = self.settings.hash_bits, self.settings.ngrams, self.settings.raw
            return RowFeatures(self.settings.features, hash_bits=bits, ngrams=ngrams, raw=raw)
        if self._state.get("format") != self.format:
            raise InvalidInput(
                f"the model was trained on {self._state.get('format')!r} data, but {self.name!r} is {self.what}."
            )
        self.labels.kind = self.labels.kind or self._state.get("labels")
        return RowFeatures.from_dict(self._state)

    def _restart(self) -> None:
        known, with_commas = self._features.kinds, self._features.with_commas
        self._features = self._fresh()
        if self._state is None:
            for name, kind in list(known.items())[: self._settled]:
                self._features.encoder.add(name, kind)
            self._features.with_commas = with_commas

    def _label_of(self, value: Any) -> Any:
        """What the value of the label's field stands for."""
        try:
            return self.labels.of(value)
        except ValueError as error:
            raise FieldError(str(self._label), str(error)) from None

    def _finished(self, cells: Cells, labels: list[Any]) -> Rows:
        """A batch of the rows that were read."""
        X = self._features.encoder.matrix(cells)
        times = np.array(cells.times) if cells.times else None
        return X, as_array(labels, self.labels.kind) if self._label is not None else None, times
