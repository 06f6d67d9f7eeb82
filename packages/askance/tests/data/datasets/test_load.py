import gzip
import json

import numpy as np
import pytest
import scipy.sparse as sp
from tests.data.datasets.real import REAL_FOLDER

from askance.data.datasets import available, entries, load_dataset
from askance.data.datasets.folders import Content, fingerprint, read, write
from askance.errors import DatasetError, InvalidParameter

HEAD = 'source = "here"\npage = "https://example.org"\nlicence = "none"\n'
TABLE = f"""
[three]
kind = "dense"
rows = 4
columns = 2
classes = 3
{HEAD}
[words]
kind = "text"
rows = 2
columns = 0
classes = 2
{HEAD}
[codes]
kind = "dense"
rows = 3
columns = 2
classes = 2
{HEAD}
[first]
kind = "task"
made_of = "three"
rows = 3
columns = 2
classes = 3
options = {{ make = "first rows", rows = 3 }}
{HEAD}
[two_of_three]
kind = "task"
made_of = "three"
rows = 3
columns = 2
classes = 2
options = {{ make = "binary", positive = [2], negative = [0] }}
{HEAD}
[spread]
kind = "task"
made_of = "codes"
rows = 3
columns = 3
classes = 2
options = {{ make = "spread out", categories = [1] }}
{HEAD}
"""
X = np.array([[1, 2], [3, 4], [5, 6], [7, 8]], dtype=np.float32)
Y = np.array([0, 1, 2, 0])


@pytest.fixture
def folder(tmp_path, monkeypatch, use_table):
    use_table(TABLE)
    np.savez(tmp_path / "three.npz", X=X, y=Y)
    codes = np.array([[0.5, 1], [0.25, 0], [0, 1]], dtype=np.float32)
    np.savez(tmp_path / "codes.npz", X=codes, y=[1, -1, 1], cat1=["tcp", "udp"])
    with gzip.open(tmp_path / "words.jsonl.gz", "wt") as file:
        file.write(json.dumps({"text": "free free entry", "y": 1, "t": 7}) + "\n")
        file.write(json.dumps({"text": "see you", "y": -1, "t": 9}) + "\n")
    monkeypatch.setenv("ASKANCE_DATA", str(tmp_path))
    return tmp_path


def test_a_set_comes_from_the_local_folder(folder):
    data = load_dataset("three")
    assert data.X.dtype == np.float64
    assert data.X.tolist() == X.tolist()
    assert repr(data) == "Dataset('three', 4 x 2, 3 classes)"


def test_one_class_can_be_set_against_the_rest(folder):
    assert load_dataset("three:2").y.tolist() == [-1, -1, 1, -1]
    with pytest.raises(InvalidParameter, match="three has no class '5' to set against others; its classes are 0, 1, 2"):
        load_dataset("three:5")


def test_tasks_are_made_of_their_sets(folder):
    assert available("two_of_three")
    assert load_dataset("first").y.tolist() == [0, 1, 2]
    assert load_dataset("two_of_three").y.tolist() == [-1, 1, -1]
    assert load_dataset("two_of_three").X.tolist() == [[1, 2], [5, 6], [7, 8]]
    assert load_dataset("spread").X.toarray().tolist() == [[0.5, 0, 1], [0.25, 1, 0], [0, 0, 1]]


def test_texts_become_counts_of_hashed_words(folder):
    data = load_dataset("words")
    assert data.texts == ["free free entry", "see you"]
    assert sorted(data.X[0].data.tolist()) == [1.0, 2.0]
    assert data.extra["t"].tolist() == [7, 9]


def test_a_set_that_is_not_there_says_where_to_get_it(folder):
    (folder / "three.npz").unlink()
    assert not available("first")
    with pytest.raises(
        DatasetError, match=r"three is not on this machine .* put it into .*, the folder that ASKANCE_DATA"
    ):
        load_dataset("first")


@pytest.mark.parametrize("content", [b"", b"not a zip file", b"PK\x03\x04 torn"])
def test_a_damaged_file_is_one_sentence(folder, content):
    (folder / "three.npz").write_bytes(content)
    with pytest.raises(DatasetError, match="three.npz' cannot be read"):
        load_dataset("three")


def test_a_file_without_labels_or_of_another_size_is_refused(folder):
    np.savez(folder / "three.npz", X=X)
    with pytest.raises(DatasetError, match="has no array 'y'"):
        load_dataset("three")
    np.savez(folder / "three.npz", X=X[:2], y=Y)
    with pytest.raises(DatasetError, match="4 labels for rows of shape"):
        load_dataset("three")
    np.savez(folder / "three.npz", X=X[:2], y=Y[:2])
    with pytest.raises(DatasetError, match="should have 4 rows .* the file is not the one the registry means"):
        load_dataset("three")


def test_a_pickle_is_never_loaded(folder):
    np.savez(folder / "three.npz", X=X, y=np.array([{}, {}, {}, {}], dtype=object))
    with pytest.raises(DatasetError, match="cannot be read"):
        load_dataset("three")


def test_texts_without_a_text_are_refused_with_the_line(folder):
    with gzip.open(folder / "words.jsonl.gz", "wt") as file:
        file.write('{"text": "fine", "y": 1}\n{"y": 1}\n')
    with pytest.raises(DatasetError, match="line 2 of .*words.jsonl.gz' has no 'text'"):
        load_dataset("words")


@pytest.mark.parametrize("kind", ["sparse", "dense", "text"])
def test_what_is_written_reads_back_with_the_same_fingerprint(tmp_path, kind):
    rows = {"sparse": sp.csr_matrix(X), "dense": X, "text": None}[kind]
    texts = ["a", "b", "c", "é"] if kind == "text" else None
    content = Content(rows, Y, texts)
    path = tmp_path / ("a.jsonl.gz" if kind == "text" else "a.npz")
    write(content, path)
    assert fingerprint(read(path)) == fingerprint(content)
    other = Content(rows, Y[::-1].copy() + 1, texts)
    assert fingerprint(other) != fingerprint(content)


def test_sparse_and_dense_storage_of_the_same_rows_have_the_same_fingerprint():
    assert fingerprint(Content(sp.csr_matrix(X), Y)) == fingerprint(Content(X, Y))


def test_the_sets_at_hand_are_those_of_the_documented_results(monkeypatch):

    if REAL_FOLDER is None:
        pytest.skip("the environment variable ASKANCE_DATA names no folder with the benchmark sets")
    monkeypatch.setenv("ASKANCE_DATA", REAL_FOLDER)
    entries.cache_clear()
    checked = 0
    for entry in entries().values():
        path = _small(entry) if entry.content and available(entry.name) else None
        if path:
            assert fingerprint(read(path)) == entry.content, entry.name
            checked += 1
    assert checked


def _small(entry):
    from askance.data.datasets.folders import path_of

    path = path_of(entry)
    return path if path is not None and path.stat().st_size < 400_000 else None
