"""The metrics of label sets are those of scikit-learn where everything is known."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score
from sklearn.metrics import hamming_loss as hamming

from askance.errors import InvalidInput
from askance.evaluate.metrics.label_sets import summarise_label_sets
from askance.evaluate.metrics.register import LABEL_SET_METRICS


@pytest.mark.parametrize("seed", range(5))
def test_known_sets_are_measured_as_scikit_learn_does(seed):
    rng = np.random.default_rng(seed)
    truth, predicted = rng.random((2, 40, 5)) < 0.3
    truth[:, 4] = predicted[:, 4] = False
    found = summarise_label_sets(truth, predicted, np.ones_like(truth))
    assert found["micro_f1"] == pytest.approx(f1_score(truth, predicted, average="micro"))
    assert found["macro_f1"] == pytest.approx(f1_score(truth, predicted, average="macro", zero_division=0))
    assert found["hamming_loss"] == pytest.approx(hamming(truth, predicted))
    assert found["subset_accuracy"] == pytest.approx(accuracy_score(truth, predicted))
    assert found["query_ratio"] == 1.0


def test_what_is_not_known_counts_nowhere():
    truth = np.array([[1, -1], [0, 1], [1, 0]])
    predicted = np.array([[1, 1], [0, 1], [0, 0]], bool)
    found = summarise_label_sets(truth, predicted, np.zeros_like(predicted))
    assert found["hamming_loss"] == 1 / 5
    assert found["subset_accuracy"] == 1 / 2
    assert found["micro_f1"] == 2 * 2 / (2 * 2 + 1)
    assert found["macro_f1"] == pytest.approx((2 / 3 + 1) / 2)


def test_nothing_known_is_no_number():
    found = summarise_label_sets(np.full((2, 2), -1), np.ones((2, 2), bool), np.zeros((2, 2), bool))
    assert np.isnan(found["hamming_loss"])
    assert np.isnan(found["subset_accuracy"])


def test_matrices_of_different_shapes_are_refused():
    with pytest.raises(InvalidInput, match="one shape"):
        summarise_label_sets(np.zeros((2, 2)), np.zeros((2, 3)), np.zeros((2, 2)))


def test_one_metric_is_better_when_lower():
    assert [name for name, metric in LABEL_SET_METRICS.items() if metric.lower_is_better] == ["hamming_loss"]
