"""Figures for papers and slides, as PNG or SVG: a metric over the share of labels bought, or along one stream.

Needs matplotlib, the extra ``plots``.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from askance.atomic import atomic_write, write_text
from askance.compare.charts import (
    INK,
    LIGHT,
    LOOK,
    draw_chart,
    draw_legend,
    figure_of_panels,
    need_matplotlib,
    save_figure,
)  # fmt: skip
from askance.compare.curves import chart_of, name_of
from askance.compare.results import Results
from askance.compare.statistics import lines
from askance.errors import InvalidParameter

SUFFIXES = (".csv", ".json", ".png", ".svg")


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
    metric = metric or results.settings["metric"]
    datasets = results.datasets
    with mpl.rc_context(LOOK):
        figure, panels, free = figure_of_panels(datasets, columns=columns)
        has_hollow = False
        for panel, dataset in zip(panels, datasets, strict=True):
            drawn = chart_of(results, metric, dataset, x, _ticks(results, metric, dataset, x))
            if drawn is not None:
                has_hollow |= not all(series.on.all() for series in drawn.series)
                draw_chart(panel, drawn, has_names=len(datasets) == 1)
        across = "labels bought" if x == "labels" else "share of labels bought"
        figure.supxlabel("\n".join([across, *_notes(results, has_hollow)]), fontsize=9, color=INK)
        figure.supylabel(name_of(metric), fontsize=9.5, color=INK)
        if len(datasets) > 1:
            draw_legend(figure, panels, free)
    return figure


def _ticks(results: Results, metric: str, dataset: str, x: str) -> list[tuple[float, str, str]]:
    """A tick at every target, or where it was reached if the axis has other numbers than the targets."""
    is_target = results.about(dataset)["kind"] == {"ratio": "ratio", "labels": "budget"}[x]
    there: dict[float, list[float]] = {}
    for line in lines(results, metric, dataset):
        if line.target in results.targets and line.reached:
            there.setdefault(line.target, []).append(getattr(line, x))
    places = [target if is_target else float(np.median(there[target])) for target in sorted(there)]
    return [(at, f"{100 * at:.2g} %" if x == "ratio" else f"{at:,.0f}", "") for at in places]


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
    save_figure(plot_curves(results, metric, x=x), path, dpi)


# --- one stream ------------------------------------------------------------------------------------------


def check_curve_file(path: str) -> None:
    """Say before the work, not after it, that a curve cannot be written."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise InvalidParameter(f"the curve {path!r} must end in .csv, .json, .png or .svg.")
    if not target.parent.is_dir():
        raise InvalidParameter(f"there is no folder {str(target.parent)!r} to write {target.name!r} to.")
    if target.suffix.lower() in (".png", ".svg"):
        need_matplotlib()


def save_curve(curve: Mapping[str, Any], path: str, title: str) -> None:
    """Write a curve, as ``RunResult.curve_as_json`` has it; the file's name says its kind."""
    suffix = Path(path).suffix.lower()
    if suffix == ".json":
        write_text(Path(path), json.dumps(curve, indent=1) + "\n")
    elif suffix == ".csv":
        with atomic_write(Path(path)) as name, open(name, "w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["events", "labels", curve["metric"]])
            rows.writerows(zip(curve["events"], curve["labels"], curve["values"], strict=True))
    else:
        _draw(curve, path, title)


def _draw(curve: Mapping[str, Any], path: str, title: str) -> None:
    from matplotlib.ticker import FuncFormatter

    across = "labels bought" if curve["over"] == "labels" else "events"
    window = f", last {curve['window']:,} events" if curve["window"] else ", all events so far"
    with need_matplotlib().rc_context(LOOK):
        figure, (panel,), _ = figure_of_panels([title])
        panel.plot(curve[curve["over"]], curve["values"], color=LIGHT[0], linewidth=1.7)
        panel.set_xlabel(across)
        panel.set_ylabel(name_of(curve["metric"]) + window)
        panel.set_xlim(left=0)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:,.0f}"))
    save_figure(figure, path)
