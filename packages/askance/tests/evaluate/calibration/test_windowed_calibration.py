"""Every algorithm has probabilities: calibrated on the bought labels, the same by every route, and of no influence."""

import pickle

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_digits, make_classification
from tests import real_data as data

import askance
from askance import queries, updates
from askance.evaluate.calibration.windowed import (
    KEPT,
    WindowedCalibration,
    calibrate,
    keep_answer,
    keep_margins,
    no_answers,
)

NAMES = [row["name"] for row in askance.algorithms()]


def stream_for(name, n=400):
    several = askance.make(name).update.per_class
    return make_classification(
        n, 6, n_informative=4, n_redundant=0, n_classes=3 if several else 2, n_clusters_per_class=1, random_state=1
    )


def by_ask_and_tell(clf, X, y, by_ticket):
    for x, label in zip(X, y, strict=True):
        decision = clf.ask(x)
        if decision.asked and by_ticket:
            clf.tell(ticket=decision.ticket, y=label)
        elif decision.asked:
            clf.tell(x, label, weight=decision.weight)


@pytest.mark.parametrize("name", NAMES)
def test_run_chunks_ask_and_tell_and_a_saved_model_have_the_same_probabilities(name, tmp_path):
    X, y = stream_for(name)
    X[::50] = 0.0  # events without features, which are asked as audits only
    options = {"classes": np.unique(y), "explore": 0.1, "intercept": name != "auto", "random_state": 3}
    whole, chunks, told, by_ticket = (askance.make(name, **options) for _ in range(4))
    whole.run(X, y)
    for part in (slice(0, 7), slice(7, 250)):
        chunks.run(X[part], y[part])
    chunks.save(tmp_path / "model")
    chunks = pickle.loads(pickle.dumps(askance.load(tmp_path / "model")))
    chunks.run(X[250:], y[250:])
    by_ask_and_tell(told, X, y, by_ticket=False)
    by_ask_and_tell(by_ticket, X, y, by_ticket=True)
    expected = whole.predict_proba(X)
    assert np.allclose(expected.sum(axis=1), 1.0)
    for other in (chunks, told, by_ticket):
        np.testing.assert_array_equal(other.predict_proba(X), expected)


@pytest.mark.parametrize("name", [name for name in NAMES if not askance.make(name).update.probabilistic])
def test_before_the_first_answer_all_classes_are_equally_likely(name):
    X, y = stream_for(name)
    clf = askance.make(name, classes=np.unique(y), budget=0, random_state=0)
    clf.run(X, y)
    np.testing.assert_array_equal(clf.predict_proba(X), 1.0 / len(np.unique(y)))


@pytest.mark.parametrize("name", ["PAA-I", "SOAL-diag", "D-ADA", "auto"])
def test_probabilities_come_true_about_as_often_as_they_say(name):
    X, y = data.sample("spambase", 3000, standardize=True)
    clf = askance.make(name, budget=0.2, intercept=name != "auto", random_state=0)
    clf.run(X[:2000], y[:2000])
    chances, is_second = clf.predict_proba(X[2000:])[:, 1], y[2000:] == clf.classes_[1]
    assert askance.metrics.calibration_error(is_second, chances, True) < 0.12


def test_probabilities_of_several_classes_come_true_about_as_often_as_they_say():
    X, y = load_digits(return_X_y=True)
    clf = askance.make("MPAA-I", C=0.1, normalize="l2", random_state=0)
    clf.run(X[:1200], y[:1200])
    chances = clf.predict_proba(X[1200:])
    assert np.array_equal(chances.argmax(axis=1), clf.predict(X[1200:]))
    right = (chances.argmax(axis=1) == y[1200:]).mean()
    assert abs(chances.max(axis=1).mean() - right) < 0.12


def test_answers_chosen_by_their_score_are_put_right_by_their_weights():
    rng, answers = np.random.default_rng(0), no_answers(1)
    margins = rng.normal(size=1500)
    chances = 1.0 / (1.0 + 3.0 * np.abs(margins))
    asked = rng.random(1500) < chances
    labels = (rng.random(1500) < expit(1.5 * margins - 1.0)).astype(np.int32)
    keep_margins(answers, margins[asked], labels[asked], chances[asked])
    found = np.exp(calibrate(answers).log_probabilities(np.array([1.0, 0.0])))[:, 1]
    assert found == pytest.approx(expit([0.5, -1.0]), abs=0.15)


