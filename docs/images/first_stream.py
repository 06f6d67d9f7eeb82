"""Draws docs/images/first-stream.svg: the stream of ``askance demo`` learned from chosen, random and all labels.

python docs/images/first_stream.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import askance
from askance.stream.generators import messages

WINDOW = 1000
COLOURS = {"chosen": "#0072B2", "random": "#D55E00", "all": "#6B6B6B"}

stream = messages(20_000, random_state=0)
common = {"eta": 2.0, "gamma": 1.0, "intercept": True, "classes": ["ham", "spam"], "random_state": 0}
chosen = askance.make("SOAL-diag", delta=0.03, **common).run(stream.X, stream.labels)
labels = int(chosen.asked.sum())
random = askance.make("SORL-diag", rate=labels / len(chosen), **common).run(stream.X, stream.labels)
everything = askance.make("SOL-diag", **common).run(stream.X, stream.labels)

plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "path"})
figure, (curves, questions) = plt.subplots(
    2, 1, figsize=(7.6, 4.2), sharex=True, height_ratios=[5, 1], layout="constrained"
)
for name, trace, text, lift in (
    ("all", everything, f"all {len(everything):,} labels", -6),
    ("chosen", chosen, f"{labels} labels, chosen", 6),
    ("random", random, f"{int(random.asked.sum())} labels, at random", 0),
):
    wrong = np.cumsum(np.asarray(trace.predicted) != stream.labels)
    ends = np.arange(WINDOW, len(trace) + 1, 50)
    share = 100 * (wrong[ends - 1] - np.concatenate([[0], wrong])[ends - WINDOW]) / WINDOW
    curves.plot(ends, share, color=COLOURS[name], linewidth=2)
    curves.annotate(
        text, (ends[-1], share[-1]), xytext=(6, lift), textcoords="offset points", color=COLOURS[name], va="center"
    )
curves.set_ylabel("wrong predictions, %\n(last 1,000 events)")
curves.set_ylim(bottom=0)
curves.set_xlim(0, len(chosen))
curves.set_title(f"{len(chosen):,} messages learned from {labels} labels", loc="left", fontweight="bold")
questions.vlines(np.flatnonzero(chosen.asked), 0, 1, color=COLOURS["chosen"], linewidth=0.35)
questions.set_yticks([])
questions.spines["left"].set_visible(False)
questions.set_ylabel("asked", rotation=0, ha="right", va="center", color=COLOURS["chosen"])
questions.set_xlabel("events")
questions.xaxis.set_major_formatter(lambda at, _: f"{at:,.0f}")
figure.savefig(Path(__file__).with_name("first-stream.svg"), metadata={"Date": None}, facecolor="white")
