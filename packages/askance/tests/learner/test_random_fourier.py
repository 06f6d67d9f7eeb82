"""Any algorithm with ``kernel="rbf"``: the same algorithm, on random Fourier features of the standardised event."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from tests import oracle
from tests import real_data as data
from tests.learner.test_exactness import TOLERANCE

import askance
from askance.errors import IncompatibleRules, InvalidInput, InvalidParameter, InvalidType, NoFeatureWeights
from askance.learner.auto import Committee
from askance.learner.fourier import draw_frequencies
from askance.testing import check_update_rule
from askance.updates import (
    AdaptiveRegularization,
    AsymmetricAdaptiveSketched,
    DualAveraging,
    PassiveAggressive1,
    Probit,
    RandomFourier,
)

COMPONENTS = 24


def rings(n=2000, d=3, seed=0):
    """The second class lies around the first: no line separates them. The columns differ in place and size."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    return 5.0 + X * 10.0 ** np.arange(d), ((X[:, :2] ** 2).sum(axis=1) > 1.4).astype(int)


def curved(X, bandwidth=1.0, seed=0, length=10.0):
    """Every event as the algorithm sees it when it comes, from the events up to it, in plain NumPy."""
    frequencies, phases = draw_frequencies(X.shape[1], COMPONENTS, bandwidth, seed)
    rows = []
    for t, x in enumerate(X, start=1):
        spread = X[:t].std(axis=0)
        varies = spread > 0.0
        z = np.where(varies, (x - X[:t].mean(axis=0)) / np.where(varies, spread, 1.0), 0.0)
        z = np.clip(z, -30.0, 30.0) / np.sqrt(max(1, varies.sum()))
        cosines = np.sqrt(2.0 / COMPONENTS) * np.cos(z @ frequencies + phases)
        rows.append(np.sqrt(length) * np.append(cosines, 1.0 / np.sqrt(COMPONENTS)))
    return np.array(rows)


def proven(*cases):
    """Cases for whoever has the time to compile them."""
    return [pytest.param(case, marks=pytest.mark.prove) for case in cases]


@pytest.mark.parametrize(
    "name", ["PAA-I", "SOAL", *proven("UOAL-entropy", "PEA", "SOAL-diag", "SEL-2nd", "D-ADA", "D-AMD-I", "SOA3")]
)
def test_an_algorithm_with_a_kernel_is_the_papers_algorithm_on_random_fourier_features(name):
    X, y = data.sample("breast_cancer", rows=250)
    options = oracle.settings_of(name, 1)
    clf = askance.make(name, kernel="rbf", components=COMPONENTS, random_state=7, classes=np.unique(y), **options)
    trace = clf.run(X, y)
    truth = oracle.run(name, curved(X), y, seed=7, **options)
    np.testing.assert_array_equal(trace.asked, truth.asked)
    np.testing.assert_array_equal(trace.predicted, truth.predicted)
    np.testing.assert_allclose(trace.margin, truth.margin, rtol=0, atol=1000 * TOLERANCE)
    np.testing.assert_allclose(trace.probability, truth.probability, rtol=0, atol=1000 * TOLERANCE)


@pytest.mark.parametrize("name", ["MPAA-I", *proven("MD-AMD")])
def test_so_it_is_with_many_classes(name):
    X, y = data.sample("iris", rows=150)
    kernel = {"kernel": "rbf", "components": COMPONENTS, "bandwidth": 0.7, "length": 2.0, "kernel_seed": 3}
    options = oracle.settings_of(name, 0)
    trace = askance.make(name, random_state=7, classes=np.unique(y), **kernel, **options).run(X, y)
    truth = oracle.run(name, curved(X, bandwidth=0.7, length=2.0, seed=3), y, seed=7, **options)
    np.testing.assert_array_equal(trace.asked, truth.asked)
    np.testing.assert_allclose(trace.margin, truth.margin, rtol=0, atol=1000 * TOLERANCE)


@pytest.mark.parametrize(
    "rule",
    [
        PassiveAggressive1(),
        AdaptiveRegularization(),
        *proven(Probit(decay=0.99), DualAveraging(), AsymmetricAdaptiveSketched()),
    ],
    ids=lambda rule: type(rule).__name__,
)
def test_it_does_what_every_update_rule_must(rule):
    """The same bits dense and sparse, at once, in chunks, by ask and tell, and across a saved file, among others."""
    check_update_rule(RandomFourier(rule, components=64))


def test_a_budget_that_is_spent_ends_the_watching():
    X, y = rings(600)
    clf = askance.make("PAA-I", kernel="rbf", components=12, budget=5, delta=1e9, random_state=0)
    clf.run(X[:300], y[:300])
    table = clf._engine.state.table.copy()
    clf.run(X[300:], y[300:])
    np.testing.assert_array_equal(table, clf._engine.state.table)
    assert clf._engine.state.extra[0] == 5  # watched


