"""What the dashboard says first about the model: nothing too early, nothing of what nobody predicted; the present."""

import random
from collections import Counter
from itertools import islice
from types import SimpleNamespace

import pytest
from tests.live.in_process import create_store, running_engine, send
from tests.live.scripted import StandingClock
from tests.patience import wait_until

from askance_live import demo
from askance_live.config import from_document
from askance_live.dashboard.stats import _accuracy, baseline, series, wilson_interval
from askance_live.engine.learner import Answer, Incoming, Learner
from askance_live.engine.quality_tracker import ENOUGH, WINDOW, QualityTracker

CLASSES = ["ham", "spam"]


def watched(*phases, rate=0.5, delay=0, seed=0):
    """A watch over phases of (events, share of spam, share predicted right); answers come ``delay`` events later."""
    rng, tracker = random.Random(seed), QualityTracker(CLASSES)
    tracker.answer(0, 0, 0, 1.0, False, 0.0)  # somebody labeled something: the model has begun to learn
    stream = [(spam, right) for events, spam, right in phases for _ in range(events)]
    waiting = []
    for seq, (spam, right) in enumerate(stream, 1):
        truth = int(rng.random() < spam)
        said = truth if rng.random() < right else 1 - truth
        asked = rng.random() < rate
        tracker.events(seq, [said], [[0.5, 0.5]], [rate], [asked])
        if asked:
            waiting.append((seq, truth, said))
        while waiting and waiting[0][0] <= seq - delay:
            number, label, predicted = waiting.pop(0)
            tracker.answer(number, label, predicted, 1.0 / rate, False, 0.0)
    return tracker


def test_after_an_exhausted_budget_the_headline_is_about_the_events_that_could_be_asked():
    tracker = watched((400, 0.3, 0.9))
    for seq in range(401, 4401):
        tracker.events(seq, [0], [[0.5, 0.5]], [0.0], [False])
    overall, recent = tracker.quality()
    assert overall.accuracy.high - overall.accuracy.low > 0.8
    state = SimpleNamespace(overall=overall, recent=recent, headline=tracker.headline())
    head = _accuracy(SimpleNamespace(by=lambda *names: Counter()), state)["headline"]
    assert (head["events"], head["unreachable"], head["span"], head["enough"]) == (400, 4000, "all", True)
    assert head["high"] - head["low"] < 0.2
    assert head["low"] < 0.9 < head["high"]


def test_the_headline_is_about_the_present_and_so_is_its_baseline():
    tracker = watched((3000, 0.1, 0.5), (WINDOW, 0.7, 0.95))
    shown = tracker.headline()
    assert shown.events == WINDOW
    assert shown.accuracy.low < 0.95 < shown.accuracy.high
    assert shown.accuracy.low > 0.9
    assert baseline(shown)["label"] == "spam"
    assert baseline(shown)["estimate"] == pytest.approx(0.7, abs=0.04)
    overall = tracker.quality()[0]
    assert overall.accuracy.high < 0.75
    assert baseline(overall)["label"] == "ham"


def test_where_answers_are_slower_than_the_stream_it_is_about_all_events():
    tracker = watched((6000, 0.3, 0.9), rate=0.1, delay=WINDOW)
    assert tracker.quality()[1].labels < ENOUGH
    shown = tracker.headline()
    assert shown.events == 6000
    assert shown.accuracy.low < 0.9 < shown.accuracy.high
    assert tracker.curve  # and so is the curve


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.prove)])
def test_the_first_minutes_of_the_demo_are_told_truthfully(seed):
    config = from_document(demo.SETTINGS)
    learner, waiting, verdicts = Learner(config.model, config.asking), [], {}
    right, held = [], []
    for place, (text, label) in enumerate(islice(demo.stream(seed), 3000)):
        fields, truth = demo.fields_of(place, text), CLASSES.index(label)
        decided = learner.decide([Incoming(fields, place / 5.0)], place)[0]
        right.append(decided.predicted == truth)
        if decided.asked:
            waiting.append(Answer(place + 1, fields, truth, decided.predicted, decided.scores,
                                  1.0 / decided.probability, decided.audit, 0.0))  # fmt: skip
        if place > demo.AT_ONCE and place % 5 == 0 and waiting:  # five events and about one answer a second
            learner.learn(waiting.pop(0))
        if place % 150 == 149:
            shown = learner.tracker.headline()
            verdicts[place + 1] = shown
            if shown.labels >= ENOUGH:
                assert shown.accuracy.high > baseline(shown)["estimate"], place  # never: worse than guessing
                truth_shown = sum(right[-shown.events :]) / shown.events
                held.append(shown.accuracy.low <= truth_shown <= shown.accuracy.high)
    assert sum(held) >= 0.9 * len(held)  # intervals of 95 %, each looked at by itself
    assert verdicts[150].labels < ENOUGH  # after ten seconds
    assert verdicts[1500].labels >= ENOUGH  # after five minutes
    last = verdicts[3000]
    assert last.accuracy.low > baseline(last)["estimate"]


