"""Sum or cost so far, over the stream, with a fixed budget: Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from askance.compare.candidate import Candidate
from askance.compare.table import Table
from askance.learner.make import make
from askance.learner.presets import AlgorithmName
from askance_papers.along_stream import name_part, play_along
from askance_papers.outcome import Cell
from askance_papers.paper4.empty_rows import empty_rows
from askance_papers.reproduce import Context

TICKS = 15  # the authors' code looks that often
C_P = 0.9


def development(
    context: Context, metric: str, candidates: Sequence[Candidate], budget: Callable[[Table], float]
) -> list[Cell]:
    """The metric over all events so far, at 15 places of the stream."""

    def settings(table: Table, candidate: Candidate) -> dict[str, Any]:
        return {"budget": int(budget(table)), "metric": metric}

    return play_along(context, _curve, settings, candidates, metric, trials=20, ticks=TICKS)


def _curve(
    table: Table,
    ends: np.ndarray,
    *,
    algorithm: str,
    parameters: dict[str, float],
    budget: int,
    trial: int,
    metric: str,
) -> dict[str, float]:
    order = np.random.default_rng(trial).permutation(table.n_events)
    y = table.y[order]
    learner = make(cast(AlgorithmName, algorithm), **parameters, budget=budget, classes=[0, 1], random_state=trial)
    predicted = learner.run(table.X[order], y).predicted_index.astype(y.dtype)
    right = (predicted == y) & ~empty_rows(table)[order]
    is_positive = y == table.positive
    found, positives = np.cumsum(right & is_positive)[ends - 1], np.cumsum(is_positive)[ends - 1]
    cleared, negatives = np.cumsum(right & ~is_positive)[ends - 1], np.cumsum(~is_positive)[ends - 1]
    if metric == "cost":
        values = C_P * (positives - found) + (1.0 - C_P) * (negatives - cleared)
    else:
        values = 50.0 * (found / np.maximum(positives, 1) + cleared / np.maximum(negatives, 1))
    return {name_part(at): value for at, value in zip(ends.tolist(), values.tolist(), strict=True)}
