"""Delayed updates: for any number of workers the result of ask, and of tell at the end of each round, bit for bit."""

import os
import signal
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from tests import oracle
from tests.engines.in_this_process import InThisProcess, posix

import askance
from askance.engines import make_engine
from askance.errors import InvalidParameter
from askance.learner import delayed_updates
from askance.learner.delayed_updates import round_size
from askance.learner.events import read_events
from askance.learner.loop import Record
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
        np.testing.assert_array_equal(
            getattr(one._engine.state, name), getattr(other._engine.state, name), err_msg=name
        )
    np.testing.assert_array_equal(one._engine.recent, other._engine.recent)
    np.testing.assert_array_equal(one._engine.budget_state.counts, other._engine.budget_state.counts)
    np.testing.assert_array_equal(one._engine.budget_state.budget, other._engine.budget_state.budget)
    assert one._engine.rng.bit_generator.state == other._engine.rng.bit_generator.state


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
    monkeypatch.setattr(delayed_updates, "WORTH_SENDING", 0.0)  # even for the smallest round
    monkeypatch.setattr(delayed_updates, "SHARE", 0.1)  # and larger rounds than usual: more is late


SOME = ["PAA-I", "SOAL", "OA3-diag", "MPAA-I", "UOAL-entropy"]
"""Of every kind of model one; the others take long to compile."""
NAMED = [row for row in askance.algorithms() if row["name"] not in ("auto", "auto-random")]
OF_EACH_RULE = {row[kind]: row["name"] for kind in ("query", "update") for row in reversed(NAMED)}
"""The first algorithm with each query rule, and the first with each update rule."""
SIFTED = sorted({*SOME, *OF_EACH_RULE.values()})
EVERY = [pytest.param(name, marks=() if name in SOME else pytest.mark.prove) for name in SIFTED]


@pytest.mark.parametrize("name", EVERY)
def test_every_rule_updates_late_as_it_asks_and_is_told(name):
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


def test_dense_rows_that_are_converted_block_by_block_are_updated_alike(monkeypatch):
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


@pytest.mark.parametrize("name", ["PAA-I", "SOAL", "MPAA-I", "UOAL-entropy"])
def test_an_engine_scores_as_threads_do_whoever_of_its_workers_is_killed(name, monkeypatch):
    monkeypatch.setattr("askance.learner.delayed_updates.OVERHEAD", -1.0)  # send even the smallest round
    X, y = stream(3 if name == "MPAA-I" else 2)
    options = {"classes": np.unique(y[~np.isnan(y)]), "n_features": 7, "random_state": 2, "budget": 0.2}
    scored, truth = (askance.make(name, **options) for _ in "ab")
    engine = InThisProcess(lost=range(3, 200, 5))
    assert (scored.run(X, y, workers=engine).margin == truth.run(X, y, workers=1).margin).all()
    assert_same(scored, truth)
    assert engine.sent > 100


@posix
def test_processes_that_score_and_are_killed_change_nothing(monkeypatch):
    monkeypatch.setattr("askance.learner.delayed_updates.OVERHEAD", -1.0)
    X, y = stream(n_events=150)
    scored, truth = (askance.make("SOAL", classes=[0, 1], n_features=7, random_state=2) for _ in "ab")
    engine = make_engine("local", 2)
    victim = engine.submit(os.getpid).result()
    shards = [(X[:50], y[:50]), lambda: os.kill(victim, signal.SIGKILL) or (X[50:], y[50:])]
    scored.run(iter(shards), workers=engine)
    truth.run([(X[:50], y[:50]), (X[50:], y[50:])], workers=1)
    engine.kill()
    assert_same(scored, truth)


@pytest.mark.parametrize("workers", [None, 1, 3])
def test_shards_may_be_functions_that_are_called_ahead_and_played_in_order(workers):
    X, y = stream()
    parts = [slice(start, start + 100) for start in range(0, N_EVENTS, 100)]
    whole, loaded = (askance.make("PAA-I", classes=[0, 1], random_state=0) for _ in "ab")
    whole.run([(X[part], y[part]) for part in parts], workers=workers)
    called = []

    def load(part):
        called.append(part)
        return X[part], y[part]

    shards = [partial(load, part) for part in parts]
    loaded.run(shards if workers == 3 else iter(shards), workers=workers)
    assert_same(loaded, whole)
    assert len(called) == len(parts)


def test_a_shard_that_cannot_be_loaded_ends_the_run_with_its_own_error():
    X, y = stream(n_events=1_100)  # more than are looked at before the first is played

    def fail():
        raise OSError("no such shard")

    clf = askance.make("PAA-I", classes=[0, 1], random_state=0)
    with pytest.raises(OSError, match="no such shard"):
        clf.run([lambda: (X, y), fail, lambda: (X, y)], workers=2)
    assert clf.events_seen_ == np.count_nonzero(~np.isnan(y))


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2"])
def test_workers_that_cannot_be_are_refused(workers):
    with pytest.raises(InvalidParameter, match="workers must be a whole number of 1 or more, got"):
        askance.make("PAA-I").run([[1.0], [2.0]], [0, 1], workers=workers)


@pytest.mark.parametrize("budget", [0.1, 60, "9 per 100 s"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_auto_updates_late_as_it_asks_and_is_told(n_classes, budget):
    X, y = stream(n_classes, n_events=500)
    times = np.arange(500) * 1.0 if isinstance(budget, str) else None
    options = {"budget": BUDGETS["period"] if times is not None else budget, "n_features": 7, "random_state": 3}
    compare(lambda: askance.make("auto", classes=np.arange(n_classes) * 1.0, **options), X, y, times)


@pytest.mark.parametrize("name", ["SOAL-diag", "PAA-I"])
def test_a_curved_rule_updates_late_as_it_asks_and_is_told(name):
    X, y = stream(2, n_events=400)
    options = {"kernel": "rbf", "components": 16, "budget": 0.1, "n_features": 7, "random_state": 3}
    compare(lambda: askance.make(name, classes=[0.0, 1.0], **options), X, y, None)


def test_the_report_of_auto_is_that_of_late_answers():
    X, y = stream(n_events=400)
    told, late = (askance.make("auto", classes=[0.0, 1.0], n_features=7, budget=0.1, random_state=0) for _ in "ab")
    in_rounds(told, X, y)
    late.run(X, y, workers=2)
    assert str(late.report()) == str(told.report())


@pytest.mark.parametrize("name", EVERY)
def test_to_score_changes_no_model_that_is_updated_late(name):
    X, y = stream(4 if name in oracle.MULTI_CLASS else 2, n_events=200)
    clf = askance.make(name, random_state=0)
    trace = clf.run(X, y)
    kept = [getattr(clf._engine.state, part).copy() for part in SAVED]
    compiled, n = clf._ready().compiled, len(trace)
    variance = np.empty(n if compiled.keeps_variance else 0)
    record = Record(np.empty(n, np.int32), np.empty(n), variance, np.empty(n), np.empty(n, bool), np.empty(n, bool))
    (_, block), *_ = read_events(X).blocks(compiled.preparation)
    compiled.score_block(compiled.parameters.update, clf._engine.state, block, np.zeros(n, np.int32), False, record)
    assert np.isfinite(record.margin).all()
    for before, part in zip(kept, SAVED, strict=True):
        np.testing.assert_array_equal(before, getattr(clf._engine.state, part))
