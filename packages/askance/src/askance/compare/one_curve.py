"""The curve of one played stream into a file: CSV or JSON for programs, PNG or SVG to look at."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from askance.atomic import atomic_write, write_text
from askance.compare.curves import LIGHT, name_of
from askance.compare.plots import INK, LOOK, need_matplotlib
from askance.errors import InvalidParameter

SUFFIXES = (".csv", ".json", ".png", ".svg")


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
    mpl = need_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    across = "labels bought" if curve["over"] == "labels" else "events"
    window = f", last {curve['window']:,} events" if curve["window"] else ", all events so far"
    with mpl.rc_context(LOOK):
        figure = Figure(figsize=(7.2, 4.0), layout="constrained")
        panel = figure.subplots()
        panel.plot(curve[curve["over"]], curve["values"], color=LIGHT[0], linewidth=1.7)
        panel.set_xlabel(across)
        panel.set_ylabel(name_of(curve["metric"]) + window)
        panel.set_xlim(left=0)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:,.0f}"))
        panel.set_title(title, loc="left", fontsize=10.5, color=INK, fontweight="bold")
        metadata: dict[str, Any] | None = {"Date": None} if path.lower().endswith(".svg") else None
        figure.savefig(path, dpi=200, facecolor="white", metadata=metadata)
