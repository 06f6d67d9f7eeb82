"""The model of the service: the library's classifier, budget, estimates and signal, as a function of the log."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from askance.budgets import Fixed, PerPeriod, Rate, Unlimited
from askance.errors import InvalidInput
from askance_live.config import AskingSettings, from_document
from askance_live.engine.exploration import AUDIT, COLD_START, UNCERTAIN, budget_of
from askance_live.engine.learner import Answer, Incoming, Learner
from askance_live.engine.quality_tracker import QualityTracker
from askance_live.problems import TooManyFields

WORDS = ["win", "prize", "cash", "now", "hello", "friend", "lunch", "noon", "meet", "you", "report"]


def events(n, seed=0):
    """Messages, some with a field that nobody saw before, with their labels."""
    rng = random.Random(seed)
    for place in range(n):
        spam = rng.random() < 0.3
        words = rng.choices(WORDS[:5] if spam else WORDS[4:], k=6)
        fields = {"text": " ".join(words), "size": len(words[0])}
        if place % 37 == 5:
            fields[f"extra{place // 37}"] = rng.random()
        yield fields, float(place), int(spam)


def play(learner, stream, sizes):
    """Send a stream in calls of these sizes."""
    decided = []
    while len(decided) < len(stream):
        part = stream[len(decided) : len(decided) + next(sizes)]
        decided += learner.decide([Incoming(fields, time) for fields, time, _ in part], len(decided))
    return decided


def made(asking=None, **model):
    config = from_document({"classes": ["ham", "spam"], "fields": {"text": "text"}, "model": model})
    return Learner(config.model, asking or AskingSettings())


def taught(n=600, asking=None, **model):
    """A learner whose questions are answered at once."""
    learner = made(asking, **model)
    decided = []
    for seq, (fields, time, label) in enumerate(events(n), 1):
        item = learner.decide([Incoming(fields, time)], seq - 1)[0]
        decided.append(item)
        if item.asked:
            learner.learn(
                Answer(seq, fields, label, item.predicted, item.scores, 1.0 / item.probability, item.audit, time)
            )
    return learner, decided


def test_settings_become_budgets_of_the_library():
    assert budget_of(AskingSettings(rate=1.0)) == Unlimited()
    assert budget_of(AskingSettings(rate=0.02)) == Rate(0.02, burst=40.0)
    assert budget_of(AskingSettings(rate=0.0)) == Fixed(0)
    every = budget_of(AskingSettings(per_hour=5, per_day=50, total=500))
    parts = [Rate(0.05, burst=40.0), PerPeriod(5, "1h"), PerPeriod(50, "1d"), Fixed(500)]
    assert every.constraints() == [promise for part in parts for promise in part.constraints()]


@pytest.mark.parametrize("algorithm", ["auto", "SOAL-diag"])
def test_how_events_are_divided_into_calls_changes_nothing(algorithm):
    stream = list(events(300))
    one, many = made(algorithm=algorithm), made(algorithm=algorithm)
    first = play(one, stream, iter(lambda: 1, 0))
    rng = random.Random(3)
    second = play(many, stream, iter(lambda: rng.choice((1, 7, 60)), 0))
    assert first == second
    assert one.digest() == many.digest()


@pytest.mark.parametrize(
    ("algorithm", "n_classes"), [("auto", 2), ("auto", 3), ("SOAL-diag", 2), ("PAA-I", 3), ("UOAL-entropy", 2)]
)
def test_a_group_is_decided_as_one_by_one_cold_and_warm_new_and_from_the_log(algorithm, n_classes):
    """Times that stand still, go on, cross hours and step back; answers in between; some of a log's were asked."""
    config = from_document({"classes": ["a", "b", "c"][:n_classes], "model": {"algorithm": algorithm}})
    asking = AskingSettings(rate=0.3, per_hour=40)
    one, many = (Learner(config.model, asking) for _ in range(2))
    rng = random.Random(7)
    fields = [
        {"size": rng.random(), "color": rng.choice("rgb"), "words": " ".join(rng.choices(WORDS, k=6))}
        for _ in range(700)
    ]
    times = [3000.0 + place for place in range(700)]  # an hour begins at 3600
    times[300:360] = [3650.0] * 60
    times[500:520] = [3400.0] * 20  # by a clock that was set back
    incoming = [
        Incoming(x, time, was_asked=rng.random() < 0.2 if place > 350 else None)
        for place, (x, time) in enumerate(zip(fields, times, strict=True))
    ]
    for first in range(0, 700, 50):
        part = incoming[first : first + 50]
        alone = [one.decide([event], first + place)[0] for place, event in enumerate(part)]
        assert many.decide(part, first) == alone
        for learner in (one, many):
            for place, item in enumerate(alone):
                if item.asked and first >= 100:  # before that it is cold
                    answer = Answer(
                        first + place + 1, part[place].fields, place % n_classes, item.predicted, item.scores,
                        1.0 / item.probability, item.audit, part[place].received,
                    )  # fmt: skip
                    learner.learn(answer)
        assert many.dump() == one.dump()
    assert not one.exploring.is_cold


