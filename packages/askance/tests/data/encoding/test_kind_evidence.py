"""Kinds settle after evidence, and become wider without loss."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askance.data.encoding.encoder import Cells
from askance.data.encoding.kind_evidence import MAX_MISMATCHES, VALUES_TO_SETTLE, WINDOW, KindEvidence, TypeMismatches
from askance.data.encoding.rows import FieldError, RowFeatures
from askance.errors import InvalidInput


def through_json(features):
    return RowFeatures.from_dict(json.loads(json.dumps(features.to_dict(), default=lambda array: array.tolist())))


def same(one, other):
    return all(np.array_equal(mine, theirs) for mine, theirs in zip(one, other, strict=True))


def settled(kind_of=float, **options):
    features = RowFeatures(hash_bits=8, **options)
    for k in range(VALUES_TO_SETTLE):
        features.row({"size": kind_of(k)})
    return features


def test_a_first_message_of_digits_alone_is_text_all_the_same():
    features = RowFeatures(hash_bits=8)
    features.row({"text": "483920", "meta": {"subject": "12"}, "size": "12", "body": 12})
    assert features.kinds == {"text": "text", "meta.subject": "text", "size": "number", "body": "number"}
    features.row({"text": "your code is 483920", "meta": {"subject": "hi"}, "size": "13", "body": 13})


def test_a_word_among_the_first_numbers_makes_the_field_a_category_at_once():
    features = RowFeatures(hash_bits=8, raw=True)
    assert features.row({"code": 5})[0].tolist() == [0]
    columns, values = features.row({"code": "x5"})
    assert (features.kinds, columns.tolist(), values.tolist()) == ({"code": "category"}, [*columns], [1.0])
    assert columns[0] >= 1  # the column of the numbers stays reserved
    columns, _ = features.row({"code": 5, "late": 2.0})
    assert columns[0] >= 1
    assert columns[-1] == 1 + 2**8
    assert features.encoder.promoted == [("code", "number", "category")]


def test_a_sentence_among_the_first_numbers_makes_the_field_text():
    features = RowFeatures(hash_bits=8)
    features.row({"remark": "17"})
    features.row({"remark": "please call me back"})
    assert features.kinds == {"remark": "text"}


def test_a_list_of_words_among_the_first_numbers_makes_the_field_a_category():
    features = RowFeatures(hash_bits=8)
    features.row({"tags": 17})
    features.row({"tags": ["red", "blue"]})
    assert features.kinds == {"tags": "category"}


def test_a_category_whose_values_prove_to_be_sentences_becomes_text():
    features = RowFeatures(hash_bits=8)
    features.row({"remark": "ok"})
    features.row({"remark": "fine"})
    assert features.kinds == {"remark": "category"}
    features.row({"remark": "the delivery came two days too late and the box was open"})
    assert features.kinds == {"remark": "text"}


def test_a_category_with_one_long_value_among_many_short_ones_stays_one():
    features = RowFeatures(hash_bits=8)
    for _ in range(20):
        features.row({"city": "Oslo"})
    features.row({"city": "Llanfair near the church of Saint Tysilio"})
    assert features.kinds == {"city": "category"}


@pytest.mark.parametrize("empty", ["", "NA", None])
def test_a_field_that_was_empty_so_far_is_learned_when_it_begins(empty):
    features = RowFeatures(hash_bits=8)
    features.guess_kinds([{"late": empty}] * 3)
    for _ in range(3):
        assert len(features.row({"late": empty})[0]) == 0
    features.row({"late": 4.0})
    features.row({"late": 6.0})
    assert features.kinds == {"late": "number"}
    assert len(features.row({"late": 9.0})[0]) == 1


def test_an_id_is_never_learned():
    features = RowFeatures(hash_bits=8)
    for value in ("", 1, "a long name of some thing"):
        assert len(features.row({"id": value})[0]) == 0


def test_one_stray_word_does_not_change_a_settled_field():
    features = settled()
    with pytest.raises(InvalidInput, match="field 'size': 'x' is not a number"):
        features.row({"size": "x"})
    assert features.kinds == {"size": "number"}
    features.row({"size": 5})


@pytest.mark.parametrize("others", [0, 15])
def test_a_settled_field_gives_way_when_strays_keep_coming(others):
    features = settled()
    for _ in range(MAX_MISMATCHES):
        with pytest.raises(InvalidInput):
            features.row({"size": "x"})
        for k in range(others):
            features.row({"size": k})
    features.row({"size": "x"})
    assert features.kinds == {"size": "category"}
    assert features.encoder.promoted == [("size", "number", "category")]


def test_a_settled_field_holds_on_where_strays_are_rare():
    features = settled()
    for _ in range(5 * MAX_MISMATCHES):
        with pytest.raises(InvalidInput):
            features.row({"size": "x"})
        for k in range(WINDOW // MAX_MISMATCHES):
            features.row({"size": k})
    assert features.kinds == {"size": "number"}


def test_a_field_whose_kind_was_given_never_gives_way():
    features = RowFeatures({"size": "number", "day": "date"}, hash_bits=8)
    for _ in range(3 * MAX_MISMATCHES):
        with pytest.raises(InvalidInput, match="is not a number"):
            features.row({"size": "x"})
        with pytest.raises(InvalidInput, match="is no date"):
            features.row({"day": "x"})
    features.row({"size": 1, "day": "2026-05-01"})
    assert features.kinds == {"size": "number", "day": "date"}


@pytest.mark.parametrize("value", ["inf", 1e200, -1e200])
def test_numbers_that_cannot_be_learned_from_are_no_evidence_for_words(value):
    features = RowFeatures(hash_bits=8)
    features.row({"size": 1})
    for _ in range(3 * MAX_MISMATCHES):
        with pytest.raises(InvalidInput):
            features.row({"size": value})
    assert features.kinds == {"size": "number"}


def test_a_settled_date_gives_way_to_a_category_and_keeps_the_weight_of_dates_before():
    features = RowFeatures(hash_bits=8)
    features.guess_kinds([{"day": "2026-05-01"}] * 3)
    cells = Cells()
    features.add(cells, {"day": "2026-05-01"})
    for _ in range(MAX_MISMATCHES):
        with pytest.raises(FieldError):
            features.add(cells, {"day": "17"})
    features.add(cells, {"day": "17"})
    assert features.kinds == {"day": "category"}
    assert features.encoder.matrix(cells).data.tolist() == [0.5, 1.0]


def test_a_refused_row_leaves_no_trace_but_the_strays():
    features = settled()
    before = features.to_dict()
    with pytest.raises(InvalidInput):
        features.row({"size": "x", "new": 3})
    after = features.to_dict()
    assert (before.pop("strays"), after.pop("strays")) == ({}, {"size": [0]})
    assert str(before) == str(after)


def test_a_state_without_evidence_still_loads_and_its_numbers_may_give_way():
    old = settled().to_dict()
    del old["evidence"], old["strays"]
    features = RowFeatures.from_dict(old)
    for _ in range(MAX_MISMATCHES):
        with pytest.raises(InvalidInput):
            features.row({"size": "x"})
    features.row({"size": "x"})
    table = {name: value for name, value in old.items() if name not in ("given", "with_commas")}
    features = RowFeatures.from_dict(table)  # of a table, where nobody knows which kinds were given
    for _ in range(3 * MAX_MISMATCHES):
        with pytest.raises(InvalidInput):
            features.row({"size": "x"})


@pytest.mark.parametrize(
    "damage",
    [
        {"evidence": {"size": [-1, 0]}},
        {"evidence": {"size": 3}},
        {"evidence": []},
        {"strays": {"size": [WINDOW]}},
        {"strays": {"size": []}},
        {"fields": [["size", "text"], ["size", "number"]]},
    ],
)
def test_a_damaged_state_is_refused_in_one_sentence(damage):
    with pytest.raises(InvalidInput, match="this is no saved state of features"):
        RowFeatures.from_dict(settled().to_dict() | damage)


def test_evidence_stops_counting_once_it_is_enough():
    evidence = KindEvidence()
    evidence.begin("a")
    for _ in range(VALUES_TO_SETTLE):
        evidence.count("a", "one word")
    assert evidence.to_dict() == {"a": [VALUES_TO_SETTLE, 0]}
    assert not evidence.unsettled


@settings(max_examples=100, deadline=None)
@given(st.lists(st.booleans(), max_size=500), st.integers(1, 60))
def test_strays_counted_in_pieces_are_those_counted_one_by_one(course, piece):
    single, pieces = TypeMismatches(), TypeMismatches()
    for first in range(0, len(course), piece):
        part = course[first : first + piece]
        ends = [place + 1 for place, is_stray in enumerate(part) if is_stray]
        few = True
        for is_stray in part:
            if is_stray:
                few &= not single.are_too_many("f")
                single.add(["f"])
            else:
                single.take("f", 1)
        assert pieces.stay_few("f", ends) == few
        pieces.take_many("f", len(part), ends)
        assert pieces.to_dict() == single.to_dict()
        pieces = TypeMismatches.from_dict(json.loads(json.dumps(pieces.to_dict())))


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1000, 1000),
    st.floats(-1e3, 1e3),
    st.sampled_from(["12", "x", "", "NA", "inf", "2026-05-01", "a b c d e", "0,5", 1e200]),
    st.text(max_size=12),
    st.lists(st.text(max_size=5), max_size=3),
)
names = st.sampled_from(["size", "text", "a.b", "id", "given"])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.dictionaries(names, values, max_size=4), max_size=60), st.integers(0, 60), st.integers(1, 3))
def test_any_order_of_mixed_values_is_taken_or_refused_and_a_restart_changes_nothing(rows, stop, repeats):
    features = RowFeatures({"given": "number"}, hash_bits=6)
    again = None
    for place, row in enumerate(rows * repeats):
        if place == stop:
            again = through_json(features)
        try:
            taken = features.row(row)
            refused = None
        except InvalidInput as error:
            taken, refused = None, str(error)
        if refused is None:
            assert np.isfinite(taken[1]).all()
            assert (np.diff(taken[0]) > 0).all()
            assert not len(taken[0]) or taken[0][-1] < features.encoder.width
        else:
            assert refused.startswith("field '")
        if again is not None:
            if refused is None:
                assert same(again.row(row), taken)
            else:
                with pytest.raises(InvalidInput) as error:
                    again.row(row)
                assert str(error.value) == refused
    if again is not None:
        assert str(through_json(features).to_dict()) == str(through_json(again).to_dict())


@settings(max_examples=50, deadline=None)
@given(st.lists(st.dictionaries(names, values, max_size=4), max_size=40), st.integers(1, 7))
def test_rows_gathered_in_batches_are_those_one_by_one(rows, size):
    single, many = RowFeatures(hash_bits=6), RowFeatures(hash_bits=6)
    encoded, cells, parts = [], Cells(), []
    for place, row in enumerate(rows):
        flat = {name: value for name, value in row.items() if value != []}
        try:
            encoded.append(single.row(row))
            many.add(cells, flat)
        except (InvalidInput, FieldError):
            with pytest.raises(FieldError):
                many.add(cells, flat)
        if place % size == 0:
            parts.append(many.encoder.rows(cells))
            cells = Cells()
    parts.append(many.encoder.rows(cells))
    flat_rows = [
        (columns[starts[k] : starts[k + 1]], values[starts[k] : starts[k + 1]])
        for starts, columns, values in parts
        for k in range(len(starts) - 1)
    ]
    assert len(flat_rows) == len(encoded)
    assert all(same(mine, theirs) for mine, theirs in zip(flat_rows, encoded, strict=True))
