"""Sum or cost so far, over the stream, with a fixed budget: Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from askance.experiments.candidate import Candidate
from askance.experiments.papers.outcome import Cell
from askance.experiments.papers.paper4.empty_rows import empty_rows
from askance.experiments.papers.run import Context, prepare
from askance.experiments.progress import SweepProgress
from askance.experiments.table import Table
from askance.learner.make import make

TICKS = 15  # the authors' code looks that often
C_P = 0.9


def development(
    context: Context, metric: str, candidates: Sequence[Candidate], budget: Callable[[Table], float]
) -> list[Cell]:
    """The metric over all events so far, at 15 places of the stream."""
    cells = []
    trials = context.trials(20)
    for place, name in enumerate(context.datasets, 1):
        table = prepare(context.load(name), ("l2",))
        empty = empty_rows(table)
        plays = context.plays(__name__, name, table.X, table.y)
        ends = np.linspace(0, table.n_events, TICKS + 1).astype(int)[1:]
        for done, candidate in enumerate(candidates):
            (point,) = candidate.points(table)
            curves = []
            for trial in range(trials):
                share = (done + trial / trials) / len(candidates)
                context.report(name, place, len(context.datasets), SweepProgress("playing", 0, 0, share, 1.0 - share))
                about: dict[str, Any] = {
                    "algorithm": candidate.algorithm, "parameters": point, "budget": int(budget(table)),
                    "trial": trial, "metric": metric,
                }  # fmt: skip
                curves.append(plays.once(about, partial(_curve, table, empty, ends, **about)))
            for at in ends.tolist():
                values = tuple(curve[f"{at} events"] for curve in curves)
                cells.append(Cell(name, f"{at} events", candidate.label, metric, values, float(at), point))
    return cells


def _curve(
    table: Table,
    empty: np.ndarray,
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
    learner = make(algorithm, **parameters, budget=budget, classes=[0, 1], random_state=trial)
    predicted = learner.run(table.X[order], y).predicted_index.astype(y.dtype)
    right = (predicted == y) & ~empty[order]
    is_positive = y == table.positive
    found, positives = np.cumsum(right & is_positive)[ends - 1], np.cumsum(is_positive)[ends - 1]
    cleared, negatives = np.cumsum(right & ~is_positive)[ends - 1], np.cumsum(~is_positive)[ends - 1]
    if metric == "cost":
        values = C_P * (positives - found) + (1.0 - C_P) * (negatives - cleared)
    else:
        values = 50.0 * (found / np.maximum(positives, 1) + cleared / np.maximum(negatives, 1))
    return {f"{at} events": value for at, value in zip(ends.tolist(), values.tolist(), strict=True)}
