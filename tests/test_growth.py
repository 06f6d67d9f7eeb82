"""Nothing that a request, an event, a line or a cell says makes the work on it grow faster than its length."""

import io
import json
import re
import tracemalloc
from contextlib import suppress
from itertools import count

import numpy as np
import pytest
from tests.growth import TooSlow, Use, attack, list_uses, no_longer_than

from askance.data.encoding.columns import settle_kinds
from askance.data.encoding.data_warnings import _labels_alike
from askance.data.encoding.kinds import _is_an_end, date_words
from askance.data.encoding.rows import FieldError, RowFeatures, flatten
from askance.data.encoding.table import TableEvents
from askance.data.formats import open_stream
from askance.data.formats.arff import _attribute, _sparse_entries
from askance.data.formats.csv import _distinct
from askance.data.formats.source import Input
from askance_live import routes
from askance_live.exchange.importing import _in_utf8
from askance_live.exchange.label_studio import tags_of
from askance_live.exchange.received import _check_whole_numbers, digest_of
from askance_live.http.routing import ROUTES, Router
from askance_live.problems import Problem
from askance_live.questions.variety import words_of

routes.load()
USES, HIDDEN = list_uses()
USES = [*USES, *(Use(f"route {pattern.pattern}", pattern, "fullmatch") for pattern in Router(ROUTES)._patterns)]


@pytest.mark.parametrize("use", USES, ids=lambda use: f"{use.name}.{use.method}")
def test_no_pattern_takes_longer_than_its_text(use):
    assert attack(use) is None


def test_every_pattern_is_found():
    assert [place.partition(":")[0] for place in HIDDEN] == ["askance_live.http.routing"]  # those of the routes
    assert len(USES) > 60


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"<Choices\b([^>]*)>", "search"),
        (r'"(?:[^"\\]|\\.)*"\s*:', "sub"),
        (r"[0-9]+\.?[0-9]*", "fullmatch"),
        (r"-?[0-9][0-9.,' ]*\s*(?:[$€£¥]|USD|EUR|GBP)", "fullmatch"),
        (r"(?:a|b|ab)*c", "search"),
        (rb"(?:\s+x?)*;", "match"),
    ],
)
def test_patterns_that_take_too_long_are_found(pattern, method):
    assert attack(Use("bad", re.compile(pattern), method)) is not None


# --- the rest of the code ------------------------------------------------------------------------------------

N = 100_000
"""How often something is repeated: what is quadratic takes minutes, or more memory than there is."""


def sparse_arff(attributes):
    head = "".join(f"@attribute a{k} string\n" for k in range(attributes))
    rows = "".join(f"{{{k} x}}\n" for k in range(attributes))
    return f"@relation r\n{head}@data\n{rows}".encode()


def wide_table(columns):
    return TableEvents({f"c{k}": ["red", "blue"] for k in range(columns)})


class SlowPipe(io.RawIOBase):
    """A few bytes at a time, as a pipe has them."""

    def __init__(self, content, each):
        self.content, self.each, self.place = memoryview(content), each, 0

    def readable(self):
        return True

    def readinto(self, room):
        got = self.content[self.place : self.place + min(self.each, len(room))]
        room[: len(got)] = got
        self.place += len(got)
        return len(got)

    def read1(self, size):
        room = bytearray(min(size, self.each))
        return bytes(room[: self.readinto(room)])


def read_from(pipe, **options):
    with open_stream(pipe, skip_bad_lines=True, **options) as stream:
        return sum(len(batch.y) for batch in stream)


VW_LINES = b"1 |a x\n" * 8000 + b"2 " + b"|a x " * 20_000 + b"\n"
"""One line with many namespaces among many lines."""


