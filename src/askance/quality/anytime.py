"""Limits that hold at all times at once: for a figure that people look at again and again, and act upon.

An ordinary 95 % interval is right 95 times in a hundred if one looks once, at a time fixed beforehand. Who looks every
day, until it shows what was feared or hoped for, is wrong far more often. With e_t = 1 for a mistake, A_t for asked
and p_t for its probability, X_t = A_t e_t / p_t has mean e_t whatever happened before. For a prediction x_t of it made
beforehand, and X_t - x_t >= -c,

    exp(lambda sum(X_t - e_t) - psi(lambda) sum(X_t - x_t)^2),     psi(lambda) = (-log(1 - c lambda) - c lambda) / c^2

is a supermartingale for 0 <= lambda < 1 / c (Fan, Grama and Liu 2015; Howard et al. 2021; for importance weights
Waudby-Smith et al. 2024), and so is its mean over several lambda. It exceeds 1 / alpha at any time with probability
alpha at most (Ville), which bounds the sum of the mistakes from below at all times.

From above, -X_t is bounded by the weights 1 / p_t. Events with p_t below a threshold count as mistakes one and all, the
others have c = 1 / threshold; of eight thresholds, each with an eighth of alpha, the best is taken.

An answer that is late or never comes must not help: from below its event counts as right, from above as wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from askance.quality.standing import Numbers

THRESHOLDS = tuple(0.5**octave for octave in range(2, 10))  # 1/4 to 1/512
LAMBDAS = 0.5 ** np.arange(1, 25)


def margin(variation: float, scale: float, alpha: float) -> float:
    """The u with mean(exp(lambda u - psi(lambda) variation)) = 1 / alpha, over a grid of lambda below 1 / scale."""
    lambdas = LAMBDAS / scale
    psi = (-np.log1p(-LAMBDAS) - LAMBDAS) / (scale * scale)
    goal = np.log(len(lambdas) / alpha)
    u = float(np.min((goal + psi * variation) / lambdas))  # one lambda alone reaches it here; all together before
    for _ in range(30):
        exponents = lambdas * u - psi * variation
        top = exponents.max()
        terms = np.exp(exponents - top)
        excess = top + np.log(terms.sum()) - goal
        if excess < 1e-9:
            break
        u -= float(excess * terms.sum() / (lambdas * terms).sum())  # the function is convex: Newton stays above
    return u


class Walk:
    """The running sums, for each predicted class: whole processes first, then one for each threshold."""

    NAMES = ("events", "total", "variation", "excluded", "wrong", "weight")

    def __init__(self, columns: int) -> None:
        self.events = np.zeros(columns)
        self.total = np.zeros((columns, 1 + len(THRESHOLDS)))
        self.variation = np.zeros((columns, 1 + len(THRESHOLDS)))
        self.excluded = np.zeros((columns, len(THRESHOLDS)))
        self.wrong = np.full(columns, 0.5)  # weighted mistakes and answers so far, for the prediction
        self.weight = np.ones(columns)

    def event(self, column: int, probability: float, asked: bool) -> float:
        """Count an event; returns what was predicted for it."""
        guess = float(self.wrong[column] / self.weight[column])
        self.events[column] += 1.0
        self.variation[column, 0] += guess * guess
        for place, threshold in enumerate(THRESHOLDS):
            if probability >= threshold:
                self.variation[column, place + 1] += guess * guess
            else:
                self.excluded[column, place] += 1.0
        if asked:
            self.from_above(column, probability, guess, 1.0)
        return guess

    def answer(self, column: int, probability: float, guess: float, is_wrong: bool, sign: float = 1.0) -> None:
        """Count its answer; ``sign`` -1 takes it back."""
        weight = 1.0 / probability
        self.weight[column] += sign * weight
        if is_wrong:
            self.wrong[column] += sign * weight
            self.total[column, 0] += sign * weight
            self.variation[column, 0] += sign * ((weight - guess) ** 2 - guess * guess)
        else:
            self.from_above(column, probability, guess, -sign)

    def from_above(self, column: int, probability: float, guess: float, sign: float) -> None:
        """Count an event as a mistake, or no longer, where mistakes are limited from above."""
        weight = 1.0 / probability
        for place, threshold in enumerate(THRESHOLDS, 1):
            if probability >= threshold:
                self.total[column, place] += sign * weight
                self.variation[column, place] += sign * ((weight - guess) ** 2 - guess * guess)

    def mistakes(self, columns: Any, alpha: float) -> tuple[float, float]:
        """Limits for the mistakes in these columns together; each side may fail with probability alpha / 2."""
        events = float(self.events[columns].sum())
        total, variation = self.total[columns].sum(axis=0), self.variation[columns].sum(axis=0)
        excluded = self.excluded[columns].sum(axis=0)
        low = total[0] - margin(float(variation[0]), 1.0, alpha / 2.0)
        share = alpha / 2.0 / len(THRESHOLDS)
        high = min(
            float(total[place + 1] + excluded[place] + margin(float(variation[place + 1]), 1.0 / threshold, share))
            for place, threshold in enumerate(THRESHOLDS)
        )
        return min(max(float(low), 0.0), events), min(max(high, 0.0), events)

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name).tolist() for name in self.NAMES}

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Walk:
        walk = cls(len(state["events"]))
        for name in cls.NAMES:
            getattr(walk, name)[...] = state[name]
        return walk


def rectangle(formula: Any, walk: Walk, alpha: float) -> tuple[float, float]:
    """Limits of a metric that moves one way with the mistakes of either of two columns."""
    limits: list[Numbers] = [np.array(walk.mistakes([column], alpha / 2.0)) for column in (0, 1)]
    corners = np.array([[limits[0][end], limits[1][end]] for end in (0, 1)])
    ends = np.asarray(formula(corners))
    return float(ends.min()), float(ends.max())
