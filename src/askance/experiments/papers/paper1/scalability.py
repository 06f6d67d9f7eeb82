"""Processor seconds so far, over the events: Figure 7."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from time import thread_time
from typing import Any

import numpy as np

from askance.experiments.candidate import Candidate
from askance.experiments.papers.outcome import Cell
from askance.experiments.papers.run import Context, prepare
from askance.experiments.progress import SweepProgress
from askance.experiments.table import Table
from askance.learner.make import make

TICKS = 5
TRIALS = 5
RATE = 0.02  # of the labels, for those that ask: the ratio of Table 6


def cumulative_time(context: Context, candidates: Sequence[Candidate], asking: Sequence[str]) -> list[Cell]:
    """The seconds that each algorithm has taken, at five places of the stream."""
    cells = []
    trials = context.trials(TRIALS)
    for place, name in enumerate(context.datasets, 1):
        table = prepare(context.load(name), ("l2",))
        plays = context.plays(__name__, name, table.X, table.y)
        ends = np.linspace(0, table.n_events, TICKS + 1).astype(int)[1:]
        for done, candidate in enumerate(candidates):
            (point,) = candidate.points(table)
            curves = []
            for trial in range(trials):
                share = (done + trial / trials) / len(candidates)
                context.report(name, place, len(context.datasets), SweepProgress("playing", 0, 0, share, 1.0 - share))
                about: dict[str, Any] = {
                    "algorithm": candidate.algorithm, "parameters": point,
                    "budget": RATE if candidate.algorithm in asking else None, "trial": trial,
                }  # fmt: skip
                curves.append(plays.once(about, partial(_seconds, table, ends, **about)))
            for at in ends.tolist():
                values = tuple(curve[f"{at} events"] for curve in curves)
                cells.append(Cell(name, f"{at} events", candidate.label, "seconds", values, float(at), point))
    return cells


def _seconds(
    table: Table, ends: np.ndarray, *, algorithm: str, parameters: dict[str, float], budget: float | None, trial: int
) -> dict[str, float]:
    order = np.random.default_rng(trial).permutation(table.n_events)
    X, y = table.X[order], table.y[order]
    make(algorithm, **parameters, budget=budget, classes=[0, 1], random_state=trial).run(X[:10], y[:10])  # compiles
    learner = make(algorithm, **parameters, budget=budget, classes=[0, 1], random_state=trial)
    taken, start, found = 0.0, 0, {}
    for at in ends.tolist():
        began = thread_time()  # others may be at work on this machine
        learner.run(X[start:at], y[start:at])
        taken += thread_time() - began
        start, found[f"{at} events"] = at, taken
    return found
