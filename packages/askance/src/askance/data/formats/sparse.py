"""Rows of numbered features, as LIBSVM files and CSR matrices have them, and how they are scaled.

Whether such rows are sparse (words, indicators) or a table of numbers written down that way shows in the first of them.
Up to 1000 features whose values differ are a table: each feature is standardised as it runs, an absent value being a
zero like any other. If there are more, or if every value present is 1, each row is divided by its length instead.
``raw`` leaves everything as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from askance.compile import specialise
from askance.data.encoding.assemble import csr, rows_of, unit_rows
from askance.data.encoding.scaling import RunningStandardisation
from askance.data.formats.stream import BATCH_ENTRIES
from askance.errors import InvalidInput

AS_IT_IS, TO_UNIT_LENGTH, STANDARDISED = "as it is", "to unit length", "standardised"
WIDEST_TABLE = 1000  # features


def way_of_scaling(values: np.ndarray, width: int) -> str:
    """What to do to rows with so many features, by the values present in the first of them."""
    is_table = 0 < width <= WIDEST_TABLE and not (values == 1.0).all()
    return STANDARDISED if is_table else TO_UNIT_LENGTH


class SparseScaling:
    """What is done to the values of rows of numbered features."""

    def __init__(self, raw: bool, frozen: bool = False) -> None:
        self.how = AS_IT_IS if raw else ""
        self.frozen = frozen
        self.width = 0
        self._running = RunningStandardisation()

    @property
    def is_settled(self) -> bool:
        """Whether it is known what to do."""
        return self.how != ""

    def settle(self, values: np.ndarray, width: int) -> None:
        """Decide, by the values of the first rows, what to do."""
        if not self.is_settled:
            self.how = way_of_scaling(values, width)
            if self.how == STANDARDISED:
                self._running.widen(width)

    def restart(self) -> None:
        """Forget the statistics, but not what is to be done."""
        features = len(self._running)
        self._running = RunningStandardisation()
        self._running.widen(features)
        self.width = 0

    def most_rows(self, batch_rows: int) -> int:
        """How many rows a batch may have so that its memory stays small."""
        return max(1, min(batch_rows, BATCH_ENTRIES // max(1, len(self._running))))

    def matrix(self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray, width: int) -> Any:
        """Sorted rows as a CSR matrix, scaled; as wide as the columns known so far. May overwrite the values."""
        self.prepare(starts, values)
        return self.finish(starts, columns, values, width)

    def prepare(self, starts: np.ndarray, values: np.ndarray) -> None:
        """Do to the values what needs no statistics."""
        if self.how == TO_UNIT_LENGTH:
            specialise(unit_rows)(starts, values)

    def finish(self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray, width: int) -> Any:
        """Do to rows that are prepared what is left, in the order of the stream."""
        self.width = max(self.width, width)
        if self.how == STANDARDISED:
            scale = self._rows_as_next if self.frozen else self._running.apply_to_rows
            starts, columns, values = scale(starts, columns, values)
            self.width = max(self.width, len(self._running))
        return csr(starts, columns, values, self.width)

    def _rows_as_next(
        self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sparse rows, each standardised as if it came next; the statistics stay as they are."""
        n_rows, n_features = len(starts) - 1, len(self._running)
        rows = np.repeat(np.arange(n_rows), np.diff(starts))
        is_feature = columns < n_features
        table = np.zeros((n_rows, n_features))
        table[rows[is_feature], columns[is_feature]] = values[is_feature]
        features = np.tile(np.arange(n_features), n_rows)
        table = self._running.as_next(features, table.ravel()).reshape(table.shape)
        at, place = np.nonzero(table)
        return rows_of(
            np.append(at, rows[~is_feature]).astype(np.int32),
            np.append(place, columns[~is_feature]).astype(np.int32),
            np.append(table[at, place], values[~is_feature]),
            n_rows,
        )

    def to_dict(self) -> dict[str, Any]:
        """All it knows, for ``from_dict``."""
        return {"how": self.how, "width": self.width, "scaling": self._running.to_dict()}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any], frozen: bool = False) -> SparseScaling:
        """What ``to_dict`` gave, also after a way through JSON."""
        new = cls(raw=False, frozen=frozen)
        try:
            new.how, new.width = kept["how"], int(kept["width"])
            new._running = RunningStandardisation.from_dict(kept["scaling"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"this is no saved state of a sparse stream: {error!r}.") from None
        if new.how not in (AS_IT_IS, TO_UNIT_LENGTH, STANDARDISED):
            raise InvalidInput(f"the saved state of a sparse stream is damaged: {new.how!r}.")
        return new
