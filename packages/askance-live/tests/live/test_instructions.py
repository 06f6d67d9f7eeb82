"""Instructions in the settings, checked."""

import pytest

from askance.errors import InvalidParameter
from askance_live.config import from_document
from askance_live.display import Instructions


def read(**instructions):
    return from_document({"classes": ["spam", "ham"], "instructions": instructions}).instructions


def test_classes_come_in_the_order_of_the_settings_and_all_may_be_missing():
    assert not read()
    assert not Instructions()
    found = read(text=" Read. ", classes={"ham": {"text": "good"}, "spam": {"examples": ["win", "now"]}})
    assert found
    assert found.text == "Read."
    assert list(found.classes) == ["spam", "ham"]
    assert found.classes["spam"].examples == ("win", "now")
    assert read(text="Read.").digest == read(text="Read. ").digest != read(text="Read!").digest


@pytest.mark.parametrize(
    ("instructions", "sentence"),
    [
        ({"words": "x"}, "there is no setting instructions.words; there are: classes, text."),
        ({"text": 3}, "instructions.text must be a text of at most 20,000 characters, got '3'."),
        ({"text": "x" * 20_001}, "instructions.text must be a text of at most 20,000 characters"),
        ({"classes": ["ham"]}, "instructions.classes must be a table"),
        ({"classes": {"egg": {}}}, "instructions.classes has 'egg', which is no class; there are: spam, ham."),
        ({"classes": {"ham": "good"}}, r"instructions.classes.ham must be a table, \[instructions.classes.ham\]"),
        ({"classes": {"ham": {"note": ""}}}, "there is no setting instructions.classes.ham.note"),
        ({"classes": {"ham": {"examples": "a"}}}, "instructions.classes.ham.examples must be a list of at most 20"),
        ({"classes": {"ham": {"examples": ["a"] * 21}}}, "must be a list of at most 20 texts"),
        ({"classes": {"ham": {"examples": ["a", 1]}}}, "instructions.classes.ham.examples must be a text"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(instructions, sentence):
    with pytest.raises(InvalidParameter, match=sentence):
        read(**instructions)
