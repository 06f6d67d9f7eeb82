"""Sifting: for any number of workers the result of ask, and of tell at the end of each round, bit for bit."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests import oracle

import askance
from askance.errors import IncompatibleRules, InvalidParameter
from askance.learner import sifting
from askance.learner.events import read_events
from askance.learner.loop import Record
from askance.learner.sifting import round_size
from askance.learner.state import SAVED

N_EVENTS = 900
BUDGETS = {
    "none": None,
    "fixed": 40,
    "spent": 3,
    "rate": 0.1,
    "both": askance.budgets.Fixed(60) & askance.budgets.Rate(0.2),
    "period": askance.budgets.PerPeriod(9, "100s"),
}


def stream(n_classes=2, seed=0, n_features=7, n_events=N_EVENTS):
    """Overlapping clouds, as sparse rows of which some are empty, with labels of which some are missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_events)
    X = rng.normal(size=(n_classes, n_features))[y] + rng.normal(size=(n_events, n_features))
    X *= rng.random(X.shape) < 0.6
    X[::50] = 0.0
    labels = y.astype(float)
    labels[7::31] = np.nan
    return sp.csr_matrix(X), labels


def in_rounds(clf, X, y, times=None):
    """The oracle: ask for every event, and tell the answers when the round is over."""
    margins, asked, waiting = [], [], []
    left = round_size(0)
    for t in range(X.shape[0]):
        if np.isnan(y[t]):  # predicted, and nothing else
            margins.append(np.nan)
            asked.append(False)
        else:
            decision = clf.ask(X[t], time=None if times is None else times[t])
            margins.append(decision.margin)
            asked.append(decision.asked)
            if decision.asked:
                waiting.append((decision.ticket, y[t]))
        left -= 1
        if left == 0:
            for ticket, label in waiting:
                clf.tell(ticket=ticket, y=label)
            waiting, left = [], round_size(clf.events_seen_)
    for ticket, label in waiting:
        clf.tell(ticket=ticket, y=label)
    return np.array(margins), np.array(asked)


def assert_same(one, other):
    """Two classifiers have learned the same, and would go on in the same way."""
    for name in SAVED:
        np.testing.assert_array_equal(getattr(one._state, name), getattr(other._state, name), err_msg=name)
    np.testing.assert_array_equal(one._recent, other._recent)
    np.testing.assert_array_equal(one._budget_state.counts, other._budget_state.counts)
    np.testing.assert_array_equal(one._budget_state.budget, other._budget_state.budget)
    assert one._rng.bit_generator.state == other._rng.bit_generator.state


def compare(make, X, y, times=None):
    truth = make()
    margins, asked = in_rounds(truth, X, y, times)
    traces = []
    for workers in (1, 2, 3):
        clf = make()
        traces.append(clf.run(X, y, times, workers=workers))
        known = ~np.isnan(margins)
        np.testing.assert_array_equal(traces[-1].margin[known], margins[known])
        np.testing.assert_array_equal(traces[-1].asked, asked)
        assert_same(clf, truth)
    for trace in traces[1:]:
        for name in ("predicted_index", "margin", "variance", "probability", "asked", "audit"):
            np.testing.assert_array_equal(getattr(trace, name), getattr(traces[0], name), err_msg=name)


@pytest.fixture(autouse=True)
def _threads(monkeypatch):
    monkeypatch.setattr(sifting, "WORTH_SENDING", 0.0)  # even for the smallest round
    monkeypatch.setattr(sifting, "SHARE", 0.1)  # and larger rounds than usual: more is late


SOME = ["PAA-I", "SOAL", "OA3-diag", "MPAA-I", "UOAL-entropy"]
"""Of every kind of model one; the others take long to compile."""
NAMED = [row for row in askance.algorithms() if row["name"] not in ("auto", "auto-random")]
OF_EACH_RULE = {row[kind]: row["name"] for kind in ("query", "update") for row in reversed(NAMED)}
"""The first algorithm with each query rule, and the first with each update rule."""
SIFTED = sorted({*SOME, *OF_EACH_RULE.values()})
EVERY = [pytest.param(name, marks=() if name in SOME else pytest.mark.prove) for name in SIFTED]


@pytest.mark.parametrize("name", EVERY)
def test_every_rule_is_sifted_as_it_asks_and_is_told(name):
    X, y = stream(4 if name in oracle.MULTI_CLASS else 2, n_events=300)
    compare(lambda: askance.make(name, classes=np.unique(y[~np.isnan(y)]), n_features=7, random_state=3), X, y)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("name", ["PAA-I", "OA3-diag"])
def test_every_budget_is_kept(name, budget):
    X, y = stream()
    options = {"budget": BUDGETS[budget], "explore": 0.01, "intercept": True, "normalize": "l2", "random_state": 5}
    classes = np.unique(y[~np.isnan(y)])
    times = np.arange(N_EVENTS) * 1.0
    compare(lambda: askance.make(name, classes=classes, n_features=7, **options), X, y, times)


def test_dense_rows_that_are_converted_block_by_block_are_sifted_alike(monkeypatch):
    monkeypatch.setattr("askance.learner.events.BLOCK_ENTRIES", 100)
    X, y = stream()
    compare(lambda: askance.make("SOAL", classes=[0, 1], n_features=7, random_state=0, budget=0.2), X.toarray(), y)


def test_rounds_go_on_in_the_next_call():
    X, y = stream()
    clf = askance.make("PAA-I", classes=[0, 1], random_state=0)
    for part in (slice(0, 400), slice(400, None)):
        clf.run(X[part], y[part], workers=2)
    again = askance.make("PAA-I", classes=[0, 1], random_state=0)
    again.run(iter([(X[:400], y[:400]), (X[400:], y[400:])]), workers=3)
    assert_same(clf, again)
    assert clf.events_seen_ == np.count_nonzero(~np.isnan(y))


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2"])
def test_workers_that_cannot_be_are_refused(workers):
    with pytest.raises(InvalidParameter, match="workers must be a whole number of 1 or more, got"):
        askance.make("PAA-I").run([[1.0], [2.0]], [0, 1], workers=workers)


def test_a_rule_that_watches_events_is_refused_before_anything_changes():
    X, y = stream()
    clf = askance.make("auto", classes=[0, 1], random_state=0, budget=0.1)
    with pytest.raises(IncompatibleRules, match="Committee keeps statistics of every event that it scores"):
        clf.run(X, y, workers=2)
    assert clf.events_seen_ == 0


@pytest.mark.parametrize("name", EVERY)
def test_to_score_changes_no_model_that_is_sifted(name):
    X, y = stream(4 if name in oracle.MULTI_CLASS else 2, n_events=200)
    clf = askance.make(name, random_state=0)
    trace = clf.run(X, y)
    kept = [getattr(clf._state, part).copy() for part in SAVED]
    compiled, n = clf._compiled_learner(), len(trace)
    variance = np.empty(n if compiled.keeps_variance else 0)
    record = Record(np.empty(n, np.int32), np.empty(n), variance, np.empty(n), np.empty(n, bool), np.empty(n, bool))
    (_, block), *_ = read_events(X).blocks(compiled.preparation)
    compiled.score_block(compiled.parameters.update, clf._state, block, np.zeros(n, np.int32), False, record)
    assert np.isfinite(record.margin).all()
    for before, part in zip(kept, SAVED, strict=True):
        np.testing.assert_array_equal(before, getattr(clf._state, part))
