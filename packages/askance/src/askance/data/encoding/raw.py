"""Raw events into sparse rows, by the encoder that files go through.

What the fields are is settled by the first 1,000 events, as in a file, unless the encoder knows them; a field that
turns up later is guessed by its first value, and may become wider (``data.encoding.kind_evidence``). Where fewer
events told, the kinds hold for these events, and are open to what comes after them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, takewhile
from typing import Any

import numpy as np

from askance.data.encoding.encoder import Cells
from askance.data.encoding.kinds import (
    CATEGORY,
    DATE,
    IGNORE,
    LARGEST,
    NUMBER,
    SAMPLE_ROWS,
    TEXT,
    are_booleans,
    why_not_a_number,
    words,
)
from askance.data.encoding.rows import FieldError, RowFeatures
from askance.data.encoding.table import TEXT_FIELD, RawEvents
from askance.errors import InvalidInput


def settle_kinds(features: RowFeatures, parts: Sequence[RawEvents]) -> None:
    """Settle what the fields of events are by the first of them: by the types of a table's columns, or guessed."""
    sample: list[dict[str, Any]] = []
    for part in parts:
        sample += _first_rows(part, SAMPLE_ROWS - len(sample))
    first = parts[0]
    guessed = [name for name in first.names or () if name not in first.numbers and name not in first.dates]
    nested = _by_column(sample, guessed)
    if all(part.are_texts for part in parts):
        if not any(words(str(row[TEXT_FIELD] or "")) for part in parts for row in part.rows()):
            raise InvalidInput("the texts of X have no word in them, so that there is nothing to learn from.")
        features.declare(TEXT_FIELD, TEXT)
    for name in first.names or ():
        if name in first.numbers:
            features.declare(name, NUMBER)
            if are_booleans((row.get(name) for row in sample), features.missing):
                features.with_truths.add(name)
        elif name in first.dates:
            features.declare(name, DATE)
        else:  # with the fields that are nested in it
            features.guess_kinds(nested[name])
    features.guess_kinds(sample)


def _by_column(rows: Sequence[Mapping[str, Any]], names: Collection[str]) -> dict[str, list[dict[str, Any]]]:
    """The fields of some rows by the columns that they are or are nested in: the first where there are several."""
    order, longest = {name: place for place, name in enumerate(names)}, max(map(len, names), default=0)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    column_of: dict[str, str | None] = {}
    for row in rows:
        parts: dict[str, dict[str, Any]] = {}
        for key, value in row.items():
            if key not in column_of:
                pieces = takewhile(lambda piece: len(piece) <= longest, accumulate(key.split("."), "{}.{}".format))
                column_of[key] = min((piece for piece in pieces if piece in order), key=order.__getitem__, default=None)
            if (column := column_of[key]) is not None:
                parts.setdefault(column, {})[key] = value
        for column, fields in parts.items():
            found[column].append(fields)
    return found


def reopen_kinds(features: RowFeatures, parts: Sequence[RawEvents]) -> None:
    """Leave the kinds of fields open after the first events, if these are fewer than the beginning of a file."""
    if sum(part.n_events for part in parts) < SAMPLE_ROWS:
        features.reopen_kinds([row for part in parts for row in _first_rows(part, SAMPLE_ROWS)])


def encode(features: RowFeatures, events: RawEvents) -> tuple[Any, np.ndarray | None]:
    """Take events in: a CSR matrix, and when they came, if a field tells. Moves kinds and statistics on."""
    cells = Cells()
    blocks = _numbers_as_they_are(features, events)
    for number, row in _other_fields(features, events, blocks):
        try:
            features.add(cells, row)
        except FieldError as error:
            raise _in_row(number, error) from None
    _add_blocks(features, cells, events, blocks)
    for name in blocks:
        numbers = features.missing.blank(events.numbers[name])
        features.count_numbers(name, int(np.count_nonzero(~np.isnan(numbers))))
    X = features.encoder.matrix(cells)
    return X, np.array(cells.times) if features.time_field is not None else None


def transform(features: RowFeatures, events: RawEvents) -> Any:
    """Events as a CSR matrix, with fields and statistics left as they are: fields never seen are left out."""
    cells = Cells()
    blocks = _numbers_as_they_are(features, events)
    for number, row in _other_fields(features, events, blocks):
        plan = features.plan_transform(row)
        if plan.error is not None:
            raise _in_row(number, plan.error)
        features.fill(cells, plan)
    _add_blocks(features, cells, events, blocks)
    return features.encoder.matrix(cells, features.encoder.scaling.as_next)


# --- details ---------------------------------------------------------------------------------------------


def _first_rows(events: RawEvents, most: int) -> list[dict[str, Any]]:
    """The first rows of some events, up to one that cannot be read, which is told of when it is taken in."""
    found = []
    try:
        for row in events.rows(most):
            found.append(row)
    except FieldError:
        pass
    return found


def _numbers_as_they_are(features: RowFeatures, events: RawEvents) -> list[str]:
    """The columns of numbers that can be taken in at once."""
    return [name for name in events.numbers if features.kinds.get(name) == NUMBER]


