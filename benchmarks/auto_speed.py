"""How fast ``make("auto")`` plays a stream, and how much it keeps, at 100 non-zeros an event."""

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

import askance
from askance.budgets import Rate

EVENTS, NON_ZEROS = 30_000, 100
SHAPES = ((10_000, 2), (100_000, 2), (500, 2), (10_000, 5))
"""Features and classes; with 500 features, every event is centred, and so has 500 values for most members."""
REPEATS = 5


def events_of(features: int, classes: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """As many features in each hundredth of the columns, labels that a linear model can learn."""
    rng = np.random.default_rng(0)
    width = features // NON_ZEROS
    columns = rng.integers(0, width, size=(EVENTS, NON_ZEROS)) + width * np.arange(NON_ZEROS)
    starts = np.arange(0, NON_ZEROS * EVENTS + 1, NON_ZEROS)
    X = sp.csr_matrix((rng.normal(size=EVENTS * NON_ZEROS), columns.ravel(), starts), shape=(EVENTS, features))
    scores = X @ rng.normal(size=features)
    return X, np.digitize(scores, np.quantile(scores, np.linspace(0, 1, classes + 1)[1:-1]))


def speeds() -> Iterator[tuple[dict[str, Any], dict[str, float]]]:
    """For each shape the best of a few runs, compiled before."""
    for features, classes in SHAPES:
        X, y = events_of(features, classes)
        best = 0.0
        for repeat in range(REPEATS + 1):
            clf = askance.make("auto", budget=Rate(0.01), classes=np.arange(classes), random_state=0)
            began = perf_counter()
            clf.run(X[:100] if repeat == 0 else X, y[:100] if repeat == 0 else y)
            if repeat:
                best = max(best, EVENTS / (perf_counter() - began))
        numbers = sum(array.nbytes for array in clf._state) / features
        key = {"part": "speed", "features": features, "classes": classes}
        yield key, {"events_per_second": round(best), "bytes_per_feature": round(numbers)}


def table_of_speeds(rows: list[dict[str, Any]]) -> str:
    """What ``speeds`` found, as a table."""
    lines = [
        "Events of 100 non-zeros, a label for every hundredth; the best of five runs. A learner keeps two numbers for "
        "each feature and class, sixteen bytes.",
        "",
        "| features | classes | events a second | bytes for each feature |",
        "| --: | --: | --: | --: |",
    ]
    for row in rows:
        key, found = row["key"], row["speed"]
        fast, large = found["events_per_second"], found["bytes_per_feature"]
        lines.append(f"| {key['features']:,} | {key['classes']} | {fast:,} | {large:,} |")
    return "\n".join(lines)