def test_a_class_predicted_before_it_is_likelier_is_as_probable_as_it_is_frequent():
    X, y = make_classification(3000, 8, n_informative=4, weights=[0.93], class_sep=0.7, random_state=0)
    balanced, accurate = (
        askance.make("auto", budget=0.05, objective=o, random_state=0) for o in ("balanced", "accuracy")
    )
    balanced.run(X, y)
    chances = balanced.predict_proba(X)[:, 1]
    assert chances.mean() == pytest.approx(y.mean(), abs=0.03)
    assert (balanced.predict(X) == 1).mean() > 2.0 * (chances > 0.5).mean()
    accurate.run(X, y)
    assert np.array_equal(accurate.predict_proba(X).argmax(axis=1), accurate.predict(X))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_the_scale_of_scores_does_not_matter(scale):
    rng, answers = np.random.default_rng(0), no_answers(1)
    margins = rng.normal(size=300)
    keep_margins(answers, scale * margins, (margins > rng.normal(size=300)).astype(int), np.ones(300))
    found = np.exp(calibrate(answers).log_probabilities(scale * np.array([-1.0, 0.5])))[:, 1]
    assert found == pytest.approx([0.16, 0.69], abs=0.08)


def test_the_latest_answers_are_kept_one_by_one_or_many_at_once():
    rng = np.random.default_rng(0)
    margins, labels, chances = rng.normal(size=2000), rng.integers(0, 2, 2000), rng.random(2000)
    one_by_one, at_once = no_answers(1), no_answers(1)
    for margin, label, chance in zip(margins, labels, chances, strict=True):
        keep_answer(one_by_one, np.zeros(1), margin, label, -chance)
    for part in (slice(0, 0), slice(0, 3), slice(3, 1900), slice(1900, 2000)):
        keep_margins(at_once, margins[part], labels[part], chances[part])
    np.testing.assert_array_equal(one_by_one, at_once)
    assert at_once[KEPT, 0] == 2000


def test_scores_that_are_no_numbers_are_left_out():
    answers = no_answers(1)
    keep_margins(answers, np.array([np.nan, np.inf]), np.array([0, 1]), np.ones(2))
    assert calibrate(answers) == WindowedCalibration(0.0)
    several = no_answers(3)
    keep_answer(several, np.array([1.0, np.nan, 0.0]), 0.0, 1, -0.5)
    assert calibrate(several) == WindowedCalibration(0.0)


def test_probabilities_are_higher_for_higher_scores_even_if_the_model_is_worse_than_chance():
    answers = no_answers(1)
    margins = np.linspace(-1.0, 1.0, 100)
    keep_margins(answers, margins, (margins < 0.0).astype(int), np.ones(100))
    chances = np.exp(calibrate(answers).log_probabilities(margins))[:, 1]
    assert (np.diff(chances) > 0.0).all()


def test_given_labels_count_with_their_sample_weight():
    X, y = make_classification(300, 5, n_informative=3, n_redundant=0, random_state=2)
    zero = np.where(np.arange(300) < 150, 1.0, 0.0)
    some = askance.make("UOAL-entropy", random_state=0).fit(X[:150], y[:150])
    weighed = askance.make("UOAL-entropy", random_state=0).fit(X, y, sample_weight=zero)
    np.testing.assert_array_equal(some.predict_proba(X), weighed.predict_proba(X))


def test_two_classes_with_a_vector_each_and_own_rules_have_probabilities():
    X, y = make_classification(300, 5, n_informative=3, n_redundant=0, random_state=2)
    clf = askance.ActiveClassifier(updates.PassiveAggressive1(per_class=True), queries.Always(), random_state=0)
    clf.run(X, y)
    assert np.array_equal(clf.predict_proba(X).argmax(axis=1), clf.predict(X))
