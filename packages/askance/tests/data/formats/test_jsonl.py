"""JSON Lines: nested fields, missing values, labels, damage."""

import io
import json
import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.formats import slow

from askance.data import open_stream
from askance.data.formats import buffer
from askance.data.missing import is_missing
from askance.errors import BadLine, InvalidParameter


def read(content, **options):
    if isinstance(content, list):
        content = "".join(json.dumps(row) + "\n" for row in content)
    content = content.encode() if isinstance(content, str) else content
    return open_stream(io.BytesIO(content), **({"raw": True, "format": "jsonl", "hash_bits": 12} | options))


def rows_of(content, **options):
    return slow.played(read(content, **options))


def kinds(stream):
    return {field.name: field.kind for field in stream.fields}


def test_a_line_is_an_object_with_fields():
    stream = read([{"text": "win a prize", "size": 3, "label": "spam"}, {"text": "hello", "size": 1, "label": "ham"}])
    assert kinds(stream) == {"label": "label", "text": "text", "size": "number"}
    rows, labels = slow.played(stream)
    assert labels == ["spam", "ham"]
    assert rows[1] == {slow.column_of("text", "hello", 12): 1.0, 4096: 1.0}


def test_nested_fields_are_called_by_all_their_names():
    stream = read([{"from": {"country": "NO", "age": 3}, "vector": [0.5, {"x": 1}], "y": 0}])
    assert kinds(stream) == {
        "y": "label", "from.country": "category", "from.age": "number", "vector.0": "number", "vector.1.x": "number",
    }  # fmt: skip
    rows, _ = slow.played(stream)
    assert rows == [{slow.column_of("from.country", "NO", 12): 1.0, 4096: 3.0, 4097: 0.5, 4098: 1.0}]


def test_a_list_of_strings_is_a_bag_of_words():
    rows, _ = rows_of([{"tags": ["a", "b", "a"], "y": 1}])
    assert rows == [{slow.column_of("tags", "a", 12): 2.0, slow.column_of("tags", "b", 12): 1.0}]


def test_truth_values_are_numbers_and_nulls_are_missing():
    rows, _ = rows_of([{"a": True, "b": 2, "c": "x", "y": 1}, {"a": False, "b": None, "c": None, "y": 0}])
    assert rows == [
        {0: 1.0, 1: 2.0, 2 + slow.column_of("c", "x", 12): 1.0},
        {2 + slow.column_of("c", "", 12): 1.0},
    ]


def test_columns_are_handed_out_in_the_order_of_the_fields_and_never_move():
    rows = [{"a": 1, "y": 0}] * 1200 + [{"word": "x", "a": 1, "late": 5, "y": 1}]
    found, _ = rows_of(rows)
    assert found[-1] == {0: 1.0, 1 + slow.column_of("word", "x", 12): 1.0, 1 + 4096: 5.0}


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([1, -1], [1, -1]),
        ([1.0, 0.0], [1, 0]),
        ([0.5, 1], [0.5, 1.0]),
        (["1", "0"], ["1", "0"]),
        ([1, "ham"], ["1", "ham"]),
        ([True, False], ["true", "false"]),
        (["a", None], ["a", None]),
        (["a", ""], ["a", None]),
    ],
)
def test_labels_are_whole_numbers_numbers_or_text(labels, expected):
    _, found = rows_of([{"a": 1, "y": label} for label in labels])
    assert found == expected
    assert [type(label) for label in found] == [type(label) for label in expected]


def test_a_stream_without_labels_has_none():
    assert next(iter(read([{"a": 1}]))).y is None
    assert next(iter(read([{"a": 1, "y": 1}], label=False))).y is None


def test_the_label_can_be_any_field_by_its_full_name():
    stream = read([{"a": 1, "meta": {"truth": "x"}}], label="meta.truth")
    assert slow.played(stream) == ([{0: 1.0}], ["x"])
    with pytest.raises(InvalidParameter, match="has a field 'nope' to be the label; there are: a, meta.truth"):
        read([{"a": 1, "meta": {"truth": "x"}}], label="nope")
    with pytest.raises(InvalidParameter, match="have names; the number 0 is none"):
        read([{"a": 1}], label=0)


