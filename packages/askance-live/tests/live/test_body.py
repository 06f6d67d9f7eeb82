"""A body is refused for what it is, never for what its texts talk about; and large ones as small ones are."""

import json

import pytest

from askance_live.http.body import SMALL, BodyLimits, parse, parse_documents, parse_lines
from askance_live.problems import Problem

pytestmark = pytest.mark.hostile

LIMITS = BodyLimits(32, 1000, 256_000)
TALK = [
    r"\u0000",
    "\\" * 3 + r"u0000 \\u0000",
    r"\ud800",
    r"a \udc00 b",
    "NaN",
    "-Infinity",
    "1e999",
    "7" * 5000,
    '": "',
    "\\",
    "[[{",
]


def refusal(content, depth=32):
    with pytest.raises(Problem) as caught:
        parse(content, depth)
    return caught.value


@pytest.mark.parametrize("text", TALK)
def test_a_text_may_talk_about_anything(text):
    value = {"fields": {"text": text, text: 1}}
    for ascii_only in (True, False):
        assert parse(json.dumps(value, ensure_ascii=ascii_only).encode(), 32) == value


@pytest.mark.parametrize("text", TALK)
@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (b'"a\\u0000"', "NUL characters cannot be stored"),
        (b'"\\\\\\u0000"', "NUL characters cannot be stored"),
        (b"NaN", "NaN is not a number that can be used"),
        (b"-Infinity", "-Infinity is not a number that can be used"),
        (b"1e999", "the number is out of range"),
        (b"7" * 5000, "the number is out of range"),
        (b'"\\ud83d\\ude00 \\ud800"', "half of a surrogate pair is no character"),
        (b'"\\udc00 and so on, for a while"', "half of a surrogate pair is no character"),
        (b"tru", "this is no JSON"),
        (b'1, "bad": 2', "the name 'bad' occurs twice"),
    ],
)
def test_what_is_wrong_is_found_behind_a_text_about_it(text, bad, sentence):
    content = json.dumps({"text": text}).encode()[:-1] + b', "bad": ' + bad + b"}"
    problem = refusal(content)
    assert sentence in problem.detail
    assert problem.more["field"] == "bad"


def test_a_real_nul_is_refused_however_many_backslashes_stand_before_it():
    for backslashes in range(6):
        content = b'{"a": "' + b"\\" * backslashes + b'u0000"}'
        if backslashes % 2:
            assert refusal(content).code == "invalid"
        else:
            assert parse(content, 32) == json.loads(content)


def test_names_are_the_same_however_they_are_written():
    assert refusal(b'{"a": 1, "\\u0061": 2}').more["field"] == "a"
    assert parse(b'{"a" : {"a": 1}, "b\\"": [{"a": 1}, {"a": 2}]}', 32)["a"] == {"a": 1}


def test_a_large_array_is_read_as_a_small_one_is():
    events = [{"id": str(number), "fields": {"text": 'a "b", [c', "n": [number, {}]}} for number in range(900)]
    content = json.dumps(events, indent=1).encode()
    assert len(content) > SMALL
    assert parse_documents(content, LIMITS) == events
    assert parse_documents(b"\n".join(json.dumps(event).encode() for event in events), LIMITS) == events


@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        (b', {"id": tru}]', "this is no JSON"),
        (b", ]", "this is no JSON"),
        (b"", "the array does not end"),
        (b"]]", "goes on after the end"),
        (b', {"a": 1, "a": 2}]', "'a' occurs twice"),
        (b", " + b"[" * 40 + b"]" * 40 + b"]", "32 levels deep"),
        (b", " + b"[" * 31 + b"]" * 31 + b"]", None),
        (b", " + b"[" * 32 + b"]" * 32 + b"]", "levels deep"),
    ],
)
def test_a_large_array_is_refused_as_a_small_one_is(end, sentence):
    for number in (1, 900):
        content = b"[" + b", ".join([b'{"fields": {"text": "some words"}}'] * number) + end
        if sentence is None:
            assert len(parse_documents(content, LIMITS)) == number + 1
            continue
        with pytest.raises(Problem) as caught:
            parse_documents(content, LIMITS)
        if number == 900 or "array" not in sentence:
            assert sentence.split()[-1] in caught.value.detail


def test_the_place_of_a_mistake_counts_from_the_beginning_of_the_body():
    content = b"[" + b'{"fields": {"text": "a few words"}}, ' * 900 + b'{"fields": NaN}]'
    with pytest.raises(Problem, match=f"byte {content.index(b'NaN'):,}"):
        parse_documents(content, LIMITS)


def test_an_item_that_is_too_large_says_nothing_of_the_others():
    content = json.dumps([{"fields": {"text": "x" * 2_000_000}}, {"fields": {}}]).encode()
    large, fine = parse_documents(content, LIMITS)
    assert (large.code, fine) == ("event_too_large", {"fields": {}})
    large, fine = parse_lines(content[1:-1].replace(b"}, {", b"}\n{"), LIMITS)
    assert (large.code, fine) == ("event_too_large", {"fields": {}})


def test_more_items_or_containers_than_allowed_are_refused():
    for content in (b"[" + b"1," * 20_000 + b"1]", b"1\n" * 20_000):
        with pytest.raises(Problem, match="more than 1,000"):
            parse_documents(content, LIMITS) if content[:1] == b"[" else parse_lines(content, LIMITS)
    with pytest.raises(Problem, match="50,000 objects and lists"):
        parse_documents(b'{"fields": {"a": [' + b"[]," * 60_000 + b"1]}}", LIMITS)
    item = b'{"fields": {"a": [' + b"[]," * 40_000 + b"1]}}"
    with pytest.raises(Problem, match="100,000 objects and lists in one body"):
        parse_documents(b"[" + b",".join([item] * 3) + b"]", LIMITS)
