"""A metric along the stream: each candidate is played several times, and measured at places of equal distance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from askance.compare.candidate import Candidate
from askance.compare.progress import SweepProgress
from askance.compare.table import Table
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
