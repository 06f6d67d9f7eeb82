"""The monitor of a stream that goes on."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askance.errors import InvalidInput, InvalidParameter
from askance.evaluate.metrics.scores import calibration_bins
from askance.evaluate.quality import Monitor, estimate_columns
from askance.evaluate.quality.bins import (
    BINS_PER_SIDE,
    as_score,
    as_scores,
    ask_bin_of,
    ask_bins_of,
    probability_bin,
    score_bin,
    score_bins,
    score_key,
    score_keys,
    top_exponent,
    unasked_weight,
    unasked_weights,
)


def stream(seed, n, classes):
    rng = np.random.default_rng(seed)
    probability = rng.random(n) ** 3
    probability[rng.random(n) < 0.1] = 0.0
    asked = rng.random(n) < probability
    return {
        "predicted": rng.integers(0, classes, n),
        "probability": probability,
        "asked": asked,
        "answered": asked & (rng.random(n) < 0.8),
        "truth": rng.integers(0, classes, n),
        "chance": rng.random(n),
    }


@pytest.mark.parametrize("classes", [2, 4])
def test_the_shares_of_the_classes_are_those_of_all_events_not_of_the_answers(classes):
    rng = np.random.default_rng(5)
    truth = rng.choice(classes, 20_000, p=[0.6, *[0.4 / (classes - 1)] * (classes - 1)])
    predicted_class = np.where(rng.random(len(truth)) < 0.8, truth, rng.integers(0, classes, len(truth)))
    probability = np.where(predicted_class == 0, 0.02, 0.3)  # the frequent class is seldom asked about
    asked = rng.random(len(truth)) < probability
    monitor = Monitor(list(range(classes)), window=5000)
    for s, p, a, t in zip(predicted_class.tolist(), probability.tolist(), asked.tolist(), truth.tolist(), strict=True):
        ticket = monitor.event(s, p, a)
        if a:
            monitor.answer(ticket, t)
    assert (truth[asked] == 0).mean() < 0.3
    assert monitor.overall.shares[0] == pytest.approx((truth == 0).mean(), abs=0.03)
    assert monitor.recent.shares[0] == pytest.approx((truth[-5000:] == 0).mean(), abs=0.06)
    assert sum(monitor.overall.shares.values()) == pytest.approx(1.0)
    assert Monitor([0, 1]).overall.shares == {}
    assert json.loads(json.dumps(monitor.overall.to_dict()))["shares"][0] == [0, monitor.overall.shares[0]]


def play(monitor, events, order, chances=True):
    """All events first, then the answers in any order."""
    tickets = [
        monitor.event(p, q, a, probability_positive=c if chances else None, score=None if chances else c - 0.5)
        for p, q, a, c in zip(
            events["predicted"].tolist(),
            events["probability"].tolist(),
            events["asked"].tolist(),
            events["chance"].tolist(),
            strict=True,
        )
    ]
    for place in order:
        if events["answered"][place]:
            assert monitor.answer(tickets[place], int(events["truth"][place]))
    return monitor


def whole(events, classes, chances=True, window=None):
    return estimate_columns(
        events["predicted"],
        events["probability"],
        events["answered"],
        events["truth"],
        classes=range(classes),
        asked=events["asked"],
        score=None if chances else events["chance"] - 0.5,
        probability_positive=events["chance"] if chances else None,
        window=window,
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 200), st.sampled_from([2, 3]), st.booleans())
def test_several_events_at_once_leave_the_state_that_they_leave_one_by_one(seed, n, classes, chances):
    events, rng = stream(seed, n, classes), np.random.default_rng(seed)
    events["chance"] = np.where(rng.random(n) < 0.3, events["chance"] ** 60, events["chance"])  # of any exponent
    alone, together = (Monitor(range(classes), window=50, max_pending=20) for _ in range(2))
    done = 0
    while done < n:
        part = slice(done, done + int(rng.choice([1, 7, 8, 70])))
        predicted, ask, asked, chance = (
            events[name][part].tolist() for name in ("predicted", "probability", "asked", "chance")
        )
        for p, q, a, c in zip(predicted, ask, asked, chance, strict=True):
            alone.event(p, q, a, probability_positive=c if chances else None)
        together.add_events(predicted, ask, asked, probabilities_positive=chance if chances else None)
        done += len(predicted)
        answered = [place + 1 for place in range(done) if events["answered"][place] and rng.random() < 0.2]
        for monitor in (alone, together):
            for ticket in answered:
                monitor.answer(ticket, int(events["truth"][ticket - 1]))
        assert together.to_dict() == alone.to_dict()


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("predicted", 7, "predicted is 7, which is not one of the classes"),
        ("probability", 1.5, "probability must be in"),
        ("probability", None, "probability must be a number, got None"),
        ("chance", -0.1, "probability_positive must be in"),
    ],
)
def test_several_events_are_counted_up_to_one_that_cannot_be(column, value, sentence):
    events = {name: values.tolist() for name, values in stream(1, 20, 2).items()}
    events[column][11] = value
    monitor = Monitor([0, 1])
    with pytest.raises(InvalidInput, match=sentence):
        monitor.add_events(
            events["predicted"], events["probability"], events["asked"], probabilities_positive=events["chance"]
        )
    assert monitor.events == 11


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 200), st.sampled_from([2, 3]), st.booleans())
def test_monitor_and_arrays_agree_to_the_last_bit_whatever_the_order_of_the_answers(seed, n, classes, chances):
    events = stream(seed, n, classes)
    order = np.random.default_rng(seed).permutation(n).tolist()
    monitor = play(Monitor(range(classes), window=50), events, order, chances)
    assert repr(monitor.overall) == repr(whole(events, classes, chances))
    assert repr(monitor.recent) == repr(whole(events, classes, chances, window=50))


@settings(max_examples=200, deadline=None)
@given(st.floats(0, 1), st.floats(allow_nan=False, allow_infinity=False))
def test_one_by_one_and_many_at_once_are_filed_alike(share, score):
    h = ask_bin_of(share)
    shares = np.array([share])
    assert ask_bins_of(shares)[0] == h
    assert unasked_weights(shares, np.array([h]))[0] == unasked_weight(share, h)
    key = score_key(score)
    assert score_keys(np.array([score]))[0] == key
    assert score_bins(np.array([key]), top_exponent(np.array([key])))[0] == score_bin(
        key, top_exponent(np.array([key]))
    )
    assert as_scores(shares)[0] == as_score(share)
    assert calibration_bins(shares)[0] == probability_bin(share)


@settings(max_examples=200, deadline=None)
@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.floats(-1e300, 1e300))
def test_a_larger_score_never_has_a_smaller_bin(one, other, largest):
    keys = np.array([score_key(one), score_key(other), score_key(largest)])
    bins = score_bins(keys, top_exponent(keys))
    assert (bins[0] <= bins[1]) == (one <= other) or bins[0] == bins[1]
    assert 0 <= bins.min() <= bins.max() <= 2 * BINS_PER_SIDE


@pytest.mark.parametrize("anytime", [False, True])
def test_a_saved_monitor_goes_on_as_it_would_have(anytime):
    events = stream(3, 400, 2)
    half, rest = ({k: v[:200] for k, v in events.items()}, {k: v[200:] for k, v in events.items()})
    monitor = play(Monitor([0, 1], window=150, anytime=anytime), half, range(100))
    again = Monitor.from_dict(json.loads(json.dumps(monitor.to_dict())))
    for one in (monitor, again):
        for place in range(100, 200):
            if half["answered"][place]:
                one.answer(place + 1, int(half["truth"][place]))
        play(one, rest, range(200))
    assert monitor.overall == again.overall
    assert monitor.recent == again.recent
    assert monitor.to_dict() == again.to_dict()


def test_a_state_of_the_first_format_is_read():
    """Saved by the version before asked events were counted: 40 events, 17 answers, two still awaited."""
    state = json.loads(Path(__file__).with_name("monitor_format_1.json").read_text(encoding="utf-8"))
    monitor = Monitor.from_dict(state)
    assert (monitor.overall.events, monitor.overall.labels) == (40, 17)
    assert monitor.overall.accuracy == pytest.approx((0.725, 0.35, 0.875))  # the value as it was then
    assert monitor.recent.accuracy.value == pytest.approx(0.667, abs=1e-3)  # the two awaited are no longer "not asked"
    again = Monitor.from_dict(json.loads(json.dumps(monitor.to_dict())))
    for one in (monitor, again):
        assert one.answer(39, "ham")
        assert one.answer(40, "spam")
        assert one.recent.labels == 5
    assert monitor.overall == again.overall


def test_a_correction_leaves_no_trace_of_what_it_corrects():
    right, corrected = Monitor(["a", "b"], anytime=True), Monitor(["a", "b"], anytime=True)
    for monitor in (right, corrected):
        for _ in range(10):
            monitor.event("a", 0.5, True, score=1.0)
    corrected.answer(3, "a")
    with pytest.raises(InvalidInput, match="ticket 3 was already answered 'a'; pass replace=True"):
        corrected.answer(3, "b")
    corrected.answer(3, "b", replace=True)
    right.answer(3, "b")
    assert right.overall == corrected.overall
    assert right.recent == corrected.recent


def test_labels_nobody_drew_do_not_count():
    monitor = Monitor(["a", "b"])
    ticket = monitor.event("a", 0.5, asked=False)
    assert not monitor.answer(ticket, "b")
    assert not monitor.answer(999, "b")
    assert monitor.overall.labels == 0


def test_the_oldest_asked_event_is_forgotten_first():
    monitor = Monitor(["a", "b"], max_pending=2)
    first, second, third = (monitor.event("a", 0.5, True) for _ in range(3))
    assert not monitor.answer(first, "a")
    assert monitor.answer(second, "a")
    assert monitor.answer(third, "a")


def test_an_answer_later_than_the_window_counts_overall_only():
    monitor = Monitor(["a", "b"], window=10)
    ticket = monitor.event("a", 0.5, True, ticket=77)
    for _ in range(10):
        monitor.event("a", 0.5, False)
    assert ticket == 77
    assert monitor.answer(77, "a")
    assert (monitor.overall.labels, monitor.recent.labels) == (1, 0)
    assert (monitor.overall.events, monitor.recent.events) == (11, 10)


def test_the_state_does_not_grow_with_the_stream():
    monitor = Monitor([0, 1], window=100, max_pending=100)

    def size():
        parts = [monitor._ledger.counts, monitor._ledger.by_probability]
        return sum(getattr(part, name).size for part in parts for name in part.NAMES) + monitor._recent.rows.size

    play(monitor, stream(0, 200, 2), range(200))
    before = size()
    events = stream(1, 5000, 2)
    for p, q, a in zip(
        events["predicted"].tolist(), events["probability"].tolist(), events["asked"].tolist(), strict=True
    ):
        monitor.event(p, q, a)
    assert size() == before
    assert len(monitor._asked) <= 100


def test_scores_missing_somewhere_mean_no_area():
    monitor = Monitor(["a", "b"])
    monitor.event("a", 0.5, False, score=0.3)
    assert "auc" in monitor.overall
    monitor.event("a", 0.5, False)
    assert "auc" not in monitor.overall
    assert "auc" not in monitor.recent


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: m.event("c", 0.5, False), "predicted is 'c', which is not one of the classes 'a', 'b'"),
        (lambda m: m.event("a", 1.5, False), "probability must be in"),
        (lambda m: m.event("a", float("nan"), False), "probability must be in"),
        (lambda m: m.event("a", 0.0, True), "an event that is asked has a probability above 0"),
        (lambda m: m.event("a", 0.5, False, score=float("nan")), "score must be a finite number"),
        (lambda m: m.event("a", 0.5, False, probability_positive=2.0), "probability_positive must be in"),
        (lambda m: m.event("a", 0.5, True, ticket=[1]), r"ticket must be a number or a text .*, got \[1\]"),
        (lambda m: m.answer([1], "a"), r"ticket must be a number or a text .*, got \[1\]"),
        (lambda m: m.answer(1, []), "label is"),
        (lambda m: Monitor.from_dict({"format": 99}), "not the state of a monitor"),
        (lambda m: Monitor.from_dict(m.to_dict() | {"recent": [[1]]}), "the state of the monitor is damaged"),
        (lambda m: Monitor.from_dict({"format": 1}), "the state of the monitor is damaged"),
        (lambda m: Monitor.from_dict(m.to_dict() | {"events": -5}), "damaged .*-5 events, but 0 were filed"),
        (lambda m: Monitor.from_dict(m.to_dict() | {"classes": ["a", "b", "c"]}), "do not fit the classes"),
    ],
)
def test_what_cannot_be_used_is_refused_and_changes_nothing(call, sentence):
    monitor = Monitor(["a", "b"])
    before = monitor.to_dict()
    with pytest.raises(InvalidInput, match=sentence):
        call(monitor)
    assert monitor.to_dict() == before


@pytest.mark.parametrize("wrong", [{"window": 0}, {"max_pending": 0}, {"window": 1.5}, {"level": 2.0}, {"c_p": 3.0}])
def test_a_monitor_refuses_impossible_settings(wrong):
    with pytest.raises(InvalidParameter):
        Monitor(["a", "b"], **wrong)
