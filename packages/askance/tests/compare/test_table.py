"""Tables: read, scaled, shared."""

import gzip
import json
import mmap
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.preprocessing import MinMaxScaler, StandardScaler, normalize
from tests.compare.streams import blobs, table

from askance.compare import Table, imbalance, load_table
from askance.engines.local import LocalEngine, open_shared
from askance.errors import AskanceError, InvalidInput, InvalidParameter


def dense(X):
    return X.toarray() if sp.issparse(X) else X


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_array], ids=["dense", "csr", "csc"])
def test_scaling_is_scikit_learns_whatever_the_form(form):
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 5.0, size=(200, 4)) * (rng.random((200, 4)) < 0.6)
    X[:, 2] = 7.0  # constant
    y = rng.integers(2, size=200)
    made = Table.of((form(X), y))
    varied = [0, 1, 3]
    standard = dense(made.prepare("standard").X)
    np.testing.assert_allclose(standard[:, varied], StandardScaler().fit_transform(X)[:, varied], atol=1e-12)
    assert np.all(standard[:, 2] == 0.0)
    np.testing.assert_allclose(dense(made.prepare("minmax").X), MinMaxScaler().fit_transform(X), atol=1e-12)
    np.testing.assert_allclose(dense(made.prepare("l2").X), normalize(X), atol=1e-12)
    np.testing.assert_array_equal(dense(made.prepare("none").X), X)


def test_the_constant_stands_behind_the_scaled_columns():
    made = table().prepare("l2", intercept=True)
    assert made.n_features == 7
    assert np.all(dense(made.X)[:, 6] == 1.0)
    assert made.preparation == "l2 + intercept"
    assert made.askable == 1.0


def test_a_column_of_large_numbers_with_little_spread_is_standardised_exactly():
    X = np.column_stack([1e8 + np.arange(100.0), np.arange(100.0)])
    made = Table.of((X, np.arange(100) % 2)).prepare("standard")
    np.testing.assert_allclose(dense(made.X)[:, 0], dense(made.X)[:, 1], atol=1e-6)


def test_auto_standardises_numbers_and_shortens_words():
    words = sp.random(300, 5_000, density=0.01, random_state=0, format="csr")
    assert Table.of((words, np.arange(300) % 2)).prepare("auto").preparation == "l2"
    assert table().prepare("auto").preparation == "standard"


def test_standardising_a_wide_sparse_table_is_refused_with_a_way_out():
    X = sp.eye(20_000, 50_000, format="csr")
    with pytest.raises(InvalidParameter, match="would make 1,000 million numbers of it; scale it by l2 or none"):
        Table.of(("words", X, np.arange(20_000) % 2)).prepare("standard")


def test_the_positive_class_can_be_named_and_its_share_known():
    assert table().positive == 1
    ham = Table.of(blobs(), positive="ham")
    assert ham.positive == 0
    assert ham.positives == table().negatives
    assert imbalance(table()) == table().negatives / table().positives
    with pytest.raises(InvalidParameter, match="blobs has no class 'eggs'; its classes are ham, spam"):
        Table.of(blobs(), positive="eggs")
    many = Table.of(blobs(n_classes=4))
    assert many.positive is None
    with pytest.raises(InvalidParameter, match="4 classes, none of them named as positive"):
        imbalance(many)


