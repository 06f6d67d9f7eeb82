"""Area under the ROC curve."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from askance.evaluate.metrics import summarise
from askance.evaluate.metrics.scores import area

scored = st.lists(
    st.tuples(st.booleans(), st.one_of(st.integers(-3, 3).map(float), st.floats(-1e300, 1e300))),
    min_size=2,
    max_size=80,
).filter(lambda events: len({truth for truth, _ in events}) == 2)


@given(scored)
def test_auc_is_the_share_of_pairs_in_the_right_order(events: list[tuple[bool, float]]) -> None:
    above = [s for is_positive, s in events if is_positive]
    below = [s for is_positive, s in events if not is_positive]
    won = sum((a > b) + 0.5 * (a == b) for a in above for b in below)
    truth, score = zip(*events, strict=True)
    assert area(np.array(truth), np.array(score)) == won / (len(above) * len(below))


@pytest.mark.parametrize("decimals", [0, 1, 12])
def test_auc_agrees_with_scikit_learn_with_and_without_ties(decimals: int) -> None:
    rng = np.random.default_rng(decimals)
    truth = np.where(rng.random(5_000) < 0.1, "spam", "ham")
    score = np.round(rng.standard_normal(5_000) + (truth == "spam"), decimals)
    expected = sklearn.metrics.roc_auc_score(truth == "spam", score)
    assert area(truth == "spam", score) == pytest.approx(expected, abs=1e-12)


def test_auc_of_constant_scores_is_one_half() -> None:
    assert area(np.array([True, False, False]), np.zeros(3)) == 0.5


def test_auc_ranks_infinite_scores() -> None:
    assert area(np.array([True, False, True, False]), np.array([math.inf, 0.0, 1.0, -math.inf])) == 1.0


@pytest.mark.parametrize("truth", [[], [True, True], [False, False]])
def test_auc_is_nan_without_a_pair_to_compare(truth: list[bool]) -> None:
    assert math.isnan(area(np.array(truth, bool), np.full(len(truth), 0.5)))


def test_nan_scores_are_refused_and_the_event_is_named() -> None:
    with pytest.raises(ValueError, match="margin is NaN at event 1"):
        summarise([1, -1], [1, 1], [True, True], classes=[-1, 1], margin=[0.0, math.nan])
