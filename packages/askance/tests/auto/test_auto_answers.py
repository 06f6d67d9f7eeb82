"""Answers that were bought and labels that were given: what make("auto") learns of them, and what they count for."""

import numpy as np
import pytest
from tests.auto.test_auto import STREAMS, assert_same, every_stream, make, sparse_stream, stream

import askance
from askance.budgets import Fixed, Rate
from askance.errors import InvalidType
from askance.evaluate import quality
from askance.evaluate.quality.bins import ASK_BINS
from askance.learner.auto import Committee, InverseSquareMargin
from askance.learner.auto.layout import (
    HEAD,
    MEMBER,
    cell_at,
    group_at,
    members_at,
    view_counts,
    view_head,
    view_member,
    view_report_counts,
    view_trust,
)

EVERYTHING = InverseSquareMargin(delta=1e12)  # asks with certainty


def assert_same_quality(found, expected):
    assert (found.events, found.labels, found.unreachable) == (expected.events, expected.labels, expected.unreachable)
    assert {"accuracy", "balanced_accuracy", "recall", "f1"} <= set(found)
    for name in found:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


# --- the estimates are those of askance.quality ------------------------------------------------------------------


@every_stream
@pytest.mark.parametrize("budget", [0.1, 60, None, Rate(0.2) & Fixed(30)])
def test_the_report_has_the_estimates_that_the_trace_gives(kind, budget):
    X, y = STREAMS[kind]
    clf = make(kind, budget=budget)
    trace = clf.run(X, y)
    assert_same_quality(clf.report().quality, quality.estimate(trace))


@every_stream
def test_answers_that_come_late_or_never_or_are_corrected_are_filed_with_their_events(kind):
    X, y = STREAMS[kind]
    clf, rng = make(kind), np.random.default_rng(0)
    monitor = quality.Monitor(classes=np.unique(y).tolist())
    waiting = []
    for x, label in zip(X, y, strict=True):
        decision = clf.ask(x)
        ticket = monitor.event(int(decision.label), decision.probability, decision.asked)
        if decision.asked:
            waiting.append((decision.ticket, ticket, int(label)))
        if len(waiting) > 20:
            own, ticket, label = waiting.pop(rng.integers(20))
            fate = rng.random()
            if fate < 0.2:
                continue  # lost
            answers = [1 - min(label, 1), label] if fate < 0.5 else [label]
            for answer in answers:
                clf.tell(ticket=own, y=answer, replace=True)
                monitor.answer(ticket, answer, replace=True)
    assert_same_quality(clf.report().quality, monitor.overall)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_every_number_of_the_state_has_one_place(classes):
    committee = Committee(full=False)
    state = committee.start(4, classes)
    state.extra[:] = np.arange(len(state.extra))
    head, members = view_head(state), [view_member(state, i) for i in range(len(committee.roster))]
    places = [number for name in HEAD.names for number in np.atleast_1d(head[name])]
    places += np.concatenate([*view_counts(state), *view_report_counts(state), *view_trust(state)]).tolist()
    places += [member[name] for member in members for name in MEMBER.names]
    assert places == state.extra.tolist()


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_every_group_and_every_cell_has_one_place(classes):
    every, ask_bins = range(classes), range(ASK_BINS)
    counts = view_report_counts(Committee(full=False).start(4, classes))
    groups = [group_at(k, h) for k in every for h in ask_bins]
    assert groups == list(range(len(counts.events)))
    cells = [cell_at(classes, t, k, h) for t in every for k in every for h in ask_bins]
    assert cells == list(range(len(counts.answers)))


# --- labels that were given --------------------------------------------------------------------------------------


@every_stream
def test_a_given_label_is_learned_and_counted_apart_and_no_evidence(kind):
    X, y = STREAMS[kind]
    clf = make(kind)
    trace = clf.run(X[:300], y[:300])
    before, weights = clf.report(), clf._engine.state.table.copy()
    clf.partial_fit(X[300:340], y[300:340])
    after = clf.report()
    assert after.spent == before.spent | {"given": 40}
    assert after.answers == trace.asked.sum() + 40
    assert after.events == 340
    assert_same_quality(after.quality, before.quality)
    assert not np.array_equal(clf._engine.state.table, weights)