def test_who_always_says_one_class_is_as_good_as_the_baseline():
    rng, tracker = random.Random(1), QualityTracker(CLASSES)
    tracker.labels = 1
    for seq in range(1, 1001):
        probability = rng.uniform(0.1, 0.9)
        asked = rng.random() < probability
        tracker.events(seq, [0], [[0.9, 0.1]], [probability], [asked])
        if asked:
            tracker.answer(seq, int(rng.random() < 0.2), 0, 1.0 / probability, False, 0.0)
    shown = tracker.headline()
    assert baseline(shown) == {"label": "ham", "estimate": pytest.approx(shown.accuracy.value, abs=1e-6)}


def test_events_that_came_before_anything_was_learned_are_not_held_against_the_model(make):
    service = make(asking={"rate": 1.0}, model={"algorithm": "SOL-diag"})  # asks about everything
    stats = service.stats()
    assert stats["accuracy"]["headline"]["enough"] is False
    assert stats["accuracy"]["headline"]["baseline"] == {"label": None, "estimate": None}
    first = service.send(*(f"a{k}" for k in range(60)))
    assert {item["label"] for item in first} == {"spam"}  # what a model says that knows nothing
    assert sum(item["asked"] for item in first) > 10
    for ask in service.next(10):
        service.answer(ask, "ham")
    service.post("/v1/labels", [{"event": f"a{k}", "label": "ham"} for k in range(60)])
    service.wait_until_idle()
    stats = service.stats()
    assert stats["labels"]["total"] == 60
    head = stats["accuracy"]["headline"]
    assert (head["enough"], head["n"], head["events"], head["estimate"]) == (False, 0, 0, None)
    assert stats["drift"]["level"] == "unknown"
    assert stats["calibration"] == []
    # the numbers themselves leave nothing out
    assert stats["confusion"]["all"] == [[0, 60], [0, 0]]
    assert stats["classes_mix"]["predicted"] == {"ham": 0, "spam": 60}
    asked = sum(item["asked"] for item in first)
    accuracy = estimated(service, lambda accuracy: accuracy["overall"]["n"] == asked)
    assert accuracy["overall"]["estimate"] == 0.0
    # from here on there is something to say of the model
    service.post("/v1/labels", {"event": "a0", "label": "spam", "replace": True})
    service.wait_until_idle()
    second = service.send(*(f"b{k}" for k in range(80)))
    asked = [item["id"] for item in second if item["asked"]]
    for count in (ENOUGH - 1, len(asked)):
        service.post("/v1/labels", [{"event": name, "label": "ham"} for name in asked[:count]])
        head = estimated(service, lambda accuracy, count=count: accuracy["headline"]["n"] >= count)["headline"]
        assert (head["n"], head["events"], head["enough"]) == (count, 80, count >= ENOUGH)
    assert head["baseline"] == {"label": "ham", "estimate": 1.0}
    assert head["span"] == "all"
    service.stop()
    service.digest()  # all of it is a function of the log


def estimated(service, condition):
    """The estimates, made once a second, as soon as this holds of them."""
    seen = []
    wait_until(lambda: seen.append(service.stats()["accuracy"]) or condition(seen[-1]), "the estimate")
    return seen[-1]


def test_the_interval_of_a_share_is_wilsons():
    assert wilson_interval(0.0, 1.0) == {"low": 0.0, "high": 0.7935}
    assert wilson_interval(0.9, 10.0) == {"low": 0.5958, "high": 0.9821}
    assert wilson_interval(1.0, 40.0) == {"low": 0.9124, "high": 1.0}


def test_a_minute_in_which_nothing_happened_leaves_the_queue_as_it_was(tmp_path):
    clock = StandingClock()
    clock.time = 60_000.0
    with running_engine(create_store(tmp_path, asking={"rate": 1.0}), clock) as engine:
        send(engine, "a", "b")
        clock.time += 180.0
        service = SimpleNamespace(engine=engine, clock=clock)
        with engine.database.read() as session:
            points = series(session, service, minutes=5, points=5)["points"]
    assert [point["open"] for point in points] == [None, 2, 2, 2, 2]
