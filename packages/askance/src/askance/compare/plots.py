"""Curves for papers and slides: a metric over the share of labels bought, with error bands, as PNG or SVG.

Needs matplotlib, the extra ``plots``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from askance.compare.curves import LIGHT, CandidateCurve, Style, curves, name_of, separate_labels, value_range
from askance.compare.results import Results
from askance.compare.statistics import Line
from askance.errors import AskanceError, InvalidParameter
from askance.extras import how_to_install

SHAPES = {
    "circle": "o", "square": "s", "triangle": "^", "diamond": "D", "down": "v", "cross": "X", "plus": "P",
}  # fmt: skip
INK, QUIET = "#1d1d1f", "#6e6e73"
LOOK: Any = {
    "font.family": "sans-serif",
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#b0b0b5",
    "axes.labelcolor": INK,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "axes.grid": True,
    "grid.color": "#e6e6ea",
    "grid.linewidth": 0.7,
    "svg.fonttype": "none",
    "svg.hashsalt": "askance",
}


def need_matplotlib() -> Any:
    """Matplotlib, or a sentence that says how to get it; to be asked before the work that a plot shows."""
    try:
        import matplotlib
    except ImportError:
        raise AskanceError(f"plots need matplotlib; install it with: {how_to_install('plots')}.") from None
    return matplotlib


def plot_curves(results: Results, metric: str | None = None, *, x: str | None = None, columns: int = 3) -> Any:
    """A metric against the labels bought: one panel per data set, one curve per candidate.

    Bands are one standard deviation either side of the mean; dashed curves ask at random; horizontal lines ask for
    every label; hollow markers could not reach the wanted ratio.

    Parameters
    ----------
    results : Results
    metric : str, optional
        The one the parameters were chosen by, unless given.
    x : {"ratio", "labels"}, optional
        The horizontal axis: the share of labels, or their number. The number at budgets, the share otherwise, unless
        given.
    columns : int, default 3
        Panels side by side, where there are several data sets.
    """
    if x is None:
        x = "labels" if results.settings["kind"] == "budget" else "ratio"
    if x not in ("ratio", "labels"):
        raise InvalidParameter(f'x must be "ratio" or "labels", got {x!r}.')
    mpl = need_matplotlib()
    from matplotlib.figure import Figure

    metric = metric or results.settings["metric"]
    datasets = results.datasets
    columns = min(columns, len(datasets))
    rows = math.ceil(len(datasets) / columns)
    size = (7.2, 4.4) if len(datasets) == 1 else (4.0 * columns, 3.1 * rows)
    with mpl.rc_context(LOOK):
        figure = Figure(figsize=size, layout="constrained")
        has_hollow = False
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for panel, dataset in zip(panels, datasets, strict=False):
            drawn, references = curves(results, metric, dataset)
            has_hollow |= any(not line.reached for curve in drawn for line in curve.points)
            is_target = results.about(dataset)["kind"] == {"ratio": "ratio", "labels": "budget"}[x]
            _draw(panel, drawn, references, metric, x, direct=len(datasets) == 1, is_target=is_target)
            panel.set_title(dataset, loc="left", fontsize=10.5, color=INK, fontweight="bold")
        for panel in panels[len(datasets) :]:
            panel.set_visible(False)
        across = "labels bought" if x == "labels" else "share of labels bought"
        figure.supxlabel("\n".join([across, *_notes(results, has_hollow)]), fontsize=9, color=INK)
        figure.supylabel(name_of(metric), fontsize=9.5, color=INK)
        if len(datasets) > 1:
            _legend(figure, panels[0], panels[len(datasets) :])
    return figure


def _notes(results: Results, has_hollow: bool) -> list[str]:
    """What bands and hollow markers are, where there are any."""
    plays = {results.about(dataset)["permutations"] for dataset in results.datasets}
    notes = []
    if max(plays) > 1:
        over = f" over {max(plays)} permutations" if len(plays) == 1 else ""
        notes.append(f"band: one standard deviation either side of the mean{over}")
    if has_hollow:
        notes.append("hollow: could not ask for so few or so many")
    return notes


def save_curves(
    results: Results, path: str | os.PathLike[str], metric: str | None = None, *, x: str | None = None, dpi: int = 200
) -> None:
    """Write the curves to a file, PNG or SVG by its name."""
    mpl = need_matplotlib()
    figure = plot_curves(results, metric, x=x)
    with mpl.rc_context(LOOK):
        figure.savefig(
            path, dpi=dpi, facecolor="white", metadata={"Date": None} if str(path).endswith(".svg") else None
        )


def _draw(
    panel: Any,
    drawn: list[CandidateCurve],
    references: list[Line],
    metric: str,
    x: str,
    *,
    direct: bool,
    is_target: bool,
) -> None:
    panel.set_ylim(*value_range(drawn, references, metric))
    _axis(panel, drawn, x, is_target)
    for curve in drawn:
        on = [line for line in curve.points if line.reached]
        off = [line for line in curve.points if not line.reached]
        mean, std = np.array([line.mean for line in on]), np.array([line.std for line in on])
        panel.fill_between(
            _across(on, x), mean - std, mean + std, color=LIGHT[curve.style.colour], alpha=0.13, linewidth=0
        )
        panel.plot(_across(on, x), mean, label=curve.candidate, **_line_style(curve.style))
        hollow = _line_style(curve.style) | {
            "linestyle": "", "markerfacecolor": "white", "markeredgecolor": LIGHT[curve.style.colour]
        }  # fmt: skip
        panel.plot(_across(off, x), [line.mean for line in off], **hollow)
    for line in references:
        panel.axhline(line.mean, color=QUIET, linewidth=1.0, linestyle=(0, (1, 1.5)), zorder=1)
    if direct:
        _names_at_the_end(panel, drawn, references, x)


def _across(points: Sequence[Line], x: str) -> np.ndarray:
    return np.array([line.ratio if x == "ratio" else line.labels for line in points])


def _line_style(style: Style) -> dict[str, Any]:
    return {
        "color": LIGHT[style.colour], "linewidth": 1.7, "linestyle": (0, (4, 2.2)) if style.is_dashed else "-",
        "marker": SHAPES[style.marker], "markersize": 4.8, "markeredgecolor": "white", "markeredgewidth": 0.7,
    }  # fmt: skip


def _axis(panel: Any, drawn: list[CandidateCurve], x: str, is_target: bool) -> None:
    """Logarithmic where the targets spread widely, with a tick at every target."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    points = [line for curve in drawn for line in curve.points]
    places = sorted(_across(points, x).tolist())
    if not places or places[0] <= 0.0:
        return
    low, high = places[0], places[-1]
    if high / low >= 6.0:
        panel.set_xscale("log")
        panel.set_xlim(low / 1.12, high * 1.12)
    else:
        panel.set_xlim(low - 0.05 * (high - low or low), high + 0.05 * (high - low or low))
    ticks = []
    for target in sorted({line.target for line in points}):
        there = [line for line in points if line.target == target and line.reached]
        if there and is_target:
            ticks.append(target)
        elif there:
            ticks.append(float(np.median(_across(there, x))))
    if 0 < len(ticks) <= 8:
        panel.set_xticks(ticks)
        panel.xaxis.set_minor_locator(NullLocator())
    percent = x == "ratio"
    panel.xaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{100 * at:.2g} %" if percent else f"{at:,.0f}"))


