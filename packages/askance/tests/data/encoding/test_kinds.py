"""Guessing what a field is."""

import pytest

from askance.data.encoding.kinds import find_label, guess, number_in, why_not_a_number


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("a", ["1", "2.5", "-3e4"], "number"),
        ("a", ["1", "", "NA", "?"], "number"),
        ("a", [1, 2.5, True, None], "number"),
        ("a", ["1"] * 99 + ["oops"], "number"),
        ("a", ["1"] * 9 + ["oops"], "category"),
        ("a", ["nan", "1", "inf"], "number"),
        ("a", ["red", "blue"], "category"),
        ("a", ["New York", "Oslo"], "category"),
        ("a", [["x", "y"], ["z"]], "category"),
        ("a", ["2024-01-31", "2024-02-01"], "date"),
        ("a", ["2024-01-31 23:59", "", None, "2024-02-01 00:00"], "date"),
        ("title", ["2024-01-31T23:59:00Z", "2024-02-01T23:59:00Z"], "date"),
        ("a", ["2024-01-31", None], "category"),
        ("a", ["2024-01-31"] * 999 + ["soon"], "category"),
        ("a", ["2024-02-30"], "category"),
        ("a", ["the quick brown fox", "jumps over the lazy dog"], "text"),
        ("a", ["http://shop.example.com/login.php?x=1"], "text"),
        ("message", ["hi", "ok"], "text"),
        ("mail.Subject", ["hi", "ok"], "text"),
        ("text", ["1", "2"], "number"),
        ("id", ["1", "2"], "ignore"),
        ("user.ID", ["a"], "ignore"),
        ("a", ["", None, "NA"], "ignore"),
        ("a", [], "ignore"),
    ],
)
def test_kinds_are_guessed(name, values, kind):
    assert guess(name, values) == kind


@pytest.mark.parametrize(
    ("names", "label"),
    [
        (["a", "y"], "y"),
        (["target", "label"], "label"),
        (["CLASS", "b"], "CLASS"),
        (["a", "b"], None),
        ([" Y "], " Y "),
    ],
)
def test_labels_are_found_by_name(names, label):
    assert find_label(names) == label


@pytest.mark.parametrize("text", ["", " 1", "1 ", "nan", "inf", "1e151", "٣", "1_0", "0x1", "1,5", "--1", "1e"])
def test_what_is_no_number_has_a_reason(text):
    assert number_in(text) is None
    assert why_not_a_number(text).endswith(".")
