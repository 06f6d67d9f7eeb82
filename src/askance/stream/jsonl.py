"""JSON Lines: one object per line, its fields numbers, text, lists of words, or nested.

What the fields become is told in ``askance.features.rows``. The label is the field called ``label``, ``y``, ``class``
or ``target`` among those of the first rows; a stream may also have none. ``NaN`` and ``Infinity`` make a line bad.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

from askance.errors import BadLine, InvalidInput, InvalidParameter
from askance.features.encoder import Cells
from askance.features.kinds import SAMPLE_ROWS, check_features, find_label, listed
from askance.features.rows import FieldError, RowFeatures, flatten
from askance.stream.batch import BATCH_ENTRIES, Field, Rows, Settings, Stream
from askance.stream.buffer import Buffer
from askance.stream.labels import as_array
from askance.stream.source import Source

FORMAT = "rows"

ARRAY = "{} cannot be read: this is a JSON array; one object per line is needed, as jq -c '.[]' writes them."


class JsonlStream(Stream):
    """The rows of JSON Lines files."""

    def __init__(self, source: Source, settings: Settings, state: Mapping[str, Any] | None = None) -> None:
        super().__init__(source, settings)
        if isinstance(settings.label, int) and settings.label is not False:
            raise InvalidParameter(f"the fields of JSON rows have names, no numbers; label={settings.label} is none.")
        self._label = settings.label if isinstance(settings.label, str) else None
        check_features(settings.features)
        self._state = state
        self._features = self._fresh()
        self._buffer = self._open(0)
        self._look_at_first_rows()

    @property
    def fields(self) -> list[Field]:
        """The fields known so far, in the order in which they appeared."""
        label = [Field(self._label, "label")] if self._label is not None else []
        return label + [Field(name, kind) for name, kind in self._features.kinds.items()]

    def state(self) -> dict[str, Any]:
        """What was learned from the rows so far."""
        return {"format": FORMAT, "label": self._label, "labels": self.labels.kind, **self._features.to_dict()}

    def _fresh(self) -> RowFeatures:
        if self._state is None:
            bits, ngrams, raw = self.settings.hash_bits, self.settings.ngrams, self.settings.raw
            return RowFeatures(self.settings.features, hash_bits=bits, ngrams=ngrams, raw=raw)
        if self._state.get("format") != FORMAT:
            raise InvalidInput(
                f"the model was trained on {self._state.get('format')!r} data, but {self.name!r} is JSON rows."
            )
        self.labels.kind = self.labels.kind or self._state.get("labels")
        if self._label is None and self.settings.label is not False:
            self._label = self._state.get("label")
        return RowFeatures.from_dict(self._state)

    def _open(self, place: int) -> Buffer:
        self.close()
        self._place, self._open_part = place, self.source.open(place)
        return Buffer(self._open_part)

    def _restart(self) -> None:
        known = self._features.kinds
        self._features = self._fresh()
        if self._state is None:
            for name, kind in list(known.items())[: self._settled]:
                self._features.encoder.add(name, kind)
        self._buffer = self._open(0)

    def _look_at_first_rows(self) -> None:
        """Settle what the label is, and the kinds of the fields of the first rows."""
        rows = []
        content = self._buffer.first_lines(SAMPLE_ROWS)
        if begins_an_array(content):
            raise InvalidInput(ARRAY.format(repr(self._buffer.name)))
        for _, line in Buffer.of(content, self.name).lines():
            try:
                row = read_row(line)
            except ValueError:
                continue
            if row is not None:
                rows.append(row)
        names = list(dict.fromkeys(name for row in rows for name in row))
        if self._label is None and self.settings.label is not False and self._state is None:
            self._label = find_label(names)
        if isinstance(self.settings.label, str) and rows and self._label not in names:
            raise InvalidParameter(
                f"none of the first rows of {self.name!r} has a field {self._label!r} to be the label; "
                f"there are: {listed(names)}."
            )
        labels = [row.pop(self._label, None) for row in rows] if self._label is not None else []
        self.labels.settle_by_values(labels)
        if self._state is None:
            self._features.guess_kinds(rows)
        self._settled = len(self._features.kinds)

    def _rows(self) -> Iterator[Rows]:
        cells, labels = Cells(), []
        for place in range(len(self.source)):
            if place:
                self._buffer = self._open(place)
            for number, line in self._buffer.lines():
                try:
                    row = read_row(line)
                    if row is None:
                        continue
                    label = self._take_label(row)
                    self._features.add(cells, row)
                except ValueError as error:
                    self.refuse(_explain(error, self._buffer, number))
                    continue
                labels.append(label)
                if cells.n_rows >= self.settings.batch_rows or cells.n_cells >= BATCH_ENTRIES:
                    yield self._finished(cells, labels)
                    cells, labels = Cells(), []
        self.close()
        if cells.n_rows:
            yield self._finished(cells, labels)

    def _finished(self, cells: Cells, labels: list[Any]) -> Rows:
        X = self._features.encoder.matrix(cells)
        times = np.array(cells.times) if cells.times else None
        return X, as_array(labels, self.labels.kind) if self._label is not None else None, times

    def _take_label(self, row: dict[str, Any]) -> Any:
        if self._label is None:
            return None
        try:
            return self.labels.of(row.pop(self._label, None))
        except ValueError as error:
            raise FieldError(self._label, str(error)) from None


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} cannot be learned from; leave the value out or write null if it is missing.")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode


def read_row(line: bytes | BadLine) -> dict[str, Any] | None:
    """The flattened fields of a line; None for an empty one, a ValueError for one that is no JSON object."""
    if isinstance(line, BadLine):
        raise line
    if not line.strip():
        return None
    try:
        row = _decode(line.decode("utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deeply.") from None
    if not isinstance(row, dict):
        what = "a list" if isinstance(row, list) else f"{row!r:.40}"
        raise ValueError(f'it is {what}, but each line must be a JSON object such as {{"text": "..."}}.')
    return flatten(row)


def begins_an_array(content: bytes) -> bool:
    """Whether a file is one array of objects; a line that is a list of something else is just a bad line."""
    content = content.lstrip()
    return content.startswith(b"[") and content[1:].lstrip()[:1] in (b"{", b"")


def _explain(error: ValueError, buffer: Buffer, line: int) -> BadLine:
    if isinstance(error, BadLine):
        return error
    if isinstance(error, json.JSONDecodeError):
        reason = "it ends too early" if error.pos >= len(error.doc.rstrip()) else error.msg[0].lower() + error.msg[1:]
        return buffer.bad_line(line, f"column {error.pos + 1}", f"it is not valid JSON: {reason}.")
    if isinstance(error, UnicodeDecodeError):
        return buffer.bad_line(line, f"column {error.start + 1}", "it is not UTF-8 text.")
    if isinstance(error, FieldError):
        return buffer.bad_line(line, f"field {listed([error.field])!r}", error.reason)
    if "integer string conversion" in str(error):
        return buffer.bad_line(line, None, "it contains a number with thousands of digits.")
    return buffer.bad_line(line, None, str(error))