def test_a_whole_branch_can_be_left_out():
    stream = read([{"meta": {"a": 1, "b": "x"}, "n": 2, "y": 1}], features={"meta": "ignore"})
    assert slow.played(stream)[0] == [{0: 2.0}]


def test_kinds_can_be_given_and_numbers_may_be_written_as_strings():
    rows, _ = rows_of([{"code": 7, "n": "3.5", "y": 1}, {"code": 8, "n": "NA", "y": 0}], features={"code": "category"})
    assert rows == [{slow.column_of("code", "7", 12): 1.0, 4096: 3.5}, {slow.column_of("code", "8", 12): 1.0}]


@pytest.mark.parametrize(
    ("line", "column", "reason"),
    [
        (b'{"a": 1', "column 8", "it is not valid JSON: it ends too early."),
        (b'{"a": 1,}', "column 9", "it is not valid JSON: "),
        (b"hello", "column 1", "it is not valid JSON: expecting value."),
        (b"[1, 2]", None, "it is a list, but each event must be a JSON object"),
        (b"3", None, "it is 3, but each event must be a JSON object"),
        (
            b'{"a": -Infinity}',
            None,
            "-Infinity cannot be learned from; leave the value out or write null if it is missing.",
        ),
        (b'{"a": 1e999}', "field 'a'", "'inf' is not finite"),
        (b'{"a": 1e200}', "field 'a'", "is too large (beyond 1e150): sums of its squares overflow"),
        (b'{"a": 1' + b"0" * 400 + b"}", "field 'a'", "'1E+400' is too large"),
        (b'{"a": 1' + b"0" * 9000 + b"}", None, "it contains a number with thousands of digits."),
        (b'{"a": "x"}', "field 'a'", "'x' is not a number; the kind 'category' allows any value."),
        (b'{"a": ["x"]}', "field 'a'", "a number is expected, got list"),
        (b'{"a": 1, "y": "x"}', "field 'y'", "the label 'x' is not a whole number"),
        (b'{"a": 1, "y": ["x"]}', "field 'y'", "a label is text or a number"),
        (b'{"b": {"c": 1}, "b.c": 2}', "field 'b.c'", "it occurs twice"),
        (b'{"a": "\xff"}', "column 8", "it is not UTF-8 text; if it"),
        (b'{"a": "\x00"}', "column 8", "it is not valid JSON: invalid control character"),
        (b'{"a": ' + b"[" * 100_000, None, "it is nested too deeply."),
    ],
)
def test_a_bad_line_is_told_with_file_line_column_and_reason(line, column, reason):
    good = b'{"a": 1, "y": 0}\n'
    with pytest.raises(BadLine, match=re.escape(reason)) as caught:
        rows_of(good * 1040 + line + b"\n" + good)
    assert (caught.value.file, caught.value.line, caught.value.column) == ("stream", 1041, column)
    assert "\n" not in str(caught.value)
    stream = read(good * 1040 + line + b"\n" + good, skip_bad_lines=True)
    assert len(slow.played(stream)[0]) == 1041
    assert stream.bad_lines == 1


def test_a_bad_line_leaves_no_trace_in_its_batch():
    stream = read(
        b'{"a": 1, "b": 2}\n{"a": 3, "b": "x"}\n{"a": 5, "b": 6}\n' * 1, skip_bad_lines=True, features={"b": "number"}
    )
    assert slow.played(stream)[0] == [{0: 1.0, 1: 2.0}, {0: 5.0, 1: 6.0}]


def test_a_line_that_is_too_long_is_a_bad_line(monkeypatch):
    slow.use_pieces(monkeypatch, 64)
    monkeypatch.setattr(buffer, "LONGEST_LINE", 512)
    content = b'{"a": 1}\n{"a": "' + b"x" * 2000 + b'"}\n{"a": 2}\n'
    stream = read(content, skip_bad_lines=True)
    assert slow.played(stream)[0] == [{0: 1.0}, {0: 2.0}]
    assert "longer than" in stream.bad_line_examples[0]


