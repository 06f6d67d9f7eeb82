"""Labels of a stream: what kind they are, and few of them for many rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askance.data.formats import labels as module
from askance.data.formats.labels import Labels, refuse_quantities
from askance.errors import InvalidInput, InvalidParameter


@pytest.mark.parametrize(
    ("sample", "kind"),
    [
        (["1", "-1", "+3", "2.0"], "int"),
        (["0.5", "1"], "float"),
        (["a", "1"], "text"),
        (["9007199254740993"], "text"),
        (["nan"], "text"),
        ([], "text"),
        ([None, "3"], "int"),
    ],
)
def test_the_first_labels_settle_the_kind(sample, kind):
    labels = Labels()
    labels.settle(sample)
    assert labels.kind == kind


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=12), max_size=200))
def test_equal_labels_have_equal_numbers_and_others_have_others(found):
    labels = Labels("text")
    numbers = [labels.number_of(text) for text in found]
    places = {}
    for text, number in zip(found, numbers, strict=True):
        assert places.setdefault(text, number) == number
    assert sorted(places.values()) == list(range(len(places)))


def test_many_labels_find_room_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(module, "MOST", 500)
    labels = Labels("text")
    for number in range(500):
        labels.number_of(b"label %d" % number)
    with pytest.raises(InvalidInput, match="more than 500 different labels; is it the right column"):
        [labels.number_of(b"label %d" % number) for number in range(3000)]


def test_labels_come_back_in_their_kind():
    labels = Labels("int")
    numbers = np.array([labels.number_of(text) for text in (b"1", b"-1", b"1.0", b"+1")])
    labels.understand()
    assert labels.decode(numbers).tolist() == [1, -1, 1, 1]
    assert labels.decode(numbers).dtype == np.int64
    assert labels.decode(np.zeros(0, int)).dtype == np.int64


def test_blanks_of_any_kind_around_a_label_do_not_count():
    labels = Labels("text")
    assert [labels.of(label) for label in ("ham ", "ham\xa0", "\u2003ham", "\xa0", "NA\xa0")] == [
        *["ham"] * 3,
        None,
        None,
    ]
    for inside in ("h\xa0am", "h\x00am", "ham\x00", "ham\x0c", "\t"):
        with pytest.raises(ValueError, match="cannot be printed"):
            labels.of(inside)


def test_python_objects_are_labels_too():
    labels = Labels("text")
    assert [labels.of(label) for label in ("a", 1, 1.0, True, None, "")] == ["a", "1", "1", "true", None, None]
    labels = Labels("int")
    assert [labels.of(label) for label in (1, 1.0, True, "2")] == [1, 1, 1, 2]
    for wrong in (1.5, "x", ["a"], 2**60):
        with pytest.raises(ValueError, match="not a whole number|text or a number"):
            labels.of(wrong)


def test_kinds_that_do_not_exist_are_refused():
    with pytest.raises(InvalidParameter, match="labels must be one of 'int', 'float', 'text'"):
        Labels("words")


def test_a_number_and_its_text_are_the_same_label():
    labels = Labels()
    labels.settle_by_values([1, "1", 1.0, True, "spam"])
    assert [labels.of(label) for label in (1, "1", 1.0, 0, 0.0, True, False, 2.5, "spam")] == [
        "1", "1", "1", "0", "0", "true", "false", "2.5", "spam",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("distinct", "events", "sentence"),
    [
        (np.arange(60) / 7, 10_000, "are 60 different numbers, such as 0.142857, which look like a quantity"),
        (np.arange(400), 600, "600 events of 'a.csv' have 400 different labels, such as '0', so that most events"),
        (np.array([f"k{n}" for n in range(101)]), 101, "101 different labels, such as 'k0'"),
    ],
)
def test_quantities_and_keys_are_not_taken_for_classes(distinct, events, sentence):
    with pytest.raises(InvalidInput, match=sentence) as caught:
        refuse_quantities(distinct, events, "a.csv")
    assert str(caught.value).endswith("is it the right field?")


@pytest.mark.parametrize(
    ("distinct", "events"),
    [(np.arange(400), 1000), (np.arange(200) * 1.0, 1000), (np.array([0.5, 1.5]), 2), (np.arange(26), 30)],
)
def test_many_classes_and_few_events_are_taken(distinct, events):
    refuse_quantities(distinct, events, "a.csv")


def test_labels_that_are_all_true_or_false_keep_their_names():
    labels = Labels()
    labels.settle_by_values([True, None, False])
    assert [labels.of(label) for label in (True, False, 1, "true")] == ["true", "false", "1", "true"]
    numbers = Labels()
    numbers.settle_by_values([True, 0, 1])
    assert [numbers.of(label) for label in (True, 0)] == [1, 0]