def test_npz_and_libsvm_files_hold_the_same_table(tmp_path):
    X = sp.random(50, 8, density=0.5, random_state=0, format="csr")
    y = np.where(np.arange(50) % 3 == 0, 1, -1)
    np.savez(tmp_path / "a.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    np.savez(tmp_path / "b.npz", X=X.toarray(), y=y)
    dump_svmlight_file(X, y, str(tmp_path / "c.libsvm"), zero_based=False)
    for name in ("a.npz", "b.npz", "c.libsvm"):
        title, read, labels = load_table(tmp_path / name)
        assert title == name[0]
        np.testing.assert_allclose(dense(read), X.toarray())
        np.testing.assert_array_equal(labels, y)
    assert Table.of(tmp_path / "a.npz").digest == Table.of(tmp_path / "b.npz").digest


def test_a_file_that_cannot_be_read_is_named_in_one_sentence(tmp_path):
    (tmp_path / "x.libsvm").write_text("1 2:3\nnonsense here\n")
    with pytest.raises(AskanceError, match=r"line 2 of 'x\.libsvm'"):
        load_table(tmp_path / "x.libsvm")
    assert len(load_table(tmp_path / "x.libsvm", skip_bad_lines=True)[2]) == 1
    np.savez(tmp_path / "x.npz", X=np.eye(2))
    with pytest.raises(InvalidInput, match="has no array 'y'"):
        load_table(tmp_path / "x.npz")
    (tmp_path / "y.npz").write_bytes(b"PK\x03\x04 torn")
    with pytest.raises(InvalidInput, match=r"y\.npz' cannot be read"):
        load_table(tmp_path / "y.npz")
    with pytest.raises(InvalidInput, match="there is no file"):
        load_table(tmp_path / "nowhere.csv")


CSV = "age,city,label\n" + "".join(
    f"{30 + 10 * (at % 3)},{'Rome' if at % 2 else 'Oslo'},{'yes' if at % 3 else 'no'}\n" for at in range(60)
)


def test_files_with_fields_are_scaled_field_by_field_where_wanted(tmp_path):
    (tmp_path / "people.csv").write_text(CSV)
    raw = Table.of(tmp_path / "people.csv")
    assert raw.preparation == "none"
    assert raw.n_features == 3  # the number and two cities; the columns that hashing left empty are gone
    assert raw.X.max() == 50.0
    running = Table.of(tmp_path / "people.csv", running=True)
    assert running.prepare("auto", intercept=True).preparation == "running + intercept"
    assert running.X.max() < 5.0
    assert raw.classes.tolist() == ["no", "yes"]


def test_compressed_text_with_missing_labels_keeps_the_events_that_have_one(tmp_path):
    lines = [json.dumps({"text": f"word{at % 5} again", "label": "ab"[at % 2] if at % 4 else None}) for at in range(40)]
    with gzip.open(tmp_path / "notes.jsonl.gz", "wt") as file:
        file.write("\n".join(lines))
    name, X, y = load_table(tmp_path / "notes.jsonl.gz")
    assert name == "notes"
    assert X.shape[0] == len(y) == 30
    assert X.shape[1] < 100


def test_a_table_without_labels_is_refused(tmp_path):
    (tmp_path / "people.csv").write_text(CSV)
    with pytest.raises(InvalidInput, match="'people' has no labels"):
        load_table(tmp_path / "people.csv", label=False)


def test_one_class_or_lengths_that_differ_are_refused():
    with pytest.raises(InvalidInput, match="only one class"):
        Table.of((np.eye(3), [1, 1, 1]))
    with pytest.raises(InvalidInput, match="data has 3 events but 2 labels"):
        Table.of((np.eye(3), [1, 2]))


@pytest.mark.parametrize("form", [sp.csr_matrix, np.asarray])
def test_a_shared_table_is_mapped_not_copied_and_equal(form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 64)) if form is np.asarray else sp.random(100, 9, 0.4, random_state=0)
    made = Table.of((X, np.arange(X.shape[0]) % 3))
    assert sp.issparse(made.X) == (form is not np.asarray)
    engine = LocalEngine(1)
    shared = engine.put(made)
    mapped = open_shared(shared)
    assert (dense(mapped.X) != dense(made.X)).sum() == 0
    np.testing.assert_array_equal(mapped.y, made.y)
    array = mapped.X.data if sp.issparse(mapped.X) else mapped.X
    assert not array.flags.writeable
    bases = [array]
    while bases[-1].base is not None and hasattr(bases[-1], "base"):
        bases.append(bases[-1].base)
        if isinstance(bases[-1], mmap.mmap):
            break
    assert isinstance(bases[-1], mmap.mmap)
    engine.free(shared)
    assert not Path(shared.path).exists()


def test_the_digest_names_the_content():
    assert table().digest == table().digest
    assert table().digest != table(seed=1).digest
    assert table().digest != table().prepare("standard").digest
