"""NumPy archives: dense and sparse arrays, labels, codes of categories, damage."""

import io
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.data.formats import slow
from tests.real_data import load

from askance.data import open_stream
from askance.errors import BadLine, InvalidInput, InvalidParameter


def archive(compressed=True, **arrays):
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, **arrays)
    return file.getvalue()


def read(content, **options):
    return open_stream(io.BytesIO(content), **({"raw": True, "format": "npz"} | options))


def csr_arrays(X):
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}


def sparse(indices, indptr, shape, data=1):
    return {"data": np.ones(data), "indices": np.array(indices), "indptr": np.array(indptr), "shape": np.array(shape)}


def whole(stream):
    found = list(stream)
    width = found[-1].X.shape[1]
    X = sp.vstack([sp.csr_matrix((b.X.data, b.X.indices, b.X.indptr), (b.X.shape[0], width)) for b in found])
    return X, None if found[0].y is None else np.concatenate([b.y for b in found])


@settings(max_examples=60, deadline=None)
@given(
    X=st.sampled_from([np.float64, np.float32, np.uint8, np.int16, np.bool_]).flatmap(
        lambda dtype: hnp.arrays(
            dtype, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9),
            elements=st.floats(-(2.0**90), 2.0**90, width=32) if np.dtype(dtype).kind == "f" else None,
        )
    ),
    order=st.sampled_from("CF"),
    compressed=st.booleans(),
    rows=st.integers(1, 5),
)  # fmt: skip
def test_dense_arrays_come_back_as_they_were(X, order, compressed, rows):
    y = np.arange(len(X), dtype=np.int8)
    found, labels = whole(read(archive(compressed, X=np.asarray(X, order=order), y=y), batch_rows=rows))
    np.testing.assert_array_equal(found.toarray(), X.astype(float))
    np.testing.assert_array_equal(labels, y)


@settings(max_examples=60, deadline=None)
@given(
    X=hnp.arrays(np.float32, (7, 5), elements=st.sampled_from([0.0, 0.0, 0.0, 1.5, -2.0])),
    rows=st.integers(1, 8),
    wide=st.booleans(),
)
def test_sparse_arrays_come_back_as_they_were(X, rows, wide):
    matrix = sp.csr_matrix(X)
    if wide:
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    found, labels = whole(read(archive(**csr_arrays(matrix), y=np.arange(7.0)), batch_rows=rows))
    np.testing.assert_array_equal(found.toarray(), X.astype(float))
    np.testing.assert_array_equal(labels, np.arange(7.0))


def test_unsorted_and_repeated_columns_are_put_in_order():
    arrays = {"data": np.array([1.0, 2.0, 3.0]), "indices": np.array([4, 0, 4]), "indptr": np.array([0, 3])}
    found, _ = whole(read(archive(**arrays, shape=np.array([1, 5]))))
    assert found.toarray().tolist() == [[2.0, 0.0, 0.0, 0.0, 4.0]]


def test_a_matrix_saved_by_scipy_has_no_labels():
    file = io.BytesIO()
    sp.save_npz(file, sp.random(10, 4, density=0.5, format="csr", random_state=0))
    found, labels = whole(read(file.getvalue()))
    assert found.shape == (10, 4)
    assert labels is None
    file = io.BytesIO()
    sp.save_npz(file, sp.random(10, 4, density=0.5, format="csc", random_state=0))
    with pytest.raises(InvalidInput, match="not CSR; save X.tocsr"):
        read(file.getvalue())


def test_codes_of_categories_become_their_names():
    content = archive(X=np.array([[1.5, 1.0], [2.5, 0.0]]), y=np.array([0, 1]), cat1=np.array(["tcp", "udp"]))
    stream = read(content, hash_bits=10)
    assert [tuple(field) for field in stream.fields] == [("0", "number"), ("1", "category"), ("y", "label")]
    rows, _ = slow.played(stream)
    assert rows == [
        {0: 1.5, 1 + slow.column_of("1", "udp", 10): 1.0},
        {0: 2.5, 1 + slow.column_of("1", "tcp", 10): 1.0},
    ]
    bad = archive(X=np.array([[1.5, 7.0]]), cat1=np.array(["tcp", "udp"]))
    with pytest.raises(BadLine, match="row 0 of 'stream', column 1: 7 is no code of the 2 categories it has"):
        slow.played(read(bad))


def test_kinds_of_columns_can_be_given_by_number():
    content = archive(X=np.array([[3.0, 1.0], [4.5, 2.0]]))
    rows, _ = slow.played(read(content, features={"0": "category", "1": "ignore"}, hash_bits=10))
    assert rows == [{slow.column_of("0", "3", 10): 1.0}, {slow.column_of("0", "4.5", 10): 1.0}]
    with pytest.raises(InvalidParameter, match="not text"):
        read(content, features={"0": "text"})


