"""The committee notices by the events alone that they have changed, and becomes unsure."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests import real_data as data

import askance
from askance.data.generators import abrupt, messages
from askance.evaluate.drift import EventSignal
from askance.learner.auto.event_signal import MEAN, SUM, VARIANCE, view_rows, view_signal

STEADY_EVENTS = 30_000


def make(event_reaction=1.0, **options):
    options = {"budget": 0.1, "random_state": 0, "classes": [0, 1]} | options
    return askance.make("auto", **options).set_params(update__event_reaction=event_reaction)


def moved(n=6000, seed=0):
    """Five numbers, most of them absent, whose means move after 3,100 events."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * (rng.random((n, 5)) < 0.7)
    X[3100:, 1] += 1.5
    return X, (X @ [1.0, -1.0, 0.5, 0.0, 0.0] + 0.3 * rng.normal(size=n) > 0).astype(int)


def wide(n=5000):
    """Words of 3,000, of which one becomes frequent after 3,000 events."""
    rng = np.random.default_rng(0)
    X = sp.random_array((n, 3000), density=0.004, rng=rng, format="lil")
    X[3000:, 2877] = 1.0
    return X.tocsr(), rng.integers(0, 2, n)


@pytest.mark.parametrize("stream", [moved, wide])
def test_its_alarms_are_those_of_the_signal_that_reads_whole_blocks(stream):
    X, y = stream()
    clf, signal = make(), EventSignal()
    clf.run(X, y)
    assert signal.watch(X) == signal.alarms
    assert len(signal.alarms) == 1
    report = clf.report()
    assert (report.event_alarms, report.last_event_alarm) == (1, signal.alarms[-1] + 1)
    assert f"changes of the events found: 1, the last at event {signal.alarms[-1] + 1:,}" in str(report)
    rows = view_rows(clf._engine.state)
    np.testing.assert_allclose(rows[:, MEAN], signal._mean, atol=1e-9)
    np.testing.assert_allclose(rows[:, VARIANCE], signal._variance, atol=1e-9)
    latest = [rows[:, SUM + 3 * ((int(view_signal(clf._engine.state).completed) - back) % 4)] for back in (3, 2, 1)]
    np.testing.assert_allclose(latest, [250 * block.mean for block in signal._latest], atol=1e-9)


def test_at_an_alarm_covariances_are_those_of_the_beginning_and_weights_stay():
    X, y = moved()
    quiet, whole, half = make(1e-300), make(1.0), make(0.5)
    for clf in (quiet, whole, half):
        clf.run(X[:3249], y[:3249])
    np.testing.assert_array_equal(quiet._engine.state.matrix, whole._engine.state.matrix)
    for clf in (quiet, whole, half):
        clf.run(X[3249:3250], y[3249:3250])
    assert whole.report().event_alarms == 1
    np.testing.assert_array_equal(whole._engine.state.table[:, :-2:2], quiet._engine.state.table[:, :-2:2])
    assert np.abs(whole._engine.state.table[:, :-2:2]).max() > 0.0
    for share, clf in ((0.5, half), (1.0, whole)):
        by_hand = make(1e-300)
        by_hand.run(X[:3250], y[:3250])
        by_hand.inflate_variances(share)
        for name in ("table", "matrix", "pending"):
            np.testing.assert_array_equal(getattr(clf._engine.state, name), getattr(by_hand._engine.state, name))


@pytest.mark.parametrize("stream", [moved, wide])
def test_in_pieces_one_by_one_and_from_a_file_it_reacts_with_the_same_bits(stream, tmp_path):
    X, y = stream(3600)
    whole, pieces, single = make(), make(), make()
    whole.run(X, y)
    pieces.run(X[:3170], y[:3170])
    pieces.save(tmp_path / "a.model")
    pieces = askance.load(tmp_path / "a.model")
    pieces.run(X[3170:], y[3170:])
    for t in range(X.shape[0]):
        decision = single.ask(X[t])
        if decision.asked:
            single.tell(ticket=decision.ticket, y=y[t])
    assert whole.report().event_alarms == 1
    for other in (pieces, single):
        for name in ("table", "matrix", "pending", "extra"):
            np.testing.assert_array_equal(getattr(other._engine.state, name), getattr(whole._engine.state, name))


@pytest.mark.parametrize("seed", range(3))
def test_in_a_world_that_stays_there_is_no_alarm_and_no_decision_changes(seed):
    stream = abrupt(6000, angle=0, random_state=seed)
    blind, watchful = make(0.0, classes=[-1, 1]), make(1.0, classes=[-1, 1])
    np.testing.assert_array_equal(blind.run(stream.X, stream.y).margin, watchful.run(stream.X, stream.y).margin)
    assert watchful.report().event_alarms == 0
    assert view_signal(watchful._engine.state).events == 6000


def test_given_labels_do_not_count():
    """They may come sorted by class, and are no part of the stream."""
    X, y = moved()
    clf = make()
    clf.run(X[:2900], y[:2900])
    for label in (0, 1):
        clf.partial_fit(X[y == label][:1000], y[y == label][:1000])
    assert clf.report().event_alarms == 0
    assert view_signal(clf._engine.state).events == 2900


@pytest.mark.parametrize("widths", [(3, 5), (400, 3000), (700, 3000)])
def test_new_columns_were_absent_before_and_nothing_else_is_forgotten(widths):
    """Columns that come late count as if they had been 0 from the beginning."""
    narrow, broad = widths
    rng = np.random.default_rng(0)
    X = sp.random_array((4000, broad), density=min(0.6, 12.0 / broad), rng=rng, format="lil")
    X[:2600, narrow:] = 0.0
    X, y = X.tocsr(), rng.integers(0, 2, 4000)
    known, grown = make(budget=None), make(budget=None)
    known.run(X, y)
    grown.run(X[:2600, :narrow], y[:2600])
    grown.widen(broad).run(X[2600:], y[2600:])
    np.testing.assert_array_equal(view_rows(grown._engine.state), view_rows(known._engine.state))
    assert view_signal(grown._engine.state) == view_signal(known._engine.state)
    assert grown.report().event_alarms == (1 if narrow == 3 else 0)


def steady(name, seed):
    """A stream that does not change: events of a set, drawn one by one, or made ones."""
    if name == "turning":
        stream = abrupt(STEADY_EVENTS, angle=0, random_state=seed)
        return stream.X, (stream.y == 1).astype(int)
    if name == "words":
        stream = messages(5000, random_state=seed)
        X, y = stream.X, stream.labels
    else:
        X, y = data.sample(name, rows=10_000)
    rows = np.random.default_rng(seed).integers(0, X.shape[0], STEADY_EVENTS)
    return X[rows], np.unique(y, return_inverse=True)[1][rows]


@pytest.mark.prove
@pytest.mark.parametrize("name", ["breast_cancer", "wine", "iris", "turning", "words"])
def test_there_is_no_alarm_in_fifty_streams_that_stay_with_a_thousand_audits_each(name):
    """Ten of each; neither by the events nor by the answers."""
    for seed in range(10):
        X, y = steady(name, seed)
        clf = make(budget=0.2, classes=range(y.max() + 1), random_state=seed)
        trace = clf.run(X, y)
        assert trace.audit.sum() >= 1000
        assert (clf.report().event_alarms, clf.report().alarms) == (0, 0), (name, seed)
