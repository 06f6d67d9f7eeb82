"""Many events at once, column by column: tables, batches of Parquet files, and rows that are alike.

This is the one place for columns that are read as arrays; what must be looked at value by value goes through
``RowFeatures``, row by row. Both give the same bits.

What the fields are is settled by the first 1,000 events, as in a file, unless the encoder knows them; a field that
turns up later is guessed by its first value, and may become wider (``data.encoding.kind_evidence``). Where fewer
events told, the kinds hold for these events, and are open to what comes after them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate, takewhile
from typing import Any, NoReturn

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
    order, longest = {name: index for index, name in enumerate(names)}, max(map(len, names), default=0)
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


def _first_rows(events: RawEvents, most: int) -> list[dict[str, Any]]:
    """The first rows of some events, up to one that cannot be read, which ``encode`` refuses."""
    found = []
    try:
        for row in events.rows(most):
            found.append(row)
    except FieldError:
        pass
    return found


def encode(features: RowFeatures, events: RawEvents) -> tuple[Any, np.ndarray | None]:
    """Take events in: a CSR matrix, and the times of a field of the kind ``time``. Moves kinds and statistics on."""
    cells = Cells()
    _add_events(features, cells, events, is_frozen=False)
    X = features.encoder.matrix(cells)
    return X, np.array(cells.times) if features.time_field is not None else None


def transform(features: RowFeatures, events: RawEvents) -> Any:
    """Events as a CSR matrix, with fields and statistics left as they are: fields never seen are left out."""
    cells = Cells()
    _add_events(features, cells, events, is_frozen=True)
    return features.encoder.matrix(cells, features.encoder.scaling.as_next)


def _add_events(features: RowFeatures, cells: Cells, events: RawEvents, is_frozen: bool) -> None:
    numbers = {name: column for name, column in events.numbers.items() if features.kinds.get(name) == NUMBER}
    without = {*numbers, *ignored_for_good(features)}
    numbers = {name: features.missing.blank(column) for name, column in numbers.items()}
    rows = events.rows(without=without)
    has_others = events.names is None or not without.issuperset(events.names)
    row_at = (lambda _: next(rows)) if has_others else None
    add_table(features, cells, events.n_events, numbers, row_at, _refuse_row, is_frozen)


def _refuse_row(row: int, error: FieldError) -> NoReturn:
    raise InvalidInput(f"row {row} of X, {error}") from None


# --- a table: columns of numbers, and rows of all other fields -------------------------------------------


def ignored_for_good(features: RowFeatures) -> set[str]:
    """The fields that need not be looked at."""
    return {name for name, kind in features.kinds.items() if kind == IGNORE and name not in features.evidence}


def add_table(
    features: RowFeatures,
    cells: Cells,
    n_rows: int,
    numbers: Mapping[str, np.ndarray],
    row_at: Callable[[int], Mapping[str, Any]] | None,
    refuse: Callable[[int, FieldError], None],
    is_frozen: bool,
) -> list[int]:
    """Add rows to a batch, columns of numbers at once; returns those that were added.

    Parameters
    ----------
    numbers : mapping
        Columns of fields of the kind number, as float64, NaN where one is missing.
    row_at : function, optional
        The other fields of a row, flattened, or a FieldError; called in the order of the rows. None: there are none.
    refuse : function
        What is done with a row that cannot be taken.
    is_frozen : bool
        Whether the fields stay as they are.
    """
    table = np.column_stack(list(numbers.values())) if numbers else np.empty((n_rows, 0))
    wrong: dict[int, FieldError] = {}
    for row, k in np.argwhere(np.abs(table) > LARGEST).tolist():  # NaN, a missing number, is not
        wrong.setdefault(row, FieldError(list(numbers)[k], why_not_a_number(str(table[row, k]))))
    add = features.add_known if is_frozen else features.add
    first_row, added = cells.n_rows, list[int]()
    for row in range(n_rows) if row_at is not None else sorted(wrong):
        try:
            if row in wrong:
                raise wrong[row]
            if row_at is not None:
                add(cells, row_at(row))
        except FieldError as error:
            refuse(row, error)
        else:
            added.append(row)
    if row_at is None:
        added = [row for row in range(n_rows) if row not in wrong]
    cells.n_rows = first_row + len(added)
    if numbers:
        table = table if len(added) == n_rows else table[added]
        cells.add_numbers(first_row, np.array([features.encoder.slots[name] for name in numbers], np.int64), table)
        if not is_frozen:
            for name, present in zip(numbers, (~np.isnan(table)).sum(axis=0).tolist(), strict=True):
                features.count_numbers(name, present)
    return added


# --- many rows at once, field by field -------------------------------------------------------------------
# Most events of a stream are like those before them. Such rows show nothing new about kinds of fields, so nothing has
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
    kinds, unsettled, mismatched = features.kinds, features.evidence.unsettled, features.mismatches.names
    if not all(name in kinds and name not in unsettled and name not in mismatched for name in names):
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
