"""The figures of an experiment: a panel per data set, a curve per algorithm, the paper's points where there are any.

Needs matplotlib, the extra ``plots``.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from askance.compare.curves import LIGHT, MARKERS
from askance.compare.plots import INK, LOOK, SHAPES, need_matplotlib
from askance_papers.experiment import Experiment
from askance_papers.outcome import Cell, Compared, Outcome

WIDE = 6.0  # from which ratio of largest to smallest on an axis is logarithmic
LINEAR = ("events", "α_n", "share of the stream")
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
                path = folder / f"{outcome.experiment.key}-{name}.{ending}"
                metadata: Any = {"Date": None} if ending == "svg" else None
                figure.savefig(path, dpi=160, facecolor="white", metadata=metadata)
                paths.append(path)
    return paths


def _panels(outcome: Outcome, metric: str) -> tuple[Any, dict[str, Any], Any]:
    from matplotlib.figure import Figure

    datasets = list(dict.fromkeys(cell.dataset for cell in outcome.cells if cell.metric == metric))
    columns = min(3, len(datasets))
    rows = math.ceil(len(datasets) / columns)
    size = (7.4, 4.6) if len(datasets) == 1 else (4.1 * columns, 3.2 * rows + 0.6)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel in panels[len(datasets) :]:
        panel.axis("off")
    for panel, dataset in zip(panels, datasets, strict=False):
        panel.set_title(dataset, loc="left", fontsize=10.5, color=INK, fontweight="bold")
    figure.suptitle(f"{outcome.experiment.key}: {outcome.experiment.title}", fontsize=10.5, color=INK)
    return figure, dict(zip(datasets, panels, strict=False)), panels[len(datasets) :]


def _curves(outcome: Outcome, metric: str) -> Any:
    figure, panels, free = _panels(outcome, metric)
    compared = [one for one in outcome.compare_cells() if one.cell.metric == metric]
    algorithms = list(dict.fromkeys(one.cell.algorithm for one in compared))
    for dataset, panel in panels.items():
        here = [one for one in compared if one.cell.dataset == dataset]
        for number, algorithm in enumerate(algorithms):
            _curve(panel, [one for one in here if one.cell.algorithm == algorithm], number)
        _axis(panel, [one.cell for one in here], outcome.experiment)
    figure.supxlabel(outcome.experiment.x_axis, fontsize=9.5, color=INK)
    figure.supylabel(metric, fontsize=9.5, color=INK)
    handles: dict[str, Any] = {}
    for panel in panels.values():
        for handle, name in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    if any(one.printed for one in compared):
        handles["hollow: the paper"] = _hollow()
    if len(free):
        free[0].legend(handles.values(), handles.keys(), loc="center", frameon=False, fontsize=8.5)
    else:
        figure.legend(handles.values(), handles.keys(), loc="outside right center", frameon=False, fontsize=8.5)
    return figure


def _hollow() -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=INK, marker="o", linestyle="", markersize=8.0, markerfacecolor="none")


def _curve(panel: Any, compared: list[Compared], number: int) -> None:
    """One algorithm: what was measured, and hollow points for what is printed."""
    compared = sorted(compared, key=lambda one: one.cell.x)
    if not compared:
        return
    cells = [one.cell for one in compared]
    colour = LIGHT[number % len(LIGHT)]
    x = np.array([cell.x for cell in cells])
    mean, std = np.array([cell.mean for cell in cells]), np.array([cell.std for cell in cells])
    style = {"color": colour, "marker": SHAPES[MARKERS[number % len(MARKERS)]], "markersize": 4.5}
    if len(cells) > 1:
        panel.fill_between(x, mean - std, mean + std, color=colour, alpha=0.13, linewidth=0)
    panel.plot(x, mean, linewidth=1.6, label=cells[0].algorithm, **style)
    printed = [(one.cell.x, one.printed.mean) for one in compared if one.printed is not None]
    if printed:
        hollow = style | {"linestyle": "", "markersize": 8.0, "markerfacecolor": "none"}
        panel.plot(*zip(*printed, strict=True), **hollow)


def _axis(panel: Any, cells: list[Cell], experiment: Experiment) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

    _frame(panel, cells)
    places = sorted({cell.x for cell in cells if cell.x > 0.0})
    if not places:
        return
    if experiment.x_axis not in LINEAR and places[-1] / places[0] >= WIDE:
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
    figure, panels, _ = _panels(outcome, metric)
    for dataset, panel in panels.items():
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
