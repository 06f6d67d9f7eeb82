"""The pictures of the site, each drawn from a run or from a table of a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import askance

ASKED, PASSED, OTHER = "#0072B2", "#C8C8C8", "#D55E00"
STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "white",
    "svg.hashsalt": "askance",
}


def clouds(n: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Events of two or three overlapping clouds, in a plane that a picture can show."""
    rng = np.random.default_rng(3)
    if classes == 2:
        y = rng.choice([-1, 1], size=n)
        return rng.normal(size=(n, 2)) * [0.9, 1.2] + y[:, None] * [1.2, 0.5], y
    y = rng.integers(classes, size=n)
    middles = 1.7 * np.array([[np.cos(turn), np.sin(turn)] for turn in 2 * np.pi * np.arange(classes) / classes])
    return rng.normal(size=(n, 2)) + middles[y], y


def draw_questions(path: Path, name: str, settings: dict[str, Any], classes: int = 2) -> str:
    """Draw what an algorithm asks of 600 events: where they lie, and how likely a question is. Returns a caption."""
    X, y = clouds(600, classes)
    clf = askance.make(name, intercept=True, random_state=0, **settings)
    trace = clf.run(X, y)
    first, later = trace.asked & (np.arange(600) < 100), trace.asked & (np.arange(600) >= 100)
    with plt.rc_context(STYLE):
        figure, (plane, chances) = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
        plane.scatter(*X[~trace.asked].T, s=9, color=PASSED, label="not asked")
        plane.scatter(*X[first].T, s=16, color=OTHER, label="asked, first 100 events")
        plane.scatter(*X[later].T, s=16, color=ASKED, label="asked later")
        plane.set(xticks=[], yticks=[], title="what it asks")
        figure.legend(*plane.get_legend_handles_labels(), fontsize=8, frameon=False, loc="outside lower left", ncols=3)
        chances.scatter(trace.margin, trace.probability, s=7, c=np.arange(600), cmap="viridis")
        chances.set(xlabel="margin", ylabel="ask probability", ylim=(-0.03, 1.03), title="dark: early, light: late")
        figure.savefig(path, dpi=110)
        plt.close(figure)
    letters = ", ".join(f"{letter}={value}" for letter, value in settings.items())
    return (
        f"`{name}` with {letters} on 600 events of {classes} clouds: {int(trace.asked.sum())} labels, "
        f"{np.mean(np.asarray(trace.predicted) == y):.0%} right."
    )


def draw_presets(path: Path, rows: dict[str, dict[str, float]]) -> None:
    """Draw the balanced accuracy of presets at their defaults beside ``auto``, at three label rates."""
    names = sorted(rows, key=lambda name: rows[name]["5 %"])
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(7.6, 0.27 * len(names) + 1.1), layout="constrained")
        for place, name in enumerate(names):
            row = rows[name]
            axes.plot([row["1 %"], row["20 %"]], [place, place], color=PASSED, linewidth=2, zorder=1)
        for rate, colour in (("1 %", OTHER), ("5 %", ASKED), ("20 %", "#4D4D4D")):
            values = [rows[name][rate] for name in names]
            axes.scatter(values, range(len(names)), color=colour, s=26, label=f"{rate} of the labels", zorder=2)
        axes.set_yticks(range(len(names)), names)
        axes.set_xlabel("balanced accuracy, mean over the real sets with two classes, points")
        axes.legend(fontsize=8, frameon=False, loc="lower right")
        figure.savefig(path, dpi=110)
        plt.close(figure)
