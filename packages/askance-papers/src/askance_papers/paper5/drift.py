"""How paper 5 evaluates: a model of the first day, then predictions one step ahead, as gains over leaving it alone.

Three metrics over the rest of the stream: area under ROC, negative log predictive probability (NLP), and weighted
loss, nine for a missed positive and one for a false alarm. The gain is score / baseline - 1 for the area and
1 - score / baseline for the others; the baseline is the first model, kept as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from askance.compare.search import FoundScale, find_scales, scale_parameter_of
from askance.compare.table import digest_data
from askance.data.datasets import Dataset
from askance.evaluate.metrics import summarise
from askance.evaluate.metrics.scores import area
from askance.learner.make import make_stream_classifier
from askance_papers.reproduce import Context, prepare

FIRST_DAY = 0.2
"""Share of the stream that trains the first model. The paper's is a day of thirty; our streams are short, and the
first tenth of spamassassin is almost all spam."""
METRICS = ("auc", "nlp", "weighted_loss")
SEARCH_TRIALS = 3
TENTHS = 10

Gains = dict[str, float]
Playing = Callable[..., Gains]
"""``play``, or ``play`` that keeps what was played."""


@dataclass(frozen=True)
class EvaluatedStream:
    """A stream whose first day has been cut off, and what the first model makes of the rest."""

    name: str
    first: tuple[Any, np.ndarray]
    rest: tuple[Any, np.ndarray]
    baseline: dict[str, float]


def stream_of(dataset: Dataset) -> EvaluatedStream:
    """Words present or not for texts, standardised columns for numbers; the order of the data."""
    if dataset.texts is not None:
        X = sp.csr_matrix((np.ones_like(dataset.X.data), dataset.X.indices, dataset.X.indptr), dataset.X.shape)
        y = (dataset.y == 1).astype(int)
    else:
        table = prepare(dataset, ("standard",))
        X, y = table.X, np.asarray(table.y)
    day = int(FIRST_DAY * len(y))
    model = learner("UOAL-random", rate=1.0).partial_fit(X[:day], y[:day])
    probability = model.predict_proba(X[day:])[:, 1]
    asked = np.zeros(len(y) - day, dtype=bool)
    predicted = (probability >= 0.5).astype(int)
    baseline = summarise(y[day:], predicted, asked, classes=[0, 1], probability_positive=probability)
    return EvaluatedStream(
        dataset.name, (X[:day], y[:day]), (X[day:], y[day:]), {name: baseline[name] for name in METRICS}
    )


def learner(name: str, seed: int = 0, **parameters: float) -> Any:
    """Algorithm 1 starts from N(0, I); a constant feature is added."""
    given = {"prior_variance": 1.0, "classes": [0, 1], "intercept": True, "random_state": seed, **parameters}
    return make_stream_classifier(name, **given)


def play(stream: EvaluatedStream, name: str, seed: int, order: np.ndarray | None = None, **parameters: float) -> Gains:
    """Train on the first day, play the rest, and measure the rest: metrics, gains and the query ratio."""
    X, y = stream.rest if order is None else (stream.rest[0][order], stream.rest[1][order])
    trace = learner(name, seed, **parameters).partial_fit(*stream.first).run(X, y)
    summary = trace.summary(1)
    gains = {f"{metric} gain": gain(metric, float(summary[metric]), stream.baseline[metric]) for metric in METRICS}
    return {"query_ratio": float(summary["query_ratio"]), **gains}


def areas_by_tenth(stream: EvaluatedStream) -> dict[str, float]:
    """The area under ROC in each tenth of the rest that has both classes, of the first model and of online learning."""
    X, y = stream.rest
    first = learner("UOAL-random", rate=1.0).partial_fit(*stream.first)
    kept = first.predict_proba(X)[:, 1]
    online = first.run(X, y).probability_positive
    areas = {}
    for tenth, rows in enumerate(np.array_split(np.arange(len(y)), TENTHS), 1):
        if 0 < y[rows].sum() < len(rows):
            for name, probability in (("first model", kept), ("online", online)):
                areas[f"{name}, tenth {tenth}"] = area(y[rows] == 1, probability[rows])
    return areas


class PlayCache:
    """``play`` and ``areas_by_tenth`` on one stream, each thing played once: what was played before is read."""

    def __init__(self, context: Context, stream: EvaluatedStream) -> None:
        self._plays = context.plays(__name__, stream.name, *stream.first, *stream.rest)

    def play(
        self, stream: EvaluatedStream, name: str, seed: int, order: np.ndarray | None = None, **parameters: float
    ) -> Gains:
        """As ``play``."""
        about = {
            "algorithm": name, "parameters": parameters, "seed": seed,
            "order": None if order is None else digest_data(order),
        }  # fmt: skip
        return self._plays.once(about, lambda: play(stream, name, seed, order, **parameters))

    def areas_by_tenth(self, stream: EvaluatedStream) -> dict[str, float]:
        """As ``areas_by_tenth``."""
        return self._plays.once({"areas": "by tenth"}, lambda: areas_by_tenth(stream))


def gain(metric: str, score: float, baseline: float) -> float:
    """By how much a score is better than the baseline, relatively."""
    return score / baseline - 1.0 if metric == "auc" else 1.0 - score / baseline


def scales(
    stream: EvaluatedStream, name: str, rates: Sequence[float], playing: Playing = play, **parameters: float
) -> dict[float, FoundScale]:
    """The epsilon, b or rate with which an algorithm asks for each of these shares of labels."""
    scale_parameter = scale_parameter_of(name)
    assert scale_parameter is not None
    if scale_parameter.letters == ("rate",):
        return {rate: FoundScale(rate, rate, rate, reached=True) for rate in rates}
    search = find_scales(rates, scale_parameter)
    scale = next(search)
    while True:
        trials = [
            playing(stream, name, 10_000 + trial, **scale_parameter.apply(dict(parameters), scale))["query_ratio"]
            for trial in range(SEARCH_TRIALS)
        ]
        try:
            scale = search.send(float(np.mean(trials)))
        except StopIteration as stop:
            return dict(stop.value)
