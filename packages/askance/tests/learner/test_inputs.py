"""Every form in which events and labels may come gives the same decisions."""

import numpy as np
import pytest
import scipy.sparse as sp

import askance

ALGORITHMS = ["PAA-I", "SOAL-diag", "D-ADA", "UOAL-entropy"]


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(5)
    X = rng.integers(-3, 4, (400, 12)) / 4.0  # exact in float32, too; a seventh of the values is zero
    X[rng.random(X.shape) < 0.5] = 0.0
    X[17] = 0.0
    y = np.where(X @ rng.normal(size=12) + rng.normal(size=400) > 0, 1, -1)
    return X, y


def with_explicit_zeros(X):
    matrix = sp.csr_matrix(np.where(X == 0, 9.0, X))
    matrix.data[matrix.data == 9.0] = 0.0
    return matrix


def unsorted(X):
    matrix = sp.csr_matrix(X)
    for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        matrix.indices[start:stop] = matrix.indices[start:stop][::-1].copy()
        matrix.data[start:stop] = matrix.data[start:stop][::-1].copy()
    matrix.has_sorted_indices = False
    return matrix


def with_duplicates(X):
    half = sp.csr_matrix(X / 2)
    rows = [np.r_[half.indptr[i] : half.indptr[i + 1], half.indptr[i] : half.indptr[i + 1]] for i in range(len(X))]
    order = np.concatenate(rows).astype(int)
    return sp.csr_matrix((half.data[order], half.indices[order], 2 * half.indptr), shape=X.shape)


def read_only(X):
    matrix = sp.csr_matrix(X)
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    return matrix


