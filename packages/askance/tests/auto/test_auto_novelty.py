"""One member of ``auto`` takes what is unusual for the rarer class."""

import numpy as np
import scipy.sparse as sp
from tests import real_data as data

import askance
from askance.budgets import Rate
from askance.learner.auto import Committee, InverseSquareMargin
from askance.learner.auto.members import MEMBERS, SEEKS_NOVELTY

ALONE = SEEKS_NOVELTY.name


def balanced_accuracy(truth, predicted):
    return np.mean([np.mean(predicted[truth == label] == label) for label in np.unique(truth)])


def pages(n=4_000, d=200, rare=0.03, seed=0):
    """Events that have some of a few usual features; those of the rare class also have some of many unusual ones,
    hardly ever the same."""
    rng = np.random.default_rng([seed, 1])  # not those that a classifier asks with
    y = (rng.random(n) < rare).astype(int)
    usual = rng.random((n, d // 10)) < 0.3
    unusual = rng.random((n, d - d // 10)) < np.where(y == 1, 0.03, 0.004)[:, None]
    return sp.csr_matrix(np.hstack([usual, unusual]).astype(float)), y


def test_it_is_dual_averaging_in_which_all_answers_count_alike():
    """An oracle in NumPy: running moments, then w = (w H + eta y z) / H' with H = delta + sqrt(q), q' = q + z^2."""
    X, y = pages(300, 12, rare=0.2)
    X = X.toarray() + 1.0  # nobody learns from an event without features
    rate, ridge = SEEKS_NOVELTY.own[:2]
    weights, squares = np.zeros(13), np.zeros(13)
    mean, variance = np.zeros(12), np.zeros(12)
    for t, (x, label) in enumerate(zip(X, 2 * y - 1, strict=True), 1):
        off = x - mean
        mean += off / t
        variance = (1.0 - 1.0 / t) * (variance + off * off / t)
        varying = variance > 0.0
        z = np.divide(x - mean, np.sqrt(variance), out=np.zeros(12), where=varying)
        z = np.append(z, 1.0) / np.sqrt(max(1, varying.sum()))
        if label * (weights @ z) < 1.0:
            root = ridge + np.sqrt(squares)
            squares += z * z
            weights = (weights * root + rate * label * z) / (ridge + np.sqrt(squares))
    clf = askance.ActiveClassifier(update=Committee(members=ALONE, novelty=True), query=InverseSquareMargin())
    clf.partial_fit(X, y)
    np.testing.assert_allclose(np.append(clf.coef_[0], clf.intercept_), weights, rtol=1e-9)


def test_classes_count_alike_and_sample_weights_count():
    """The weight of a rare class is above 1, and scales what the others learn; a sample weight scales what it does."""
    X, y = pages(60, 12, rare=0.1)

    def learned(sample_weight, **options):
        committee = Committee(members=ALONE, novelty=True, **options)
        clf = askance.ActiveClassifier(update=committee, query=InverseSquareMargin())
        return clf.partial_fit(X, y, sample_weight=np.full(60, sample_weight)).coef_

    np.testing.assert_array_equal(learned(1.0, balancing=0.0), learned(1.0, balancing=1.0))
    assert np.any(learned(0.5) != learned(1.0))


def test_it_has_the_place_of_mirror_descent_and_models_of_before_keep_theirs():
    roster = [member.name for member in askance.make("auto").update.roster]
    before = [member.name for member in Committee(curves=128).roster]
    assert [(new, old) for new, old in zip(roster, before, strict=True) if new != old] == [
        (ALONE, "standard-mirror-0.1")
    ]
    assert before[: len(MEMBERS)] == [member.name for member in MEMBERS]
    named = askance.make("auto").set_params(update__members=f"{ALONE}, standard-mirror-0.1").update
    assert [member.name for member in named.roster] == ["standard-mirror-0.1", ALONE]


def test_a_rare_class_with_unusual_features_is_found():
    found = []
    for novelty in (True, False):
        scores = []
        for seed in range(8):
            X, y = pages(seed=seed)
            clf = askance.make("auto", budget=0.01, random_state=seed, classes=[0, 1])
            clf.set_params(update__novelty=novelty)
            scores.append(balanced_accuracy(y, clf.run(X, y).predicted))
        found.append(np.mean(scores))
    assert found[0] > found[1] + 0.02  # 20 other seeds: 0.053


def test_on_web_pages_it_finds_more_of_the_rare_class():
    X, y = data.load("w8a")
    gains = []
    for order in range(8):
        rows = np.random.default_rng(order).permutation(len(y))[:4_000]
        scores = []
        for novelty in (True, False):
            clf = askance.make("auto", budget=Rate(0.01, burst=40), random_state=order, classes=[-1, 1])
            clf.set_params(update__novelty=novelty)
            scores.append(balanced_accuracy(y[rows], clf.run(X[rows], y[rows]).predicted))
        gains.append(scores[0] - scores[1])
    assert np.mean(gains) > 0.015  # 16 other orders: 0.049, give or take 0.010
