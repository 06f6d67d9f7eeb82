"""The register of metrics: what is declared there is what everybody has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import askance
from askance import quality
from askance.compare import Sweep
from askance.compare.curves import name_of
from askance.data.generators import messages
from askance.evaluate.metrics.register import METRICS, Metric, Weights, comparable, estimated
from askance.evaluate.metrics.summary import summarise_trace
from askance.evaluate.quality.mistakes import formulas

ESTIMATED_OF_ONE_CLASS = [metric for metric in estimated() if metric.of_class]
DOCS = Path(__file__).parents[5] / "docs"


@pytest.fixture(scope="module")
def trace() -> Any:
    stream = messages(600, random_state=0)
    clf = askance.make("UOAL-entropy", budget=askance.budgets.Rate(0.3), random_state=0)
    return clf.run(stream.X, np.asarray(stream.labels))


def test_a_summary_has_every_metric_in_the_order_of_the_register(trace: Any) -> None:
    assert list(trace.summary()) == [name for name, metric in METRICS.items() if metric.is_summarised]


def test_what_follows_from_counts_is_the_same_without_the_rest(trace: Any) -> None:
    counted = summarise_trace(trace, 1, Weights(), everything=False)
    assert counted == {name: value for name, value in trace.summary().items() if METRICS[name].is_counted}


def test_estimates_are_those_that_the_register_says_can_be_estimated(trace: Any) -> None:
    found = quality.estimate(trace)
    assert list(found) == [metric.name for metric in estimated()]
    exact = trace.summary()
    everything = quality.estimate_columns(
        trace.predicted, np.ones(len(trace)), np.ones(len(trace), bool), trace.truth, classes=trace.classes
    )
    for metric in ESTIMATED_OF_ONE_CLASS:  # with every label known, an estimate is the metric itself
        assert everything[metric.name].value == pytest.approx(exact[metric.name])


@pytest.mark.parametrize("metric", ESTIMATED_OF_ONE_CLASS, ids=lambda metric: metric.name)
def test_what_is_estimated_falls_with_both_kinds_of_mistakes_or_grows_with_both(metric: Metric) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        negative, positive = rng.integers(1, 60, 2)
        formula = formulas([metric], float(negative), float(positive), Weights(*rng.random(2)))[metric.name]
        missed, alarms = np.meshgrid(np.arange(negative), np.arange(positive), indexing="ij")
        values = metric.sign * formula(np.stack([missed, alarms], axis=-1).astype(float))
        assert (np.diff(values, axis=0) <= 1e-12).all()
        assert (np.diff(values, axis=1) <= 1e-12).all()


def test_there_is_a_curve_of_whatever_follows_from_a_confusion_matrix(trace: Any) -> None:
    for name, metric in METRICS.items():
        if metric.has_curve:
            assert trace.curve(name).values[-1] == trace.summary()[name]
        else:
            with pytest.raises(ValueError, match=f"there is no curve of '{name}'"):
                trace.curve(name)


def test_algorithms_can_be_compared_by_all_that_says_how_good_predictions_are() -> None:
    stream = messages(60, random_state=0)
    data = stream.X, np.asarray(stream.labels)
    for metric in comparable():
        Sweep(data, ["UOAL-entropy"], [0.5], metric=metric)
    with pytest.raises(ValueError, match="there is no metric 'seconds'; choose by one of accuracy"):
        Sweep(data, ["UOAL-entropy"], [0.5], metric="seconds")


def test_a_name_that_is_not_ours_is_shown_as_it_is() -> None:
    assert (name_of("f1"), name_of("nlp"), name_of("auc gain")) == ("F1", "negative log probability", "auc gain")


def test_the_docs_have_a_line_for_every_metric() -> None:
    lines = (DOCS / "compare.md").read_text(encoding="utf-8").splitlines()
    documented = [line.split("`")[1] for line in lines if line.startswith("| `") and line.endswith(" better |")]
    assert sorted(documented) == sorted(comparable())
    for line in lines:
        if line.startswith("| `") and line.endswith(" better |"):
            assert line.endswith("lower is better |") == METRICS[line.split("`")[1]].lower_is_better