def test_a_dump_goes_on_as_the_original_would_have():
    learner, _ = taught(200)
    again = Learner.load(learner.dump(), learner.model)
    more = [Incoming(fields, 200.0 + time) for fields, time, _ in events(50, seed=9)]
    assert learner.decide(more, 500) == again.decide(more, 500)
    assert learner.digest() == again.digest()


BUDGETS = [
    AskingSettings(rate=1.0),
    AskingSettings(rate=0.1),
    AskingSettings(rate=0.3),
    AskingSettings(per_hour=10),
    AskingSettings(rate=1.0, total=500),
]


@pytest.mark.parametrize("algorithm", ["auto", "SOAL-diag"])
@pytest.mark.parametrize("before", BUDGETS[:2])
def test_a_dump_right_after_a_changed_budget_goes_on_as_the_original_would_have(algorithm, before):
    more = [Incoming(fields, 200.0 + time) for fields, time, _ in events(100, seed=9)]
    for after in BUDGETS:
        learner, _ = taught(200, before, algorithm=algorithm)
        learner.follow(after)
        again = Learner.load(learner.dump(), learner.model)
        assert learner.decide(more, 500) == again.decide(more, 500)
        assert learner.digest() == again.digest()


def test_predictions_from_other_threads_change_nothing():
    stream = list(events(400))
    alone, watched = made(), made()
    ended = threading.Event()

    def look():
        while not ended.is_set():
            _, chances = watched.predict({"text": "free money", "size": 4})
            assert abs(sum(chances) - 1.0) < 1e-9

    with ThreadPoolExecutor(2) as pool:
        looking = [pool.submit(look) for _ in range(2)]
        found = play(watched, stream, iter(lambda: 5, 0))
        ended.set()
        for each in looking:
            each.result()
    assert found == play(alone, stream, iter(lambda: 5, 0))
    assert watched.digest() == alone.digest()


def test_cold_start_explores_then_the_budget_and_the_audit_share_hold():
    _, decided = taught(6000, AskingSettings(rate=0.1, audit=0.2))
    assert (decided[0].why, decided[0].probability, decided[0].audit) == (COLD_START, 1.0, True)
    asked = [item for item in decided if item.asked]
    assert 500 < len(asked) <= 40 + 0.96 * 600
    warm = decided[200:]
    whys = [item.why for item in warm if item.asked]
    assert set(whys) == {AUDIT, UNCERTAIN}
    assert 0.12 < whys.count(AUDIT) / len(whys) < 0.3
    assert all(item.audit_probability <= item.probability for item in warm)
    expected = sum(item.audit_probability for item in warm)
    assert abs(whys.count(AUDIT) - expected) < 4 * expected**0.5 + 3


def test_the_estimated_accuracy_holds_the_true_one():
    learner, decided = taught(3000)
    truth = [label for _, _, label in events(3000)]
    right = sum(item.predicted == label for item, label in zip(decided, truth, strict=True)) / len(truth)
    assert learner.tracker.monitor.accuracy.low <= right <= learner.tracker.monitor.accuracy.high
    assert learner.tracker.curve[-1][0] <= sum(item.asked for item in decided)
    assert right > 0.9


