"""Our rules and budgets in scikit-activeml: pure queries, its loops, its strategies, and our own decisions."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

import askance
from askance.budgets import PerPeriod, Rate
from askance.errors import IncompatibleRules, InvalidInput, InvalidParameter, InvalidType
from askance.queries import Entropy, Margin

pytest.importorskip(
    "skactiveml", reason="the adapter needs scikit-activeml: pip install './packages/askance[skactiveml]'"
)

from skactiveml import stream
from skactiveml.base import BudgetManager, SingleAnnotatorStreamQueryStrategy
from skactiveml.classifier import ParzenWindowClassifier, SklearnClassifier
from skactiveml.utils import MISSING_LABEL, call_func

from askance.adapters.skactiveml import PacingBudgetManager, QueryRuleStrategy


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(320, centers=3, cluster_std=2.5, random_state=1)


def most(share, events, burst=10.0):
    """The labels that a share allows by now."""
    return max(share * events, burst + 0.96 * share * events)


def play(strategy, X, y, clf, size=1, start=20):
    """The loop of scikit-activeml's tutorial, with its own way of calling; returns who was asked, and the accuracy."""
    labels = np.full(len(y), MISSING_LABEL)
    labels[:start] = y[:start]
    asked, right = [], 0
    for first in range(start, len(y), size):
        clf.fit(X[:first], labels[:first])
        some = slice(first, first + size)
        right += np.sum(clf.predict(X[some]) == y[some])
        queried, utilities = call_func(strategy.query, candidates=X[some], clf=clf, X=X[:first], y=labels[:first],
                                       return_utilities=True)  # fmt: skip
        call_func(
            strategy.update,
            candidates=X[some],
            queried_indices=queried,
            budget_manager_param_dict={"utilities": utilities},
        )
        labels[first + np.asarray(queried, int)] = y[first + np.asarray(queried, int)]
        asked += [first + int(place) for place in queried]
        assert len(asked) <= most(0.2, first + size - start)
    return asked, right / (len(y) - start)


# --- query rules -------------------------------------------------------------------------------------------


def test_decisions_are_those_of_the_formula(blobs):
    X, y = blobs
    delta, limit, explore = 0.5, 40, 0.05
    strategy = QueryRuleStrategy(Margin(delta), budget=limit, explore=explore, random_state=5)
    rng, clf, bought = np.random.default_rng(5), GaussianNB().fit(X[:30], y[:30]), 0
    for first in range(30, 320, 10):
        candidates = X[first : first + 10]
        queried, utilities = strategy.query(candidates, clf, return_utilities=True)
        chances = np.sort(np.log(np.maximum(clf.predict_proba(candidates), np.finfo(float).eps)), axis=1)
        wanted = []
        for t, margin in enumerate(chances[:, -1] - chances[:, -2]):
            chance = max(explore, delta / (delta + margin)) if bought < limit else 0.0
            assert utilities[t] == chance
            if rng.random() < chance:
                wanted.append(t)
                bought += 1
        assert queried.tolist() == wanted
        strategy.update(candidates, queried)
        if wanted:
            clf.partial_fit(candidates[wanted], y[first : first + 10][wanted])
    assert bought == limit


@pytest.mark.parametrize("budget", [0.2, Rate(0.2, burst=3) & 30], ids=str)
def test_one_by_one_it_decides_as_a_wrapped_classifier_does(budget, blobs):
    X, y = blobs
    fitted = SGDClassifier(random_state=0).partial_fit(X[:20], y[:20], classes=[0, 1, 2])
    trace = askance.wrap(fitted, Margin(2.0), budget, explore=0.02, random_state=3).run(X[20:], y[20:])
    strategy = QueryRuleStrategy(Margin(2.0), budget=budget, explore=0.02, random_state=3)
    for t, (row, label) in enumerate(zip(X[20:], y[20:], strict=True)):
        queried, utilities = strategy.query([row], fitted, return_utilities=True)
        assert (len(queried) == 1, utilities[0]) == (trace.asked[t], trace.probability[t])
        strategy.update([row], queried)
        if len(queried):
            fitted.partial_fit([row], [label])
    assert trace.asked.sum() > 20