@every_stream
def test_a_given_label_is_learned_as_if_it_had_been_bought(kind):
    """In fit, in tell and in partial_fit, to the last bit; only what is said of it differs."""
    X, y = STREAMS[kind]
    classes = np.unique(y)

    def fresh():
        return askance.ActiveClassifier(update=Committee(), query=EVERYTHING, classes=classes, random_state=0)

    bought, fitted, told = fresh(), fresh(), fresh()
    trace = bought.run(X, y)
    assert trace.asked.all()
    fitted.fit(X, y)
    for x, label in zip(X, y, strict=True):
        told.tell(x, label)
    assert_same(fitted, told)
    for name in ("table", "matrix", "pending"):
        np.testing.assert_array_equal(getattr(fitted._engine.state, name), getattr(bought._engine.state, name))
    head, other = view_head(fitted._engine.state), view_head(bought._engine.state)
    for name in HEAD.names[: HEAD.names.index("predicted_then")]:
        assert head[name] == other[name]
    for counts, others in zip(view_counts(fitted._engine.state), view_counts(bought._engine.state), strict=True):
        np.testing.assert_array_equal(counts, others)
    np.testing.assert_array_equal(
        fitted._engine.state.extra[members_at(len(classes)) :], bought._engine.state.extra[members_at(len(classes)) :]
    )
    assert fitted.report().spent["given"] == len(y) == sum(fitted.report().spent.values())


def test_before_there_is_a_stream_the_report_says_how_well_the_given_labels_were_predicted():
    X, y = STREAMS["numbers"]
    trace = askance.ActiveClassifier(update=Committee(), query=EVERYTHING, random_state=0).run(X, y)
    clf = make().fit(X, y)
    report = clf.report()
    assert report.events == report.answers == report.quality.events == len(y)
    right = np.mean(trace.predicted == y)
    assert report.quality.accuracy == (right, right, right)  # nothing is left to guess
    later = clf.run(X, y)
    assert_same_quality(clf.report().quality, quality.estimate(later))


@every_stream
def test_an_answer_told_without_its_weight_moves_the_threshold_of_two_classes_and_nothing_else(kind):
    X, y = STREAMS[kind]
    played = make(kind).set_params(update__unbiasing=0.0).run(X, y)
    clf = make(kind).set_params(update__unbiasing=0.0)
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        decision = clf.ask(x)
        assert (decision.margin, decision.asked) == (played.margin[i], played.asked[i])
        if decision.asked:
            clf.tell(x, label)
    assert clf.report().spent["given"] == 0


def test_told_answers_are_bought_ones():
    X, y = STREAMS["numbers"]
    clf = make()
    for x, label in zip(X[:100], y[:100], strict=True):
        decision = clf.ask(x)
        if decision.asked and decision.ticket % 2:
            clf.tell(ticket=decision.ticket, y=label)
        elif decision.asked:
            clf.tell(x, label, weight=decision.weight)
    spent = clf.report().spent
    assert spent["given"] == 0
    assert sum(spent.values()) == clf.labels_asked_ > 10
    with pytest.raises(InvalidType, match="leave weight out"):
        clf.tell(y=0, ticket=decision.ticket, weight=2.0)


def test_a_corrected_answer_makes_no_later_one_a_given_one():
    X, y = STREAMS["numbers"]
    clf = askance.ActiveClassifier(update=Committee(), query=EVERYTHING, classes=[0, 1], random_state=0)
    for x, label in zip(X[:60], y[:60], strict=True):
        ticket = clf.ask(x).ticket
        clf.tell(ticket=ticket, y=1 - label)
        clf.tell(ticket=ticket, y=label, replace=True)
    assert sum(clf.report().spent.values()) == clf.labels_asked_ == 60  # a corrected label is one label
    report = clf.report()
    assert report.spent["given"] == 0
    assert (report.events, report.answers, report.quality.labels) == (60, 120, 60)


def test_before_any_event_came_an_answer_is_a_given_one():
    X, y = STREAMS["numbers"]
    clf = make()
    for x, label in zip(X[:50], y[:50], strict=True):
        clf.tell(x, label, weight=4.0)
    report = clf.report()
    assert report.spent["given"] == report.events == 50
    assert np.mean(clf.predict(X[50:]) == y[50:]) > 0.8


# --- weights -----------------------------------------------------------------------------------------------------


@every_stream
def test_a_sample_weight_of_one_changes_no_bit_and_one_of_zero_skips(kind):
    X, y = STREAMS[kind]
    plain, weighted, longer = make(kind), make(kind), make(kind)
    plain.partial_fit(X[:200], y[:200])
    weighted.partial_fit(X[:200], y[:200], sample_weight=np.ones(200))
    longer.partial_fit(X[:300], y[:300], sample_weight=np.repeat([1.0, 0.0], [200, 100]))
    assert_same(plain, weighted)
    assert_same(plain, longer)