def with_indices(X, dtype):
    matrix = sp.csr_matrix(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(dtype), matrix.indptr.astype(dtype)
    return matrix


def frozen_array(X):
    copy = X.copy()
    copy.flags.writeable = False
    return copy


FORMS = {
    "array": lambda X: X,
    "list": lambda X: X.tolist(),
    "float32": lambda X: X.astype(np.float32),
    "column order": np.asfortranarray,
    "every second of a wider array": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "read-only array": frozen_array,
    "objects": lambda X: X.astype(object),
    "CSR": sp.csr_matrix,
    "CSR array": sp.csr_array,
    "CSR float32": lambda X: sp.csr_matrix(X.astype(np.float32)),
    "CSR int64": lambda X: with_indices(X, np.int64),
    "CSR explicit zeros": with_explicit_zeros,
    "CSR unsorted": unsorted,
    "CSR duplicates": with_duplicates,
    "CSR read-only": read_only,
    "CSC": sp.csc_matrix,
    "COO": sp.coo_matrix,
}


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("options", [{}, {"normalize": "l2", "intercept": True}], ids=["plain", "prepared"])
def test_every_form_of_a_matrix_is_played_alike(stream, name, form, options):
    X, y = stream
    expected = askance.make(name, random_state=1, **options).run(X, y)
    clf = askance.make(name, random_state=1, **options)
    trace = clf.run(FORMS[form](X), y)
    assert np.array_equal(trace.asked, expected.asked)
    assert np.array_equal(trace.margin, expected.margin)
    assert np.array_equal(clf.predict(FORMS[form](X)), clf.predict(X))


ONE = {
    "array": lambda x: x,
    "list": lambda x: x.tolist(),
    "1-row array": lambda x: x[np.newaxis],
    "float32": lambda x: x.astype(np.float32),
    "CSR row": sp.csr_matrix,
    "CSR array row": lambda x: sp.csr_array(x[np.newaxis]),
    "pair": lambda x: (np.flatnonzero(x), x[np.flatnonzero(x)]),
    "pair of lists": lambda x: (np.flatnonzero(x).tolist(), x[np.flatnonzero(x)].tolist()),
    "pair of int32 and float32": lambda x: (np.flatnonzero(x).astype(np.int32), x[x != 0].astype(np.float32)),
    "pair of uint8": lambda x: (np.flatnonzero(x).astype(np.uint8), x[x != 0]),
    "pair, backwards": lambda x: (np.flatnonzero(x)[::-1], x[np.flatnonzero(x)[::-1]]),
    "pair with zeros": lambda x: (np.arange(x.size), x),
    "pair in halves": lambda x: (np.repeat(np.flatnonzero(x), 2), np.repeat(x[x != 0], 2) / 2),
}


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("form", ONE)
@pytest.mark.parametrize("options", [{}, {"normalize": "l2", "intercept": True}], ids=["plain", "prepared"])
def test_every_form_of_one_event_is_decided_alike(stream, name, form, options):
    X, y = stream
    expected = askance.make(name, random_state=1, **options).run(X, y)
    clf = askance.make(name, random_state=1, classes=[-1, 1], n_features=12, **options)
    for t in range(len(X)):
        event = ONE[form](X[t])
        decision = clf.ask(event)
        assert (decision.asked, decision.margin) == (expected.asked[t], expected.margin[t])
        assert decision.probability == expected.probability[t]
        if decision.asked:
            assert decision.weight == 1.0 / decision.probability
            clf.tell(event, y[t], weight=decision.weight)


def test_an_empty_pair_is_an_event_without_features():
    clf = askance.make("PAA-I", classes=[0, 1], n_features=3, random_state=0)
    decision = clf.ask(([], []))
    assert (decision.label, decision.probability, decision.asked, decision.weight) == (1, 0.0, False, 0.0)


LABELS = {
    "-1 and 1": [-1, 1],
    "0 and 1": [0, 1],
    "strings": ["ham", "spam"],
    "booleans": [False, True],
    "floats": [0.5, 2.5],
    "far apart": [-(2**40), 2**40],
    "bytes": [b"a", b"b"],
}


@pytest.mark.parametrize("kind", LABELS)
def test_two_classes_of_any_sortable_kind(stream, kind):
    X, y = stream
    labels = np.array(LABELS[kind])[(y > 0).astype(int)]
    trace = askance.make("PAA-I", random_state=0).run(X, labels)
    expected = askance.make("PAA-I", random_state=0).run(X, y)
    assert np.array_equal(trace.asked, expected.asked)
    assert np.array_equal(trace.predicted == labels, expected.predicted == y)
    clf = askance.make("PAA-I", classes=LABELS[kind][::-1], random_state=0)
    assert np.array_equal(clf.run(X, labels.tolist()).asked, expected.asked)
    assert clf.ask(X[0]).label in LABELS[kind]


@pytest.mark.parametrize("n_classes", [3, 8, 9, 26])
def test_many_classes_given_as_strings_or_numbers(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 8))
    y = np.argmax(X @ rng.normal(size=(8, n_classes)), axis=1)
    names = np.array([f"class {i:02d}" for i in range(n_classes)])
    numbers = askance.make("MPAA-I", classes=range(n_classes), random_state=0).run(X, y)
    strings = askance.make("MPAA-I", classes=names, random_state=0).run(X, names[y])
    objects = askance.make("MPAA-I", classes=names, random_state=0).run(X, names[y].astype(object))
    assert np.array_equal(numbers.asked, strings.asked)
    assert np.array_equal(names[numbers.predicted], strings.predicted)
    assert np.array_equal(strings.predicted, objects.predicted)


def test_classes_are_learned_from_the_first_call_where_not_named(stream):
    X, y = stream
    assert askance.make("PAA-I").partial_fit(X, y).classes_.tolist() == [-1, 1]
    assert askance.make("PAA-I").partial_fit(X[:1], y[:1], classes=[1, -1]).classes_.tolist() == [-1, 1]


def test_random_state_may_be_an_int_a_generator_or_nothing(stream):
    X, y = stream
    seeded = askance.make("PAA-I", random_state=4).run(X, y)
    generated = askance.make("PAA-I", random_state=np.random.default_rng(4)).run(X, y)
    assert np.array_equal(seeded.asked, generated.asked)
    fresh = [askance.make("RPA", rate=0.5).run(X, y).asked for _ in range(2)]
    assert not np.array_equal(*fresh)


def test_event_t_owns_the_t_th_random_number(stream):
    X, y = stream
    trace = askance.make("RPA-I", rate=0.3, random_state=11).run(X, y)
    uniforms = np.random.default_rng(11).random(len(y))
    assert np.array_equal(trace.asked, (uniforms < 0.3) & (X != 0).any(axis=1))
