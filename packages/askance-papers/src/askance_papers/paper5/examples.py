"""The two examples of section 4: what the order of events does to who learns from them.

Example 1, the novel spam attack: N messages that share no feature, each k times in a row, with the label of a coin
toss. Who memorises makes N / 2 mistakes in any order; who learns on the first day only, (N - 1) k / 2.

Example 2, the spammer who splits the difference: a threshold on [0, 1], and every event half-way between what is known
to be negative and what is known to be positive. In order, who knows the threshold to lie in between can only guess,
m / 2 mistakes; shuffled, Theta(log m).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from askance.data.generators import novel_spam_attack, splitting_the_difference
from askance.learner.make import make
from askance_papers.outcome import Cell
from askance_papers.reproduce import Context

TRIALS = 20
DAYS, COPIES = 200, 10


def novel_spam(context: Context) -> list[Cell]:
    """Example 1, with passive-aggressive steps as the one who memorises: one answer is enough for margin one."""
    plays = context.plays(__name__, "made here")
    results = [
        plays.once({"example": 1, "trial": trial}, partial(_memorise, trial)) for trial in range(context.trials(TRIALS))
    ]
    expected = {"in order": DAYS / 2, "shuffled": DAYS / 2, "first day only": (DAYS - 1) * COPIES / 2}
    setting = f"N = {DAYS}, k = {COPIES}"
    return [
        *(Cell("made here", setting, name, "mistakes", tuple(result[name] for result in results)) for name in expected),
        *(Cell("made here", setting, f"{name}, expected", "mistakes", (value,)) for name, value in expected.items()),
    ]


def _memorise(trial: int) -> dict[str, float]:
    stream = novel_spam_attack(DAYS, COPIES, random_state=trial)
    order = np.random.default_rng([5, trial]).permutation(len(stream.y))
    wrong = {}
    for name, rows in (("in order", np.arange(len(order))), ("shuffled", order)):
        trace = make("PA", classes=[-1, 1], random_state=trial).run(stream.X[rows], stream.y[rows])
        wrong[name] = float(np.sum(trace.predicted != stream.y[rows]))
    first = make("PA", classes=[-1, 1]).partial_fit(stream.X[:COPIES], stream.y[:COPIES])
    wrong["first day only"] = float(np.sum(first.predict(stream.X[COPIES:]) != stream.y[COPIES:]))
    return wrong


def splitting(context: Context, sizes: Sequence[int]) -> list[Cell]:
    """Example 2, with the one who knows that positives lie above negatives, and guesses in between."""
    cells = []
    plays = context.plays(__name__, "made here")
    for m in sizes:
        results = [
            plays.once({"example": 2, "trial": trial, "m": m}, partial(_guess, m, trial))
            for trial in range(context.trials(TRIALS))
        ]
        expected = {"in order": m / 2, "shuffled": float(np.log(m))}
        cells += [
            Cell("made here", f"m = {m}", name, "mistakes", tuple(result[name] for result in results), m)
            for name in expected
        ]
        cells += [
            Cell("made here", f"m = {m}", f"{name}, {formula}", "mistakes", (expected[name],), m)
            for name, formula in (("in order", "m / 2"), ("shuffled", "ln m"))
        ]
    return cells


def _guess(m: int, trial: int) -> dict[str, float]:
    stream = splitting_the_difference(m, random_state=trial)
    rng = np.random.default_rng([6, trial])
    x = np.asarray(stream.X).ravel()
    return {
        name: float(guess_in_between(x[rows], stream.y[rows], rng.random(m)))
        for name, rows in (("in order", np.arange(m)), ("shuffled", rng.permutation(m)))
    }


def guess_in_between(x: np.ndarray, y: np.ndarray, coins: np.ndarray) -> int:
    """How many mistakes who knows only the highest negative and the lowest positive event so far makes.

    >>> guess_in_between(np.array([0.5, 0.25, 0.75]), np.array([1, -1, 1]), np.array([0.9, 0.9, 0.9]))
    1
    """
    below, above, wrong = -np.inf, np.inf, 0
    for value, label, coin in zip(x.tolist(), y.tolist(), coins.tolist(), strict=True):
        predicted = 1 if value >= above or (value > below and coin >= 0.5) else -1
        wrong += predicted != label
        below, above = (below, min(above, value)) if label > 0 else (max(below, value), above)
    return wrong