def _other_fields(
    features: RowFeatures, events: RawEvents, blocks: Collection[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The events by number, each with the fields that must be looked at one by one; none where no field must."""
    kinds, evidence = features.kinds, features.evidence
    without = {*blocks, *(name for name, kind in kinds.items() if kind == IGNORE and name not in evidence)}
    if events.names is not None and without.issuperset(events.names):
        return
    rows = events.rows(without=without)
    for number in range(events.n_events):
        try:
            row = next(rows)
        except FieldError as error:
            raise _in_row(number, error) from None
        yield number, row


def _add_blocks(features: RowFeatures, cells: Cells, events: RawEvents, blocks: Sequence[str]) -> None:
    """Add columns of numbers to the cells of the same events."""
    cells.n_rows = events.n_events
    if not blocks:
        return
    table = features.missing.blank(np.column_stack([events.numbers[name] for name in blocks]))
    beyond = np.abs(table) > LARGEST  # NaN, a missing number, is not
    if beyond.any():
        row, place = np.argwhere(beyond)[0].tolist()
        raise _in_row(row, FieldError(blocks[place], why_not_a_number(str(table[row, place]))))
    cells.add_numbers(0, np.array([features.encoder.slots[name] for name in blocks], np.int64), table)


def _in_row(number: int, error: FieldError) -> InvalidInput:
    return InvalidInput(f"row {number} of X, {error}")


# --- many rows at once, field by field -------------------------------------------------------------------
# Most events of a stream are like those before them. Such rows tell nothing new about kinds of fields, so nothing has
# to be planned for each of them. A few calls for each field of a group give the same cells as row by row, in less time.

WORTH_IT = 6  # rows from which on it is faster
MOSTLY_EMPTY = 4  # times as many cells as there are values, from which on it is not
NUMBERS = {float, int, bool, type(None)}
WORDS = {str, type(None)}
ABSENT = object()


def gather_columns(features: RowFeatures, rows: Sequence[Mapping[str, Any]]) -> Cells | None:
    """The cells of nested rows that teach nothing about their fields; None if one of them might, or if they are few."""
    if len(rows) < WORTH_IT or features.missing.numbers:
        return None
    if features.time_field is not None or features.label is not None:
        return None
    names = list(rows[0])
    are_alike = all(list(row) == names for row in rows)
    if not are_alike:
        names = [*dict.fromkeys(name for row in rows for name in row)]
        if len(names) * len(rows) > MOSTLY_EMPTY * sum(map(len, rows)):
            return None
    kinds, unsettled, strays = features.kinds, features.evidence.unsettled, features.strays.names
    if not all(name in kinds and name not in unsettled and name not in strays for name in names):
        return None
    columns: Iterable[Sequence[Any]] = ([row.get(name, ABSENT) for row in rows] for name in names)
    if are_alike:
        columns = zip(*(row.values() for row in rows), strict=True)
    cells, slots, numbers, categories = Cells(), list[int](), list[Any](), dict[str, Sequence[Any]]()
    for name, column in zip(names, columns, strict=True):
        kind, types = kinds[name], set(map(type, column)) - {object}
        if kind == NUMBER and types <= NUMBERS:
            slots.append(features.encoder.slots[name])
            numbers.append(column if are_alike else [None if value is ABSENT else value for value in column])
        elif kind == CATEGORY and types <= WORDS:
            categories[name] = column
        elif kind == TEXT and types <= WORDS:
            _add_texts(features, cells, name, column)
        elif kind != IGNORE or not types <= NUMBERS | WORDS:
            return None
    if numbers and not _add_numbers(cells, slots, numbers):
        return None
    if categories:
        _add_categories(features, cells, categories)
    cells.n_rows = len(rows)
    return cells


def _is_present(value: Any) -> bool:
    return value is not ABSENT


def _add_numbers(cells: Cells, slots: list[int], columns: list[Any]) -> bool:
    """Add fields of numbers, unless one is too large to be learned from."""
    try:
        table = np.array(columns, np.float64).T  # None becomes NaN, which is missing
    except OverflowError:
        return False
    if (np.abs(table) > LARGEST).any():
        return False
    cells.add_numbers(0, np.array(slots, np.int64), table)
    return True


def _add_categories(features: RowFeatures, cells: Cells, columns: Mapping[str, Sequence[Any]]) -> None:
    """Add fields of categories, each value of which is hashed once."""
    values = {name: [*dict.fromkeys(filter(_is_present, column))] for name, column in columns.items()}
    words = [[features.category_of(name, value) for value in found] for name, found in values.items()]
    hashed = iter(features.encoder.hasher.categories_of(list(values), words).tolist())
    for name, column in columns.items():
        column_of = dict(zip(values[name], hashed, strict=False))
        rows = [row for row, value in enumerate(column) if _is_present(value)]
        found = np.array([column_of[column[row]] for row in rows], np.int32)
        cells.add_columns(np.array(rows, np.int32), found)


def _add_texts(features: RowFeatures, cells: Cells, name: str, column: Sequence[Any]) -> None:
    for row, value in enumerate(column):
        if value is not ABSENT and (text := features.text_of(name, value)):
            cells.add_text(row, name, text)