def _names_at_the_end(panel: Any, drawn: list[CandidateCurve], references: list[Line], x: str) -> None:
    """The candidates' names to the right of their curves, moved apart where they would overlap."""
    inside = panel.transData + panel.transAxes.inverted()
    ends: list[tuple[float, float, str, Style | None]] = []
    for curve in drawn:
        last = curve.points[-1]
        across, height = inside.transform((_across([last], x)[0], last.mean))
        ends.append((across, height, curve.candidate, curve.style))
    for line in references:
        ends.append((1.0, inside.transform((1.0, line.mean))[1], f"{line.candidate}, all labels", None))
    heights = [min(max(height, 0.0), 1.0) for _, height, _, _ in ends]
    moved = separate_labels(heights, least=0.052, low=0.0, high=1.0)
    beyond = {"transform": panel.transAxes, "clip_on": False}
    for (across, _, name, style), height, place in zip(ends, heights, moved, strict=True):
        colour = LIGHT[style.colour] if style else QUIET
        panel.plot([across, 1.025, 1.035], [height, place, place], color=colour, linewidth=0.7, alpha=0.7, **beyond)
        if style:
            panel.plot([1.035, 1.06, 1.085], [place] * 3, markevery=[1], **_line_style(style), **beyond)
        else:
            panel.plot([1.035, 1.085], [place] * 2, color=QUIET, linewidth=1.0, linestyle=(0, (1, 1.5)), **beyond)
        panel.annotate(
            name, (1.1, place), xycoords="axes fraction", va="center", ha="left", fontsize=8.5,
            color=INK if style else QUIET, annotation_clip=False,
        )  # fmt: skip


def _legend(figure: Any, panel: Any, free: Any) -> None:
    handles, names = panel.get_legend_handles_labels()
    if len(free):  # an empty panel is the natural place
        free[0].set_visible(True)
        free[0].axis("off")
        free[0].legend(handles, names, loc="center", frameon=False, fontsize=9, ncols=1 if len(names) < 9 else 2)
    else:
        figure.legend(handles, names, loc="outside lower center", ncols=5, frameon=False, fontsize=9)
