"""Draws docs/images/first-stream.svg: the first run of the README, from the README's own code.

Beside it are its random baseline with as many labels, the mean of ten seeds, and the same learner with all labels.

python docs/images/first_stream.py
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np

import askance
from askance.compare.random_baseline import build

ROOT = Path(__file__).parents[2]
PICTURE = Path(__file__).with_name("first-stream.svg")
METRIC = "accuracy"  # the axis shows what is missing to 1
WINDOW = 1000
SEEDS = 10
COLORS = {"chosen": "#0072B2", "random": "#D55E00", "all": "#6B6B6B"}


def first_run(document: str) -> tuple[str, dict[str, Any]]:
    """The code of a document until its first run has ended, and what its classifier is made with."""
    block = re.search(r"^```python\n(.*?)^```", document, re.MULTILINE | re.DOTALL)
    assert block is not None
    statements = ast.parse(block[1]).body
    texts = [ast.unparse(statement) for statement in statements]
    ends = next(place for place, text in enumerate(texts) if text.startswith("trace = clf.run("))
    made = next(place for place, text in enumerate(texts) if text.startswith("clf = askance.make('auto'"))
    call = statements[made].value  # type: ignore[attr-defined]
    return "\n".join(texts[: ends + 1]), {word.arg: ast.literal_eval(word.value) for word in call.keywords}


def play(document: str) -> dict[str, list[Any]]:
    """The traces behind the picture: of the document's own code, of its random baseline, and of all labels."""
    code, call = first_run(document)
    names: dict[str, Any] = {}
    exec(code, names)
    stream = names["stream"]
    baselines = [build("auto-random", **call | {"random_state": seed}) for seed in range(SEEDS)]
    unlimited = askance.make("auto", **call | {"budget": None}).set_params(query=askance.queries.Always())
    return {
        "chosen": [names["trace"]],
        "random": [clf.run(stream.X, stream.labels) for clf in baselines],
        "all": [unlimited.run(stream.X, stream.labels)],
    }


def describe(traces: dict[str, list[Any]]) -> str:
    """The picture in a sentence: labels, and wrong predictions among the last 1,000 events."""
    events = len(traces["chosen"][0])
    chosen, random, everything = (at_the_end(traces[name]) for name in COLORS)
    return (
        f"The last {WINDOW:,} of {events:,} messages: {chosen} of the predictions are wrong with {labels(traces)} "
        f"labels chosen by auto, {random} with as many at random, {everything} with all labels."
    )


def labels(traces: dict[str, list[Any]]) -> int:
    """How many labels the document's code asks for."""
    return int(traces["chosen"][0].asked.sum())


def at_the_end(traces: list[Any]) -> str:
    """The share of wrong predictions in the last window."""
    return f"{wrong_lately(traces)[1][-1]:.1f}%"


def wrong_lately(traces: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Events, and the percentage of wrong predictions in the window before each, the mean of some runs."""
    curves = [trace.curve(METRIC, points=400, window=WINDOW) for trace in traces]
    share = 100 * (1 - np.mean([curve.values for curve in curves], axis=0))
    is_full = curves[0].events >= WINDOW
    return curves[0].events[is_full], share[is_full]


def draw(traces: dict[str, list[Any]], path: Path) -> None:
    """Write the picture, with its sentence."""
    import matplotlib.pyplot as plt

    asked = traces["chosen"][0].asked
    style = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "path"}
    with plt.rc_context({**style, "svg.hashsalt": "askance"}):
        figure, (curves, questions) = plt.subplots(
            2, 1, figsize=(7.6, 4.2), sharex=True, height_ratios=[5, 1], layout="constrained"
        )
        texts = {
            "random": f"{labels(traces)} labels at random\n(mean of {SEEDS} runs)",
            "chosen": f"{labels(traces)} labels, chosen",
            "all": f"all {len(asked):,} labels",
        }
        for name, text in texts.items():
            events, share = wrong_lately(traces[name])
            curves.plot(events, share, color=COLORS[name], linewidth=2)
            place = {"xytext": (6, {"random": 0, "chosen": -7, "all": 7}[name]), "textcoords": "offset points"}
            curves.annotate(text, (events[-1], share[-1]), color=COLORS[name], va="center", **place)
        curves.set_ylabel("wrong predictions, %\n(last 1,000 events)")
        curves.set_ylim(bottom=0)
        curves.set_xlim(0, len(asked))
        curves.set_title(f"auto: {len(asked):,} messages, {labels(traces)} labels", loc="left", fontweight="bold")
        questions.vlines(np.flatnonzero(asked), 0, 1, color=COLORS["chosen"], linewidth=0.35)
        questions.set_yticks([])
        questions.spines["left"].set_visible(False)
        questions.set_ylabel("asked", rotation=0, ha="right", va="center", color=COLORS["chosen"])
        questions.set_xlabel("events")
        questions.xaxis.set_major_formatter(lambda at, _: f"{at:,.0f}")
        figure.savefig(path, metadata={"Date": None, "Description": describe(traces)}, facecolor="white")
        plt.close(figure)


if __name__ == "__main__":
    played = play((ROOT / "README.md").read_text(encoding="utf-8"))
    draw(played, PICTURE)
    print(describe(played))
