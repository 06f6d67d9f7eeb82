"""Exported models predict in onnxruntime what they predict here."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits

import askance
from askance.errors import InvalidInput, InvalidParameter

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from askance.adapters.onnx import export  # noqa: E402

TWO = ["PAA-I", "PEA", "SOAL", "SOAL-diag", "CW-diag", "OA3", "SOA3", "D-ADA", "CSPAA", "SEL-ada", "PAUM"]
MANY = ["MPAA-I", "MPEA", "MD-ADA", "MSOAL"]


def predict(model, X):
    content = model if isinstance(model, str) else model.SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return session.run(["label", "scores"], {"X": X})


def data(many):
    X, y = (load_digits if many else load_breast_cancer)(return_X_y=True)
    return (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9), y


def names(wanted):
    known = {row["name"] for row in askance.algorithms()}
    return [name for name in wanted if name in known]


def test_the_algorithms_named_here_exist():
    assert len(names(TWO)) >= 8
    assert len(names(MANY)) >= 2


@pytest.mark.parametrize("normalize", [None, "l2"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", names(TWO) + names(MANY))
def test_scores_and_labels_are_equal_in_onnxruntime(name, intercept, normalize):
    X, y = data(name in MANY)
    X[5] = 0.0  # an event without features
    clf = askance.make(name, intercept=intercept, normalize=normalize, random_state=0)
    clf.run(X[:150], y[:150])
    labels, scores = predict(export(clf), X)
    expected = clf.decision_function(X)
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    np.testing.assert_array_equal(labels, clf.predict(X))
    assert len(set(labels.tolist())) > 1


@pytest.mark.parametrize("classes", [["ham", "spam"], [-1, 1], [0.5, 2.5], [False, True], ["a", "b", "c"]])
def test_labels_are_of_their_own_kind(classes):
    X, y = data(many=True)
    labels = np.array(classes)[y % len(classes)]
    clf = askance.make("MPAA-I" if len(classes) > 2 else "PAA-I", random_state=0).fit(X, labels)
    found, _ = predict(export(clf), X)
    assert found.tolist() == [str(label) if isinstance(label, bool) else label for label in clf.predict(X).tolist()]


def test_ties_are_decided_as_here():
    zeros = np.zeros((2, 3))
    for name in ("PAA-I", "MPAA-I"):
        clf = askance.make(name, classes=["a", "b"], random_state=0).partial_fit(np.eye(3), ["a", "b", "a"])
        assert predict(export(clf), zeros)[0].tolist() == clf.predict(zeros).tolist()


def test_in_float_scores_have_some_six_digits_and_a_file_is_written(tmp_path):
    X, y = data(many=False)
    clf = askance.make("SOAL-diag", intercept=True, random_state=0).fit(X, y)
    export(clf, tmp_path / "m.onnx", type="float")
    labels, scores = predict(str(tmp_path / "m.onnx"), X.astype(np.float32))
    np.testing.assert_allclose(scores, clf.decision_function(X), rtol=1e-4, atol=1e-4)
    assert (labels == clf.predict(X)).mean() > 0.99
    assert [file.name for file in tmp_path.iterdir()] == ["m.onnx"]


def test_a_model_of_sparse_rows_takes_dense_ones_there():
    X = sp.random(200, 5000, 0.01, "csr", rng=np.random.default_rng(0))
    y = (np.asarray(X.sum(axis=1)).ravel() > 25).astype(int)
    clf = askance.make("PAA-I", normalize="l2", intercept=True, random_state=0).fit(X, y)
    _, scores = predict(export(clf), X.toarray())
    np.testing.assert_allclose(scores, clf.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("name", ["SOP", "SEL-2nd", "BOAL-entropy"])
def test_what_is_no_weighted_sum_is_refused(name):
    X, y = data(many=False)
    clf = askance.make(name, random_state=0).fit(X[:100], y[:100])
    with pytest.raises(InvalidInput, match="no weighted sums of the features"):
        export(clf)


def test_what_else_cannot_be_exported_is_refused_in_a_sentence():
    with pytest.raises(InvalidInput, match="auto is a committee"):
        export(askance.make("auto", budget=10, random_state=0).fit(*data(many=False)))
    with pytest.raises(InvalidInput, match="reads raw fields"):
        export(askance.make("PAA-I").fit(["win a prize", "lunch"], ["spam", "ham"]))
    with pytest.raises(InvalidInput, match="has learned nothing yet"):
        export(askance.make("PAA-I"))
    with pytest.raises(InvalidInput, match="only a classifier of askance"):
        export(3)
    with pytest.raises(InvalidParameter, match="type must be 'double' or 'float'"):
        export(askance.make("PAA-I").fit(*data(many=False)), type="half")
