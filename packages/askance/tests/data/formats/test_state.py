"""What a stream has learned can be saved: a file in two halves gives the same rows as the whole."""

import io
import json

import numpy as np
import pytest
from tests.data.formats import slow

from askance.data import open_stream
from askance.errors import InvalidInput

LINES = {
    "libsvm": ("", [f"{n % 2} 1:{n * 1.5} 2:{n % 3} 4:{(n * 7) % 5}" for n in range(1, 60)]),
    "csv": ("a,colour,text,y\n", [f"{n * n},c{n % 4},some more words {n} here,{n % 2}" for n in range(60)]),
    "jsonl": ("", [json.dumps({"a": n * n, "b": {"c": f"c{n % 4}"}, "y": n % 2}) for n in range(60)]),
    "arff": (
        "@relation r\n@attribute a real\n@attribute class {0,1}\n@data\n",
        [f"{n * n},{n % 2}" for n in range(60)],
    ),
}


def halves(format):
    head, rows = LINES[format]
    parts = (rows, rows[:25], rows[25:])
    return [(head + "".join(row + "\n" for row in part)).encode() for part in parts]


def through_json(state):
    return json.loads(json.dumps(state, default=lambda array: array.tolist()))


@pytest.mark.parametrize("format", list(LINES))
@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("way", [lambda state: state, through_json])
def test_a_second_half_goes_on_where_the_first_ended(format, raw, way):
    whole, first, second = halves(format)
    expected = slow.played(open_stream(io.BytesIO(whole), format=format, raw=raw))
    before = open_stream(io.BytesIO(first), format=format, raw=raw)
    rows, labels = slow.played(before)
    after = open_stream(io.BytesIO(second), format=format, state=way(before.state()))
    more_rows, more_labels = slow.played(after)
    assert (rows + more_rows, labels + more_labels) == expected


@pytest.mark.parametrize("sparse", [True, False])
def test_a_second_archive_goes_on_where_the_first_ended(sparse):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(40, 5)).astype(float)

    def archive(part):
        import scipy.sparse as sp

        file, S = io.BytesIO(), sp.csr_matrix(part)
        arrays = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": np.array(S.shape)}
        np.savez(file, **(arrays if sparse else {"X": part}))
        return io.BytesIO(file.getvalue())

    expected, _ = slow.played(open_stream(archive(X), format="npz"))
    before = open_stream(archive(X[:15]), format="npz")
    rows, _ = slow.played(before)
    after = open_stream(archive(X[15:]), format="npz", state=through_json(before.state()))
    assert rows + slow.played(after)[0] == expected


def test_a_state_of_another_kind_of_data_is_refused():
    state = open_stream(io.BytesIO(halves("libsvm")[0]), format="libsvm").state()
    for format in ("csv", "jsonl", "arff"):
        with pytest.raises(InvalidInput, match="the model was trained on 'libsvm' data"):
            open_stream(io.BytesIO(halves(format)[0]), format=format, state=state)
    state = open_stream(io.BytesIO(halves("csv")[0]), format="csv").state()
    with pytest.raises(InvalidInput, match="not those the model was trained on: a, colour, text"):
        open_stream(io.BytesIO(b"x,y\n1,2\n"), format="csv", state=state)


@pytest.mark.parametrize("format", list(LINES))
def test_a_damaged_state_is_refused(format):
    stream = open_stream(io.BytesIO(halves(format)[0]), format=format)
    for name in ("scaling", "fields", "hash_bits", "how", "declared"):
        state = stream.state()
        if name in state:
            state[name] = "junk"
            with pytest.raises(InvalidInput):
                open_stream(io.BytesIO(halves(format)[0]), format=format, state=state)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_field_of_the_label_is_remembered(suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        path.write_text("spam,size,age\nyes,1,2\nno,3,4\n")
    else:
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(
            pa.table({"spam": ["yes", "no"], "size": [1, 3], "age": [2, 4]}), path
        )
    with open_stream(path, raw=True, label="spam") as stream:
        first = slow.played(stream)
        state = stream.state()
    with open_stream(path, raw=True, state=state) as stream:
        assert slow.played(stream) == first
        assert first == ([{0: 1.0, 1: 2.0}, {0: 3.0, 1: 4.0}], ["yes", "no"])
