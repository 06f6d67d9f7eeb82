"""Counting metrics against scikit-learn and against values worked out by hand."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from askance import metrics

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


def test_metrics_of_ten_messages_are_as_counted_by_hand() -> None:
    assert metrics.count(TRUTH, PREDICTED, "spam") == metrics.Counts(3, 2, 4, 1)
    assert metrics.mistakes(TRUTH, PREDICTED) == 3
    assert metrics.accuracy(TRUTH, PREDICTED) == 0.7
    assert metrics.precision(TRUTH, PREDICTED, "spam") == 3 / 5
    assert metrics.recall(TRUTH, PREDICTED, "spam") == 3 / 4
    assert metrics.sensitivity(TRUTH, PREDICTED, "spam") == 3 / 4
    assert metrics.specificity(TRUTH, PREDICTED, "spam") == 4 / 6
    assert metrics.f1(TRUTH, PREDICTED, "spam") == 6 / 9
    assert metrics.weighted_sum(TRUTH, PREDICTED, "spam", alpha_p=0.25) == 0.25 * 3 / 4 + 0.75 * 4 / 6
    assert metrics.cost(TRUTH, PREDICTED, "spam", c_p=0.75) == 0.75 * 1 + 0.25 * 2
    assert metrics.balanced_accuracy(TRUTH, PREDICTED) == pytest.approx((3 / 4 + 4 / 6) / 2)


@given(streams([-1, 1]))
def test_two_class_metrics_agree_with_scikit_learn(stream: Pairs) -> None:
    truth, predicted = stream
    average = {"pos_label": 1, "zero_division": 0}
    assert metrics.accuracy(truth, predicted) == pytest.approx(sklearn.metrics.accuracy_score(truth, predicted))
    counts = metrics.count(truth, predicted, 1)
    assert counts.precision == pytest.approx(
        sklearn.metrics.precision_score(truth, predicted, labels=[-1, 1], **average)
    )
    assert counts.recall == pytest.approx(sklearn.metrics.recall_score(truth, predicted, labels=[-1, 1], **average))
    assert counts.specificity == pytest.approx(
        sklearn.metrics.recall_score(-truth, -predicted, labels=[-1, 1], **average)
    )
    assert counts.f1 == pytest.approx(sklearn.metrics.f1_score(truth, predicted, labels=[-1, 1], **average))


@given(streams(["ant", "bee", "cat", "dog"]))
def test_macro_averages_agree_with_scikit_learn(stream: Pairs) -> None:
    truth, predicted = stream
    classes = ["ant", "bee", "cat", "dog"]
    options: dict[str, Any] = {"labels": classes, "average": "macro", "zero_division": 0}
    assert metrics.macro_precision(truth, predicted, classes) == pytest.approx(
        sklearn.metrics.precision_score(truth, predicted, **options)
    )
    assert metrics.macro_recall(truth, predicted, classes) == pytest.approx(
        sklearn.metrics.recall_score(truth, predicted, **options)
    )
    assert metrics.macro_f1(truth, predicted, classes) == pytest.approx(
        sklearn.metrics.f1_score(truth, predicted, **options)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of predictions of classes that never occurred
        expected = sklearn.metrics.balanced_accuracy_score(truth, predicted)
    assert metrics.balanced_accuracy(truth, predicted, classes) == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore:A single label was found")
@given(streams(list(range(7))))
def test_confusion_matrix_agrees_with_scikit_learn_for_few_and_many_classes(stream: Pairs) -> None:
    truth, predicted = stream
    occurring = np.union1d(truth, predicted)
    expected = sklearn.metrics.confusion_matrix(truth, predicted, labels=occurring)
    np.testing.assert_array_equal(metrics.confusion_matrix(truth, predicted), expected)
    expected = sklearn.metrics.confusion_matrix(truth, predicted, labels=range(7))
    np.testing.assert_array_equal(metrics.confusion_matrix(truth, predicted, range(7)), expected)


@given(streams([False, True]), st.floats(0, 1), st.floats(0, 1))
def test_sum_and_cost_stay_within_their_bounds(stream: Pairs, alpha_p: float, c_p: float) -> None:
    truth, predicted = stream
    assert 0.0 <= metrics.weighted_sum(truth, predicted, True, alpha_p=alpha_p) <= 1.0
    assert 0.0 <= metrics.cost(truth, predicted, True, c_p=c_p) <= metrics.mistakes(truth, predicted)


@pytest.mark.parametrize("kind", [object, "U8", "S8"])
def test_labels_may_be_objects_strings_or_bytes(kind: Any) -> None:
    truth, predicted = np.array(TRUTH, dtype=kind), np.array(PREDICTED, dtype=kind)
    assert metrics.count(truth, predicted, truth[0]) == metrics.Counts(3, 2, 4, 1)
    np.testing.assert_array_equal(metrics.confusion_matrix(truth, predicted), [[4, 2], [1, 3]])


def test_ratios_of_nothing_are_zero_and_means_over_no_events_are_nan() -> None:
    nothing = metrics.Counts(0, 0, 0, 0)
    assert (nothing.precision, nothing.recall, nothing.specificity, nothing.f1) == (0.0, 0.0, 0.0, 0.0)
    assert (nothing.sum(), nothing.cost()) == (0.0, 0.0)
    assert math.isnan(metrics.accuracy([], []))
    assert math.isnan(metrics.query_ratio([]))
    assert math.isnan(metrics.balanced_accuracy([], [], classes=[0, 1]))
    assert metrics.mistakes([], []) == metrics.labels_used([]) == 0


def test_labels_used_and_query_ratio_count_what_was_bought() -> None:
    asked = np.array([True, False, False, False, True])
    assert metrics.labels_used(asked) == 2
    assert metrics.query_ratio(asked) == 0.4


def test_results_are_plain_python_numbers() -> None:
    assert type(metrics.mistakes(TRUTH, PREDICTED)) is int
    assert type(metrics.labels_used([True])) is int
    assert type(metrics.macro_f1(TRUTH, PREDICTED)) is float
    assert all(type(value) is int for value in vars(metrics.count(TRUTH, PREDICTED, "spam")).values())


def test_labels_of_another_type_are_mistakes_rather_than_a_crash() -> None:
    assert metrics.mistakes(["1", "2"], [1, 2]) == 2
    assert metrics.count(["1", "2"], ["1", "2"], 1) == metrics.Counts(0, 0, 2, 0)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_weights_outside_the_unit_interval_are_refused_by_name(share: float) -> None:
    with pytest.raises(ValueError, match=r"alpha_p must be in \[0, 1\]"):
        metrics.weighted_sum([1], [1], 1, alpha_p=share)
    with pytest.raises(ValueError, match=r"c_p must be in \[0, 1\]"):
        metrics.cost([1], [1], 1, c_p=share)


def test_columns_of_different_length_or_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="predicted has 1 entries, but there are 2 events"):
        metrics.accuracy([1, 2], [1])
    with pytest.raises(ValueError, match=r"truth must be one-dimensional.*\(1, 2\)"):
        metrics.accuracy([[1, 2]], [1])


@pytest.mark.parametrize("classes", [["ham", "eggs"], list("abcdefgh")])
def test_a_label_outside_the_classes_is_named_with_its_event(classes: list[str]) -> None:
    good = classes[0]
    with pytest.raises(ValueError, match="truth is 'spam' at event 1, which is not one of the classes"):
        metrics.confusion_matrix([good, "spam"], [good, good], classes)
