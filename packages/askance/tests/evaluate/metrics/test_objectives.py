"""Metrics and the objectives of ``auto``: each finds the other."""

from __future__ import annotations

import numpy as np
import pytest

import askance
from askance.evaluate.metrics.objectives import HEADLINES, USUAL_METRIC, objective_for
from askance.evaluate.metrics.register import METRICS, Weights, comparable
from askance.learner.auto.classes import OBJECTIVES


def test_every_objective_is_judged_by_the_metric_that_calls_for_it() -> None:
    assert set(HEADLINES) == set(OBJECTIVES)
    for objective, metric in HEADLINES.items():
        assert METRICS[metric].has_curve
        wanted = objective_for(metric)
        assert wanted is not None
        assert wanted["objective"] == objective
    usual = next(row for row in askance.algorithms() if row["name"] == "auto")["parameters"]["objective"]
    assert HEADLINES[usual] == USUAL_METRIC


@pytest.mark.parametrize("positive", [0, 1, None])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("metric", comparable())
def test_what_a_metric_calls_for_can_be_made(metric: str, n_classes: int, positive: int | None) -> None:
    wanted = objective_for(metric, positive, n_classes, Weights(0.5, 0.75))
    if wanted is not None:
        askance.make("auto", classes=np.arange(n_classes), **wanted)
    assert (wanted is None) == (
        metric in ("auc", "mcc", "nlp", "weighted_loss", "precision", "sensitivity", "specificity")
        or (metric == "recall" and positive is not None)
        or (metric in ("sum", "cost") and n_classes > 2)
        or (metric == "cost" and positive is None)
        or (metric == "f1" and positive is not None and (positive, n_classes) != (1, 2))
    )


def test_weights_that_no_objective_has_call_for_none() -> None:
    assert objective_for("sum", weights=Weights(0.8)) is None
    assert objective_for("cost", weights=Weights(c_p=1.0)) is None