def test_a_spent_budget_asks_nothing_and_a_changed_one_goes_on():
    learner = made(AskingSettings(total=3))
    stream = list(events(100))
    first = learner.decide([Incoming(fields, time) for fields, time, _ in stream], 0)
    assert sum(item.asked for item in first) == 3
    assert (first[-1].probability, first[-1].audit_probability) == (0.0, 0.0)
    learner.follow(AskingSettings(total=8))
    more = learner.decide([Incoming(fields, 100.0 + time) for fields, time, _ in stream], 100)
    assert sum(item.asked for item in more) == 5


def test_more_mistakes_in_the_random_sample_raise_an_alarm_and_other_labels_do_not():
    rng = random.Random(1)
    tracker = QualityTracker(["ham", "spam"])
    for seq in range(1, 1501):
        wrong = rng.random() < (0.05 if seq <= 1000 else 0.5)
        tracker.events(seq, [0], [[0.9, 0.1]], [0.5], [True])
        tracker.answer(seq, int(wrong), 0, 2.0, seq <= 1000, float(seq))
    assert tracker.alarm is None  # nothing after event 1000 belonged to the sample
    for seq in range(1501, 1801):
        tracker.events(seq, [0], [[0.9, 0.1]], [0.5], [True])
        tracker.answer(seq, int(rng.random() < 0.5), 0, 2.0, True, float(seq))
    assert 1501 < tracker.alarm["received"] < 1700
    assert QualityTracker.from_dict(tracker.to_dict()).to_dict() == tracker.to_dict()
    tracker.answer(99_999, 1, 0, 1.0, False, 0.0)  # a label of an event that was never asked
    assert tracker.monitor.overall.labels == 1799  # nor does the first event count, which nobody had learned for


def test_a_weekday_can_be_why_a_class_is_suggested():
    settings = {"classes": ["work", "play"], "fields": {"sent": "date"}, "model": {"algorithm": "SOL-diag"}}
    config = from_document(settings)
    learner = Learner(config.model, config.asking)
    for k in range(40):
        fields = {"sent": ("2024-03-01 12:00", "2024-03-02 12:00")[k % 2], "text": "hello"}
        decided = learner.decide([Incoming(fields, float(k))], k)[0]
        learner.learn(Answer(k + 1, fields, k % 2, decided.predicted, decided.scores, 1.0, False, 0.0))
    told = learner.explain({"sent": "2024-03-08 12:00", "text": "hello"}, 0)  # a Friday, like the first
    assert (told[0]["field"], told[0]["word"], told[0]["value"]) == ("sent", None, "Friday")
    assert told[0]["effect"] > 0
    assert all(item["field"] != "sent" for item in learner.explain({"sent": None, "text": "hello"}, 0))


@pytest.mark.parametrize(("at_first", "later"), [("PAA-I", "SOAL-diag"), ("PAA-I", "auto"), ("SOAL-diag", "PAA-I")])
def test_a_log_played_by_another_model_spends_what_people_were_asked(at_first, later):
    stream = [(fields, 2.0 * time) for fields, time, _ in events(1200)]
    settings = AskingSettings(per_hour=100)
    asked = made(settings, algorithm=at_first, seed=5).decide([Incoming(*event) for event in stream], 0)
    log = [Incoming(*event, was_asked=item.asked) for event, item in zip(stream, asked, strict=True)]
    spent = sum(item.asked for item in asked)

    other = made(settings, algorithm=later)
    again = other.decide(log, 0)
    assert sum(item.asked for item in again) != spent
    assert other.clf.labels_asked_ == spent
    more = other.decide([Incoming(fields, 2400.0 + time / 2.0) for fields, time in stream], len(log))
    assert 0 < sum(item.asked for item in more) <= 100 - spent


def test_more_fields_than_there_may_be_are_an_error_of_their_own():
    learner = made()
    learner.most_fields = 3
    rows = {"a": 1, "b": 2}, {"c": 1, "d": 2}, {"a": 1e200}, {"c": 1}
    some, many, odd, again = learner.decide([Incoming(fields, float(k)) for k, fields in enumerate(rows)], 0)
    assert isinstance(many, TooManyFields)
    assert isinstance(odd, InvalidInput)
    assert not isinstance(odd, TooManyFields)
    assert [*learner.features.kinds] == ["a", "b", "c"]
    assert some.probabilities == again.probabilities == [0.5, 0.5]
