"""Events that could not be asked, above all those after an exhausted budget: what the values say of them, and that the
others are estimated apart."""

import numpy as np
import pytest

import askance
from askance.budgets import Fixed
from askance.evaluate.quality import Monitor, estimate, estimate_columns


def exhausted(classes):
    """300 events that were asked for sure, half of them wrong; 400 that were asked with 1/4, all right; 700 after."""
    n, wrong = 1400, np.arange(1400) < 150
    probability = np.repeat([1.0, 0.25, 0.0], [300, 400, 700])
    asked = (probability == 1.0) | ((probability == 0.25) & (np.arange(n) % 4 == 0))
    truth = np.where(wrong, classes[0], classes[-1])
    return np.full(n, classes[-1]), probability, asked, truth


@pytest.mark.parametrize("classes", [[0, 1], [0, 1, 2]])
def test_the_values_are_about_the_others_and_the_limits_about_all(classes):
    found = estimate_columns(*exhausted(classes), classes=classes)
    share = 150 / 700  # not half of it, as if those after it were like the ones that were asked most seldom
    assert found.accuracy.value == pytest.approx(1 - share)
    assert found.accuracy.low <= (1 - share) / 2
    assert found.accuracy.high >= 1 - share / 2
    assert {name: value for name, (value, _, _) in found.items()} == {
        name: value for name, (value, _, _) in found.reachable.items()
    }


@pytest.mark.parametrize("classes", [[0, 1], [0, 1, 2]])
def test_the_events_that_could_be_asked_are_estimated_apart(classes):
    columns = exhausted(classes)
    found, alone = (estimate_columns(*(column[:n] for column in columns), classes=classes) for n in (1400, 700))
    assert found.reachable == alone
    assert alone.reachable is None
    assert found.reachable.accuracy.high - found.reachable.accuracy.low < 0.1
    assert "700 events could not be asked" in str(found)
    assert str(found).endswith("The 700 events that could be asked:\n" + "\n".join(str(alone).splitlines()[1:]))
    assert found.to_dict()["reachable"] == alone.to_dict()
    assert found._repr_html_().count("<table>") == 2
    nothing = estimate_columns(*(column[700:] for column in columns), classes=classes)
    assert nothing.reachable is None


def test_a_monitor_does_as_arrays_do():
    columns = exhausted([0, 1])
    monitor = Monitor([0, 1])
    for predicted, probability, asked, truth in zip(*(column.tolist() for column in columns), strict=True):
        ticket = monitor.event(predicted, probability, asked)
        if asked:
            monitor.answer(ticket, truth)
    assert monitor.overall == estimate_columns(*columns, classes=[0, 1], asked=columns[2])


def stream(seed):
    rng = np.random.default_rng([seed, 77])
    direction = rng.standard_normal(10)
    X = rng.standard_normal((1500, 10))
    return X, np.where(X @ direction / np.linalg.norm(direction) + 0.5 * rng.standard_normal(1500) > 1.0, 1, -1)


@pytest.mark.parametrize("delta", [0.1, 1.0])
def test_after_an_exhausted_budget_the_value_does_not_flatter(delta):
    """It is too low by a few points, for a model that learned until then. The events up to then are covered."""
    excess, held = [], 0
    for seed in range(60):
        trace = askance.make("PAA-I", delta=delta, budget=Fixed(75), intercept=True, random_state=seed).run(
            *stream(seed)
        )
        found = estimate(trace)
        excess.append(found.accuracy.value - np.mean(trace.predicted == trace.truth))
        end = int(np.flatnonzero(trace.probability > 0.0)[-1]) + 1
        held += np.mean((trace.predicted == trace.truth)[:end]) in found.reachable.accuracy
    assert -0.08 < np.mean(excess) < 0.0
    assert held >= 54


def test_a_wide_interval_says_that_labels_are_too_few():
    n = 200
    asked, truth = np.arange(n) % 4 == 0, (np.arange(n) % 80 == 0).astype(int)  # 3 of the second class are known
    score = np.random.default_rng(5).standard_normal(n)
    found = estimate_columns(
        (score > 1).astype(int), np.full(n, 0.25), asked, truth, classes=[0, 1], score=score, asked=asked
    )
    low, high = found.auc.low, found.auc.high
    assert high - low > 0.9
    assert str(found.auc) == f"{found.auc.value:.3f} (the interval is too wide to help)"
    (row,) = (row for row in str(found).splitlines() if row.startswith("auc"))
    assert row.split(maxsplit=2)[2] == "too few labels for an interval: 3 labels of 1"
    assert "too few labels for an interval: 3 labels of 1</td>" in found._repr_html_()
    assert (found.to_dict()["estimates"]["auc"]["low"], found.to_dict()["estimates"]["auc"]["high"]) == (low, high)
