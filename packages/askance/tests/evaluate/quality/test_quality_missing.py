"""Answers that are late or lost: events that were asked, but have no answer."""

import numpy as np
import pytest
from tests.real_data import sample

import askance
from askance.evaluate.metrics import calibration_error, summarise
from askance.evaluate.quality import Monitor, estimate_columns


def unsure_asked_for_sure(rng, n=5000):
    """The unsure events, often wrong, are asked with certainty; a third of all answers does not come."""
    unsure = rng.random(n) < 0.3
    wrong = rng.random(n) < np.where(unsure, 0.4, 0.05)
    predicted = np.where(rng.random(n) < 0.5, 1, -1)
    probability = np.where(unsure, 1.0, 0.6)
    asked = rng.random(n) < probability
    return predicted, probability, asked, asked & (rng.random(n) > 0.3), np.where(wrong, -predicted, predicted)


@pytest.mark.parametrize("is_told_what_was_asked", [True, False])
def test_lost_answers_of_events_asked_for_sure_do_not_bias(is_told_what_was_asked):
    rng = np.random.default_rng(1)
    inside, off = [], []
    for _ in range(60):
        predicted, probability, asked, answered, truth = unsure_asked_for_sure(rng)
        found = estimate_columns(
            predicted,
            probability,
            answered,
            truth,
            classes=[-1, 1],
            asked=asked if is_told_what_was_asked else None,
        ).accuracy
        exact = float((predicted == truth).mean())
        inside.append(exact in found)
        off.append(found.value - exact)
    assert np.mean(inside) >= 0.9
    assert np.mean(off) == pytest.approx(0.0, abs=0.003)


def test_answers_to_events_that_were_all_asked_count_alike():
    rng = np.random.default_rng(0)
    n = 20_000
    wrong = rng.random(n) < 0.05
    answered = rng.random(n) > 0.3
    found = estimate_columns(np.ones(n), np.ones(n), answered, np.where(wrong, -1, 1), classes=[-1, 1]).accuracy
    assert found.value == pytest.approx(1.0 - wrong[answered].mean(), abs=1e-4)
    assert found.high - found.low < 0.006
    assert float(1.0 - wrong.mean()) in found


def test_lost_answers_do_not_bias_scores_and_averages_over_classes():
    rng = np.random.default_rng(3)
    n, shares, areas, errors = 4000, [], [], []
    for _ in range(40):
        truth = rng.integers(0, 3, n)
        unsure = rng.random(n) < 0.3
        predicted = np.where(rng.random(n) < np.where(unsure, 0.4, 0.05), (truth + 1) % 3, truth)
        probability = np.where(unsure, 1.0, 0.6)
        asked = rng.random(n) < probability
        answered = asked & (rng.random(n) > 0.4)
        found = estimate_columns(predicted, probability, answered, truth, classes=range(3), asked=asked)
        shares.append(
            found.balanced_accuracy.value - summarise(truth, predicted, asked, classes=range(3))["balanced_accuracy"]
        )

        chance = np.where(unsure, rng.uniform(0.3, 0.7, n), np.where(rng.random(n) < 0.5, 0.05, 0.95))
        positive = (rng.random(n) < chance * 0.8).astype(int)
        predicted_class = (chance > 0.5).astype(int)
        both = estimate_columns(
            predicted_class, probability, answered, positive, classes=[0, 1], asked=asked, probability_positive=chance
        )
        exact = summarise(positive, predicted_class, asked, classes=[0, 1], margin=chance - 0.5)
        areas.append(both.auc.value - exact["auc"])
        errors.append(both.calibration_error.value - calibration_error(positive, chance, 1))
    assert np.mean(shares) == pytest.approx(0.0, abs=0.003)
    assert np.mean(areas) == pytest.approx(0.0, abs=0.004)
    assert np.mean(errors) == pytest.approx(0.0, abs=0.004)


def test_what_no_answer_stands_for_is_left_open():
    """All answers came with certainty: they say nothing about events that could be asked and were not."""
    probability = np.repeat([1.0, 0.9], [1000, 10])
    asked = np.repeat([True, False], [1000, 10])
    answered = asked & (np.arange(1010) % 3 > 0)
    found = estimate_columns(np.ones(1010), probability, answered, np.ones(1010), classes=[-1, 1], asked=asked).accuracy
    assert found.high == 1.0
    assert 0.97 < found.low < 1.0 - 10 / 1010


def test_answers_on_their_way_do_not_bias_a_monitor():
    """Every event is asked, answers take 1,000 events, and the recent ones stand for those without an answer."""
    rng = np.random.default_rng(5)
    monitor = Monitor([0, 1], window=3000)
    wrong = rng.random(6000) < 0.1
    for event in range(6000):
        monitor.event(1, 1.0, True)
        if event >= 1000:
            monitor.answer(event - 999, int(not wrong[event - 1000]))
    found = monitor.recent.accuracy
    assert monitor.recent.labels == 2000
    assert found.value == pytest.approx(1.0 - wrong[3000:5000].mean(), abs=1e-3)
    assert found.high - found.low < 0.03


@pytest.mark.parametrize(("name", "parameters"), [("PAA-I", {"delta": 2.0}), ("OA3-diag", {})])
def test_lost_answers_are_covered_on_a_real_set(name, parameters):
    X, y = sample("magic04", 8000, standardize=True)
    rng, inside, off = np.random.default_rng(0), [], []
    for seed in range(60):
        trace = askance.make(name, normalize="l2", random_state=seed, **parameters).run(X, y)
        answered = trace.asked & (rng.random(len(y)) > 0.3)
        found = estimate_columns(
            trace.predicted, trace.probability, answered, trace.truth, classes=trace.classes, asked=trace.asked
        ).accuracy
        exact = trace.summary()["accuracy"]
        inside.append(exact in found)
        off.append(found.value - exact)
    assert np.mean(inside) >= 0.9
    assert np.mean(off) == pytest.approx(0.0, abs=0.002)
