"""Rows gathered field by field: the same cells as row by row, or none."""

import random

import numpy as np
import pytest

from askance.data.encoding.columns import WORTH_IT, gather_columns
from askance.data.encoding.encoder import Cells
from askance.data.encoding.rows import RowFeatures


def settled(**options):
    """Fields of every kind that had enough values, with statistics that are no whole numbers."""
    features, rng = RowFeatures({"none": "ignore"}, hash_bits=4, **options), random.Random(1)
    for _ in range(5):
        cells = Cells()
        for row in many(100, rng):
            features.add(cells, row)
        features.encoder.rows(cells)
    assert not features.evidence.unsettled
    return features


def many(n, rng=None):
    rng = rng or random.Random(2)
    return [
        {
            "size": rng.random(), "count": float(rng.randrange(5)), "color": rng.choice(["red", "green", "NA", " "]),
            "text": " ".join(rng.choices(["one", "two", "Three", "vier"], k=rng.randrange(5, 9))), "none": 1.0,
        }
        for _ in range(n)
    ]  # fmt: skip


def one_by_one(features, rows):
    cells = Cells()
    for row in rows:
        features.add(cells, row)
    return features.encoder.rows(cells)


def check(rows, **options):
    """Both ways give the same bits, and leave the same statistics."""
    ours, theirs = settled(**options), settled(**options)
    cells = gather_columns(ours, rows)
    assert cells is not None
    for found, expected in zip(ours.encoder.rows(cells), one_by_one(theirs, rows), strict=True):
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)
    for name, array in ours.encoder.scaling.to_dict().items():
        assert np.array_equal(array, theirs.encoder.scaling.to_dict()[name])


@pytest.mark.parametrize("options", [{}, {"raw": True}, {"na_values": ["red"]}, {"ngrams": 1}])
def test_rows_alike_give_the_same_cells(options):
    check(many(60), **options)


def test_fields_may_be_missing_empty_whole_or_truths_and_in_any_order():
    rng, rows = random.Random(5), many(60)
    for row in rows[10:]:
        del row[rng.choice(list(row))]
    for place, value in enumerate((None, 3, True, False, 0, -7)):
        rows[place]["size"] = value
    rows[8]["color"] = rows[9]["text"] = None
    rows[7]["text"] = "N/A"
    rows[20:30] = [dict(reversed(row.items())) for row in rows[20:30]]
    check(rows)


def test_rows_without_fields_are_rows():
    check([{} for _ in range(WORTH_IT)])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("size", "12"), ("size", 1e300), ("size", 10**400), ("color", 7), ("color", ["red"]), ("text", {"a": "b"}),
        ("none", {"a": 1.0}), ("new", 1.0),
    ],
)  # fmt: skip
def test_what_must_be_looked_at_row_by_row_is_left_to_that(field, value):
    features, rows = settled(), many(20)
    rows[13][field] = value
    before = features.to_dict()["evidence"]
    assert gather_columns(features, rows) is None
    assert features.to_dict()["evidence"] == before


def test_so_is_whatever_may_teach_the_kinds_of_fields():
    fresh = RowFeatures(hash_bits=4)
    one_by_one(fresh, many(50))
    assert gather_columns(fresh, many(20)) is None  # unsettled
    features = settled()
    features.mismatches.add(["size"])
    assert gather_columns(features, many(20)) is None
    assert gather_columns(settled(), many(WORTH_IT - 1)) is None
    assert gather_columns(settled(na_values=[-999]), many(20)) is None


def test_a_wide_row_among_narrow_ones_is_not_multiplied_by_them():
    names = [f"n{number}" for number in range(200)]
    features = RowFeatures(dict.fromkeys(names, "number"))
    for name in names:
        features.begin(name, "number", is_final=True)
    wide, narrow = dict.fromkeys(names, 1.0), {"n0": 1.0}
    assert gather_columns(features, [wide] + [narrow] * 50) is None
    assert gather_columns(features, [wide] * 50 + [narrow]) is not None
