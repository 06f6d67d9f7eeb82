"""Limits that hold at all times at once."""

import numpy as np
import pytest

from askance.evaluate.quality import Monitor, estimate_columns
from askance.evaluate.quality.anytime import margin


@pytest.mark.parametrize("variation", [0.0, 1.0, 300.0, 1e6])
@pytest.mark.parametrize(("scale", "threshold", "left"), [(1.0, 1.0, 24), (64.0, 1 / 64, 24), (45.0, 1 / 64, 25)])
def test_the_margin_is_where_the_mixture_reaches_its_bound(variation, scale, threshold, left):
    """Of 25 multiples lambda of the threshold, those near 1 / scale or above count as nothing."""
    u = margin(variation, scale, 0.025, threshold)
    exponents = []
    for k in range(25):
        steepness = threshold * 0.5**k * scale
        if steepness <= 0.99:
            psi = (-np.log1p(-steepness) - steepness) / scale**2
            exponents.append(threshold * 0.5**k * u - psi * variation)
    assert len(exponents) == left
    assert np.sum(np.exp(exponents)) / 25 == pytest.approx(1 / 0.025, rel=1e-6)


def test_more_variation_or_a_larger_weight_means_a_wider_margin():
    margins = [margin(variation, 8.0, 0.05, 1 / 8) for variation in (0.0, 10.0, 1000.0, 1e5)]
    assert margins == sorted(margins)
    margins = [margin(1000.0, scale, 0.05, 1 / 8) for scale in (4.0, 5.0, 6.0, 8.0)]
    assert margins == sorted(margins)


def test_a_state_without_the_largest_weights_is_read_and_is_the_wider_one():
    """Such states were written before these were kept."""
    monitor = Monitor([0, 1], anytime=True)
    rng = np.random.default_rng(0)
    for _ in range(3000):
        ticket = monitor.event(1, 0.15, asked=bool(rng.random() < 0.15))
        monitor.answer(ticket, 1)
    state = monitor.to_dict()
    del state["walk"]["largest"]
    older = Monitor.from_dict(state).accuracy
    assert older.low < monitor.accuracy.low
    assert older.high == monitor.accuracy.high


def test_who_looks_all_the_time_is_seldom_misled():
    """The ordinary interval is wrong at some time in far more than one run of twenty, the other is not."""
    runs, n, once_wrong, anytime_wrong = 40, 1500, 0, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        probability = np.where(rng.random(n) < 0.5, 0.5, 0.1)
        wrong = rng.random(n) < 0.2
        asked = rng.random(n) < probability
        ordinary, anytime = Monitor([0, 1, 2], window=1), Monitor([0, 1, 2], window=1, anytime=True)
        missed = np.zeros(2, bool)
        for place in range(n):
            for monitor in (ordinary, anytime):
                ticket = monitor.event(1, float(probability[place]), bool(asked[place]))
                if asked[place]:
                    monitor.answer(ticket, int(not wrong[place]))
            if place >= 20 and place % 20 == 0:
                truth = 1.0 - wrong[: place + 1].mean()
                missed |= [truth not in ordinary.accuracy, truth not in anytime.accuracy]
        once_wrong += missed[0]
        anytime_wrong += missed[1]
    assert anytime_wrong / runs <= 0.05
    assert once_wrong / runs > 0.08


def test_a_trace_and_a_monitor_say_the_same():
    rng = np.random.default_rng(1)
    n = 500
    probability = rng.uniform(0.05, 1.0, n)
    asked = rng.random(n) < probability
    predicted, truth = rng.integers(0, 2, n), rng.integers(0, 2, n)
    monitor = Monitor([0, 1], anytime=True, positive=0)
    for place in range(n):
        ticket = monitor.event(int(predicted[place]), float(probability[place]), bool(asked[place]))
        if asked[place]:
            monitor.answer(ticket, int(truth[place]))
    whole = estimate_columns(predicted, probability, asked, truth, classes=[0, 1], positive=0, anytime=True)
    assert whole.anytime
    assert monitor.overall == whole
    once = estimate_columns(predicted, probability, asked, truth, classes=[0, 1], positive=0)
    for name in whole:
        assert whole[name].low <= once[name].low
        assert whole[name].high >= once[name].high or name == "precision"


def test_tiny_probabilities_cost_no_more_than_their_events():
    """A threshold sets the few events asked with one chance in a million aside."""
    n = 4000
    probability = np.full(n, 0.5)
    probability[::400] = 1e-6
    rng = np.random.default_rng(0)
    asked = rng.random(n) < probability
    found = estimate_columns(np.ones(n), probability, asked, np.ones(n), classes=[0, 1], anytime=True).accuracy
    assert found.low > 0.97


def test_answers_that_do_not_come_are_no_good_news():
    monitor = Monitor([0, 1], anytime=True)
    for _ in range(2000):
        monitor.event(1, 0.5, asked=True)
    assert monitor.accuracy.low == 0.0
    for ticket in range(1, 2001):
        monitor.answer(ticket, 1)
    assert monitor.accuracy.low > 0.9
    columns = (np.ones(2000), np.full(2000, 0.5), np.zeros(2000, bool), np.ones(2000))
    kept_back = estimate_columns(*columns, asked=np.ones(2000, bool), classes=[0, 1], anytime=True)
    assert kept_back.accuracy.low == 0.0
