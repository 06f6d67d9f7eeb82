"""The two examples of section 4: what the order of events does to who learns from them.

Example 1, the novel spam attack: N messages that share no feature, each k times in a row, with the label of a coin
toss. Who memorises makes N / 2 mistakes in any order; who learns on the first day only, (N - 1) k / 2.

Example 2, the spammer who splits the difference: a threshold on [0, 1], and every event half-way between what is known
to be negative and what is known to be positive. In order, who knows the threshold to lie in between can only guess,
m / 2 mistakes; shuffled, Theta(log m).

Figures 1 and 2: what a predictive probability knows that a function value does not. Numbers in place of pictures.

Figure 1. Two clouds in the plane are learned. A point amid the first and one far away, on the line through it along
which x.m does not change, have the same function value. The predictive probability (Eq. 9) is less sure of the far one.

Figure 2. The probability of asking over the function value: b / (b + |x.m|) for three b, and the entropy of Eq. 13 with
epsilon = 0.1 for three variances x'Sx.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr

from askance.data.generators import novel_spam_attack, splitting_the_difference
from askance.learner.make import make
from askance.learner.query import Always, Entropy, FunctionValue
from askance.learner.state import Tally
from askance.learner.update import Probit, ProbitFull
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


FUNCTION_VALUES = (-4.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0)
FAR = 10.0  # how far the far point is from the near one


def two_regions(context: Context) -> list[Cell]:
    """Figure 1, with a full covariance and with its diagonal."""
    plays = context.plays(__name__, "made here")
    results = [
        plays.once({"figure": 1, "trial": trial}, partial(_near_and_far, trial))
        for trial in range(context.trials(TRIALS))
    ]
    return [
        Cell("made here", covariance, place, "P(+1)", tuple(result[f"{covariance}, {place}"] for result in results))
        for covariance in ("full", "diagonal")
        for place in ("function value", "near", "far")
    ]


def _near_and_far(trial: int) -> dict[str, float]:
    from askance.learner.estimator import ActiveClassifier

    rng = np.random.default_rng([8, trial])
    y = np.repeat([-1, 1], 25)
    X = rng.normal(size=(50, 2)) * 0.5 + y[:, None] * np.array([1.0, 0.5])
    numbers: dict[str, float] = {}
    rules: dict[str, Any] = {"full": ProbitFull(), "diagonal": Probit()}
    for covariance, rule in rules.items():
        clf = ActiveClassifier(update=rule, query=Always(), classes=[-1, 1]).partial_fit(X, y)
        weights = clf.coef_[0]
        near = np.array([1.0, 0.5])
        along = np.array([-weights[1], weights[0]]) / np.linalg.norm(weights)  # where x.m stays as it is
        points = np.array([near, near + FAR * along])
        probability = clf.predict_proba(points)[:, 1]
        numbers[f"{covariance}, function value"] = float(ndtr(near @ weights))  # Phi(x.m), of both points
        numbers[f"{covariance}, near"], numbers[f"{covariance}, far"] = map(float, probability)
    return numbers


def probabilities_of_asking(context: Context) -> list[Cell]:
    """Figure 2."""
    plays = context.plays(__name__, "made here")
    curves = plays.once({"figure": 2}, _curves)
    return [
        Cell("made here", f"x.m = {at:g}", rule, "probability", (curves[f"{rule} at {at:g}"],), at)
        for rule in dict.fromkeys(key.partition(" at ")[0] for key in curves)
        for at in FUNCTION_VALUES
    ]


def _curves() -> dict[str, float]:
    tally = Tally(1, 0, 0)
    entropy, function_value = Entropy.probability, FunctionValue.probability
    return {
        **{
            f"function value, b = {b:g} at {at:g}": float(function_value(np.array([b]), at, 0.0, 0.0, tally))
            for b in (0.5, 1.0, 2.0)
            for at in FUNCTION_VALUES
        },
        **{
            f"entropy, σ² = {variance:g} at {at:g}": float(entropy(np.array([0.1]), at, variance, 0.0, tally))
            for variance in (0.0, 1.0, 4.0)
            for at in FUNCTION_VALUES
        },
    }