def test_playing_twice_gives_the_same(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [{"n": n % 7, "text": f"word{n} and more of them", "y": n % 2} for n in range(50)] + [{"late": 1, "y": 0}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    stream = open_stream(path, batch_rows=8)
    assert slow.played(stream) == slow.played(stream)


# --- fuzzing ---------------------------------------------------------------------------------------------

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-10**6, 10**6), st.floats(-1e6, 1e6), st.text(max_size=10),
    st.sampled_from(["a b c d e", "3.5", "NA", "", "\ud800"]),
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(st.text(max_size=4), max_size=3),
        st.dictionaries(st.sampled_from("pqr"), inner, max_size=3),
    ),
    max_leaves=6,
)
objects = st.dictionaries(st.sampled_from(["a", "b", "c", "text", "y"]), values, max_size=4)
files = st.lists(objects, max_size=6).map(lambda rows: "\n".join(json.dumps(row) for row in rows).encode())


def flat(value, name=""):
    """The fields of a nested object, once more."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list) and not all(isinstance(item, str) for item in value):
        for key, inner in enumerate(value):
            yield from flat(inner, f"{name}.{key}")
    elif value != []:
        yield name, value


def loaded(line):
    """What stands in a line; NaN is null."""
    return json.loads(line.decode("utf-8"), parse_constant=lambda word: None if word == "NaN" else 1 / 0)


def label_of(value):
    """A label as text: a whole number has no decimals, and blanks around a word do not count."""
    if is_missing(value):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return word(value).strip()


def is_good(line):
    """Whether a line can be read if every field is a category."""
    try:
        row = loaded(line)
    except (ValueError, ZeroDivisionError, RecursionError):
        return False
    if not isinstance(row, dict):
        return False
    names = [name for name, _ in flat(row)]
    label = dict(flat(row)).get("y")
    if (isinstance(row.get("y"), list | dict) and row["y"]) or (isinstance(label, str) and not label.isprintable()):
        return False
    if isinstance(label, float) and not math.isfinite(label):
        label = str(label)
    return len(names) == len(set(names))


def word(value):
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


@settings(max_examples=300, deadline=None)
@given(content=slow.spoiled(files), piece=st.sampled_from([16, 1 << 20]))
def test_any_file_is_read_as_a_slow_reader_reads_it(content, piece):
    content = b'{"y": "first"}\n' + content
    lines = [(place, line) for place, line in enumerate(slow.lines(content), 1) if line.strip()]
    good = [line for _, line in lines if is_good(line)]
    bad = [place for place, line in lines if not is_good(line)]
    expected = []
    for line in good:
        row = {}
        for name, value in flat(loaded(line)):
            for item in [] if name == "y" else value if isinstance(value, list) else [value]:
                column = slow.category_column(name, word(item), 12)
                row[column] = row.get(column, 0.0) + 1.0
        expected.append(row)
    names = {name.split(".")[0] for line in good for name, _ in flat(loaded(line))}
    names |= {"a", "b", "c", "text", "y"}
    options = {"features": dict.fromkeys(names, "category"), "labels": "text"}
    with pytest.MonkeyPatch.context() as patch:
        slow.use_pieces(patch, piece)
        stream = read(content, skip_bad_lines=True, **options)
        rows, labels = slow.played(stream)
    if any("y" in dict(flat(loaded(line))) for line in good):
        assert rows == expected
        assert labels == [label_of(dict(flat(loaded(line))).get("y")) for line in good]
        assert stream.bad_lines == len(bad)
        if bad:
            with pytest.raises(BadLine) as caught:
                slow.played(read(content, **options))
            assert caught.value.line == bad[0]


@settings(max_examples=150, deadline=None)
@given(content=st.one_of(st.binary(max_size=200), slow.spoiled(files)), skip=st.booleans())
def test_junk_is_an_error_in_one_sentence_or_rows(content, skip):
    with slow.clear_errors():
        slow.played(open_stream(io.BytesIO(content), format="jsonl", skip_bad_lines=skip, hash_bits=10))
