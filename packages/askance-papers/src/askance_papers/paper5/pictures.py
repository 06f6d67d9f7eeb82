"""Figures 1 and 2: what a predictive probability knows that a function value does not. Numbers in place of pictures.

Figure 1. Two clouds in the plane are learned. A point amid the first and one far away, on the line through it along
which x.m does not change, have the same function value. The predictive probability (Eq. 9) is less sure of the far one.

Figure 2. The probability of asking over the function value: b / (b + |x.m|) for three b, and the entropy of Eq. 13 with
epsilon = 0.1 for three variances x'Sx.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr

from askance.learner.query import Always, Entropy, FunctionValue
from askance.learner.state import Tally
from askance.learner.update import Probit, ProbitFull
from askance_papers.outcome import Cell
from askance_papers.reproduce import Context

TRIALS = 20
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
