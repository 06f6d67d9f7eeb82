"""Area under the ROC curve."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from askance import metrics

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
    assert metrics.auc(truth, score, True) == won / (len(above) * len(below))


@pytest.mark.parametrize("decimals", [0, 1, 12])
def test_auc_agrees_with_scikit_learn_with_and_without_ties(decimals: int) -> None:
    rng = np.random.default_rng(decimals)
    truth = np.where(rng.random(5_000) < 0.1, "spam", "ham")
    score = np.round(rng.standard_normal(5_000) + (truth == "spam"), decimals)
    expected = sklearn.metrics.roc_auc_score(truth == "spam", score)
    assert metrics.auc(truth, score, "spam") == pytest.approx(expected, abs=1e-12)


def test_auc_of_constant_scores_is_one_half() -> None:
    assert metrics.auc([1, -1, -1], [0.0, 0.0, 0.0], 1) == 0.5


def test_auc_ranks_infinite_scores() -> None:
    assert metrics.auc([1, -1, 1, -1], [math.inf, 0.0, 1.0, -math.inf], 1) == 1.0


@pytest.mark.parametrize("truth", [[], [1, 1], [-1, -1]])
def test_auc_is_nan_without_a_pair_to_compare(truth: list[int]) -> None:
    assert math.isnan(metrics.auc(truth, [0.5] * len(truth), 1))


def test_auc_refuses_nan_scores_and_names_the_event() -> None:
    with pytest.raises(ValueError, match="score is NaN at event 1"):
        metrics.auc([1, -1], [0.0, math.nan], 1)
