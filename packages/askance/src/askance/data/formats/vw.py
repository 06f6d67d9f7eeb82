"""Vowpal Wabbit's text format: one event per line, ``label importance tag|namespace feature:value ...``.

What the lines mean is told in ``data.formats.vw_lines``. By the first rows, features whose value is written, and not
1, are numbers: up to 1000 of them are standardised as they run, an absent one being a zero. All others, and numbers if
there are more, are treated as words are: those of one namespace are divided by their length. ``raw`` leaves everything
as it is. A label that is absent is missing; the tag is the row's id. An importance is told in ``batch.weights``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from askance.data.encoding.assemble import csr, rows_of
from askance.data.encoding.kinds import SAMPLE_ROWS
from askance.data.formats.batch import BATCH_ENTRIES, Field, Rows, Stream
from askance.data.formats.buffer import Buffer
from askance.data.formats.labels import as_array
from askance.data.formats.read_options import ReadOptions
from askance.data.formats.source import Source
from askance.data.formats.sparse import AS_IT_IS, STANDARDISED, WIDEST_TABLE, SparseScaling
from askance.data.formats.vw_lines import Features, Head, LineError, Namespaces, read_head, split_line
from askance.errors import BadLine, InvalidInput

FORMAT = "vw"


class HashedScaling:
    """What is done to the values of hashed features; numbers have columns of their own, before the hashed ones."""

    def __init__(self, bits: int, raw: bool, frozen: bool = False) -> None:
        self.bits, self.frozen = bits, frozen
        self._numbers = np.zeros(0, np.int64)
        self._scaling = SparseScaling(raw, frozen)

    @property
    def how(self) -> str:
        """What is done, in words."""
        return "numbers standardised, others to unit length" if self._scaling.how == STANDARDISED else self._scaling.how

    @property
    def is_settled(self) -> bool:
        """Whether it is known what to do."""
        return self._scaling.is_settled

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self._numbers) + 2**self.bits

    def settle(self, rows: Sequence[Features]) -> None:
        """Decide, by the first rows, which features are numbers, and what to do."""
        if self.is_settled:
            return
        numbers = np.unique(np.array([column for row in rows for column in row.numbers], np.int64))
        if 0 < len(numbers) <= WIDEST_TABLE:
            self._numbers = numbers
            self._scaling.settle(np.zeros(1), len(numbers))
        else:
            self._scaling.settle(np.ones(1), 1)

    def restart(self) -> None:
        """Forget the statistics, but not what is to be done."""
        self._scaling.restart()

    def matrix(self, rows: Sequence[Features], as_next: bool = False) -> Any:
        """Rows as a CSR matrix, scaled; with ``as_next``, each as if it came next, and nothing is remembered of it."""
        lengths = [len(row.columns) for row in rows]
        at = np.repeat(np.arange(len(rows), dtype=np.int32), lengths)
        columns, values, namespaces = (
            np.array([item for row in rows for item in row[part]], kind)
            for part, kind in ((0, np.int64), (1, np.float64), (2, np.int64))
        )
        is_number = np.zeros(len(columns), np.bool_)
        if len(self._numbers):
            place = np.searchsorted(self._numbers, columns)
            is_number = self._numbers[np.minimum(place, len(self._numbers) - 1)] == columns
            columns = np.where(is_number, place, columns + len(self._numbers))
        if self._scaling.how != AS_IT_IS and len(values):
            begins = (np.diff(at, prepend=at[0]) != 0) | (np.diff(namespaces, prepend=namespaces[0]) != 0)
            group = np.cumsum(begins)  # those of a namespace of a row stand side by side
            lengths_of = np.sqrt(np.bincount(group[~is_number], values[~is_number] ** 2, int(group[-1]) + 1))
            values = np.where(is_number, values, values / np.where(is_number, 1.0, lengths_of[group]))
        arrays = rows_of(at, columns.astype(np.int32), values, len(rows))
        if self._scaling.how != STANDARDISED:
            return csr(*arrays, self.width)
        self._scaling.frozen = self.frozen or as_next
        return self._scaling.matrix(*arrays, self.width)

    def most_rows(self, batch_rows: int) -> int:
        """How many rows a batch may have so that its memory stays small."""
        return self._scaling.most_rows(batch_rows)

    def to_dict(self) -> dict[str, Any]:
        """All it knows, for ``from_dict``."""
        return {"hash_bits": self.bits, "numbers": self._numbers.tolist(), **self._scaling.to_dict()}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any], frozen: bool = False) -> HashedScaling:
        """What ``to_dict`` gave, also after a way through JSON."""
        try:
            new = cls(Namespaces(kept["hash_bits"]).mask.bit_length(), False, frozen)
            new._numbers = np.array(kept["numbers"], np.int64).reshape(-1)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"this is no saved state of a stream of vw lines: {error!r}.") from None
        new._scaling = SparseScaling.from_dict(kept, frozen)
        is_sorted = bool((np.diff(new._numbers, prepend=-1) > 0).all())
        if not is_sorted or new._numbers.max(initial=0) >= 2**new.bits:
            raise InvalidInput("the saved state of a stream of vw lines is damaged: its numbers are no columns.")
        return new


class VwStream(Stream):
    """The rows of files in Vowpal Wabbit's text format."""

    has_lines = True
    kept_as = "vw"

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        self._has_labels = options.label is not False
        self._scaling = HashedScaling(options.hash_bits, options.raw)
        state = options.state
        if state is not None:
            self._check_format(state, FORMAT, "has lines of Vowpal Wabbit")
            self._scaling = HashedScaling.from_dict(state, options.frozen)
            self.labels.kind = self.labels.kind or state.get("labels")
        self._namespaces = Namespaces(self._scaling.bits)
        self._weighted_rows = 0
        self._buffer = self._open_text(0)
        self._look_at_first_rows()

    @property
    def fields(self) -> list[Field]:
        """One entry that stands for all features, and the label."""
        label = [Field("label", "label")] if self._has_labels else []
        return [*label, Field(f"hashed features, {self._scaling.how}", "sparse")]

    def state(self) -> dict[str, Any]:
        """What was learned from the rows so far."""
        return {"format": FORMAT, "labels": self.labels.kind, **self._scaling.to_dict()}

    def _id_field(self) -> str | None:
        return "tag"

    def _restart(self) -> None:
        self._scaling.restart()
        self._weighted_rows = 0
        self._buffer = self._open_text(0)

    def _look_at_first_rows(self) -> None:
        """Settle what the labels are and how to scale, by the first lines."""
        heads, rows = [], []
        for _, line in Buffer.of(self._buffer.first_lines(SAMPLE_ROWS), self.name).lines():
            if isinstance(line, bytes) and line.strip():
                try:
                    head, features = self.read(line)
                except LineError:
                    continue
                heads.append(head)
                rows.append(features)
        self.labels.settle(head.label for head in heads)
        self._scaling.settle(rows)

    def read(self, line: bytes) -> tuple[Head, Features]:
        """What stands in a line."""
        head, rest = split_line(line)
        return read_head(head), self._namespaces.read(rest)

    def _rows(self) -> Iterator[Rows]:
        rows: list[Features] = []
        labels: list[Any] = []
        weights: list[float] = []
        entries, most_rows = 0, self._scaling.most_rows(self.options.batch_rows)
        for place in range(len(self.source)):
            if place:
                self._buffer = self._open_text(place)
            for number, line in self._buffer.lines():
                if isinstance(line, bytes) and not line.strip():
                    continue
                try:
                    if isinstance(line, BadLine):
                        raise line
                    head, features = self.read(line)
                    label = None if head.label is None or not self._has_labels else self.labels.of(head.label)
                except ValueError as error:
                    self._refuse(error, number, line)
                    continue
                rows.append(features)
                labels.append(label)
                weights.append(head.importance)
                entries += len(features.columns)
                if self.origins is not None:
                    self.origins.add(place, (number,), (head.tag or None,))
                if len(rows) >= most_rows or entries >= BATCH_ENTRIES:
                    yield self._finish(rows, labels, weights)
                    rows, labels, weights, entries = [], [], [], 0
        self.close()
        if rows:
            yield self._finish(rows, labels, weights)

    def _finish(self, rows: list[Features], labels: list[Any], weights: list[float]) -> Rows:
        self._kept_weights = np.array(weights)
        self._weighted_rows += int((self._kept_weights != 1.0).sum())
        return self._scaling.matrix(rows), as_array(labels, self.labels.kind) if self._has_labels else None, None

    def _refuse(self, error: ValueError, number: int, line: bytes | BadLine) -> None:
        if not isinstance(error, BadLine):
            column = getattr(error, "column", None)
            error = self._buffer.bad_line(number, None if column is None else f"column {column}", str(error))
            error.raw = line if isinstance(line, bytes) else None
        self.refuse(error)

    @property
    def warnings(self) -> list[str]:
        """What a user should know of the importances."""
        if not self._weighted_rows:
            return []
        return [
            f"{self._weighted_rows:,} events of {self.name!r} have an importance other than 1, which only counts where "
            "given labels are learned (partial_fit, with batch.weights as sample_weight); here every event counts once."
        ]