def test_a_query_changes_nothing_and_an_update_counts(blobs):
    X, y = blobs
    clf = GaussianNB().fit(X[:30], y[:30])
    strategy, other = (QueryRuleStrategy(budget=0.2, random_state=0) for _ in range(2))
    for first in range(30, 300, 30):
        candidates = X[first : first + 30]
        for _ in range(2):
            other.query(candidates[::-1], clf)  # idle questions
            other.query(candidates[:5], clf)
        first_time, second_time = other.query(candidates, clf), other.query(candidates, clf)
        queried = strategy.query(candidates, clf)
        assert first_time.tolist() == second_time.tolist() == queried.tolist()
        strategy.update(candidates, queried)
        other.update(candidates, queried)
    counted = strategy.rehearsal_._stream
    assert counted.events_seen_ == 270
    assert counted.labels_asked_ <= most(0.2, 270)


def test_labels_that_were_not_bought_after_all_can_be_bought_later(blobs):
    X, y = blobs
    clf = GaussianNB().fit(X[:30], y[:30])
    strategy = QueryRuleStrategy(Margin(1e6), budget=5, random_state=0)
    assert len(strategy.query(X[30:50], clf)) == 5
    strategy.update(X[30:50], [])
    assert len(strategy.query(X[50:70], clf)) == 5
    strategy.update(X[50:70], [0, 1, 2])
    assert len(strategy.query(X[70:90], clf)) == 2


@pytest.mark.parametrize("size", [4, 25])
def test_it_plays_the_tutorials_loop(size, blobs):
    X, y = blobs
    strategy = QueryRuleStrategy(budget=0.2, random_state=0)
    asked, accuracy = play(strategy, X, y, ParzenWindowClassifier(classes=[0, 1, 2], random_state=0), size)
    assert len(asked) > 40
    assert accuracy > 0.8


def test_it_fits_a_copy_of_the_classifier_if_told_to(blobs):
    X, y = blobs
    clf = SklearnClassifier(GaussianNB(), classes=[0, 1, 2])
    weights = np.ones(30)
    strategy = QueryRuleStrategy(random_state=0)
    some = strategy.query(X[30:60], clf, X=X[:30], y=y[:30], sample_weight=weights, fit_clf=True)
    assert some.tolist() == QueryRuleStrategy(random_state=0).query(X[30:60], clone(clf).fit(X[:30], y[:30])).tolist()
    assert not hasattr(clf, "estimator_")


def test_copies_pickles_and_random_states(blobs):
    X, y = blobs
    clf = SGDClassifier(random_state=0).fit(X[:30], y[:30])
    strategy = QueryRuleStrategy(Margin(), budget=0.3, random_state=7)
    assert isinstance(strategy, SingleAnnotatorStreamQueryStrategy)
    assert strategy.get_params()["query_rule__delta"] == 1.0
    queried = strategy.query(X[30:80], clf)
    copied = clone(strategy)
    assert copied.query(X[30:80], clf).tolist() == queried.tolist()
    copied.update(X[30:80], queried)
    again = pickle.loads(pickle.dumps(strategy))
    assert again.update(X[30:80], queried).query(X[80:99], clf).tolist() == copied.query(X[80:99], clf).tolist()
    state = np.random.RandomState(4)
    twice = [QueryRuleStrategy(random_state=state).query(X[30:80], clf).tolist() for _ in range(2)]
    assert twice[0] == twice[1]  # the user's own is copied, as by scikit-activeml


# --- budgets -----------------------------------------------------------------------------------------------