@every_stream
def test_every_member_learns_more_from_a_heavier_label(kind):
    X, y = STREAMS[kind]
    reached = []
    for weight in (0.1, 1.0, 3.0):
        clf = make(kind, objective="accuracy")
        clf.partial_fit(X[:40], y[:40])
        clf.partial_fit(X[40:41], y[40:41], sample_weight=[weight])
        clf.predict(X[40:41])  # which leaves every member's scores in the state
        scores = clf._engine.state.variances.reshape(len(clf.report().member_reports), -1)
        label = y[40]
        reached.append(scores[:, label] if scores.shape[1] > 1 else scores[:, 0] * (2 * label - 1))
    assert np.all(reached[0] <= reached[1] + 1e-9)
    assert np.all(reached[1] <= reached[2] + 1e-9)
    assert np.mean(reached[0] < reached[1]) > 0.5 < np.mean(reached[1] < reached[2])


def test_sample_weights_make_a_rare_class_matter():
    X, y = stream(3000, rare=0.05, seed=3)
    found = []
    for weight in (1.0, 19.0):
        clf = askance.make("auto", objective="accuracy", random_state=0)
        clf.partial_fit(X[:300], y[:300], sample_weight=np.where(y[:300] == 1, weight, 1.0))
        found.append(np.mean(clf.predict(X[300:])[y[300:] == 1] == 1))
    assert found[1] > found[0] + 0.05


def test_the_share_of_a_class_is_that_of_the_weights():
    """So that weights that even the classes out and an objective that does the same do not add up."""
    X, y = stream(3000, rare=0.1, seed=3)
    shares = [
        askance.make("auto", random_state=0).partial_fit(X[:500], y[:500], sample_weight=weight).report().classes[1]
        for weight in (np.ones(500), np.where(y[:500] == 1, 9.0, 1.0))
    ]
    assert shares[0] < 0.2
    assert 0.35 < shares[1] < 0.65


@pytest.mark.parametrize("weight", [1e-9, 1e3, 1e300])
@pytest.mark.parametrize("kind", ["numbers", "four classes, sparse"])
def test_weights_of_any_size_leave_finite_numbers(kind, weight):
    X, y = STREAMS[kind]
    clf = make(kind).partial_fit(X[:100], y[:100], sample_weight=np.full(100, weight))
    assert np.isfinite(clf._engine.state.table).all()
    assert np.isfinite(clf._engine.state.extra).all()


# --- what labels were spent on -----------------------------------------------------------------------------------


@pytest.mark.parametrize("declared", [3, 5])
def test_the_cold_start_ends_although_a_class_never_comes(declared):
    X, y = stream(3000)
    clf = askance.make("auto", budget=0.2, classes=list(range(declared)), random_state=0)
    trace = clf.run(X, y)
    spent = clf.report().spent
    assert spent["cold start"] == 20 * declared
    assert sum(spent.values()) == trace.asked.sum() > 20 * declared + 100
    assert spent["members at odds"] + spent["undecided"] > 50


# --- how many speak ----------------------------------------------------------------------------------------------


def test_as_many_are_effective_as_would_be_if_they_spoke_alike():
    X, y = sparse_stream(400)
    alike = askance.ActiveClassifier(
        update=Committee(sharpness=0.0), query=InverseSquareMargin(), budget=Rate(0.2), random_state=0
    )
    alike.run(X, y)
    assert alike.report().effective_members == pytest.approx(12.0)
    alone = askance.ActiveClassifier(
        update=Committee(members="unit-probit-1"), query=InverseSquareMargin(), budget=Rate(0.2), random_state=0
    )
    alone.run(X, y)
    assert alone.report().effective_members == pytest.approx(1.0)
    usual = make("sparse")
    usual.run(X, y)
    heard = sum(member_report.vote > 0.0 for member_report in usual.report().member_reports)
    assert 1.0 < usual.report().effective_members < heard
    assert f"{heard} heard, {usual.report().effective_members:.1f} in effect" in usual.describe()


@pytest.mark.parametrize("classes", [2, 3])
def test_what_was_learned_counts_before_the_next_event_comes(classes):
    rng = np.random.default_rng(0)
    y = np.arange(90) % classes
    X = np.eye(classes)[y] + rng.normal(scale=0.1, size=(90, classes))
    clf = askance.make("auto", budget=0.9, classes=list(range(classes)), random_state=0)
    decisions = [clf.ask(x) for x in X[:60]]  # all of them before the first answer
    for x, label, decision in zip(X, y, decisions, strict=False):
        if decision.asked:
            clf.tell(x, label, weight=decision.weight)
    assert np.mean(clf.predict(X[60:]) == y[60:]) > 0.9
