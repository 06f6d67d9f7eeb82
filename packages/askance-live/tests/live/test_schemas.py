"""Requests are read as they are declared; what is wrong is said in a sentence, in the words of docs/http.md."""

import json

import msgspec
import pytest

from askance_live import routes
from askance_live.exchange.received import NewEvent, read_event
from askance_live.http.openapi import as_markdown, body_of, document
from askance_live.http.routing import ROUTES
from askance_live.http.schemas import (
    LONGEST_NAME,
    NoBody,
    QuestionNumber,
    describe,
    in_words,
    read,
    read_part,
    schema_of,
)
from askance_live.problems import Problem, result_or_problem
from askance_live.routes.admin import Drop
from askance_live.routes.answers import AnswersPage, NewLabel
from askance_live.routes.asks import GiveAnswer, NextAsks, SkipAsk

routes.load()
BODIES = list(dict.fromkeys(body_of(route) for route in ROUTES if body_of(route) is not None))
ANSWER = json.loads(GiveAnswer.example)
EVENT = json.loads(NewEvent.example)
NAME = "a text of 1 to 200 printable characters, or a whole number"
LABEL = "one of the classes, as a text, or in a stream of label sets a list of them or an object of true and false"
TIME = "ISO 8601 such as '2026-05-01T10:00:00Z', or seconds or milliseconds since 1970, in the years 1 to 9999"


@pytest.mark.parametrize("kind", BODIES, ids=lambda kind: kind.__name__)
def test_an_example_can_be_read_and_is_in_the_docs(kind):
    assert isinstance(read(kind, json.loads(kind.example)), kind)
    assert kind.example in as_markdown()