def test_a_number_of_labels_is_asked_by_utility_alone():
    utilities = np.random.default_rng(0).random(200) ** 2
    manager = PacingBudgetManager(budget=30, random_state=1)
    draws, wanted = np.random.default_rng(1).random(200), []
    for t, (draw, utility) in enumerate(zip(draws, utilities, strict=True)):
        if draw < utility and len(wanted) < 30:
            wanted.append(t)
    assert manager.query_by_utility(utilities).tolist() == wanted
    assert manager.query_by_utility(utilities).tolist() == wanted
    manager.update(np.zeros((200, 2)), wanted)
    assert manager.query_by_utility(utilities).tolist() == []


STRATEGIES = [
    stream.StreamProbabilisticAL,
    stream.StreamDensityBasedAL,
    stream.FixedUncertainty,
    stream.VariableUncertainty,
    stream.RandomVariableUncertainty,
    stream.Split,
]


@pytest.mark.parametrize("kind", STRATEGIES, ids=lambda kind: kind.__name__)
def test_every_strategy_of_theirs_keeps_to_our_budget(kind, blobs):
    X, y = (part[:170] for part in blobs)
    manager = PacingBudgetManager(budget=0.2, random_state=0)
    assert isinstance(manager, BudgetManager)
    clf = ParzenWindowClassifier(classes=[0, 1, 2], random_state=0)
    named = {"classes": [0, 1, 2]} if kind is stream.FixedUncertainty else {}
    asked, _ = play(kind(**named, budget_manager=manager, random_state=0), X, y, clf, size=5)
    assert len(asked) > 15
    assert not hasattr(manager, "rehearsal_")  # they use a copy


def test_what_is_not_to_be_asked_is_not():
    manager = PacingBudgetManager(budget=0.9, explore=0.5, random_state=0)
    assert 0 < len(manager.query_by_utility(np.full(50, 0.5))) < 50
    assert len(manager.query_by_utility(np.full(50, np.nan))) == 0


def test_a_share_prefers_what_is_useful():
    rng = np.random.default_rng(9)
    manager, bought = PacingBudgetManager(random_state=0), []
    for _ in range(150):
        utilities = rng.random(10)
        queried = manager.query_by_utility(utilities)
        manager.update(np.zeros((10, 1)), queried, utilities)
        bought += utilities[queried].tolist()
    assert 120 < len(bought) <= most(0.1, 1500)
    assert np.mean(bought) > 0.6


# --- what is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (
            lambda X, clf: QueryRuleStrategy(Entropy()).query(X, clf),
            IncompatibleRules,
            "reads the variance of a margin",
        ),
        (lambda X, clf: QueryRuleStrategy("margin").query(X, clf), InvalidType, "query must be a query rule"),
        (lambda X, clf: QueryRuleStrategy(budget=1.5).query(X, clf), InvalidParameter, "budget=1.5 is neither"),
        (lambda X, clf: QueryRuleStrategy(budget=PerPeriod(5)).query(X, clf), InvalidParameter, "needs the time"),
        (lambda X, clf: QueryRuleStrategy().query(X, object()), InvalidType, "object has neither decision_function"),
        (lambda X, clf: QueryRuleStrategy().query(X, GaussianNB()), InvalidInput, "does not know two classes yet"),
        (lambda X, clf: QueryRuleStrategy().update(X, []), InvalidInput, "call query with these candidates first"),
        (lambda X, clf: PacingBudgetManager().query_by_utility(np.ones((2, 2))), InvalidInput, "are a flat array"),
        (lambda X, clf: PacingBudgetManager().update(X, []), InvalidInput, "20 candidates and 0 utilities"),
        (lambda X, clf: PacingBudgetManager().update(X, [20], np.ones(20)), InvalidInput, "has 20, but there are 20"),
        (lambda X, clf: PacingBudgetManager().update(X, [1, 1], np.ones(20)), InvalidInput, "of different candidates"),
    ],
)
def test_what_cannot_work_is_refused_in_a_sentence(make, error, words, blobs):
    X, y = blobs
    with pytest.raises(error, match=words):
        make(X[:20], GaussianNB().fit(X[:20], y[:20]))
