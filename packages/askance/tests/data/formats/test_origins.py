"""Where rows come from: file, line and id, told beside every batch where that is wanted."""

import gzip
import io
import json

import pytest

from askance.data import open_stream

LINES = {
    "csv": b'id,a,b,y\nm1,1,"x\n",0\n\nm2,2,x,1\nm3,bad,x,0\nm4,4,x,\n',
    "jsonl": b'{"id": "m1", "a": 1, "y": 0}\n\n\n{"id": "m2", "a": 2, "y": 1}\n{"id": "m3", "a": "bad", "y": 0}\n'
    b'{"id": "m4", "a": 4, "y": null}\n',
    "arff": b"@relation r\n@attribute id string\n@attribute a real\n@attribute y {0,1}\n@data\n"
    b"m1,1,0\n% nothing\nm2,2,1\nm3,bad,0\nm4,4,?\n",
}
NUMBERS = {"csv": [2, 5, 7], "jsonl": [1, 4, 6], "arff": [6, 8, 10]}


def told(source, **options):
    with open_stream(source, origins=True, skip_bad_lines=True, raw=True, **options) as stream:
        batches = list(stream)
        again = list(stream) if stream.source.can_be_read_again else batches
    found = {name: [value for b in batches for value in b.origins[name].tolist()] for name in stream.origins.names}
    assert [dict_of(b) for b in again] == [dict_of(b) for b in batches]
    assert all(len(column) == batch.X.shape[0] for batch in batches for column in batch.origins.values())
    return found


def dict_of(batch):
    return {name: column.tolist() for name, column in batch.origins.items()}


@pytest.mark.parametrize("batch_rows", [1, 2, 100])
@pytest.mark.parametrize("format", LINES)
def test_lines_and_ids_are_those_of_the_rows_that_were_read(format, batch_rows):
    kinds = {"a": "number"}
    found = told(io.BytesIO(LINES[format]), format=format, batch_rows=batch_rows, features=kinds)
    assert found == {"line": NUMBERS[format], "id": ["m1", "m2", "m4"]}


def test_sparse_arff_has_lines_and_ids():
    head = b"@relation r\n@attribute id string\n@attribute a real\n@attribute y {0,1}\n@data\n"
    found = told(io.BytesIO(head + b"{0 m1, 1 1}\n\n{1 2, 2 1}\n"), format="arff")
    assert found == {"line": [6, 8], "id": ["m1", None]}


@pytest.mark.parametrize("batch_rows", [1, 3, 100])
def test_a_folder_also_tells_the_file(tmp_path, batch_rows):
    (tmp_path / "a.libsvm").write_bytes(b"1 1:1\n\n0 1:2\n")
    (tmp_path / "b.libsvm.gz").write_bytes(gzip.compress(b"x 1:1\n1 1:3\n"))
    (tmp_path / "c.libsvm").write_bytes(b"0 2:1\n")
    found = told(tmp_path, batch_rows=batch_rows)
    assert found == {"file": ["a.libsvm", "a.libsvm", "b.libsvm.gz", "c.libsvm"], "line": [1, 3, 2, 1]}


def test_parquet_has_ids_and_no_lines():
    pq = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    file = io.BytesIO()
    pq.write_table(pa.table({"ID": [7, 8, None], "a": [1.0, 2.0, 3.0], "y": [0, 1, 0]}), file)
    assert told(io.BytesIO(file.getvalue()), format="parquet", batch_rows=2) == {"id": [7, 8, None]}


def test_nothing_is_told_unless_wanted():
    content = json.dumps({"id": "m1", "a": 1, "y": 0}).encode()
    with open_stream(io.BytesIO(content), format="jsonl") as stream:
        (batch,) = stream
    assert batch.origins == {}
