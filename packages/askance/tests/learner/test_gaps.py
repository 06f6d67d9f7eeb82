"""NaN in arrays and sparse matrices: a missing value, which counts as an absent entry does, in every way."""

import numpy as np
import pytest
import scipy.sparse as sp

import askance

ALGORITHMS = ["PAA-I", "SOAL", "SOAL-diag", "D-ADA", "BOAL-entropy", "auto"]
RNG = np.random.default_rng(0)
FULL = RNG.normal(size=(150, 5)) + 2.0
GAPS = RNG.random(FULL.shape) < 0.2
WITH_NAN = np.where(GAPS, np.nan, FULL)
WITH_ZEROS = np.where(GAPS, 0.0, FULL)
Y = np.where(FULL[:, 0] + FULL[:, 1] > 4.0, "yes", "no")


def make(algorithm="SOAL-diag", **more):
    return askance.make(algorithm, random_state=0, **more)


def stored_nan(X, kind=sp.csr_matrix):
    """A sparse matrix in which every value is stored, NaN and zeros too."""
    rows, columns = np.indices(X.shape)
    return kind((X.ravel(), (rows.ravel(), columns.ravel())), shape=X.shape)


def same(one, other):
    np.testing.assert_array_equal(one.margin, other.margin)
    np.testing.assert_array_equal(one.asked, other.asked)
    np.testing.assert_array_equal(one.probability, other.probability)


FORMS = {
    "dense": lambda: WITH_NAN,
    "by columns": lambda: np.asfortranarray(WITH_NAN),
    "CSR": lambda: stored_nan(WITH_NAN),
    "CSC": lambda: stored_nan(WITH_NAN, sp.csc_matrix),
    "sparse array": lambda: stored_nan(WITH_NAN, sp.csr_array),
    "lists": lambda: [[None if np.isnan(value) else value for value in row] for row in WITH_NAN.tolist()],
    "objects": lambda: np.where(GAPS, None, FULL),
    "masked": lambda: np.ma.masked_array(FULL, GAPS),
}


@pytest.mark.parametrize("form", FORMS)
def test_run_decides_as_without_the_missing_values(form):
    expected = make().run(WITH_ZEROS, Y)
    X = FORMS[form]()
    same(make().run(X, Y), expected)
    clf = make().fit(X, Y)
    reference = make().fit(WITH_ZEROS, Y)
    np.testing.assert_array_equal(clf.coef_, reference.coef_)
    np.testing.assert_array_equal(clf.predict_proba(X), reference.predict_proba(WITH_ZEROS))
    assert clf.score(X, Y) == reference.score(WITH_ZEROS, Y)


@pytest.mark.parametrize("options", [{}, {"normalize": "l2"}, {"intercept": True}])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_way_into_a_classifier_agrees(algorithm, options):
    whole, parts, single, sparse = (make(algorithm, classes=["no", "yes"], n_features=5, **options) for _ in range(4))
    expected = whole.run(WITH_ZEROS, Y)
    traces = [parts.run(WITH_NAN[part], Y[part]) for part in (slice(40), slice(40, 41), slice(41, None))]
    np.testing.assert_array_equal(np.concatenate([trace.margin for trace in traces]), expected.margin)
    for number, (x, label) in enumerate(zip(WITH_NAN, Y, strict=True)):
        decision = single.ask(x)
        pair = sparse.ask((np.arange(5), x) if number % 2 else stored_nan(x[None, :]))
        assert decision.margin == pair.margin == expected.margin[number]
        assert decision.asked == pair.asked == expected.asked[number]
        if decision.asked:
            single.tell(x, label, weight=decision.weight)
            sparse.tell(y=label, ticket=pair.ticket)
    np.testing.assert_array_equal(single.coef_, whole.coef_)
    np.testing.assert_array_equal(sparse.predict(WITH_NAN), whole.predict(WITH_ZEROS))


def test_what_is_passed_stays_as_it_is():
    X, matrix = WITH_NAN.copy(), stored_nan(WITH_NAN)
    data, x = matrix.data.copy(), WITH_NAN[0].copy()
    clf = make().fit(X, Y)
    clf.run(matrix, Y)
    clf.ask(x)
    np.testing.assert_array_equal(X, WITH_NAN)
    np.testing.assert_array_equal(matrix.data, data)
    np.testing.assert_array_equal(x, WITH_NAN[0])


def test_float32_and_unsorted_columns_have_gaps_too():
    single, zeros = WITH_NAN.astype(np.float32), WITH_ZEROS.astype(np.float32)
    same(make().run(single, Y), make().run(zeros, Y))
    matrix = stored_nan(single)
    assert matrix.dtype == np.float32
    same(make().run(matrix, Y), make().run(zeros, Y))
    reverse = sp.csr_matrix((matrix.data[::-1], matrix.indices[::-1], matrix.indptr), matrix.shape)
    same(make().run(reverse, Y[::-1]), make().run(zeros[::-1], Y[::-1]))
    clf = make().fit(WITH_NAN, Y)
    assert clf.explain(([2, 0, 1], [np.nan, 1.0, 2.0])) == clf.explain(([0, 1], [1.0, 2.0]))


def test_workers_and_batches_take_gaps():
    same(make().run(WITH_NAN, Y, workers=1), make().run(WITH_ZEROS, Y, workers=1))
    halves = [(WITH_NAN[:80], Y[:80]), (WITH_NAN[80:], Y[80:])]
    same(make().run(iter(halves)), make().run(WITH_ZEROS, Y))


def test_an_event_of_gaps_alone_is_one_without_features():
    clf = make(classes=["no", "yes"])
    assert clf.ask([np.nan] * 4).margin == clf.ask([0.0] * 4).margin == 0.0


def test_scikit_learn_is_told():
    assert make().__sklearn_tags__().input_tags.allow_nan
