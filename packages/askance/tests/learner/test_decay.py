"""Forgetting: what a memory factor below one does, and that one does nothing."""

import copy

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from tests import oracle

import askance
import askance.errors

RULES = ["SOAL-diag", "OA3-diag", "CW-diag", "D-ADA", "D-AMD", "UOAL-entropy", "MD-ADA"]


def a_turning_world(n=4000, d=20):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    before, after = rng.normal(size=d), rng.normal(size=d)
    return X, np.where(np.where(np.arange(n) < n // 2, X @ before, X @ after) > 0, 1, -1)


@pytest.mark.parametrize("name", RULES)
def test_a_factor_of_one_is_the_rule_as_printed(name):
    X, y = a_turning_world(600)
    plain, kept = askance.make(name, random_state=0), askance.make(name, random_state=0, decay=1.0)
    assert np.array_equal(plain.run(X, y).margin, kept.run(X, y).margin)


@pytest.mark.parametrize("name", RULES)
def test_a_model_that_forgets_still_learns(name):
    X, y = a_turning_world()
    trace = askance.make(name, random_state=0, decay=0.99).run(X, y)
    assert np.isfinite(trace.margin).all()
    assert np.mean(trace.predicted[1000:2000] == y[1000:2000]) > 0.85
    assert np.mean(trace.predicted[3000:] == y[3000:]) > 0.65


def test_forgetting_gains_much_where_variances_have_run_out():
    X, y = a_turning_world()
    late = slice(2000, 2600)
    for name in ("SOAL-diag", "OA3-diag", "UOAL-entropy"):
        right = [
            np.mean(askance.make(name, random_state=0, decay=decay).run(X, y).predicted[late] == y[late])
            for decay in (1.0, 0.98)
        ]
        assert right[1] > right[0] + 0.03, name


def test_no_weight_becomes_less_certain_than_it_was_at_first():
    X, y = a_turning_world()
    for name in ("SOAL-diag", "OA3-diag", "CW-diag"):
        clf = askance.make(name, random_state=0, decay=0.5)
        clf.run(X, y)
        variances = clf._engine.state.table[:, 1, 0]
        assert variances.max() <= 1.0
        assert variances.min() > 0.0


@pytest.mark.parametrize("name", RULES)
def test_run_and_ask_and_tell_agree_while_forgetting(name):
    X, y = a_turning_world(400)
    played = askance.make(name, random_state=0, decay=0.9, classes=[-1, 1])
    trace = played.run(X, y)
    clf = askance.make(name, random_state=0, decay=0.9, classes=[-1, 1])
    for t, x in enumerate(X):
        decision = clf.ask(x)
        assert decision.margin == trace.margin[t]
        if decision.asked:
            clf.tell(ticket=decision.ticket, y=y[t])
    assert np.array_equal(played.coef_, clf.coef_)


def test_a_full_covariance_does_not_offer_it():
    with pytest.raises(askance.errors.InvalidParameter, match="has no parameter 'decay'"):
        askance.make("SOAL", decay=0.9)


@pytest.mark.parametrize("name", ["SOAL", "SOAL-diag", "OA3", "OA3-diag", "CW-diag", "UOAL-entropy", "D-ADA", "D-AMD"])
def test_loosening_widens_the_variances_and_leaves_the_predictions(name):
    X, y = a_turning_world(900)
    loosened, plain = askance.make(name, random_state=0), askance.make(name, random_state=0)
    loosened.run(X[:800], y[:800])
    plain.run(X[:800], y[:800])
    loosened.inflate_variances(0.5)
    assert np.allclose(loosened.coef_, plain.coef_, rtol=1e-12)
    wide, narrow = loosened.run(X[800:], y[800:]), plain.run(X[800:], y[800:])
    if wide.variance.size:
        assert wide.variance[0] > narrow.variance[0]


def test_loosening_at_the_turn_of_the_world_helps():
    X, y = a_turning_world()
    for name in ("SOAL", "SOAL-diag", "OA3-diag", "UOAL-entropy"):
        right = []
        for react in (False, True):
            clf = askance.make(name, random_state=0, budget=askance.budgets.Rate(0.3))
            clf.run(X[:2100], y[:2100])
            if react:
                clf.inflate_variances(0.5)
            late = clf.run(X[2100:], y[2100:])
            right.append(np.mean(late.predicted == y[2100:]))
        assert right[1] > right[0] + 0.05, name


def test_a_rule_without_variances_cannot_be_loosened():
    X, y = a_turning_world(50)
    clf = askance.make("PAA-I", random_state=0)
    with pytest.raises(NotFittedError):
        clf.inflate_variances()
    clf.run(X, y)
    with pytest.raises(askance.errors.IncompatibleRules, match="keeps no variances"):
        clf.inflate_variances()
    with pytest.raises(askance.errors.InvalidParameter, match="share must be in"):
        clf.inflate_variances(2.0)


# --- the memory factor of paper 5, and the local one -------------------------------------------------------


def of_two_features(**parameters):
    clf = askance.make("BOAL-random", rate=1.0, classes=[-1, 1], n_features=2, **parameters)
    clf.partial_fit([[1.0, 0.0]], [1])
    return clf


def variance_of(clf, x):
    return clf.run([x], [1]).variance[0]


def test_the_memory_factor_of_paper_5_fades_features_that_an_answer_does_not_have():
    at_once = variance_of(of_two_features(decay=0.9), [1.0, 0.0])
    for answers in (1, 2, 10):
        fading, local = of_two_features(decay=0.9), of_two_features(local_decay=0.9)
        for clf in (fading, local):
            clf.partial_fit([[0.0, 1.0]] * answers, [1] * answers)
        assert variance_of(fading, [1.0, 0.0]) == pytest.approx(at_once / 0.9**answers, rel=1e-13)
        assert variance_of(local, [1.0, 0.0]) == at_once


@pytest.mark.parametrize(("ratio", "prior"), [(1.0, 1.0), (1.0, 0.25), (4.0, 0.25), (1e12, 2.0)])
@pytest.mark.parametrize("answers", [3, 60, 3000])  # 0.5^3000 is zero to a computer
def test_features_fade_up_to_the_largest_variance_however_many_answers_they_miss(ratio, prior, answers):
    options = {"decay": 0.5, "prior_variance": prior, "max_variance_ratio": ratio}
    at_once = variance_of(of_two_features(**options), [1.0, 0.0])
    clf = of_two_features(**options)
    clf.partial_fit([[0.0, 1.0]] * answers, [1] * answers)
    expected = min(ratio * prior, at_once * 2.0 ** min(answers, 1000))
    assert variance_of(clf, [1.0, 0.0]) == pytest.approx(expected, rel=1e-14)
    clf.partial_fit([[1.0, 1.0], [1.0, -1.0]], [1, -1])
    assert np.isfinite(clf.coef_).all()
    assert 0.0 < variance_of(clf, [1.0, 0.0]) <= ratio * prior


@pytest.mark.parametrize("name", ["UOAL-entropy", "BOAL-entropy"])
@pytest.mark.parametrize("ratio", [1.0, 5.0, 1e12])
@pytest.mark.parametrize("local_decay", [1.0, 0.9])
def test_forgetting_by_stamps_is_forgetting_at_every_answer(name, ratio, local_decay):
    """As the oracle does, which divides all variances at every answer; rare features miss many."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(900, 8)) * (rng.random((900, 8)) < np.array([0.6, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.004]))
    y = np.where(X @ rng.normal(size=8) + 0.3 * rng.normal(size=900) > 0, 1, -1)
    parameters = {"decay": 0.93, "local_decay": local_decay, "max_variance_ratio": ratio, "prior_variance": 0.5}
    parameters = {**oracle.settings_of(name), **parameters}
    clf = askance.make(name, random_state=4, classes=[-1, 1], **parameters)
    trace, truth = clf.run(X, y), oracle.run(name, X, y, 4, **parameters)
    assert np.array_equal(trace.asked, truth.asked)
    np.testing.assert_allclose(trace.margin, truth.margin, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(trace.variance, truth.variance, rtol=1e-8)


def test_local_decay_alone_stops_at_the_prior():
    for ratio in (1.0, 1e12):
        clf = of_two_features(local_decay=0.5, max_variance_ratio=ratio, prior_variance=0.25)
        clf.partial_fit([[1e-6, 1.0]] * 60, [1] * 60)
        assert variance_of(clf, [1.0, 0.0]) == 0.25


def test_a_largest_variance_below_the_first_or_without_bound_is_refused():
    for ratio in (0.5, 2e12, float("inf"), float("nan")):
        with pytest.raises(askance.errors.InvalidParameter, match="max_variance_ratio must be a number from 1 to 1e12"):
            askance.make("BOAL-entropy", max_variance_ratio=ratio)


def test_a_fading_model_is_the_same_in_chunks_from_a_file_and_when_it_grows(tmp_path):
    X, y = a_turning_world(300)
    options = {"decay": 0.97, "local_decay": 0.99, "random_state": 0, "classes": [-1, 1]}
    whole = askance.make("UOAL-entropy", **options).run(X, y)
    clf = askance.make("UOAL-entropy", **options)
    margins = [clf.run(X[:100], y[:100]).margin]
    clf.save(tmp_path / "fading.model")
    clf = askance.load(tmp_path / "fading.model")
    margins.append(clf.run(X[100:200], y[100:200]).margin)
    clf.widen(25)
    margins.append(clf.run(np.pad(X[200:], ((0, 0), (0, 5))), y[200:]).margin)
    assert np.array_equal(np.concatenate(margins), whole.margin)


def test_inflated_variances_count_what_was_forgotten():
    X, y = a_turning_world(300)
    for ratio in (1.0, 1e12):
        clf = askance.make("BOAL-random", rate=1.0, decay=0.9, max_variance_ratio=ratio, random_state=0)
        clf.run(X, y)
        clf.partial_fit(np.eye(20)[[0] * 40], np.ones(40))
        plain = copy.deepcopy(clf)
        clf.inflate_variances(1e-12)
        every, before = (model.run(np.eye(20)[1:], np.ones(19)).variance for model in (clf, plain))
        assert every[0] == pytest.approx(before[0])
        assert every[0] == (pytest.approx(1.0) if ratio == 1.0 else pytest.approx(before[0], rel=1e-9))
        assert (before[0] > 1.0) == (ratio > 1.0)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_to_inflate_variances_makes_no_weight_more_certain(share):
    clf = of_two_features(decay=0.9)
    clf.partial_fit([[0.0, 1.0]] * 20, [1, -1] * 10)
    plain = copy.deepcopy(clf)
    clf.inflate_variances(share)
    assert variance_of(clf, [1.0, 0.0]) == variance_of(plain, [1.0, 0.0]) > 1.0
    assert variance_of(clf, [0.0, 1.0]) > variance_of(plain, [0.0, 1.0])


def test_whether_a_model_fades_cannot_be_changed_once_it_has_learned():
    clf = of_two_features()
    clf.update.decay = 0.9
    with pytest.raises(askance.errors.InvalidParameter, match="whether Probit's decay is below 1"):
        clf.predict([[1.0, 0.0]])
    clf.update.set_params(decay=1.0, local_decay=0.9)
    clf.predict([[1.0, 0.0]])
