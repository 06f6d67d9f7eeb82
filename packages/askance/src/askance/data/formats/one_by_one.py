"""Rows of a table that may change what its fields are: taken one after the other, as rows of JSON are.

Nearly all rows of a table are read many at once. Only while a column that was empty so far begins, or when so many
values do not fit that a settled kind gives way, does the order of rows matter; these few go through here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from askance.data.encoding.encoder import Cells
from askance.data.encoding.kind_evidence import Strays
from askance.data.encoding.kinds import IGNORE, NUMBER, TIME, why_not_a_number
from askance.data.encoding.rows import FieldError, RowFeatures
from askance.data.formats.split import Split


class Wrong(NamedTuple):
    """A value that a column cannot take."""

    place: int
    reason: str


def is_careful(features: RowFeatures, rows: Split, names: Sequence[str]) -> bool:
    """Whether a column begins in these rows, or its kind is not settled."""
    for name in features.evidence.unsettled:
        if features.kinds[name] != IGNORE:
            return True
        if name not in names:
            continue
        place = names.index(name)
        for row in np.flatnonzero(rows.stops[:, place] > rows.starts[:, place]).tolist():
            if not features.missing.covers(rows.text(row, place)):
                return True
    return False


def count_strays(
    strays: Strays, stray: dict[str, list[int]], present: dict[str, np.ndarray], wrong: Iterable[int]
) -> bool:
    """Count the stray values of columns; if a kind may have to give way to them, count nothing and say so.

    ``stray`` are the rows of each column with such a value, ``present`` which rows have a value at all.
    """
    found = {}
    for name in stray.keys() | set(strays.names):
        is_counted = present[name].copy()
        is_counted[list(wrong)] = False
        is_counted[stray.get(name, [])] = True
        numbers = np.cumsum(is_counted)
        ends = numbers[stray.get(name, [])].tolist()
        if not strays.stay_few(name, ends):
            return False
        found[name] = (int(numbers[-1]) if len(numbers) else 0, ends)
    for name, (values, ends) in found.items():
        strays.take_many(name, values, ends)
    return True


def add_one_by_one(
    features: RowFeatures, rows: Split, cells: Cells, places: dict[str, int], unreadable: dict[int, Wrong]
) -> dict[int, Wrong]:
    """Add those rows to a batch that can be taken; what is wrong with the others."""

    def add(texts: dict[str, str]) -> FieldError | None:
        plan = features.plan(
            {name: text or None if features.kinds[name] == TIME else text for name, text in texts.items()}
        )
        if plan.error is None:
            features.take(cells, plan)
        else:
            features.strays.add(plan.strays)
        return plan.error

    return _try_each(add, features, rows, {n: places[n] for n in features.kinds if n in places}, unreadable)


def transform_one_by_one(
    features: RowFeatures, rows: Split, cells: Cells, places: dict[str, int], unreadable: dict[int, Wrong]
) -> dict[int, Wrong]:
    """As ``add_one_by_one``, with the fields left as they are."""

    def transform(texts: dict[str, str]) -> FieldError | None:
        plan = features.plan_transform(texts)
        if plan.error is None:
            features.fill(cells, plan)
        return plan.error

    known = {name: places[name] for name in features.kinds if name in places}
    return _try_each(transform, features, rows, known, unreadable)


def _try_each(
    take: Callable[[dict[str, str]], FieldError | None],
    features: RowFeatures,
    rows: Split,
    places: dict[str, int],
    unreadable: dict[int, Wrong],
) -> dict[int, Wrong]:
    """Take the texts of every row that can be read, field by field; what is wrong with the others."""
    wrong = dict(unreadable)
    for row in range(rows.n_rows):
        if row not in unreadable:
            texts = {name: rows.text(row, place) for name, place in places.items()}
            error = take(texts)
            if error is not None:
                wrong[row] = _explain(features, error, texts, places)
    return wrong


def _explain(features: RowFeatures, error: FieldError, texts: dict[str, str], places: dict[str, int]) -> Wrong:
    name = error.field
    reason = why_not_a_number(texts[name]) if features.kinds[name] == NUMBER else error.reason
    return Wrong(places[name], reason)
