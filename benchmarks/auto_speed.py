"""How fast ``make("auto")`` plays a stream, and how much it keeps: wide sparse events, and few dense columns."""

from collections.abc import Iterator
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import askance
from askance.budgets import Rate

EVENTS = 30_000
REPEATS = 5


class Shape(NamedTuple):
    """Of a stream: the features of each event, of so many that there are, and the classes."""

    non_zeros: int
    features: int
    classes: int


SHAPES = (Shape(100, 10_000, 2), Shape(100, 100_000, 2), Shape(100, 800, 2), Shape(100, 10_000, 5), Shape(20, 20, 2))
"""With 800 features, every event is centred, and so has 800 values for most members; with 20 there are full covariances
and the curved view."""


def events_of(shape: Shape) -> tuple[sp.csr_matrix, np.ndarray]:
    """Columns spread evenly over all of them, labels that a linear model can learn."""
    rng = np.random.default_rng(0)
    non_zeros, features, classes = shape
    width = features // non_zeros
    columns = rng.integers(0, width, size=(EVENTS, non_zeros)) + width * np.arange(non_zeros)
    starts = np.arange(0, non_zeros * EVENTS + 1, non_zeros)
    X = sp.csr_matrix((rng.normal(size=EVENTS * non_zeros), columns.ravel(), starts), shape=(EVENTS, features))
    scores = X @ rng.normal(size=features)
    return X, np.digitize(scores, np.quantile(scores, np.linspace(0, 1, classes + 1)[1:-1]))


def speeds() -> Iterator[tuple[dict[str, Any], dict[str, float]]]:
    """For each shape the best of a few runs, compiled before."""
    for shape in SHAPES:
        X, y = events_of(shape)
        best = 0.0
        for repeat in range(REPEATS + 1):
            clf = askance.make("auto", budget=Rate(0.01), classes=np.arange(shape.classes), random_state=0)
            began = perf_counter()
            clf.run(X[:100] if repeat == 0 else X, y[:100] if repeat == 0 else y)
            if repeat:
                best = max(best, EVENTS / (perf_counter() - began))
        numbers = sum(array.nbytes for array in clf._engine.state) / shape.features
        key = {"part": "speed", **shape._asdict()}
        yield key, {"events_per_second": round(best), "bytes_per_feature": round(numbers)}


def table_of_speeds(rows: list[dict[str, Any]]) -> str:
    """What ``speeds`` found, as a table."""
    lines = [
        "A label for every hundredth event; the best of five runs on one core. A learner keeps two numbers for each "
        "feature and class, sixteen bytes, and with few features covariances.",
        "",
        "| non-zeros | features | classes | events a second | bytes for each feature |",
        "| --: | --: | --: | --: | --: |",
    ]
    for row in rows:
        key, found = row["key"], row["speed"]
        fast, large = found["events_per_second"], found["bytes_per_feature"]
        lines.append(f"| {key['non_zeros']} | {key['features']:,} | {key['classes']} | {fast:,} | {large:,} |")
    return "\n".join(lines)
