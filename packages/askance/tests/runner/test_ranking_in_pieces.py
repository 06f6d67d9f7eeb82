"""The area under the ROC curve, piece by piece."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from askance.runner.totals import EXACT_EVENTS, RocAccumulator


@pytest.mark.parametrize("n", [10, EXACT_EVENTS, EXACT_EVENTS + 1, 3 * EXACT_EVENTS])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_it_is_that_of_the_whole_stream(n, scale):
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.3
    score = (rng.normal(size=n) + truth).round(2) * scale
    ranking = RocAccumulator()
    for part in np.array_split(np.arange(n), 7):
        ranking.add(truth[part], score[part])
    assert ranking.area() == pytest.approx(roc_auc_score(truth, score), abs=1e-12 if n <= EXACT_EVENTS else 2e-3)


def test_without_both_classes_there_is_none():
    assert np.isnan(RocAccumulator().area())
    for n in (3, EXACT_EVENTS + 3):
        ranking = RocAccumulator()
        ranking.add(np.ones(n, bool), np.zeros(n))
        assert np.isnan(ranking.area())
