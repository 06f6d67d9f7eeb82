"""The dictionary that Trace.summary returns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
    zero_one_loss,
)

from askance.evaluate import metrics
from askance.evaluate.metrics.scores import area

TWO_CLASS_KEYS = {name for name, metric in metrics.METRICS.items() if metric.is_summarised}


def played(events: int = 500, seed: int = 0) -> dict[str, Any]:
    """A plausible stream of two classes: truth, margins, probabilities, what was asked."""
    rng = np.random.default_rng(seed)
    is_spam = rng.random(events) < 0.2
    margin = rng.standard_normal(events) + 2 * is_spam - 1
    return {
        "truth": np.where(is_spam, "spam", "ham"),
        "predicted": np.where(margin >= 0, "spam", "ham"),
        "asked": rng.random(events) < 0.1,
        "margin": margin,
        "probability_positive": 1 / (1 + np.exp(-margin)),
        "classes": np.array(["ham", "spam"]),
    }


def test_summary_of_two_classes_holds_every_metric_and_each_equals_its_function() -> None:
    stream = played()
    truth, predicted = stream["truth"], stream["predicted"]
    summary = metrics.summarise(**stream, alpha_p=0.3, c_p=0.8, seconds=1.5)
    assert set(summary) == TWO_CLASS_KEYS
    expected = {
        "events": 500,
        "labels": metrics.labels_used(stream["asked"]),
        "query_ratio": metrics.query_ratio(stream["asked"]),
        "accuracy": accuracy_score(truth, predicted),
        "balanced_accuracy": balanced_accuracy_score(truth, predicted),
        "mistakes": zero_one_loss(truth, predicted, normalize=False),
        "precision": precision_score(truth, predicted, pos_label="spam"),
        "recall": recall_score(truth, predicted, pos_label="spam"),
        "sensitivity": recall_score(truth, predicted, pos_label="spam"),
        "specificity": metrics.specificity(truth, predicted, "spam"),
        "f1": f1_score(truth, predicted, pos_label="spam"),
        "sum": metrics.weighted_sum(truth, predicted, "spam", alpha_p=0.3),
        "cost": metrics.cost(truth, predicted, "spam", c_p=0.8),
        "auc": roc_auc_score(truth == "spam", stream["probability_positive"]),
        "nlp": metrics.nlp(truth, stream["probability_positive"], "spam"),
        "weighted_loss": metrics.weighted_loss(
            truth,
            stream["probability_positive"],
            "spam",
            false_negative_cost=0.8,
            false_positive_cost=0.2,
        ),
        "seconds": 1.5,
    }
    assert {name: summary[name] for name in expected} == pytest.approx(expected)
    assert all(type(value) in (int, float) for value in summary.values())


def test_the_second_class_is_positive_unless_another_is_named() -> None:
    stream = played()
    assert metrics.summarise(**stream) == metrics.summarise(**stream, positive="spam")
    ham = metrics.summarise(**stream, positive="ham")
    spam = metrics.summarise(**stream)
    assert ham["recall"] == spam["specificity"]
    assert ham["auc"] == pytest.approx(spam["auc"])
    assert ham["nlp"] == spam["nlp"]
    assert ham["precision"] == metrics.count(stream["truth"], stream["predicted"], "ham").precision
    assert ham["weighted_loss"] == pytest.approx(
        metrics.weighted_loss(
            stream["truth"],
            1 - stream["probability_positive"],
            "ham",
            false_negative_cost=0.9,
            false_positive_cost=0.1,
        )
    )


def test_metrics_without_their_input_are_left_out() -> None:
    stream = played()
    probability = stream.pop("probability_positive")
    summary = metrics.summarise(**stream)
    of_probabilities = {name for name in TWO_CLASS_KEYS if metrics.METRICS[name].of_probabilities is not None}
    assert TWO_CLASS_KEYS - set(summary) == {*of_probabilities, "seconds"}
    assert summary["auc"] == area(stream["truth"] == "spam", probability)
    del stream["margin"]
    assert "auc" not in metrics.summarise(**stream)


def test_three_classes_have_macro_averages() -> None:
    truth, predicted = ["a", "b", "c", "c"], ["a", "b", "c", "b"]
    summary = metrics.summarise(
        truth, predicted, [True, False, False, False], classes=["a", "b", "c"], margin=[1.0] * 4
    )
    expected = {
        "events": 4,
        "labels": 1,
        "query_ratio": 0.25,
        "accuracy": 0.75,
        "balanced_accuracy": pytest.approx(5 / 6),
        "mistakes": 1,
        "precision": pytest.approx(5 / 6),
        "recall": pytest.approx(5 / 6),
        "f1": pytest.approx(7 / 9),
    }
    assert {name: summary[name] for name in expected} == expected
    assert "sum" not in summary
    assert "auc" not in summary


def test_naming_one_of_three_classes_measures_it_against_the_rest() -> None:
    truth, predicted = ["a", "b", "c", "c"], ["a", "b", "c", "b"]
    summary = metrics.summarise(truth, predicted, [False] * 4, classes=["a", "b", "c"], positive="b")
    assert (summary["precision"], summary["recall"], summary["specificity"]) == (0.5, 1.0, 2 / 3)
    assert summary["cost"] == pytest.approx(0.1)
    assert "auc" not in summary


def test_an_unknown_positive_label_is_refused_with_the_classes() -> None:
    with pytest.raises(ValueError, match="positive is 1, which is not one of the classes 'ham', 'spam'"):
        metrics.summarise(**played(), positive=1)


@pytest.mark.parametrize("name", ["alpha_p", "c_p"])
@pytest.mark.parametrize("value", [-0.01, 1.01])
def test_weights_are_checked_even_where_they_do_not_matter(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        metrics.summarise([1], [1], [True], classes=[1, 2, 3], **{name: value})


def test_a_stream_of_one_class_has_no_auc_and_zero_ratios() -> None:
    summary = metrics.summarise([-1, -1], [-1, -1], [False, True], classes=[-1, 1], margin=[-1.0, -2.0])
    assert math.isnan(summary["auc"])
    assert (summary["precision"], summary["recall"], summary["f1"]) == (0.0, 0.0, 0.0)
    assert (summary["accuracy"], summary["specificity"], summary["balanced_accuracy"]) == (1.0, 1.0, 1.0)


def test_an_empty_stream_can_be_summarised() -> None:
    empty = np.array([])
    summary = metrics.summarise(
        empty, empty, empty.astype(bool), classes=[0, 1], margin=empty, probability_positive=empty
    )
    assert summary["events"] == summary["labels"] == summary["mistakes"] == 0
    assert all(math.isnan(summary[name]) for name in ("accuracy", "query_ratio", "auc", "nlp"))


@given(st.integers(1, 80), st.integers(0, 5), st.integers(2, 6))
def test_mistakes_and_accuracy_agree_for_any_number_of_classes(events: int, seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    truth, predicted = rng.integers(width, size=(2, events))
    summary = metrics.summarise(truth, predicted, rng.random(events) < 0.5, classes=range(width))
    assert summary["mistakes"] == round((1 - summary["accuracy"]) * events)
