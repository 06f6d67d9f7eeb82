"""How paper 5 evaluates: a model of the first day, then predictions one step ahead, as gains over leaving it alone.

Three metrics over the rest of the stream: area under ROC, negative log predictive probability (NLP), and weighted
loss, nine for a missed positive and one for a false alarm. The gain is score / baseline - 1 for the area and
1 - score / baseline for the others; the baseline is the first model, kept as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from askance.datasets import Dataset
from askance.experiments.papers.run import prepared
from askance.experiments.search import Found, find_scales, knob_of
from askance.learner.presets import make
from askance.metrics import summarise

FIRST_DAY = 0.2
"""Share of the stream that trains the first model. The paper's is a day of thirty; our streams are short, and the
first tenth of spamassassin is almost all spam."""
METRICS = ("auc", "nlp", "weighted_loss")
SEARCH_TRIALS = 3


@dataclass(frozen=True)
class Stream:
    """A stream whose first day has been cut off, and what the first model makes of the rest."""

    name: str
    first: tuple[Any, np.ndarray]
    rest: tuple[Any, np.ndarray]
    baseline: dict[str, float]


def stream_of(dataset: Dataset) -> Stream:
    """Words present or not for texts, standardised columns for numbers; the order of the data."""
    if dataset.texts is not None:
        X = sp.csr_matrix((np.ones_like(dataset.X.data), dataset.X.indices, dataset.X.indptr), dataset.X.shape)
        y = (dataset.y == 1).astype(int)
    else:
        table = prepared(dataset, ("standard",))
        X, y = table.X, np.asarray(table.y)
    day = int(FIRST_DAY * len(y))
    model = learner("UOAL-random", rate=1.0).partial_fit(X[:day], y[:day])
    probability = model.predict_proba(X[day:])[:, 1]
    asked = np.zeros(len(y) - day, dtype=bool)
    predicted = (probability >= 0.5).astype(int)
    baseline = summarise(y[day:], predicted, asked, classes=[0, 1], probability_positive=probability)
    return Stream(dataset.name, (X[:day], y[:day]), (X[day:], y[day:]), {name: baseline[name] for name in METRICS})


def learner(name: str, seed: int = 0, **parameters: float) -> Any:
    """Algorithm 1 starts from N(0, I); a constant feature is added."""
    return make(name, prior_variance=1.0, classes=[0, 1], intercept=True, random_state=seed, **parameters)


def play(
    stream: Stream, name: str, seed: int, order: np.ndarray | None = None, **parameters: float
) -> dict[str, float]:
    """Train on the first day, play the rest, and measure the rest: metrics, gains and the query ratio."""
    X, y = stream.rest if order is None else (stream.rest[0][order], stream.rest[1][order])
    trace = learner(name, seed, **parameters).partial_fit(*stream.first).run(X, y)
    summary = trace.summary(1)
    gains = {f"{metric} gain": gain(metric, float(summary[metric]), stream.baseline[metric]) for metric in METRICS}
    return {"query_ratio": float(summary["query_ratio"]), **gains}


def gain(metric: str, score: float, baseline: float) -> float:
    """By how much a score is better than the baseline, relatively."""
    return score / baseline - 1.0 if metric == "auc" else 1.0 - score / baseline


def scales(stream: Stream, name: str, rates: Sequence[float], **parameters: float) -> dict[float, Found]:
    """The epsilon, b or rate with which an algorithm asks for each of these shares of labels."""
    knob = knob_of(name)
    assert knob is not None
    if knob.letters == ("rate",):
        return {rate: Found(rate, rate, rate, reached=True) for rate in rates}
    search = find_scales(rates, knob)
    scale = next(search)
    while True:
        trials = [
            play(stream, name, 10_000 + trial, **knob.turn(dict(parameters), scale))["query_ratio"]
            for trial in range(SEARCH_TRIALS)
        ]
        try:
            scale = search.send(float(np.mean(trials)))
        except StopIteration as stop:
            return dict(stop.value)
