"""A metric along the stream: each candidate is played several times, and measured at places of equal distance.

Figure 7 of paper 1 has processor seconds so far, Figures 1 and 2 of paper 4 sum or cost so far with a fixed budget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import thread_time
from typing import Any

import numpy as np
import scipy.sparse as sp

from askance.compare.candidate import Candidate
from askance.compare.progress import SweepProgress
from askance.compare.table import Table
from askance.learner.make import make_stream_classifier
from askance_papers.outcome import Cell
from askance_papers.reproduce import Context, prepare

Measure = Callable[..., dict[str, float]]
"""From a table, the ends of its parts and the settings of a play to the metric, by the names of the parts."""


def play_along(
    context: Context,
    measure: Measure,
    settings: Callable[[Table, Candidate], dict[str, Any]],
    candidates: Sequence[Candidate],
    metric: str,
    *,
    trials: int,
    ticks: int,
) -> list[Cell]:
    """The metric of all events so far, at so many places of the stream.

    ``settings`` says what, beside algorithm, parameters and trial, ``measure`` is given of a candidate.
    """
    cells = []
    trials = context.trials(trials)
    for place, name in enumerate(context.datasets, 1):
        table = prepare(context.load(name), ("l2",))
        plays = context.plays(measure.__module__, name, table.X, table.y)
        ends = np.linspace(0, table.n_events, ticks + 1).astype(int)[1:]
        for done, candidate in enumerate(candidates):
            (point,) = candidate.points(table)
            curves = []
            for trial in range(trials):
                share = (done + trial / trials) / len(candidates)
                context.report(name, place, len(context.datasets), SweepProgress("playing", 0, 0, share, 1.0 - share))
                about = {
                    "algorithm": candidate.algorithm, "parameters": point, **settings(table, candidate), "trial": trial
                }  # fmt: skip
                curves.append(plays.once(about, partial(measure, table, ends, **about)))
            for at in ends.tolist():
                values = tuple(curve[name_part(at)] for curve in curves)
                cells.append(Cell(name, name_part(at), candidate.label, metric, values, float(at), point))
    return cells


def name_part(end: int) -> str:
    """What the events up to here are called.

    >>> name_part(200)
    '200 events'
    """
    return f"{end} events"


TIME_TICKS = 5
TIME_TRIALS = 5
TIME_RATE = 0.02  # of the labels, for those that ask: the ratio of Table 6


def cumulative_time(context: Context, candidates: Sequence[Candidate], asking: Sequence[str]) -> list[Cell]:
    """The seconds that each algorithm has taken, at five places of the stream."""

    def settings(table: Table, candidate: Candidate) -> dict[str, Any]:
        return {"budget": TIME_RATE if candidate.algorithm in asking else None}

    return play_along(context, _seconds, settings, candidates, "seconds", trials=TIME_TRIALS, ticks=TIME_TICKS)


def _seconds(
    table: Table, ends: np.ndarray, *, algorithm: str, parameters: dict[str, float], budget: float | None, trial: int
) -> dict[str, float]:
    order = np.random.default_rng(trial).permutation(table.n_events)
    X, y = table.X[order], table.y[order]
    given = {**parameters, "budget": budget, "classes": [0, 1], "random_state": trial}
    make_stream_classifier(algorithm, **given).run(X[:10], y[:10])  # compiles
    learner = make_stream_classifier(algorithm, **given)
    taken, start, found = 0.0, 0, {}
    for at in ends.tolist():
        began = thread_time()  # others may be at work on this machine
        learner.run(X[start:at], y[start:at])
        taken += thread_time() - began
        start, found[name_part(at)] = at, taken
    return found


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
    given = {**parameters, "budget": budget, "classes": [0, 1], "random_state": trial}
    learner = make_stream_classifier(algorithm, **given)
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


def empty_rows(table: Table) -> np.ndarray:
    """Which events have no feature."""
    if sp.issparse(table.X):
        return np.asarray(np.diff(table.X.indptr) == 0)
    return np.asarray(~np.asarray(table.X).any(axis=1))