def test_given_labels_teach_what_bought_ones_do():
    X, y = rings(200)
    bought = askance.make("SOAL", delta=1e12, kernel="rbf", components=12, random_state=0)
    bought.run(X, y)
    given = askance.make("SOAL", delta=1e12, kernel="rbf", components=12, random_state=0).fit(X, y)
    np.testing.assert_array_equal(bought._engine.state.extra, given._engine.state.extra)
    np.testing.assert_array_equal(bought._engine.state.table, given._engine.state.table)


def test_what_no_line_separates_is_learned():
    X, y = rings()
    right = {}
    for kernel in (None, "rbf"):
        trace = askance.make("SOAL", kernel=kernel, budget=0.1, random_state=0).run(X, y)
        right[kernel] = np.mean(trace.predicted[500:] == y[500:])
    assert right[None] < 0.65
    assert right["rbf"] > 0.9


def test_the_seed_chooses_the_cosines_and_random_state_does_not():
    X, y = rings(200)

    def margins(**options):
        return askance.make("SOAL", delta=1e12, kernel="rbf", **options).run(X, y).margin

    np.testing.assert_array_equal(margins(random_state=0), margins(random_state=1, components=192.0, kernel_seed=0.0))
    assert not np.array_equal(margins(random_state=0), margins(random_state=0, kernel_seed=1))


def test_it_is_cloned_set_and_saved_with_the_rule_within(tmp_path):
    X, y = rings(300)
    clf = askance.make("SOAL", kernel="rbf", eta=0.5, components=16, bandwidth=0.5, random_state=0)
    assert clone(clf).update == clf.update == RandomFourier(AdaptiveRegularization(eta=0.5), 16, 0.5)
    assert clf.get_params()["update__update__eta"] == 0.5
    clf.run(X[:200], y[:200])
    clf.save(tmp_path / "curved.model")
    loaded = askance.load(tmp_path / "curved.model")
    assert loaded.update == clf.update
    np.testing.assert_array_equal(loaded.run(X[200:], y[200:]).margin, clf.run(X[200:], y[200:]).margin)
    clf.set_params(update__update__eta=2.0)  # the parameters of the rule within can change ...
    clf.run(X[:10], y[:10])
    clf.set_params(update__components=17)  # ... but not the shape of the model
    with pytest.raises(InvalidParameter, match="cannot be changed once learning has begun"):
        clf.run(X[:10], y[:10])


def test_variances_are_inflated_within():
    X, y = rings(300)
    clf = askance.make("SOAL", kernel="rbf", components=16, random_state=0)
    clf.run(X, y)
    before = clf.run(X[:50], y[:50]).variance
    clf.inflate_variances(1.0)
    after = clf.run(X[:1], y[:1]).variance
    assert after[0] == pytest.approx(10.0, abs=5.0)  # z.z
    assert after[0] > 2.0 * before.mean()


def test_sample_weights_are_those_of_the_rule_within():
    X, y = rings(100)
    weights = np.full(100, 2.0)
    with pytest.raises(InvalidInput, match=r'make\("PAA-I", weighted=True\) takes sample_weight'):
        askance.make("PAA-I", kernel="rbf").fit(X, y, sample_weight=weights)
    askance.make("PAA-I", kernel="rbf", weighted=True).fit(X, y, sample_weight=weights)


def test_what_cannot_be_is_said_in_a_sentence():
    X, y = rings(50)
    with pytest.raises(InvalidParameter, match="kernel must be \"rbf\", the Gaussian one, or None, got 'poly'"):
        askance.make("SOAL", kernel="poly")
    with pytest.raises(InvalidParameter, match='components goes with kernel="rbf"'):
        askance.make("SOAL", components=10)
    with pytest.raises(InvalidParameter, match="auto has no parameter 'kernel'"):
        askance.make("auto", kernel="rbf")
    with pytest.raises(InvalidParameter, match="components must be a whole number from 1 to 4096, got 0"):
        askance.make("SOAL", kernel="rbf", components=0)
    with pytest.raises(InvalidType, match="update must be an update rule"):
        RandomFourier("SOAL")
    for rule in (Committee(), RandomFourier()):
        with pytest.raises(IncompatibleRules, match="prepares events in its own way"):
            RandomFourier(rule)
    wide = sp.csr_matrix((np.ones(50), (np.arange(50), np.arange(50) * 100)), shape=(50, 5000))
    with pytest.raises(InvalidInput, match="at most 4,096 columns, and these have 5,000"):
        askance.make("PAA-I", kernel="rbf").run(wide, y)
    clf = askance.make("PAA-I", kernel="rbf").fit(X, y)
    assert not hasattr(clf, "coef_")
    with pytest.raises(NoFeatureWeights, match="none for a feature"):
        clf.explain(X[0])
