"""Bad lines are kept in a file that can be played again."""

import io
import json

import numpy as np
import pytest

from askance.data import open_stream
from askance.errors import InvalidInput


def rows_of(source, **options):
    stream = open_stream(source, **options)
    rows, labels = [], []
    for batch in stream:
        X = batch.X
        rows += [X.data[a:b].tolist() for a, b in zip(X.indptr, X.indptr[1:], strict=False)]
        labels += [str(y) for y in batch.y]
    return rows, labels, stream


def kept(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


FILES = {
    "csv": b"size;note;label\n" + b"1;a;0\n2;b;1\n" * 30 + b'x;"say ""hi""; you";1\n3;c\n"y\nz";d;0\n',
    "jsonl": b'{"size": 1, "label": 0}\n{"size": 2, "label": 1}\n' * 30
    + b'{"size": "x", "label": 1}\n{broken\n{"size": "\xff", "label": 1}\n',
    "libsvm": b"+1 1:2 3:4\n-1 2:2\n" * 30 + b"+1 1:x\nhello 1:2\n-1 7\n",
    "arff": b"@relation r\n@attribute size numeric\n@attribute 'my note' {a,'b c'}\n@attribute label {0,1}\n@data\n"
    + b"1,a,0\n2,'b c',1\n" * 30
    + b"x,'b c',1\n3,d,0\n4\n",
}


@pytest.mark.parametrize("format", FILES)
def test_every_bad_line_is_kept_with_file_line_and_reason_and_is_bad_again(tmp_path, format):
    source, bad, again = tmp_path / f"f.{format}", tmp_path / "bad.jsonl", tmp_path / "again.jsonl"
    source.write_bytes(FILES[format])
    options = {"features": {"size": "number"}} if format in ("csv", "jsonl") else {"labels": "int"}
    found, _, stream = rows_of(source, quarantine=bad, **options)
    head, *lines = kept(bad)
    assert (head["askance"], head["format"]) == ("quarantine", format)
    assert (len(found), stream.bad_lines, len(lines)) == (60, 3, 3)
    assert all(line["file"] == f"f.{format}" and line["line"] > 60 and line["reason"].endswith(".") for line in lines)
    state = stream.state()
    label = {} if format == "libsvm" else {"label": "label"}
    _, _, second = rows_of(bad, quarantine=again, state=state, **label)
    assert second.bad_lines == 3
    assert [line["reason"] for line in kept(again)[1:]] == [line["reason"] for line in lines]
    assert [line["raw"] for line in kept(again)[1:]] == [line["raw"] for line in lines]


def test_kept_lines_can_be_played_once_their_field_is_wider(tmp_path):
    source, bad = tmp_path / "f.csv", tmp_path / "bad.jsonl"
    source.write_bytes(b"size,label\n" + b"1,0\n2,1\n" * 600 + b"x,1\n" * 30)
    found, _, stream = rows_of(source, quarantine=bad)
    assert (len(found), stream.bad_lines) == (1220, 10)
    assert stream.promoted == [("size", "number", "category")]
    later, more, second = rows_of(bad, state=stream.state())
    assert (len(later), second.bad_lines, more) == (10, 0, ["1"] * 10)
    assert np.count_nonzero(later) == 10


def test_kept_lines_may_be_compressed_and_come_through_a_pipe(tmp_path):
    import gzip

    source, bad = tmp_path / "f.csv", tmp_path / "bad.jsonl"
    source.write_bytes(FILES["csv"])
    rows_of(source, quarantine=bad, features={"size": "number"})
    packed = io.BytesIO(gzip.compress(bad.read_bytes()))
    found, _, stream = rows_of(packed, skip_bad_lines=True, features={"size": "category"})
    assert (len(found), stream.bad_lines) == (2, 1)


def test_a_file_without_bad_lines_leaves_a_file_with_a_head_alone(tmp_path):
    rows_of(io.BytesIO(b"a,label\n1,0\n2,1\n"), format="csv", quarantine=tmp_path / "bad.jsonl")
    assert len(kept(tmp_path / "bad.jsonl")) == 1


def test_a_second_pass_writes_each_bad_line_once(tmp_path):
    source, bad = tmp_path / "f.csv", tmp_path / "bad.jsonl"
    source.write_bytes(FILES["csv"])
    stream = open_stream(source, quarantine=bad, features={"size": "number"})
    for _ in range(2):
        assert sum(batch.X.shape[0] for batch in stream) == 60
        assert len(kept(bad)) == 4


def test_what_an_earlier_run_kept_stays_and_another_file_is_not_touched(tmp_path):
    source, bad, other = tmp_path / "f.csv", tmp_path / "bad.jsonl", tmp_path / "notes.txt"
    source.write_bytes(FILES["csv"])
    for times in (1, 2):
        rows_of(source, quarantine=bad, features={"size": "number"})
        head, *lines = kept(bad)
        assert (head["format"], len(lines)) == ("csv", 3 * times)
    other.write_text("mine\n")
    for path in (other, bad):
        before = path.read_bytes()
        with pytest.raises(InvalidInput, match="is there already and holds something else"):
            rows_of(io.BytesIO(FILES["jsonl"]), format="jsonl", quarantine=path, features={"size": "number"})
        assert path.read_bytes() == before


def test_a_damaged_file_of_bad_lines_is_told_in_one_sentence(tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"askance": "quarantine", "format": "csv"}\n{"raw": 3}\n')
    with pytest.raises(InvalidInput, match=r"line 2 of 'bad.jsonl' is no line that was kept in quarantine"):
        rows_of(bad)
    bad.write_text('{"askance": "quarantine", "format": "morse"}\n')
    with pytest.raises(ValueError, match="format must be one of"):
        rows_of(bad)


def test_rows_of_parquet_are_kept_as_rows_of_json(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    table = pyarrow.table({"size": [1.0, float("inf"), 3.0], "word": ["a", "b", "c"], "label": [0, 1, 1]})
    parquet.write_table(table, tmp_path / "f.parquet")
    rows_of(tmp_path / "f.parquet", quarantine=tmp_path / "bad.jsonl", label="label")
    head, line = kept(tmp_path / "bad.jsonl")
    assert (head["format"], line["field"], line["line"]) == ("jsonl", "size", 1)
    assert json.loads(line["raw"]) == {"size": float("inf"), "word": "b", "label": 1}
