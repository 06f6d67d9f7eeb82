"""Processor seconds so far, over the events: Figure 7."""

from __future__ import annotations

from collections.abc import Sequence
from time import thread_time
from typing import Any, cast

import numpy as np

from askance.compare.candidate import Candidate
from askance.compare.table import Table
from askance.learner.make import make
from askance.learner.presets import AlgorithmName
from askance_papers.along_stream import name_part, play_along
from askance_papers.outcome import Cell
from askance_papers.reproduce import Context

TICKS = 5
TRIALS = 5
RATE = 0.02  # of the labels, for those that ask: the ratio of Table 6


def cumulative_time(context: Context, candidates: Sequence[Candidate], asking: Sequence[str]) -> list[Cell]:
    """The seconds that each algorithm has taken, at five places of the stream."""

    def settings(table: Table, candidate: Candidate) -> dict[str, Any]:
        return {"budget": RATE if candidate.algorithm in asking else None}

    return play_along(context, _seconds, settings, candidates, "seconds", trials=TRIALS, ticks=TICKS)


def _seconds(
    table: Table, ends: np.ndarray, *, algorithm: str, parameters: dict[str, float], budget: float | None, trial: int
) -> dict[str, float]:
    order = np.random.default_rng(trial).permutation(table.n_events)
    X, y = table.X[order], table.y[order]
    make(cast(AlgorithmName, algorithm), **parameters, budget=budget, classes=[0, 1], random_state=trial).run(
        X[:10], y[:10]
    )  # compiles
    learner = make(cast(AlgorithmName, algorithm), **parameters, budget=budget, classes=[0, 1], random_state=trial)
    taken, start, found = 0.0, 0, {}
    for at in ends.tolist():
        began = thread_time()  # others may be at work on this machine
        learner.run(X[start:at], y[start:at])
        taken += thread_time() - began
        start, found[name_part(at)] = at, taken
    return found
