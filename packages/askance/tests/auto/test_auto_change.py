"""The committee notices by its answers that the world has changed, and becomes unsure by itself."""

import numpy as np
import pytest

import askance
from askance.data.generators import abrupt
from askance.learner.auto.layout import MARGIN_BINS, view_head, view_trust

TURNED = abrupt(6000, angle=180)
EDGES = [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0]


def make(reaction=1.0, **options):
    options = {"budget": 0.1, "random_state": 0, "classes": [-1, 1]} | options
    return askance.make("auto", **options).set_params(update__reaction=reaction)


def page_test(trace, classes):
    """Page's test on the answers of a trace: S, the counts of the cells, and the answers that raised an alarm."""
    answers, mistakes = np.zeros((2, classes, MARGIN_BINS))
    surprise, alarms = 0.0, []
    for number, t in enumerate(np.flatnonzero(trace.asked), 1):
        cell = trace.predicted_index[t], np.searchsorted(EDGES, abs(trace.margin[t]), side="right")
        wrong = trace.predicted_index[t] != trace.truth_index[t]
        e = (mistakes[cell] + 1.0) / (answers[cell] + 2.0)
        if e < 0.5:
            surprise = max(0.0, surprise + (np.log((e + 0.5 * (1.0 - e)) / e) if wrong else np.log(0.5)))
        answers[cell] += 1.0 - answers[cell] / 500.0
        mistakes[cell] += wrong - mistakes[cell] / 500.0
        if surprise > 10.0:
            alarms.append(number)
            surprise = 0.0
            answers[:], mistakes[:] = 0.0, 0.0
    return surprise, answers, mistakes, alarms


@pytest.mark.parametrize("classes", [2, 3])
def test_alarms_are_those_of_pages_test_with_the_likelihood_ratio(classes):
    X, y = TURNED.X, np.where((classes == 3) & (TURNED.X[:, 0] > 1.0), 2, TURNED.y == 1).astype(int)
    clf = make(reaction=0.0, classes=range(classes), budget=0.2)
    surprise, answers, mistakes, alarms = page_test(clf.run(X, y), classes)
    head, trust = view_head(clf._engine.state), view_trust(clf._engine.state)
    assert head.surprise == pytest.approx(surprise, abs=1e-9)
    np.testing.assert_allclose(trust.answers, answers.ravel())
    np.testing.assert_allclose(trust.mistakes, mistakes.ravel(), atol=1e-12)
    assert (clf.report().alarms, clf.report().last_alarm) == (len(alarms), alarms[-1] if alarms else 0)
    assert alarms


def test_it_recovers_sooner_if_it_reacts():
    late = slice(3500, 4500)
    right = {}
    for reaction in (0.0, 1.0):
        clf = make(reaction)
        right[reaction] = np.mean(clf.run(TURNED.X, TURNED.y).predicted[late] == TURNED.y[late])
        assert clf.report().alarms == 1
        assert "changes of the world found: 1" in str(clf.report())
    assert right[1.0] > right[0.0] + 0.1


def test_after_an_alarm_the_members_begin_anew():
    """The answer that raises the alarm is learned as by a committee that does not react; then variances are those of
    the beginning, and weights 0. With a reaction of a half, both go half the way."""
    scout = make(0.0)
    asked = np.flatnonzero(scout.run(TURNED.X, TURNED.y).asked)
    alarm = asked[scout.report().last_alarm - 1]
    whole, half, by_hand = make(1.0), make(0.5), make(0.0)
    for clf in (whole, half, by_hand):
        clf.run(TURNED.X[: alarm + 1], TURNED.y[: alarm + 1])
    weights = by_hand._engine.state.table[:, :-2:2].copy()
    by_hand.inflate_variances(0.5)
    np.testing.assert_array_equal(half._engine.state.table[:, 1:-2:2], by_hand._engine.state.table[:, 1:-2:2])
    np.testing.assert_array_equal(half._engine.state.matrix, by_hand._engine.state.matrix)
    np.testing.assert_array_equal(half._engine.state.table[:, :-2:2], 0.5 * weights)
    by_hand.inflate_variances(1.0)
    np.testing.assert_array_equal(whole._engine.state.matrix, by_hand._engine.state.matrix)
    assert np.abs(weights).max() > 0.0
    assert not whole._engine.state.table[:, :-2:2].any()
    margins = whole.decision_function(TURNED.X[:20])
    np.testing.assert_allclose(margins, margins[0])  # the curved members have no weights either


def test_in_pieces_one_by_one_and_from_a_file_it_reacts_with_the_same_bits(tmp_path):
    X, y = TURNED.X[1500:5000], TURNED.y[1500:5000]
    whole, pieces, single = make(), make(), make()
    whole.run(X, y)
    pieces.run(X[:1000], y[:1000])
    pieces.save(tmp_path / "a.model")
    pieces = askance.load(tmp_path / "a.model")
    pieces.run(X[1000:], y[1000:])
    for x, label in zip(X, y, strict=True):
        decision = single.ask(x)
        if decision.asked:
            single.tell(ticket=decision.ticket, y=label)
    assert whole.report().alarms == 1
    for other in (pieces, single):
        np.testing.assert_array_equal(other._engine.state.extra, whole._engine.state.extra)
        np.testing.assert_array_equal(other._engine.state.table, whole._engine.state.table)


@pytest.mark.parametrize("seed", range(4))
def test_in_a_world_that_stays_there_is_no_alarm_and_no_decision_changes(seed):
    stream = abrupt(6000, angle=0, random_state=seed)
    quiet, watchful = make(0.0), make(1.0)
    np.testing.assert_array_equal(quiet.run(stream.X, stream.y).margin, watchful.run(stream.X, stream.y).margin)
    assert watchful.report().alarms == 0


def test_complaints_raise_no_alarm():
    """Whoever complains gives the labels of mistakes and of nothing else."""
    clf = make()
    clf.run(TURNED.X[:2500], TURNED.y[:2500])
    wrong = np.flatnonzero(clf.predict(TURNED.X[2500:3000]) == TURNED.y[2500:3000]) + 2500
    clf.partial_fit(TURNED.X[wrong], -TURNED.y[wrong])
    assert clf.report().alarms == 0
    assert view_head(clf._engine.state).surprise < 10.0
