"""Counting metrics against scikit-learn and against values worked out by hand."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    f1_score,
    precision_score,
    recall_score,
    zero_one_loss,
)

from askance.evaluate import metrics
from askance.evaluate.metrics.counts import cross

Pairs = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def streams(labels: list[Any], min_size: int = 1) -> st.SearchStrategy[Pairs]:
    """Truth and predictions of a short stream."""
    label = st.sampled_from(labels)
    return st.lists(st.tuples(label, label), min_size=min_size, max_size=60).map(
        lambda pairs: (np.array([t for t, _ in pairs]), np.array([p for _, p in pairs]))
    )


# Ten events: 4 spam of which 3 found; 6 ham of which 2 called spam.
TRUTH = ["spam"] * 4 + ["ham"] * 6
PREDICTED = ["spam", "spam", "spam", "ham", "spam", "spam", "ham", "ham", "ham", "ham"]


def summary(truth: Any, predicted: Any, classes: Any, positive: Any = None) -> dict[str, float | int]:
    return metrics.summarise(truth, predicted, [False] * len(truth), classes=classes, positive=positive)


def test_metrics_of_ten_messages_are_as_counted_by_hand() -> None:
    counts = metrics.count(TRUTH, PREDICTED, "spam")
    assert counts == metrics.Counts(3, 2, 4, 1)
    assert (counts.precision, counts.recall, counts.sensitivity, counts.f1) == (3 / 5, 3 / 4, 3 / 4, 6 / 9)
    assert counts.balanced_accuracy == pytest.approx((3 / 4 + 4 / 6) / 2)
    assert metrics.specificity(TRUTH, PREDICTED, "spam") == 4 / 6
    assert metrics.weighted_sum(TRUTH, PREDICTED, "spam", alpha_p=0.25) == 0.25 * 3 / 4 + 0.75 * 4 / 6
    assert metrics.cost(TRUTH, PREDICTED, "spam", c_p=0.75) == 0.75 * 1 + 0.25 * 2
    found = summary(TRUTH, PREDICTED, ["ham", "spam"])
    assert (found["mistakes"], found["accuracy"]) == (3, 0.7)
    assert found["balanced_accuracy"] == pytest.approx((3 / 4 + 4 / 6) / 2)


@settings(deadline=None)
@given(streams([-1, 1]))
def test_two_class_metrics_agree_with_scikit_learn(stream: Pairs) -> None:
    truth, predicted = stream
    average = {"labels": [-1, 1], "pos_label": 1, "zero_division": 0}
    found = summary(truth, predicted, [-1, 1])
    assert found["accuracy"] == pytest.approx(accuracy_score(truth, predicted))
    assert found["mistakes"] == zero_one_loss(truth, predicted, normalize=False)
    assert found["precision"] == pytest.approx(precision_score(truth, predicted, **average))
    assert found["recall"] == found["sensitivity"] == pytest.approx(recall_score(truth, predicted, **average))
    assert found["specificity"] == pytest.approx(recall_score(-truth, -predicted, **average))
    assert found["f1"] == pytest.approx(f1_score(truth, predicted, **average))


@settings(deadline=None)
@given(streams(["ant", "bee", "cat", "dog"]))
def test_macro_averages_agree_with_scikit_learn(stream: Pairs) -> None:
    truth, predicted = stream
    classes = ["ant", "bee", "cat", "dog"]
    options: dict[str, Any] = {"labels": classes, "average": "macro", "zero_division": 0}
    found = summary(truth, predicted, classes)
    assert found["precision"] == pytest.approx(precision_score(truth, predicted, **options))
    assert found["recall"] == pytest.approx(recall_score(truth, predicted, **options))
    assert found["f1"] == pytest.approx(f1_score(truth, predicted, **options))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of predictions of classes that never occurred
        expected = balanced_accuracy_score(truth, predicted)
    assert found["balanced_accuracy"] == pytest.approx(expected)


@settings(deadline=None)
@given(streams(list(range(7))))
def test_the_confusion_matrix_agrees_with_scikit_learn(stream: Pairs) -> None:
    truth, predicted = stream
    expected = confusion_matrix(truth, predicted, labels=range(7))
    np.testing.assert_array_equal(cross(truth, predicted, 7), expected)


@settings(deadline=None)
@given(streams([False, True]), st.floats(0, 1), st.floats(0, 1))
def test_sum_and_cost_stay_within_their_bounds(stream: Pairs, alpha_p: float, c_p: float) -> None:
    truth, predicted = stream
    assert 0.0 <= metrics.weighted_sum(truth, predicted, True, alpha_p=alpha_p) <= 1.0
    assert 0.0 <= metrics.cost(truth, predicted, True, c_p=c_p) <= zero_one_loss(truth, predicted, normalize=False)


@pytest.mark.parametrize("kind", [object, "U8", "S8"])
def test_labels_may_be_objects_strings_or_bytes(kind: Any) -> None:
    truth, predicted = np.array(TRUTH, dtype=kind), np.array(PREDICTED, dtype=kind)
    assert metrics.count(truth, predicted, truth[0]) == metrics.Counts(3, 2, 4, 1)
    assert summary(truth, predicted, np.unique(truth))["mistakes"] == 3


def test_ratios_of_nothing_are_zero_and_means_over_no_events_are_nan() -> None:
    nothing = metrics.Counts(0, 0, 0, 0)
    assert (nothing.precision, nothing.recall, nothing.specificity, nothing.f1) == (0.0, 0.0, 0.0, 0.0)
    assert (nothing.sum(), nothing.cost()) == (0.0, 0.0)
    found = summary([], [], [0, 1])
    assert all(math.isnan(found[name]) for name in ("accuracy", "balanced_accuracy", "query_ratio"))
    assert math.isnan(metrics.query_ratio([]))
    assert found["mistakes"] == metrics.labels_used([]) == 0


def test_labels_used_and_query_ratio_count_what_was_bought() -> None:
    asked = np.array([True, False, False, False, True])
    assert metrics.labels_used(asked) == 2
    assert metrics.query_ratio(asked) == 0.4


def test_results_are_plain_python_numbers() -> None:
    assert type(metrics.labels_used([True])) is int
    assert type(metrics.specificity(TRUTH, PREDICTED, "spam")) is float
    assert all(type(value) is int for value in vars(metrics.count(TRUTH, PREDICTED, "spam")).values())


def test_labels_of_another_type_are_never_equal() -> None:
    assert metrics.count(["1", "2"], ["1", "2"], 1) == metrics.Counts(0, 0, 2, 0)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_weights_outside_the_unit_interval_are_refused_by_name(share: float) -> None:
    with pytest.raises(ValueError, match=r"alpha_p must be in \[0, 1\]"):
        metrics.weighted_sum([1], [1], 1, alpha_p=share)
    with pytest.raises(ValueError, match=r"c_p must be in \[0, 1\]"):
        metrics.cost([1], [1], 1, c_p=share)


def test_columns_of_different_length_or_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="predicted has 1 entries, but there are 2 events"):
        metrics.count([1, 2], [1], 1)
    with pytest.raises(ValueError, match=r"truth must be one-dimensional.*\(1, 2\)"):
        metrics.count([[1, 2]], [1], 1)


@pytest.mark.parametrize("classes", [["ham", "eggs"], list("abcdefgh")])
def test_a_label_outside_the_classes_is_named_with_its_event(classes: list[str]) -> None:
    good = classes[0]
    with pytest.raises(ValueError, match="truth is 'spam' at event 1, which is not one of the classes"):
        summary([good, "spam"], [good, good], classes)