CASES = {
    "tags of a configuration": lambda: tags_of("<Choices" * 10 * N),
    "attributes of a configuration": lambda: tags_of("<Choices " + 'name="' * 10 * N + ">"),
    "words of quotes": lambda: [words_of('"' * 3 * N) for _ in range(3000)],
    "words of escaped quotes": lambda: [words_of('\\"' * N) for _ in range(3000)],
    "a name of many dots": lambda: RowFeatures({"x": "number"}).given_kind("a." * 5 * N),
    "names of columns that are alike": lambda: _distinct(["a"] * N),
    "names of columns that are taken": lambda: _distinct(["a", *(f"a ({k})" for k in range(2, N)), *["a"] * N]),
    "entries of a sparse row": lambda: _sparse_entries(b"{" + b",".join(b"%d 1" % k for k in range(5 * N)) + b"}"),
    "declared values": lambda: _attribute("@attribute a {" + ",".join(["x y"] * N) + "}"),
    "attributes of a sparse table": lambda: open_stream(io.BytesIO(sparse_arff(20_000)), format="arff").close(),
    "columns of a table": lambda: settle_kinds(RowFeatures(), [wide_table(10_000)]),
    "accents of labels": lambda: list(_labels_alike(["a" + "\u0315\u0300" * N, "b" + "\u0315\u0300" * N])),
    "a line in another encoding": lambda: sum(map(len, _in_utf8(Input(io.BytesIO(b"x" * 1500 * N), "x"), "latin-1"))),
    "a long line through a pipe": lambda: read_from(SlowPipe(b'{"text": "' + b"x" * 150 * N, 1000), format="jsonl"),
    "labels of another kind": lambda: read_from(io.BytesIO(b"1 1:1\n" * 2000 + b"x 1:1\n" * N), format="libsvm"),
    "lines that are no rows": lambda: read_from(
        io.BytesIO(b"a,b\n" + b"1,2\n" * 2000 + b"1\n" * (N // 4)), format="csv"
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_no_input_takes_longer_than_its_length(case):
    with no_longer_than(15.0), suppress(FieldError, Problem, ValueError):  # what is refused is so in good time
        CASES[case]()


IN_MEMORY = {
    "a long name with many inside": lambda: flatten({"a" * 20_000: {"b" * 20_000: [0] * 20_000}}),
    "whole numbers in a long name": lambda: _check_whole_numbers({"a" * 20_000: [0] * 20_000}),
    "numbers that are large": lambda: digest_of({"x": [[1e300] * 10 * N]}),
    "namespaces of a line": lambda: read_from(io.BytesIO(VW_LINES), format="vw", hash_bits=10),
}


@pytest.mark.parametrize("case", IN_MEMORY)
def test_no_input_takes_more_memory_than_its_length(case):
    tracemalloc.start()
    try:
        with suppress(FieldError):
            IN_MEMORY[case]()
        assert tracemalloc.get_traced_memory()[1] < 100_000_000  # what is quadratic takes four times as much and more
    finally:
        tracemalloc.stop()


def test_nothing_long_is_kept_of_what_looks_like_a_date():
    before = _is_an_end.cache_info().currsize
    assert all(date_words("2026-05-01T10" + f":{k % 60:02}".ljust(100, "0")) is None for k in range(100))
    assert _is_an_end.cache_info().currsize == before
    assert date_words("2026-05-01T10:03:00.123456789 +02:00") == ("Friday", "10 h")


def test_the_alarm_ends_what_takes_too_long():
    with pytest.raises(TooSlow), no_longer_than(0.1):
        sum(number for number in count())


# --- the same as before --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a", "text"), ("a.b", "text"), ("b.c", None), ("b.c.d", "date"), ("b.c.d" + ".x" * 50, "date"),
        ("a" + ".x" * 50, "text"), ("c" + ".x" * 50, None), (".x" * 50, None), ("x" * 60, None),
    ],
)  # fmt: skip
def test_a_field_has_the_kind_that_was_given_to_one_it_is_nested_in(name, kind):
    assert RowFeatures({"a": "text", "b.c.d": "date"}).given_kind(name) == kind


def test_a_long_name_may_have_some_fields_inside():
    name = "a" * 1000
    assert len(flatten({name: {str(k): k for k in range(5000)}})) == 5000
    with pytest.raises(FieldError, match="too long for the fields inside it") as caught:
        flatten({name: {str(k): k for k in range(6000)}})
    assert len(str(caught.value)) < 400
    assert len(flatten({"embedding": [0.5] * N})) == N


def test_a_second_column_of_a_name_gets_a_number():
    assert _distinct(["a", "a", "a (2)", "a", ""]) == ["a", "a (2)", "a (2) (2)", "a (3)", "4"]


def test_nested_fields_are_guessed_with_their_column():
    table = TableEvents({
        "n": np.array([1.0, 2.0]), "a": [{"text": "x", "b": 1}, {"text": "y", "b": 2}], "a.b.c": ["u", "v"],
    })  # fmt: skip
    features = RowFeatures()
    settle_kinds(features, [table])
    assert list(features.kinds.items()) == [
        ("n", "number"), ("a.text", "text"), ("a.b", "number"), ("a.b.c", "category"),
    ]  # fmt: skip


def test_words_are_those_of_values():
    fields = {"a b": 'c "d": e', "f": [":)", 5, "g"], "h": {":i": "j\\"}}
    assert words_of(json.dumps(fields)) == frozenset("cde5gj")
    assert words_of('{"a": "b", "cut off') == frozenset({"b", "cut", "off"})
