"""Rows whose fields are all known and settled, gathered field by field: the same cells as row by row, in less time.

Most events of a stream are like those before them. Such rows tell nothing new about kinds of fields, so nothing has to
be planned for each of them; a few calls for each field of a group do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from askance.data.encoding.encoder import Cells
from askance.data.encoding.kinds import CATEGORY, IGNORE, LARGEST, NUMBER, TEXT
from askance.data.encoding.rows import RowFeatures

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
