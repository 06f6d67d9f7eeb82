"""Events as dictionaries, one by one and many at once."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.formats import slow

from askance.data.encoding.columns import encode
from askance.data.encoding.rows import FieldError, RowFeatures, flatten
from askance.data.encoding.table import RawRows
from askance.errors import InvalidInput, InvalidParameter

values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1000, 1000),
    st.floats(-1e3, 1e3),
    st.text(max_size=12),
    st.lists(st.text(max_size=5), max_size=3),
)
words = st.lists(st.text(max_size=4), max_size=3)
optional = {"word": st.text(max_size=8), "text": st.text(max_size=30), "tags": words}
rows = st.lists(st.fixed_dictionaries({"n": st.floats(-1e3, 1e3)}, optional=optional), min_size=1, max_size=8)


def test_flatten_names_fields_by_their_place():
    row = {"a": {"b": {"c": 1}}, "d": [1, [2, 3]], "e": [], "f": {}, "g": ["x"], "h": [None, "x"]}
    assert flatten(row) == {"a.b.c": 1, "d.0": 1, "d.1.0": 2, "d.1.1": 3, "g": ["x"], "h.0": None, "h.1": "x"}


def test_two_ways_to_the_same_name_are_refused():
    with pytest.raises(FieldError, match="field 'a.b': it occurs twice"):
        flatten({"a.b": 1, "a": {"b": 2}})


def test_deep_nesting_is_no_problem():
    row = {"x": 1}
    for _ in range(5000):
        row = {"a": row}
    assert list(flatten(row).values()) == [1]


@settings(max_examples=100, deadline=None)
@given(rows)
def test_one_by_one_equals_many_at_once(events):
    kinds = {"word": "category", "tags": "category", "text": "text", "n": "number"}
    many, single = RowFeatures(kinds, hash_bits=8), RowFeatures(kinds, hash_bits=8)
    for features in (many, single):
        for name, kind in kinds.items():
            features.encoder.add(name, kind)
    X, _ = encode(many, RawRows(events))
    for row, event in enumerate(events):
        columns, numbers = single.row(event)
        part = slice(X.indptr[row], X.indptr[row + 1])
        np.testing.assert_array_equal(columns, X.indices[part])
        np.testing.assert_array_equal(numbers, X.data[part])


def test_raw_rows_are_counts_and_numbers_as_they_are():
    features = RowFeatures(hash_bits=10, raw=True)
    columns, numbers = features.row({"n": 5, "text": "go go go", "ok": True})
    expected = {0: 5.0}
    for gram in slow.ngrams("go go go"):
        column = 1 + slow.column_of("text", gram, 10)
        expected[column] = expected.get(column, 0.0) + 1.0
    expected[1025] = 1.0
    assert dict(zip(columns.tolist(), numbers.tolist(), strict=True)) == expected


def test_each_text_field_has_unit_length():
    _, numbers = RowFeatures(hash_bits=20).row({"subject": "one two three", "body": "four five"})
    assert np.sum(numbers**2) == pytest.approx(2.0)


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(st.sampled_from("abc"), values, max_size=3),
    st.dictionaries(st.sampled_from("abc"), values, max_size=3),
)
def test_any_row_is_encoded_or_refused_in_one_sentence(first, second):
    features = RowFeatures(hash_bits=8)
    for row in (first, second):
        with slow.clear_errors():
            columns, numbers = features.row(row)
            assert (np.diff(columns) > 0).all()
            assert np.isfinite(numbers).all()


def test_a_refused_row_changes_no_statistics():
    features = RowFeatures({"a": "number", "b": "number"})
    features.row({"a": 1.0, "b": 2.0})
    before = features.to_dict()["scaling"]
    with pytest.raises(InvalidInput, match="field 'b': 'x' is not a number"):
        features.row({"a": 5.0, "b": "x"})
    after = features.to_dict()["scaling"]
    assert all((before[name] == after[name]).all() for name in before)


def test_the_state_survives_json():
    features = RowFeatures({"meta": "ignore"}, hash_bits=10, ngrams=3)
    for n in range(20):
        features.row({"n": n, "text": "some words", "meta": {"x": n}})
    kept = json.loads(json.dumps(features.to_dict(), default=lambda array: array.tolist()))
    again = RowFeatures.from_dict(kept)
    row = {"n": 7.5, "text": "other words here", "new": 3, "meta": {"z": 1}}
    for mine, theirs in zip(again.row(row), features.row(row), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_numpy_values_are_values():
    columns, numbers = RowFeatures(raw=True).row({"a": np.float32(1.5), "b": np.int64(2), "c": np.bool_(True)})
    assert columns.tolist() == [0, 1, 2]
    assert numbers.tolist() == [1.5, 2.0, 1.0]


def test_kinds_that_do_not_exist_are_refused():
    with pytest.raises(InvalidParameter, match="must be one of number, category, text, date, ignore, time"):
        RowFeatures({"a": "colour"})
