"""Parquet files: types, nulls, nested fields, damage."""

import datetime
import io
import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.formats import slow

from askance.data import open_stream
from askance.errors import BadLine, InvalidInput, InvalidParameter
from askance.extras import how_to_install

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def written(table, **options):
    file = io.BytesIO()
    pq.write_table(pa.table(table) if isinstance(table, dict) else table, file, **options)
    return file.getvalue()


def read(content, **options):
    return open_stream(io.BytesIO(content), **({"raw": True, "format": "parquet", "hash_bits": 10} | options))


def test_numbers_strings_and_nulls():
    content = written({"n": [1.5, None, 3.0], "b": [True, False, None], "c": ["x", "y", None], "y": ["a", "b", None]})
    stream = read(content)
    assert [tuple(field) for field in stream.fields] == [
        ("y", "label"),
        ("n", "number"),
        ("b", "number"),
        ("c", "category"),
    ]
    rows, labels = slow.played(stream)
    x, y, nothing = (2 + slow.column_of("c", value, 10) for value in ("x", "y", ""))
    assert rows == [{0: 1.5, 1: 1.0, x: 1.0}, {y: 1.0}, {0: 3.0, nothing: 1.0}]
    assert labels == ["a", "b", None]


def test_decimals_and_times_of_day_are_numbers():
    content = written({"at": [datetime.time(0, 0, 2)], "d": [Decimal("1.25")], "y": [1]})
    assert slow.played(read(content)) == ([{0: 2_000_000.0, 1: 1.25}], [1])


def test_dates_and_timestamps_are_dates():
    moment = pa.array([1_000_000_000_000_000_001], pa.timestamp("ns"))  # Sunday, 2001-09-09 01:46:40
    content = written({"day": [datetime.date(1970, 1, 3)], "moment": moment, "y": [1]})
    expected = [slow.column_of("day", "Saturday", 10)]
    expected += [slow.column_of("moment", word, 10) for word in ("Sunday", "01 h")]
    assert slow.played(read(content)) == ([dict.fromkeys(expected, 0.5)], [1])
    assert slow.played(read(content, features={"day": "number", "moment": "ignore"})) == ([{0: 2.0}], [1])


def test_nested_fields_become_what_they_become_in_json():
    rows = [{"from": {"country": "NO", "age": 3}, "tags": ["a", "b"], "vector": [0.5, 1.5], "y": 0}]
    sender = pa.struct([("country", pa.string()), ("age", pa.int64())])  # in this order, whatever pyarrow would guess
    types = {"from": sender, "tags": pa.list_(pa.string()), "vector": pa.list_(pa.float64()), "y": pa.int64()}
    content = written(pa.Table.from_pylist(rows, schema=pa.schema(types)))
    import json

    as_json = open_stream(io.BytesIO(json.dumps(rows[0]).encode()), raw=True, hash_bits=10)
    assert slow.played(read(content)) == slow.played(as_json)


def test_the_label_is_found_as_in_a_table():
    content = written({"a": [1], "class": ["x"], "c": [2]})
    assert slow.played(read(content))[1] == ["x"]
    assert slow.played(read(content, label=-1))[1] == [2]
    assert slow.played(read(content, label="a"))[1] == [1]
    with pytest.raises(InvalidParameter, match="has no field 'nope'"):
        read(content, label="nope")


def test_values_that_cannot_be_learned_from_are_bad_rows():
    content = written({"a": [1.0, float("-inf"), 2.0, float("inf")], "y": [0, 1, 0, 1]})
    with pytest.raises(BadLine, match="row 1 of 'stream', field 'a': '-inf' is not finite"):
        slow.played(read(content))
    stream = read(content, skip_bad_lines=True)
    assert slow.played(stream) == ([{0: 1.0}, {0: 2.0}], [0, 0])
    assert stream.bad_lines == 2


def test_batches_go_through_row_groups_and_files(tmp_path):
    for part in range(2):
        (tmp_path / f"{part}.parquet").write_bytes(
            written({"a": list(range(1, 11)), "y": [part] * 10}, row_group_size=3)
        )
    stream = open_stream(tmp_path, raw=True, batch_rows=4)
    rows, labels = slow.played(stream)
    assert [row[0] for row in rows] == [*range(1, 11), *range(1, 11)]
    assert labels == [0] * 10 + [1] * 10
    assert slow.played(stream) == (rows, labels)


def test_without_pyarrow_the_sentence_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InvalidInput, match=re.escape(how_to_install("parquet"))):
        read(b"PAR1")


CONTENT = written({"a": [1.0, 2.0, 3.0], "c": ["x", "y", "z"], "y": [0, 1, 0]})


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_cut_off_file_is_an_error_in_one_sentence(data):
    place = data.draw(st.integers(0, len(CONTENT) - 1))
    with pytest.raises((BadLine, InvalidInput)) as caught:
        slow.played(read(CONTENT[:place]))
    assert "\n" not in str(caught.value)


@settings(max_examples=100, deadline=None)
@given(content=st.binary(max_size=200))
def test_junk_is_refused(content):
    with pytest.raises(InvalidInput):
        read(content)


def test_fields_that_cannot_be_told_apart_are_refused():
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(InvalidInput, match="two fields with the same name"):
        read(written(twice), label=False)
    with pytest.raises(InvalidInput, match="a single field, 'a', which leaves none beside"):
        read(written({"a": [1]}))
    assert slow.played(read(written({"a": [1]}), label=False))[0] == [{0: 1.0}]
