"""The classifier is a scikit-learn estimator, whatever rules it is made of."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import askance
from askance import queries, updates
from askance.data.generators import messages
from askance.learner.presets import PRESETS


def find_families():
    """A preset for each family of update kernels, in each form that its state has: two classes and many, numbers of a
    feature, a full covariance. That each algorithm computes what it should is told by the oracles."""
    found = {}
    for row in PRESETS:
        update = askance.make(row.name).update
        state = update.start(n_features=8, n_classes=2)
        form = update.per_class, state.matrix.size > 0, state.table.shape[1] > 1
        found[type(update).__module__, form] = row.name
    return list(found.values())


@parametrize_with_checks(
    [askance.ActiveClassifier(), *(askance.make(name, random_state=0) for name in find_families())]
)
def test_estimator_passes_scikit_learns_own_checks(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [
        askance.make("PAA-I", intercept=True, normalize="l2", random_state=0),
        askance.make("SOAL-diag", intercept=True, random_state=0),
        askance.make("PAA-I", budget=50, classes=None, random_state=0),
    ]
)
def test_estimator_passes_the_checks_with_an_intercept_normalised_and_on_a_budget(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def stream():
    return make_classification(600, n_features=10, n_informative=5, random_state=0)


def test_clone_copies_parameters_and_forgets_what_was_learned(stream):
    clf = askance.make("OA3-diag", eta=0.5, rho=3.0, budget=10, random_state=7)
    clf.run(*stream)
    copy = clone(clf)
    assert copy.get_params()["update__rho"] == 3.0
    assert copy.update is not clf.update
    assert not hasattr(copy, "classes_")
    assert copy.run(*stream).asked.sum() == 10


def test_nested_parameters_can_be_read_and_set():
    clf = askance.make("PAA-I", C=0.5, delta=0.1)
    clf.set_params(update__C=2.0, query__delta=0.3)
    assert (clf.update.C, clf.query.delta) == (2.0, 0.3)
    with pytest.raises(ValueError, match="has no parameter 'D'"):
        clf.set_params(update__D=1.0)
    with pytest.raises(ValueError, match="must be a finite number above 0, got -1"):
        clf.set_params(update__C=-1.0)


def test_a_parameter_set_after_learning_counts_from_the_next_event_on(stream):
    X, y = stream
    clf = askance.make("PAA-I", delta=1e-9, random_state=0)
    assert clf.run(X[:300], y[:300]).asked.sum() < 10
    clf.query.delta = 1e9
    assert clf.run(X[300:], y[300:]).asked.all()


@pytest.mark.parametrize(
    "change",
    [{"intercept": True}, {"update": updates.Probit()}, {"update": updates.PassiveAggressive1(per_class=True)}],
    ids=["intercept", "another rule", "a vector per class"],
)
def test_what_shapes_the_model_cannot_be_changed_after_learning_has_begun(stream, change):
    X, y = stream
    clf = askance.make("PAA-I", random_state=0)
    clf.run(X, y)
    before = clf.coef_
    clf.set_params(**change)
    for call in (lambda: clf.run(X, y), lambda: clf.ask(X[0]), lambda: clf.predict(X), lambda: clf.partial_fit(X, y)):
        with pytest.raises(ValueError, match="cannot be changed once learning has begun"):
            call()
    clf.fit(X, y).predict(X)
    assert not np.array_equal(clf.coef_, before)


def test_query_rule_takes_eta_and_gamma_from_the_update_rule(stream):
    X, y = stream
    inherits = askance.ActiveClassifier(updates.AdaptiveRegularizationDiagonal(0.3, 2.0), queries.Variance(0.1))
    says_so = askance.ActiveClassifier(
        updates.AdaptiveRegularizationDiagonal(0.3, 2.0), queries.Variance(0.1, 0.3, 2.0)
    )
    for clf in (inherits, says_so):
        clf.set_params(random_state=0)
    assert np.array_equal(inherits.run(X, y).asked, says_so.run(X, y).asked)


def test_grid_search_runs_over_the_parameters_of_a_rule(stream):
    grid = {"update__C": [0.001, 0.1, 1.0], "query__delta": [1.0]}
    search = GridSearchCV(askance.make("PAA-I", random_state=0), grid, cv=3).fit(*stream)
    assert search.best_params_["update__C"] in grid["update__C"]
    assert search.best_score_ > 0.6


def test_pipeline_with_a_hashing_vectorizer_learns_to_tell_spam():
    stream = messages(1500, random_state=0)
    model = make_pipeline(HashingVectorizer(n_features=2**12), askance.make("SOL-diag", intercept=True, random_state=0))
    scores = cross_val_score(model, stream.texts, stream.labels, cv=3)
    assert scores.mean() > 0.85


def test_pipeline_with_a_scaler(stream):
    model = make_pipeline(StandardScaler(), askance.make("PA-I", C=0.1, intercept=True, random_state=0))
    assert model.fit(*stream).score(*stream) > 0.7


@pytest.mark.parametrize("name", ["PAA-I", "SOAL", "SSOA3", "UOAL-entropy"])
@pytest.mark.parametrize("way", ["pickle", "joblib", "joblib, memory-mapped"])
def test_a_copy_through_pickle_or_joblib_goes_on_as_the_original(stream, tmp_path, name, way):
    X, y = stream
    original = askance.make(name, random_state=3)
    original.run(X[:200], y[:200])
    if way == "pickle":
        copy = pickle.loads(pickle.dumps(original))
    else:
        joblib.dump(original, tmp_path / "model")
        copy = joblib.load(tmp_path / "model", mmap_mode="r" if "mapped" in way else None)
    ours, theirs = original.run(X[200:], y[200:]), copy.run(X[200:], y[200:])
    assert np.array_equal(ours.asked, theirs.asked)
    assert np.array_equal(ours.margin, theirs.margin)


def test_parallel_jobs_give_what_one_job_gives(stream):
    clf = askance.make("PAA-I", random_state=0)
    assert np.array_equal(cross_val_score(clf, *stream, cv=3, n_jobs=2), cross_val_score(clf, *stream, cv=3, n_jobs=1))


def test_fit_forgets_and_partial_fit_goes_on(stream):
    X, y = stream
    clf = askance.make("PAA-I", random_state=0).fit(X, y)
    learn_once = clf.coef_
    assert np.array_equal(clf.fit(X, y).coef_, learn_once)
    assert not np.array_equal(clf.partial_fit(X, y).coef_, learn_once)


def test_partial_fit_asks_nothing_and_spends_neither_budget_nor_random_numbers(stream):
    X, y = stream
    clf = askance.make("PAA-I", budget=5, random_state=0).partial_fit(X, y)
    assert (clf.events_seen_, clf.labels_asked_) == (0, 0)
    assert clf.run(X, y).asked.sum() == 5


def test_sample_weight_counts_for_weighted_rules_and_is_refused_by_the_others(stream):
    X, y = stream
    weights = np.where(y == 1, 5.0, 1.0)
    plain = askance.make("UOAL-entropy").partial_fit(X, y)
    weighed = askance.make("UOAL-entropy").partial_fit(X, y, sample_weight=weights)
    assert weighed.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean()
    for name in ("SOAL-diag", "MPAA-I"):
        advice = f'^{name} learns every answer with the same weight; askance.make\\("{name}", weighted=True\\) takes'
        with pytest.raises(ValueError, match=advice):
            askance.make(name).partial_fit(X, y, sample_weight=weights)
        askance.make(name, weighted=True).partial_fit(X, y, sample_weight=weights)
    unnamed = askance.ActiveClassifier(updates.PassiveAggressive1(), queries.Entropy())
    with pytest.raises(
        ValueError, match=r"^PassiveAggressive1 learns .* update=PassiveAggressive1\(weighted=True\) takes"
    ):
        unnamed.partial_fit(X, y, sample_weight=weights)
    kept = y == 1
    skipped = askance.make("PAA-I", classes=[0, 1]).partial_fit(X, y, sample_weight=kept.astype(float))
    assert np.array_equal(skipped.coef_, askance.make("PAA-I", classes=[0, 1]).partial_fit(X[kept], y[kept]).coef_)


@pytest.mark.parametrize("name", ["PAA-I", "UOAL-entropy"])
def test_probabilities_sum_to_one_and_have_logarithms(stream, name):
    clf = askance.make(name).fit(*stream)
    assert np.allclose(clf.predict_proba(stream[0]).sum(axis=1), 1.0)
    assert np.allclose(np.exp(clf.predict_log_proba(stream[0])), clf.predict_proba(stream[0]))


def test_fit_with_sample_weight_is_partial_fit_of_a_clone(stream):
    X, y = stream
    weights = np.where(y == 1, 5.0, 1.0)
    clf = askance.make("UOAL-entropy", random_state=0)
    fitted = clone(clf).fit(X[:50], y[:50]).fit(X, y, sample_weight=weights)
    assert np.array_equal(fitted.coef_, clone(clf).partial_fit(X, y, sample_weight=weights).coef_)
    assert not np.array_equal(fitted.coef_, clone(clf).fit(X, y).coef_)
    for given in (weights[:-1], np.full(600, -1.0), np.full(600, np.nan)):
        before = fitted.coef_.copy()
        with pytest.raises(ValueError):  # noqa: PT011
            fitted.fit(X, y, sample_weight=given)
        assert np.array_equal(fitted.coef_, before)
    with pytest.raises(ValueError, match="sample_weight leaves fewer than two classes"):
        clone(clf).fit(X, y, sample_weight=y.astype(float))
    with pytest.raises(TypeError, match="knows no 'weights'"):
        fitted.fit(X, y, weights=weights)


def test_sample_weight_goes_through_a_pipeline_a_grid_search_and_score(stream):
    X, y = stream
    weights = np.where(y == 1, 5.0, 1.0)
    pipeline = make_pipeline(StandardScaler(), askance.make("UOAL-entropy", random_state=0))
    pipeline.fit(X, y, activeclassifier__sample_weight=weights)
    search = GridSearchCV(askance.make("UOAL-entropy", random_state=0), {"update__prior_variance": [0.5, 1.0]})
    assert search.fit(X, y, sample_weight=weights).best_score_ > 0.5
    clf = search.best_estimator_
    with config_context(enable_metadata_routing=True):
        clf.set_fit_request(sample_weight=True)
    right = clf.predict(X) == y
    assert clf.score(X, y, sample_weight=weights) == pytest.approx(np.average(right, weights=weights))
