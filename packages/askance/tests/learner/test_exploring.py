"""The least probability of asking, chosen anew for each event."""

import numpy as np
import pytest

import askance
from askance.errors import InvalidParameter
from askance.learner.budget import Rate

X = np.random.default_rng(0).normal(size=(3000, 5))


def made(**options):
    return askance.make("PAA-I", delta=1e-6, classes=["a", "b"], random_state=1, **options)


def test_the_level_of_an_event_takes_the_place_of_the_parameter():
    always, changing = made(explore=0.3), made()
    for x in X[:200]:
        assert always.ask(x) == changing.ask(x, explore=0.3)
    always.explore = 0.0
    assert always.ask(X[200]) == changing.ask(X[200])


def test_every_event_is_asked_with_at_least_its_level_and_the_audits_are_that_sample():
    clf = made()
    levels = np.where(np.arange(len(X)) % 2 == 0, 0.5, 0.02)
    decisions = [clf.ask(x, explore=level) for x, level in zip(X, levels, strict=True)]
    assert all(d.probability >= level for d, level in zip(decisions, levels, strict=True))
    audits = np.array([d.audit for d in decisions])
    assert 0.45 < audits[::2].mean() < 0.55
    assert 0.005 < audits[1::2].mean() < 0.04


def test_a_level_above_the_share_of_a_budget_does_not_break_it():
    clf = made(budget=Rate(0.1, burst=5))
    asked = 0
    for n, x in enumerate(X, 1):
        asked += clf.ask(x, explore=1.0).asked
        assert asked <= max(0.1 * n, 5 + 0.096 * n)
    assert asked >= 250


@pytest.mark.parametrize("level", [-0.1, 1.5])
def test_a_level_that_is_no_probability_is_refused(level):
    with pytest.raises(InvalidParameter, match="explore must be"):
        made().ask(X[0], explore=level)


def test_the_scores_are_those_of_the_event_predicted_last():
    clf = askance.make("auto", classes=["a", "b", "c"], random_state=0)
    clf.ask(X[0])
    for x, label in zip(X[1:40], "abc" * 13, strict=True):
        clf.tell(x, label)
    decision = clf.ask(X[50])
    assert clf.classes_[clf.scores_.argmax()] == decision.label
    best, second = np.sort(clf.scores_)[:-3:-1]
    assert decision.margin == pytest.approx(best - second)
