"""Metrics over predicted probabilities: paper 5 §6.1.2."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from askance.evaluate import metrics


def test_nlp_is_the_mean_of_natural_logarithms() -> None:
    assert metrics.nlp([1, -1], [0.8, 0.4], 1) == pytest.approx(-(math.log(0.8) + math.log(0.6)) / 2)
    assert metrics.nlp([1, -1, 1], [0.5, 0.5, 0.5], 1) == pytest.approx(math.log(2))


def test_nlp_agrees_with_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    probability = rng.random(2_000)
    truth = np.where(rng.random(2_000) < probability, "spam", "ham")
    expected = sklearn.metrics.log_loss(truth, probability, labels=["ham", "spam"])
    assert metrics.nlp(truth, probability, "spam") == pytest.approx(expected, rel=1e-12)


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=50))
def test_nlp_is_finite_and_not_negative_whatever_the_probabilities(events: list[tuple[bool, float]]) -> None:
    truth, probability = zip(*events, strict=True)
    assert 0.0 <= metrics.nlp(truth, probability, True) < 800.0


def test_nlp_keeps_the_digits_of_very_small_probabilities() -> None:
    assert metrics.nlp([True], [1e-300], True) == pytest.approx(300 * math.log(10), rel=1e-14)
    assert metrics.nlp([False], [1e-300], True) == pytest.approx(1e-300, rel=1e-14)


def test_weighted_loss_of_five_events_is_as_counted_by_hand() -> None:
    truth, probability = [1, 1, -1, -1, -1], [0.05, 0.1, 0.1, 0.09, 0.9]
    # The threshold is 1 / (1 + 9) = 0.1 and belongs to the positive side: one miss, two false alarms.
    costs = {"false_negative_cost": 9.0, "false_positive_cost": 1.0}
    assert metrics.weighted_loss(truth, probability, 1, **costs) == 9.0 + 2.0


@given(
    st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=50),
    st.floats(0.01, 100),
    st.floats(0.01, 100),
)
def test_weighted_loss_equals_the_cost_of_predictions_made_at_the_bayes_threshold(
    events: list[tuple[bool, float]], missed: float, alarm: float
) -> None:
    truth, probability = (np.array(values) for values in zip(*events, strict=True))
    predicted = probability >= alarm / (alarm + missed)
    counts = metrics.count(truth, predicted, True)
    expected = missed * counts.false_negative + alarm * counts.false_positive
    assert metrics.weighted_loss(
        truth, probability, True, false_negative_cost=missed, false_positive_cost=alarm
    ) == pytest.approx(expected)


def test_true_probabilities_lose_least_at_the_bayes_threshold() -> None:
    rng = np.random.default_rng(1)
    probability = rng.random(50_000)
    truth = rng.random(50_000) < probability
    best = metrics.weighted_loss(truth, probability, True, false_negative_cost=9, false_positive_cost=1)
    for threshold in (0.02, 0.05, 0.2, 0.5):
        counts = metrics.count(truth, probability >= threshold, True)
        assert best < 9 * counts.false_negative + counts.false_positive


@pytest.mark.parametrize("value", [-0.1, 1.5])
def test_probabilities_outside_the_unit_interval_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match=r"probability_positive must be in \[0, 1\].* at event 1"):
        metrics.nlp([1, -1], [0.5, value], 1)


@pytest.mark.parametrize(("missed", "alarm"), [(0, 0), (-1, 2), (1, math.nan), (math.inf, 1)])
def test_costs_that_make_no_threshold_are_refused(missed: float, alarm: float) -> None:
    with pytest.raises(ValueError, match="costs must be finite, not negative and not both zero"):
        metrics.weighted_loss([1], [0.5], 1, false_negative_cost=missed, false_positive_cost=alarm)


def test_nlp_of_no_events_is_nan() -> None:
    assert math.isnan(metrics.nlp([], [], 1))
