"""The figures of an experiment: a panel per data set, a curve per algorithm, the paper's points where there are any.

Needs matplotlib, the extra ``plots``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from askance.compare.charts import (
    INK,
    LOOK,
    SHAPES,
    Series,
    Style,
    draw_legend,
    draw_series,
    figure_of_panels,
    need_matplotlib,
    save_figure,
    spreads_widely,
)
from askance_papers.experiment import Experiment
from askance_papers.outcome import Cell, Compared, Outcome

LINEAR = ("events", "α_n", "share of the stream")
HOLLOW: Any = {"linestyle": "", "markersize": 8.0, "markerfacecolor": "none"}
SHARES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """Write a PNG and an SVG for each metric, and return their paths."""
    mpl = need_matplotlib()
    paths = []
    for metric in dict.fromkeys(cell.metric for cell in outcome.cells if not cell.metric.startswith("query_ratio")):
        with mpl.rc_context(LOOK):
            figure = _biases(outcome, metric) if outcome.experiment.key == "paper4-fig5" else _curves(outcome, metric)
        for ending in ("png", "svg"):
            name = metric.replace("%", "").replace(" ", "-")
            paths.append(folder / f"{outcome.experiment.key}-{name}.{ending}")
            save_figure(figure, paths[-1], dpi=160)
    return paths


def _curves(outcome: Outcome, metric: str) -> Any:
    from matplotlib.lines import Line2D

    compared = [one for one in outcome.compare_cells() if one.cell.metric == metric]
    datasets = list(dict.fromkeys(one.cell.dataset for one in compared))
    algorithms = list(dict.fromkeys(one.cell.algorithm for one in compared))
    figure, panels, free = figure_of_panels(datasets, title=_title(outcome))
    for dataset, panel in zip(datasets, panels, strict=True):
        here = [one for one in compared if one.cell.dataset == dataset]
        for number, algorithm in enumerate(algorithms):
            _curve(panel, [one for one in here if one.cell.algorithm == algorithm], Style(number, is_dashed=False))
        _axis(panel, [one.cell for one in here], outcome.experiment)
    figure.supxlabel(outcome.experiment.x_axis, fontsize=9.5, color=INK)
    figure.supylabel(metric, fontsize=9.5, color=INK)
    paper = Line2D([], [], color=INK, **HOLLOW, marker="o") if any(one.printed for one in compared) else None
    more = {"hollow: the paper": paper} if paper else {}
    draw_legend(figure, panels, free, "right center", 1, **more)
    return figure


def _title(outcome: Outcome) -> str:
    return f"{outcome.experiment.key}: {outcome.experiment.title}"


def _curve(panel: Any, compared: list[Compared], style: Style) -> None:
    """One algorithm: what was measured, and hollow points for what is printed."""
    compared = sorted(compared, key=lambda one: one.cell.x)
    if not compared:
        return
    cells = [one.cell for one in compared]
    x, mean, std = (np.array([getattr(cell, name) for cell in cells]) for name in ("x", "mean", "std"))
    draw_series(panel, Series(cells[0].algorithm, style, x, mean, std, np.ones(len(cells), bool)))
    printed = [(one.cell.x, one.printed.mean) for one in compared if one.printed is not None]
    if printed:
        panel.plot(*zip(*printed, strict=True), color=style.ink, marker=SHAPES[style.marker], **HOLLOW)


def _axis(panel: Any, cells: list[Cell], experiment: Experiment) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

    _frame(panel, cells)
    places = sorted({cell.x for cell in cells if cell.x > 0.0})
    if not places:
        return
    if experiment.x_axis not in LINEAR and spreads_widely(places[0], places[-1]):
        panel.set_xscale("log")
        panel.xaxis.set_minor_formatter(NullFormatter())
    if experiment.x_axis.startswith("share of labels"):
        inside = [share for share in SHARES if places[0] / 1.3 <= share <= places[-1] * 1.3]
        panel.set_xticks(inside, [f"{100 * share:g} %" for share in inside])
        panel.xaxis.set_minor_locator(NullLocator())
    elif experiment.x_axis in ("events", "budget"):
        panel.xaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:,.0f}"))
        panel.tick_params(axis="x", rotation=30)
        if experiment.x_axis == "budget":
            panel.set_xticks(places)
            panel.xaxis.set_minor_locator(NullLocator())


def _frame(panel: Any, cells: list[Cell]) -> None:
    """Keep points that lie far below all others from pressing these into a line; they are named instead."""
    means = np.array([cell.mean for cell in cells])
    quarter, middle, rest = np.nanquantile(means, (0.25, 0.5, 0.75))
    lowest = quarter - 4.0 * max(rest - quarter, 0.02 * abs(middle))
    outside = [cell for cell in cells if cell.mean < lowest]
    if outside:
        top = float(np.nanmax(means))
        panel.set_ylim(lowest - 0.12 * (top - lowest), top + 0.06 * (top - lowest))
        names = [f"{cell.algorithm} at {cell.setting}: {cell.mean:.2g}" for cell in outside[:4]]
        lines = ["below the frame:", *names, *([f"and {len(outside) - 4} more"] if len(outside) > 4 else [])]
        place = {"transform": panel.transAxes, "ha": "right", "va": "bottom"}
        panel.text(0.98, 0.02, "\n".join(lines), fontsize=7, color=INK, **place)


def _biases(outcome: Outcome, metric: str) -> Any:
    """A map over the two query biases."""
    datasets = list(dict.fromkeys(cell.dataset for cell in outcome.cells if cell.metric == metric))
    figure, panels, _ = figure_of_panels(datasets, title=_title(outcome))
    for dataset, panel in zip(datasets, panels, strict=True):
        cells = [cell for cell in outcome.cells if cell.dataset == dataset and cell.metric == metric]
        rows = sorted({cell.parameters["delta_neg"] for cell in cells})
        columns = sorted({cell.parameters["delta_pos"] for cell in cells})
        image = np.full((len(rows), len(columns)), np.nan)
        for cell in cells:
            place = rows.index(cell.parameters["delta_neg"]), columns.index(cell.parameters["delta_pos"])
            image[place] = cell.mean
        shown = panel.imshow(image, origin="lower", cmap="cividis")
        panel.grid(False)
        panel.set_xticks(range(len(columns)), [f"{value:g}" for value in columns])
        panel.set_yticks(range(len(rows)), [f"{value:g}" for value in rows])
        panel.set_xlabel("δ+ (positive predictions)")
        panel.set_ylabel("δ- (negative predictions)")
        for (row, column), value in np.ndenumerate(image):
            light = value < np.nanmean(image)
            panel.text(column, row, f"{value:.1f}", ha="center", va="center", color="white" if light else "black")
        figure.colorbar(shown, ax=panel, label=metric)
    return figure
