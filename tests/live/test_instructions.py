"""Instructions in the settings: checked, and what a text becomes."""

import pytest

from askance.errors import InvalidParameter
from askance.live.config import from_document
from askance.live.instructions import Instructions, blocks


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


def test_a_text_becomes_paragraphs_lists_and_links():
    found = list(blocks("One\ntwo\n\n- a (https://x.org/?q=1).\n - b\nEnd javascript:alert(1) ftp://x"))
    assert [(block.is_list, ["".join(part.text for part in line) for line in block.lines]) for block in found] == [
        (False, ["One", "two"]),
        (True, ["a (https://x.org/?q=1).", "b"]),
        (False, ["End javascript:alert(1) ftp://x"]),
    ]
    addresses = [part.address for block in found for line in block.lines for part in line if part.address]
    assert addresses == ["https://x.org/?q=1"]
    assert list(blocks("  \n ")) == []