def test_labels_of_any_kind_and_any_array():
    X = np.ones((2, 1))
    assert slow.played(read(archive(X=X, y=np.array(["a", "b"]))))[1] == ["a", "b"]
    assert slow.played(read(archive(X=X, y=np.array([b"a", b"b"]))))[1] == ["a", "b"]
    assert slow.played(read(archive(X=X, y=np.array([1.0, np.nan]))))[1] == [1.0, None]
    assert slow.played(read(archive(X=X, y=np.array([True, False]))))[1] == [1, 0]
    assert slow.played(read(archive(X=X, y=X[:, 0], other=np.array([4, 5])), label="other"))[1] == [4, 5]
    assert slow.played(read(archive(X=X, y=np.array([1, 2])), label=False))[1] == [None, None]
    assert slow.played(read(archive(X=X, y=np.array([1, 2])), labels="text"))[1] == ["1", "2"]
    with pytest.raises(InvalidParameter, match="has no array 'z'"):
        read(archive(X=X), label="z")


@pytest.mark.parametrize("value", [-np.inf, np.inf, 1e200])
def test_values_that_cannot_be_learned_from_are_bad_rows(value):
    X = np.array([[1.0, 2.0], [value, 3.0], [4.0, 5.0]])
    for content in (archive(X=X, y=np.arange(3)), archive(**csr_arrays(sp.csr_matrix(X)), y=np.arange(3))):
        with pytest.raises(BadLine, match="row 1 of 'stream', column 0: ") as caught:
            slow.played(read(content))
        assert (caught.value.line, caught.value.unit) == (1, "row")
        stream = read(content, skip_bad_lines=True)
        assert slow.played(stream) == ([{0: 1.0, 1: 2.0}, {0: 4.0, 1: 5.0}], [0, 2])
        assert stream.bad_lines == 1


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({"Z": np.ones(3)}, "holds neither an array X nor"),
        ({"X": np.ones(3)}, "must be a two-dimensional array of numbers"),
        ({"X": np.array([["a"]])}, "must be a two-dimensional array of numbers"),
        ({"X": np.ones((3, 2)), "y": np.ones(2)}, "3 rows, but its labels 'y' have the shape"),
        ({"X": np.array([[object()]], dtype=object)}, "Python objects, which are never read; save it as numbers"),
        (sparse([0], [0, 2], (1, 1), data=2), "do not fit"),
        (sparse([5], [0, 1], (1, 1)), "outside the 1"),
        (sparse([-1], [0, 1], (1, 1)), "outside the 1"),
        (sparse([0], [0, 1, 0], (2, 1)), "descends"),
        (sparse([0], [0, 9], (1, 1)), "longer than the data"),
        (sparse([0], [1, 1], (1, 1)), "does not begin with 0"),
        (sparse([0], [0, 1], (-1, 1)), "not one of a matrix"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays, reason):
    with pytest.raises(InvalidInput, match=reason) as caught:
        slow.played(read(archive(**arrays)))
    assert "\n" not in str(caught.value)


def test_wide_rows_make_smaller_batches(monkeypatch):
    monkeypatch.setattr("askance.data.formats.stream.BATCH_ENTRIES", 100)
    sizes = [batch.X.shape[0] for batch in read(archive(X=np.ones((25, 10))))]
    assert sizes == [10, 10, 5]


def test_real_files_come_back_as_numpy_reads_them(monkeypatch):
    import os

    for name in ("w8a", "spambase", "svmguide1"):
        X, y = load(name)
        found, labels = whole(open_stream(f"{os.environ['ASKANCE_DATA']}/{name}.npz", raw=True, batch_rows=1000))
        assert (found != sp.csr_matrix(X)).nnz == 0
        np.testing.assert_array_equal(labels, y)


# --- fuzzing ---------------------------------------------------------------------------------------------

DENSE = archive(False, X=np.arange(12.0).reshape(4, 3), y=np.array([0, 1, 0, 1]))
SPARSE = archive(True, **csr_arrays(sp.csr_matrix(np.eye(4))), y=np.array([0, 1, 0, 1]))


@settings(max_examples=400, deadline=None)
@given(content=st.sampled_from([DENSE, SPARSE]), data=st.data(), skip=st.booleans())
def test_a_damaged_file_is_an_error_in_one_sentence_or_right(content, data, skip):
    truth = slow.played(read(content))
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        spoiled = content[:place]
    else:
        spoiled = content[:place] + bytes([data.draw(st.integers(0, 255))]) + content[place + 1 :]
    with slow.clear_errors():
        found = slow.played(read(spoiled, skip_bad_lines=skip))
        assert found == truth or found[1] == [None] * 4  # the checksums of the archive see to it


@settings(max_examples=100, deadline=None)
@given(header=st.binary(max_size=80), body=st.binary(max_size=80))
def test_a_damaged_array_inside_a_sound_archive_is_refused_or_read(header, body):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as entries:
        entries.writestr("X.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + body)
    with slow.clear_errors():
        slow.played(read(file.getvalue()))


@settings(max_examples=100, deadline=None)
@given(content=st.binary(max_size=100))
def test_junk_is_refused(content):
    with pytest.raises(InvalidInput):
        read(content)


def test_a_single_array_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((3, 2)))
    with pytest.raises(InvalidInput, match="'a.npy' holds a single array"):
        open_stream(tmp_path / "a.npy")


def test_the_arrays_that_are_there_are_named():
    with pytest.raises(InvalidInput, match="there are: features, target"):
        read(archive(features=np.ones((3, 2)), target=np.ones(3)))


def test_other_zip_archives_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("a.csv", "a,label\n1,0\n")
    with pytest.raises(InvalidInput, match="'a.zip' is a zip archive without NumPy arrays; unpack it first"):
        open_stream(tmp_path / "a.zip")