@pytest.mark.parametrize(
    ("kind", "given", "code", "sentence"),
    [
        (NewEvent, [], "invalid", f"expected an object such as {NewEvent.example}, got a list of 0."),
        (NewEvent, 3, "invalid", f"expected an object such as {NewEvent.example}, got 3."),
        (NewEvent, {"id": 1}, "invalid", "'fields' is missing; it must be an object."),
        (NewEvent, {"fields": None}, "invalid", "'fields' must be an object; got null."),
        (
            NewEvent,
            {"fields": {}, "lable": 1},
            "invalid",
            "there is no 'lable' here; known are: fields, id, time; what an event says goes into 'fields'.",
        ),
        (NewEvent, {**EVENT, "id": ""}, "invalid", f"'id' must be {NAME}; got ''."),
        (NewEvent, {**EVENT, "id": True}, "invalid", f"'id' must be {NAME}; got true."),
        (NewEvent, {**EVENT, "id": 1.5}, "invalid", f"'id' must be {NAME}; got 1.5."),
        (NewEvent, {**EVENT, "id": "a\u200bb"}, "invalid", f"'id' must be {NAME}; got 'a\\u200bb'."),
        (NewEvent, {**EVENT, "id": "x" * 201}, "invalid", f"'id' must be {NAME}; got a text of 201 characters."),
        (NewEvent, {**EVENT, "time": "soon"}, "invalid", f"'time' must be {TIME}; got 'soon'."),
        (NewEvent, {**EVENT, "time": 10**400}, "invalid", f"'time' must be {TIME}; got 1{'0' * 39}."),
        (NewEvent, {**EVENT, "time": {}}, "invalid", f"'time' must be {TIME}; got an object."),
        (
            NewLabel,
            {"event": "a", "label": 0},
            "unknown_label",
            f"'label' must be {LABEL}; got 0.",
        ),
        (NewLabel, {"event": "a"}, "unknown_label", f"'label' is missing; it must be {LABEL}."),
        (
            NewLabel,
            {"event": "a", "label": "b", "replace": 1},
            "invalid",
            "'replace' must be true or false; got 1.",
        ),
        (
            GiveAnswer,
            {"token": "1.1", "label": "a"},
            "invalid",
            f"'answer_id' is missing; it must be {NAME}, that you make, such as a UUID, so that a retry counts once.",
        ),
        (
            GiveAnswer,
            {**ANSWER, "token": "1.1\n"},
            "invalid",
            "'token' must be the token that came with the ask, such as '17.1'; got '1.1\\n'.",
        ),
        (GiveAnswer, {**ANSWER, "ms": -1}, "invalid", "'ms' must be a whole number from 0 to 86,400,000; got -1."),
        (
            GiveAnswer,
            {**ANSWER, "ms": 2**70},
            "invalid",
            f"'ms' must be a whole number from 0 to 86,400,000; got {2**70}.",
        ),
        (
            GiveAnswer,
            {**ANSWER, "comment": "x" * 2001},
            "invalid",
            "'comment' must be a text of at most 2,000 characters; got a text of 2,001 characters.",
        ),
        (
            SkipAsk,
            {"token": "1.1", "reason": "tired"},
            "invalid",
            "'reason' must be one of bad_data, later, unsure; got 'tired'.",
        ),
        (
            Drop,
            {"ids": ["a"] * 501},
            "invalid",
            "'ids' must be a list of at most 500, each a text; got a list of 501.",
        ),
        (NoBody, {"now": True}, "invalid", "there is no 'now' here; known are: none."),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(kind, given, code, sentence):
    with pytest.raises(Problem) as caught:
        read(kind, given)
    assert (caught.value.code, caught.value.detail) == (code, sentence)


def test_a_sentence_has_no_more_of_a_name_than_a_reader_needs():
    with pytest.raises(Problem) as caught:
        read(NewEvent, {"fields": {}, "x" * 5000: 1})
    assert len(caught.value.detail) < 300
    assert caught.value.more == {"field": "x" * 100}


def test_null_is_as_good_as_nothing():
    given = read(GiveAnswer, {**ANSWER, "ms": None, "comment": None, "supersedes": None})
    assert (given.ms, given.comment, given.supersedes) == (None, None, None)
    assert read_event({"fields": {}, "id": None, "time": None}, 100).time is None


def test_a_whole_number_is_the_same_name_as_its_digits():
    assert read(NewLabel, {"event": 17, "label": "a"}).event.value == "17"
    assert read(NewLabel, {"event": 10**50, "label": "a"}).event.value == str(10**50)
    assert read(NewLabel, {"event": "x" * LONGEST_NAME, "label": "a"}).event.value == "x" * LONGEST_NAME


def test_what_follows_the_question_mark_is_read_from_texts():
    assert read(NextAsks, {"n": "3", "other": "x"}, strict=False).n == 3
    page = read(AnswersPage, {"mine": "0", "cursor": ""}, strict=False)
    assert (page.mine, page.limit, page.cursor) == (0, 50, "")
    for given, sentence in [
        ({"n": "11"}, "'n' must be a whole number from 1 to 10; got '11'."),
        ({"n": ""}, "'n' must be a whole number from 1 to 10; got ''."),
        ({"n": "9" * 5000}, "'n' must be a whole number from 1 to 10; got a text of 5,000 characters."),
    ]:
        with pytest.raises(Problem) as caught:
            read(NextAsks, given, strict=False)
        assert (caught.value.detail, caught.value.more) == (sentence, {"field": "n"})
    with pytest.raises(Problem, match="'cursor' must be the 'next' of the page before; got '-1'"):
        read(AnswersPage, {"cursor": "-1"}, strict=False)


def test_a_part_of_a_path_that_is_no_number_is_an_ask_that_is_not_there():
    assert read_part("ask", QuestionNumber, "17") == 17
    for text in ("x", "-1", "9" * 16, "9" * 5000, ""):
        with pytest.raises(Problem, match="there is no ask") as caught:
            read_part("ask", QuestionNumber, text)
        assert caught.value.code == "unknown_ask"


def test_an_item_comes_to_something_or_to_its_problem():
    problem = Problem("invalid", "no.")
    assert result_or_problem(len, "abc") == 3
    assert result_or_problem(len, problem) is problem

    def refuse(item):
        raise problem

    assert result_or_problem(refuse, 1) is problem


def test_the_limits_that_are_checked_are_those_that_are_described():
    components = document()["components"]["schemas"]
    for kind in BODIES:
        shape = components[kind.__name__]
        assert shape["additionalProperties"] is not kind.__struct_config__.forbid_unknown_fields
        for field in msgspec.structs.fields(kind):
            described = schema_of(field.type)
            assert {**described, "default": None} == {**shape["properties"][field.name], "default": None}
            assert in_words(described)
    assert components["GiveAnswer"]["additionalProperties"] is False
    assert components["GiveAnswer"]["properties"]["ms"]["anyOf"][0]["maximum"] == 86_400_000
    assert describe([int])[0] == [{"type": "integer"}]


def test_a_summary_is_made_of_whole_sentences():
    assert [route.path for route in ROUTES if not route.summary.endswith(".")] == []
