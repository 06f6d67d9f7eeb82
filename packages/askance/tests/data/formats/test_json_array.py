"""Files that are one JSON array: read as lines with the same objects are, whatever their layout and size."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.formats import slow

from askance.data import open_stream
from askance.data.formats import jsonl as json_array
from askance.errors import BadLine, InvalidInput

ROWS = [
    {"text": 'a "quoted" [word], {or} two \\', "size": 3, "tags": ["x", "y"], "label": "spam"},
    {"text": "line\nend", "size": None, "in": {"a": [1, {"b": 2}]}, "label": "ham"},
    {"text": "\u00e9\u4e2d", "size": 1.5, "label": "ham"},
]


def read(content, **options):
    return open_stream(io.BytesIO(content), **({"raw": True, "hash_bits": 12} | options))


def as_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize("layout", [{}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_an_array_is_read_as_lines_with_its_objects(layout, ends):
    content = json.dumps(ROWS, **layout).replace("\n", ends).encode()
    assert slow.played(read(content)) == slow.played(read(as_lines(ROWS)))


texts = st.text(st.sampled_from('a"\\[]{},\n '), max_size=8)
values = st.recursive(st.none() | st.integers(-5, 5) | texts, lambda inner: st.lists(inner, max_size=3), max_leaves=5)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.dictionaries(texts, values, max_size=3), min_size=1, max_size=5),
    indent=st.none() | st.integers(0, 2),
    piece=st.integers(1, 40),
)
def test_pieces_may_end_anywhere(rows, indent, piece):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_array, "PIECE", piece)
        part = json_array.Input(io.BytesIO(json.dumps(rows, indent=indent).encode()), "x")
        lines = b"".join(json_array.objects_of_array(part)).split(b"\n")
    assert [json.loads(line) for line in lines] == rows


def test_no_more_than_a_piece_is_held():
    content = json.dumps([{"text": "x" * 300_000}, {"text": "\\" * 300_000}, *ROWS] * 3).encode()
    part = json_array.Input(io.BytesIO(content), "x")
    pieces = list(json_array.objects_of_array(part))
    assert max(map(len, pieces)) <= json_array.PIECE + 1
    assert len(b"".join(pieces).split(b"\n")) == 15


def test_a_bad_object_is_told_by_its_number():
    content = json.dumps(ROWS[:1] * 20).encode()[:-1] + b', {"size": 1 "label": "ham"}, 3, {"label": "ham"}]'
    with pytest.raises(BadLine, match=r"object 21 of 'stream', column 12: it is not valid JSON: expecting ',' delimi"):
        slow.played(read(content))
    stream = read(content, skip_bad_lines=True, origins=True)
    assert [line for batch in stream for line in batch.origins["line"].tolist()] == [*range(1, 21), 23]
    assert stream.bad_lines == 2
    assert "object 22 of 'stream': it is 3, but each event must be a JSON object" in stream.bad_line_examples[1]


def test_bad_objects_can_be_kept_and_played(tmp_path):
    bad = tmp_path / "bad.jsonl"
    content = json.dumps([{"a": 1, "y": 0}] * 1100 + [{"a": "x", "y": 1}], indent=1).encode()
    assert len(slow.played(read(content, quarantine=bad))[0]) == 1100
    assert json.loads(bad.read_text().splitlines()[1])["line"] == 1101
    assert slow.played(open_stream(bad, raw=True))[1] == [1]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'[{"a": 1}, {"a"', "'stream' is cut off: its JSON array does not end."),
        (b'[{"a": 1}', "'stream' is cut off: its JSON array does not end."),
        (b'[{"a": 1}]\n{"a": 2}', "'stream' goes on after the end of its JSON array; one array, or one object per"),
    ],
)
def test_an_array_that_is_damaged_as_a_whole_is_refused(content, reason):
    with pytest.raises(InvalidInput, match=reason):
        slow.played(read(content, skip_bad_lines=True))
