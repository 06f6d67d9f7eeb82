"""Events as nested dictionaries, into sparse rows.

A field inside another is called by both names with a dot between, ``sender.country``. A list of strings is a bag of
words of its field; the items of any other list are fields by their number, ``embedding.0``. Numbers and truth values
are numbers; None is a missing value, which for a number means: as if it were not there; for a category: a value of its
own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from askance.errors import InvalidInput
from askance.features.commas import THOUSANDS, refuse_thousands, written_with
from askance.features.encoder import LONGEST_NGRAM, Cells, Encoder
from askance.features.hashing import HASH_BITS
from askance.features.kinds import (
    CATEGORY,
    DATE,
    IGNORE,
    LARGEST,
    MISSING,
    NUMBER,
    TIME,
    check_features,
    guess,
    number_in,
    why_not_a_number,
)
from askance.features.times import date_words, seconds_in, why_not_a_date

PLAIN = (str, int, float, bool, type(None))


class FieldError(ValueError):
    """A field has a value that its kind cannot take."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"field {field!r}: {reason}")
        self.field, self.reason = field, reason


def flatten(row: Mapping[Any, Any]) -> dict[str, Any]:
    """The fields of a nested row by their full names, in order; empty lists and dictionaries vanish.

    >>> flatten({"a": {"b": 1, "c": [True, {"d": None}]}, "tags": ["x", "y"]})
    {'a.b': 1, 'a.c.0': True, 'a.c.1.d': None, 'tags': ['x', 'y']}
    """
    if all(value.__class__ in PLAIN for value in row.values()) and all(key.__class__ is str for key in row):
        return dict(row)
    fields: dict[str, Any] = {}
    open_levels: list[Iterator[tuple[str, Any]]] = [((str(key), value) for key, value in row.items())]
    while open_levels:
        for name, value in open_levels[-1]:
            if isinstance(value, Mapping):
                inner: Any = value.items()
            elif isinstance(value, list | tuple) and not all(isinstance(item, str) for item in value):
                inner = enumerate(value)
            else:
                if isinstance(value, list | tuple) and not value:
                    continue
                if name in fields:
                    raise FieldError(name, "it occurs twice, as one name and as a nested one.")
                fields[name] = value
                continue
            open_levels.append(_named(name, inner))
            break
        else:
            open_levels.pop()
    return fields


def _named(prefix: str, items: Any) -> Iterator[tuple[str, Any]]:
    for key, value in items:
        yield f"{prefix}.{key}", value


def number_of(value: Any) -> float:
    """A JSON value as a number; a ValueError with the reason if it is none."""
    if value.__class__ is float and -LARGEST <= value <= LARGEST:
        return float(value)
    if isinstance(value, str):
        number = number_in(value.strip())
        if number is None:
            raise ValueError(why_not_a_number(value))
        return number
    if isinstance(value, bool | int | float | np.number | np.bool_):
        try:
            number = float(value)
        except OverflowError:
            number = np.inf
        if not abs(number) <= LARGEST:
            raise ValueError(why_not_a_number(str(number)))
        return number
    raise ValueError(f"a number is expected, got {type(value).__name__} {str(value)[:40]!r}.")


