"""Answers that come late, out of order, twice, or never."""

import numpy as np
import pytest
import scipy.sparse as sp

import askance
from askance.budgets import Rate
from askance.errors import AskanceError, ConflictingAnswer, InvalidInput, InvalidType, UnknownTicket


def a_stream(n=2000, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    return X, np.where(X @ rng.normal(size=d) > 0, "spam", "ham")


def a_classifier(name="SOAL-diag", **options):
    return askance.make(name, classes=["ham", "spam"], n_features=12, random_state=0, **options)


def test_a_ticket_stands_for_its_event():
    X, y = a_stream()
    by_event, by_ticket = a_classifier("SEL-ada"), a_classifier("SEL-ada")
    for x, label in zip(X, y, strict=True):
        one, other = by_event.ask(x), by_ticket.ask(x)
        assert one == other
        if one.asked:
            by_event.tell(x, label)
            by_ticket.tell(ticket=other.ticket, y=label)
    assert np.array_equal(by_event.coef_, by_ticket.coef_)
    assert by_ticket.pending == []


@pytest.mark.parametrize("normalize", [None, "l2"])
def test_a_ticket_keeps_the_event_and_nothing_beside_it(normalize):
    X, y = a_stream(200)
    rows = sp.csr_matrix(X)
    rows.data[::7] = 0.0  # zeros that are stored
    by_event, by_ticket = (a_classifier("PA-I", normalize=normalize) for _ in range(2))
    for t in range(len(y)):
        by_event.ask(rows[t])
        by_event.tell(rows[t], y[t])
        by_ticket.tell(ticket=by_ticket.ask(rows[t]).ticket, y=y[t])
    assert np.array_equal(by_event.coef_, by_ticket.coef_)


def test_tickets_are_the_numbers_of_the_asked_events():
    X, _ = a_stream(50)
    clf = a_classifier("RPA-I", rate=0.5)
    decisions = [clf.ask(x) for x in X]
    expected = [number for number, decision in enumerate(decisions, 1) if decision.asked]
    assert clf.pending == expected == [decision.ticket for decision in decisions if decision.asked]
    assert all(decision.ticket is None for decision in decisions if not decision.asked)


@pytest.mark.parametrize("name", ["PAA-I", "SOAL-diag", "UOAL-entropy", "OA3", "MPAA-I"])
def test_late_answers_in_any_order_are_each_learned_once(name):
    X, y = a_stream(800)
    clf = a_classifier(name, budget=Rate(0.2))
    rng = np.random.default_rng(1)
    waiting, learned = [], []
    for number, x in enumerate(X, 1):
        decision = clf.ask(x)
        if decision.asked:
            waiting.append((number + rng.integers(0, 300), number))
        for due in sorted(waiting):
            if due[0] <= number:
                clf.tell(ticket=due[1], y=y[due[1] - 1])
                learned.append(due[1])
                waiting.remove(due)
    assert clf.pending == sorted(number for _, number in waiting)
    again = a_classifier(name)  # the same answers in the same order, with the weights they were asked with
    weights = {number: 1.0 / p for number, p in enumerate(replayed_probabilities(name, X, y, rng_seed=1), 1)}
    for number in learned:
        again.tell(X[number - 1], y[number - 1], weight=weights[number])
    assert np.array_equal(clf.coef_, again.coef_)


def replayed_probabilities(name, X, y, rng_seed):
    clf = a_classifier(name, budget=Rate(0.2))
    rng = np.random.default_rng(rng_seed)
    waiting, found = [], []
    for number, x in enumerate(X, 1):
        decision = clf.ask(x)
        found.append(decision.probability or np.inf)
        if decision.asked:
            waiting.append((number + rng.integers(0, 300), number))
        for due in sorted(waiting):
            if due[0] <= number:
                clf.tell(ticket=due[1], y=y[due[1] - 1])
                waiting.remove(due)
    return found


def first_ticket(clf, X):
    for x in X:
        decision = clf.ask(x)
        if decision.asked:
            return decision.ticket
    raise AssertionError


def test_the_same_answer_again_changes_nothing_and_another_is_refused():
    X, _ = a_stream()
    clf = a_classifier()
    ticket = first_ticket(clf, X)
    clf.tell(ticket=ticket, y="spam")
    before = clf.coef_.copy()
    clf.tell(ticket=ticket, y="spam")
    assert np.array_equal(clf.coef_, before)
    with pytest.raises(ConflictingAnswer, match=f"ticket {ticket} was answered 'spam' before"):
        clf.tell(ticket=ticket, y="ham")
    assert np.array_equal(clf.coef_, before)
    clf.tell(ticket=ticket, y="ham", replace=True)
    assert not np.array_equal(clf.coef_, before)
    clf.tell(ticket=ticket, y="ham")  # now the answer there is


def test_mistakes_are_judged_by_the_prediction_made_when_the_event_came():
    X, y = a_stream(300)
    clf = a_classifier("PA-I")
    decisions = [clf.ask(x) for x in X]
    for decision, label in zip(decisions, y, strict=True):
        clf.tell(ticket=decision.ticket, y=label)
    wrong = sum(decision.label != label for decision, label in zip(decisions, y, strict=True))
    assert clf._engine.budget_state.counts[2] == wrong
    clf.tell(ticket=5, y="ham" if y[4] == "spam" else "spam", replace=True)
    assert abs(clf._engine.budget_state.counts[2] - wrong) == 1


def test_what_is_forgotten_dropped_or_unknown_is_refused_in_a_sentence():
    X, _ = a_stream(200)
    clf = a_classifier("PA-I", max_pending=20)
    with pytest.raises(UnknownTicket, match="there is no open ticket 7"):
        clf.tell(ticket=7, y="ham")
    for x in X:
        clf.ask(x)
    assert clf.pending == list(range(181, 201))
    clf.forget(190)
    for ticket in (190, 5, 999, "x"):
        with pytest.raises(UnknownTicket):
            clf.tell(ticket=ticket, y="ham")
    clf.tell(ticket=200, y="ham")
    with pytest.raises(UnknownTicket, match="has its answer already"):
        clf.forget(200)
    with pytest.raises(InvalidInput, match="unknown label|not one of"):
        clf.tell(ticket=199, y="eggs")
    with pytest.raises(InvalidType, match="the event x or its ticket"):
        clf.tell(X[0], "ham", ticket=199)
    with pytest.raises(InvalidType, match="the event x or its ticket"):
        clf.tell(y="ham")
    assert 199 in clf.pending
    assert issubclass(UnknownTicket, AskanceError)


def test_tickets_expire_by_age():
    X, _ = a_stream(200)
    clf = a_classifier("PA-I", max_pending_age=30)
    for x in X:
        clf.ask(x)
    assert clf.pending == list(range(171, 201))


def test_tickets_are_saved_and_survive_widening(tmp_path):
    X, y = a_stream(300)
    one = a_classifier("SOAL-diag", intercept=True, normalize="l2", max_pending=500)
    asked = [decision.ticket for decision in map(one.ask, X) if decision.asked]
    for ticket in asked[::3]:
        one.tell(ticket=ticket, y=y[ticket - 1])
    one.save(tmp_path / "model")
    other = askance.load(tmp_path / "model").widen(40)
    one.widen(40)
    assert one.pending == other.pending == [ticket for ticket in asked if ticket not in asked[::3]]
    for clf in (one, other):
        clf.tell(ticket=asked[0], y=y[asked[0] - 1])  # answered before the file was written: nothing happens
        for ticket in asked[1::3]:
            clf.tell(ticket=ticket, y=y[ticket - 1])
    assert np.array_equal(one.coef_, other.coef_)
    assert np.array_equal(one.intercept_, other.intercept_)
    assert one.intercept_[0] != 0.0
    assert np.all(one.coef_[:, 12:] == 0.0)


@pytest.mark.parametrize(
    ("option", "value"),
    [("max_pending", -1), ("max_pending", 1.5), ("max_pending_age", 0), ("max_pending_age", "long")],
)
def test_a_store_that_cannot_work_is_refused(option, value):
    with pytest.raises(AskanceError, match=f"{option} must be a whole number"):
        a_classifier(**{option: value})


def test_keeping_nothing_gives_no_tickets():
    X, _ = a_stream(20)
    clf = a_classifier("PA-I", max_pending=0)
    assert all(clf.ask(x).ticket is None for x in X)


def test_a_store_that_is_made_smaller_shrinks_and_a_bad_size_is_refused_before_anything_happens():
    X, _ = a_stream(200)
    clf = a_classifier("PA-I", max_pending_age=50)
    for x in X[:100]:
        clf.ask(x)
    clf.set_params(max_pending=5)
    clf.ask(X[100])
    assert clf.pending == [97, 98, 99, 100, 101]
    clf.set_params(max_pending="many")
    with pytest.raises(AskanceError, match="max_pending must be a whole number"):
        clf.ask(X[101])
    assert clf.events_seen_ == 101
    clf.set_params(max_pending=5, budget=0)
    for x in X[101:200]:
        clf.ask(x)
    assert clf.pending == []  # too old, though nothing was asked since
    for ticket in ([4], np.array(3), True, "4"):
        with pytest.raises(UnknownTicket):
            clf.tell(ticket=ticket, y="ham")
        with pytest.raises(UnknownTicket):
            clf.forget(ticket)
    with pytest.raises(InvalidType, match="leave weight out"):
        clf.tell(ticket=4, y="ham", weight=2.0)


def test_a_played_stream_ages_tickets_too_and_answered_ones_age_by_their_event():
    X, y = a_stream(200)
    clf = a_classifier("PA-I", max_pending_age=5)
    first = clf.ask(X[0]).ticket
    clf.run(X[1:100], y[1:100])
    assert clf.pending == []
    with pytest.raises(AskanceError, match="no open ticket"):
        clf.tell(ticket=first, y="spam")
    clf = a_classifier("PA-I", max_pending_age=5)
    for x in X[:4]:
        clf.ask(x)
    for ticket in (4, 1):  # not in the order of the events
        clf.tell(ticket=ticket, y="spam")
    for x in X[4:7]:
        clf.ask(x)
    with pytest.raises(AskanceError, match="no open ticket 1"):
        clf.tell(ticket=1, y="ham", replace=True)
    clf.tell(ticket=4, y="ham", replace=True)
