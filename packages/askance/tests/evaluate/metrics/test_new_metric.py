"""A new metric is one entry in the register: everything else reads it there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import askance
from askance.compare import Sweep
from askance.compare.report import report
from askance.data.generators import messages
from askance.evaluate import quality
from askance.evaluate.metrics.counts import PerClass
from askance.evaluate.metrics.register import METRICS, Metric
from askance.evaluate.metrics.summary import summarise


def kappa(per_class: PerClass) -> Any:
    """Cohen's kappa: (p_o - p_e) / (1 - p_e), from -1 to 1."""
    total = per_class.events.sum(axis=-1)
    observed = per_class.right.sum(axis=-1) / total
    expected = (per_class.events * per_class.predictions).sum(axis=-1) / total**2
    return (observed - expected) / (1.0 - expected)


def weighted(values: Any, per_class: PerClass) -> Any:
    """The mean over the events instead of the classes."""
    return (values * per_class.events).sum(axis=-1) / per_class.events.sum(axis=-1)


NEW = (
    Metric("kappa", "Cohen's kappa", of_matrix=kappa, smallest=-1.0, in_report=True, estimated=20),
    Metric("worst_recall", "worst recall", of_class=lambda counts, weights: counts.recall, estimated=21,
           average=lambda values, per_class: values.min(axis=-1)),
    Metric("weighted_f1", "weighted F1", of_class=lambda counts, weights: counts.f1, average=weighted, estimated=22),
    Metric("g_mean", "G-mean", estimated=23, of_matrix=lambda per_class: np.exp(
        np.log(np.maximum(per_class.right / np.maximum(per_class.events, 1e-9), 1e-9)).mean(axis=-1))),
)  # fmt: skip


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for metric in NEW:
        monkeypatch.setitem(METRICS, metric.name, metric)


def draw(seed: int, classes: int = 4, error: float = 0.15) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    truth = rng.choice(classes, 3000, p=np.arange(classes, 0, -1) / (classes * (classes + 1) / 2))
    wrong = rng.random(3000) < error
    predicted = np.where(wrong, (truth + rng.integers(1, classes, 3000)) % classes, truth)
    return predicted, np.where(wrong, 0.3, 0.15) * rng.uniform(0.5, 1.0, 3000), truth


def test_summaries_have_it() -> None:
    predicted, _, truth = draw(0)
    found = summarise(truth, predicted, truth >= 0, classes=range(4))
    recall = [np.mean(predicted[truth == label] == label) for label in range(4)]
    assert found["worst_recall"] == pytest.approx(min(recall))
    assert found["g_mean"] == pytest.approx(np.prod(recall) ** 0.25)
    metrics = pytest.importorskip("sklearn.metrics")
    assert found["kappa"] == pytest.approx(metrics.cohen_kappa_score(truth, predicted))
    assert found["mcc"] == pytest.approx(metrics.matthews_corrcoef(truth, predicted))
    assert found["weighted_f1"] == pytest.approx(metrics.f1_score(truth, predicted, average="weighted"))


@pytest.mark.parametrize("classes", [2, 4])
def test_estimates_have_it_within_its_range(classes: int) -> None:
    predicted, probability, truth = draw(1, classes)
    exact = summarise(truth, predicted, truth >= 0, classes=range(classes))
    rng, inside = np.random.default_rng(2), []
    names = ["kappa", "g_mean", "weighted_f1", "worst_recall", "mcc"]
    for _ in range(60):
        asked = rng.random(3000) < probability
        found = quality.estimate_columns(predicted, probability, asked, truth, classes=range(classes))
        inside.append([exact[name] in found[name] for name in names])
    assert min(np.mean(inside, axis=0)) >= 0.85, dict(zip(names, np.mean(inside, axis=0), strict=True))
    everything = quality.estimate_columns(predicted, np.ones(3000), truth >= 0, truth, classes=range(classes))
    for name in names:
        assert everything[name] == pytest.approx((exact[name],) * 3, abs=1e-6)


def test_an_interval_may_go_below_zero_but_not_out_of_the_range() -> None:
    truth = np.arange(400) % 2
    asked = np.arange(400) % 10 < 2
    for predicted in (truth, 1 - truth, np.arange(400) // 2 % 2):
        found = quality.estimate_columns(predicted, np.full(400, 0.2), asked, truth, classes=[0, 1])
        assert -1.0 <= found.kappa.low <= found.kappa.value <= found.kappa.high <= 1.0
    assert found.kappa.low < -0.1 < 0.1 < found.kappa.high
    nothing = quality.estimate_columns([0, 1], [0.1, 0.1], [False, False], [0, 0], classes=[0, 1])
    assert (nothing.kappa.low, nothing.kappa.high) == (-1.0, 1.0)
    assert "too few labels for an interval" in nothing.why_open("kappa")


def test_curves_comparisons_and_reports_have_it() -> None:
    stream = messages(300, random_state=0)
    data = stream.X, np.asarray(stream.labels)
    trace = askance.make("PAA-I", random_state=0).run(*data)
    for metric in NEW:
        assert trace.curve(metric.name).values[-1] == trace.summary()[metric.name]
    results = Sweep(data, ["PAA-I", "RPA-I"], [0.2], metric="kappa", permutations=2, search_permutations=1).run(
        workers=1
    )
    assert {"kappa", "worst_recall", "weighted_f1"} <= set(results.records[0])
    assert "Cohen&#x27;s kappa" in report(results)