def word_of(value: Any) -> str:
    """A JSON value as a category, written as in JSON.

    >>> word_of("red"), word_of(3), word_of(True), word_of(None)
    ('red', '3', 'true', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.strip() in MISSING)


class RowFeatures:
    """From dictionaries to sparse rows; the same for a file of JSON lines and for one event of a service.

    Parameters
    ----------
    features : dict, optional
        Kinds of fields by name: "number", "category", "text", "date", "ignore" or "time"; for a name with others
        inside, for all of them. The others are guessed, by ``guess_kinds`` or by their first value.
    hash_bits, ngrams, raw
        As for ``Encoder``.

    Examples
    --------
    >>> rows = RowFeatures(raw=True, hash_bits=10)
    >>> columns, values = rows.row({"size": 3, "from": {"country": "NO"}})
    >>> columns, values
    (array([   0, 1008], dtype=int32), array([3., 1.]))
    """

    def __init__(
        self,
        features: Mapping[str, str] | None = None,
        *,
        hash_bits: int = HASH_BITS,
        ngrams: int = LONGEST_NGRAM,
        raw: bool = False,
    ) -> None:
        self.given = check_features(features)
        self.time_field = next((name for name, kind in self.given.items() if kind == TIME), None)
        self.encoder = Encoder(hash_bits, ngrams, raw)
        self.with_commas: set[str] = set()
        """Fields whose numbers have a decimal comma, as those of a table may."""

    @property
    def kinds(self) -> dict[str, str]:
        """The fields known so far, with their kinds."""
        return self.encoder.kinds

    def guess_kinds(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Settle the kinds of all fields that occur in some flattened rows."""
        values: dict[str, list[Any]] = {}
        for row in rows:
            for name, value in row.items():
                values.setdefault(name, []).append(value)
        for name, found in values.items():
            if name not in self.kinds:
                given = self._given_kind(name)
                if given in (None, NUMBER) and self._has_commas(name, found):
                    given = NUMBER
                    self.with_commas.add(name)
                self.encoder.add(name, given or guess(name, found))

    @staticmethod
    def _has_commas(name: str, values: Sequence[Any]) -> bool:
        """Whether the numbers of a field are texts with a decimal comma; refuses separators between thousands."""
        present = [value for value in values if value is not None]
        if not any(isinstance(value, str) for value in present) or any(isinstance(v, list | tuple) for v in present):
            return False
        written = written_with([word_of(value).strip() for value in present])
        if written is not None and written[0] == THOUSANDS:
            refuse_thousands("there are", written[1], f"field {name!r}")
        return written is not None

    def _given_kind(self, name: str) -> str | None:
        while name not in self.given and "." in name:
            name = name.rsplit(".", 1)[0]
        return self.given.get(name)

    def add(self, cells: Cells, row: Mapping[str, Any]) -> None:
        """Add a flattened row to others. A FieldError changes nothing."""
        numbers, others = [], []
        when = self._time(row)
        for name, value in row.items():
            kind = self.kinds.get(name)
            if kind is None:
                kind = self._given_kind(name)
                if kind is None and value is None:
                    continue  # says nothing of the kind
                kind = kind or guess(name, [value])
                self.encoder.add(name, kind)
            if kind == NUMBER:
                if not _is_missing(value):
                    numbers.append((self.encoder.slots[name], self._number(name, value)))
            elif kind == DATE:
                others.append((name, CATEGORY, self._date(name, value)))
            elif kind not in (IGNORE, TIME):
                others.append((name, kind, value))
        for slot, number in numbers:
            cells.add_number(cells.n_rows, slot, number)
        for name, kind, value in others:
            if kind == CATEGORY:
                for word in value if isinstance(value, list | tuple) else (value,):
                    cells.add_category(cells.n_rows, name, word_of(word))
            elif value is not None:
                text = " ".join(value) if isinstance(value, list | tuple) else word_of(value)
                cells.add_text(cells.n_rows, name, text)
        if when is not None:
            cells.times.append(when)
        cells.n_rows += 1

    def _time(self, row: Mapping[str, Any]) -> float | None:
        """When the row came; None where no field tells the time of rows."""
        if self.time_field is None:
            return None
        try:
            return seconds_in(row.get(self.time_field))
        except ValueError as error:
            raise FieldError(self.time_field, str(error)) from None

    def _number(self, name: str, value: Any) -> float:
        if name in self.with_commas and isinstance(value, str):
            value = value.replace(",", ".")
        try:
            return number_of(value)
        except ValueError as error:
            hint = "" if isinstance(value, int | float) else "; the kind 'category' allows any value"
            raise FieldError(name, str(error).rstrip(".") + hint + ".") from None

    @staticmethod
    def _date(name: str, value: Any) -> tuple[str, ...] | None:
        """What is learned from a date; None from a missing one."""
        if _is_missing(value):
            return None
        text = word_of(value).strip()
        found = date_words(text)
        if found is None:
            raise FieldError(name, why_not_a_date(text))
        return found

    def matrix(self, rows: Sequence[Mapping[str, Any]]) -> Any:
        """Nested rows as a CSR matrix."""
        cells = Cells()
        try:
            flat = [flatten(row) for row in rows]
            self.guess_kinds(flat)
            for row in flat:
                self.add(cells, row)
        except FieldError as error:
            raise InvalidInput(f"row {cells.n_rows}, {error}") from None
        return self.encoder.matrix(cells)

    def row(self, row: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """One nested row: its columns and their values."""
        cells = Cells()
        try:
            self.add(cells, flatten(row))
        except FieldError as error:
            raise InvalidInput(str(error)) from None
        _, columns, values = self.encoder.rows(cells)
        return columns, values

    def to_dict(self) -> dict[str, Any]:
        """All it knows, for ``from_dict``."""
        return {"given": self.given, "with_commas": sorted(self.with_commas), **self.encoder.to_dict()}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> RowFeatures:
        """What ``to_dict`` gave, also after a way through JSON."""
        new = cls(kept.get("given"))
        new.encoder = Encoder.from_dict(kept)
        new.with_commas = set(kept.get("with_commas", ()))
        return new
