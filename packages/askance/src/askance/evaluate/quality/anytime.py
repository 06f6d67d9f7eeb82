"""Confidence sequences: limits that hold at all times at once, for a figure that people watch and act upon.

An ordinary 95 % interval is right 95 times in a hundred if one looks once, at a time fixed beforehand. Who looks every
day, until it shows what was feared or hoped for, is wrong far more often. For event t let e_t be 1 for a mistake, A_t
be 1 if it was asked, and p_t its ask probability. X_t = A_t e_t / p_t has mean e_t whatever happened before. For a
guess x_t of it made beforehand, and X_t - x_t >= -c,

    exp(lambda sum(X_t - e_t) - psi(lambda) V),     V = sum(X_t - x_t)^2
    psi(lambda) = (-log(1 - c lambda) - c lambda) / c^2

is a supermartingale for 0 <= lambda < 1 / c (Fan, Grama and Liu 2015; Howard et al. 2021; for importance weights
Waudby-Smith et al. 2024), and so is its mean over several lambda. It exceeds 1 / alpha at any time with probability
alpha at most (Ville). So at all times

    sum e_t >= sum X_t - u(V, c, alpha)

with the u at which that mean is 1 / alpha. From above, -X_t is bounded by the weights 1 / p_t. For a threshold h,
events with p_t < h all count as mistakes, and the others have c_h = max 1 / p_t <= 1 / h:

    sum e_t <= min over h of #(p_t < h) + sum_{p_t >= h} X_t + u(V_h, c_h, alpha / 8)        for eight thresholds h

c_h may grow as the stream goes: the lambda are multiples of h, whatever c_h is, and one of 1 / c_h or more is left out
from then on, as if its part of the mean were lost. psi grows with c, so that the last c_h is good for all events.

A late or lost answer must not help: from below its event counts as right, from above as wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from askance.evaluate.metrics.arrays import Numbers

THRESHOLDS = tuple(0.5**exponent for exponent in range(2, 10))  # h: 1/4 to 1/512
LAMBDAS = 0.5 ** np.arange(25)
STEEPEST = 0.99  # lambda c at most


def margin(variation: float, scale: float, alpha: float, threshold: float = 1.0) -> float:
    """The u with sum(exp(lambda u - psi(lambda) V)) = n / alpha, over those of n multiples lambda of a threshold h that
    are below 1 / c; c = ``scale``."""
    lambdas = threshold * LAMBDAS
    lambdas = lambdas[lambdas * scale <= STEEPEST]
    psi = (-np.log1p(-lambdas * scale) - lambdas * scale) / (scale * scale)
    goal = np.log(len(LAMBDAS) / alpha)
    u = float(np.min((goal + psi * variation) / lambdas))  # here one lambda alone reaches the goal, so u is smaller
    for _ in range(30):
        exponents = lambdas * u - psi * variation
        top = exponents.max()
        terms = np.exp(exponents - top)
        excess = top + np.log(terms.sum()) - goal
        if excess < 1e-9:
            break
        u -= float(excess * terms.sum() / (lambdas * terms).sum())  # Newton on a convex function stays above the root
    return u


class ConfidenceSequence:
    """The running sums for each predicted class. Column 0 of ``total`` (sum X_t) and ``variation`` (V) bounds the
    mistakes from below; the others, one for each threshold h, bound them from above. ``excluded`` counts p_t < h,
    ``largest`` is c_h, the largest 1 / p_t of the others."""

    NAMES = ("events", "total", "variation", "excluded", "wrong", "weight", "largest")

    def __init__(self, columns: int) -> None:
        self.events = np.zeros(columns)
        self.total = np.zeros((columns, 1 + len(THRESHOLDS)))
        self.variation = np.zeros((columns, 1 + len(THRESHOLDS)))
        self.excluded = np.zeros((columns, len(THRESHOLDS)))
        self.wrong = np.full(columns, 0.5)  # the guess x_t is wrong / weight: weighted mistakes over answers so far
        self.weight = np.ones(columns)
        self.largest = np.ones((columns, len(THRESHOLDS)))

    def event(self, column: int, probability: float, asked: bool) -> float:
        """Count an event, as right from below and as wrong from above; returns its guess x_t.

        V += x_t^2, and the answer, if it comes, adds (X_t - x_t)^2 - x_t^2."""
        guess = float(self.wrong[column] / self.weight[column])
        self.events[column] += 1.0
        self.variation[column, 0] += guess * guess
        for place, threshold in enumerate(THRESHOLDS):
            if probability >= threshold:
                self.variation[column, place + 1] += guess * guess
                self.largest[column, place] = max(self.largest[column, place], 1.0 / probability)
            else:
                self.excluded[column, place] += 1.0
        if asked:
            self.from_above(column, probability, guess, 1.0)
        return guess

    def answer(self, column: int, probability: float, guess: float, is_wrong: bool, sign: float = 1.0) -> None:
        """Count the answer to an event with guess x_t; ``sign`` -1 takes it back.

        A mistake asked with probability p adds 1 / p to the total, and (1 / p - x_t)^2 in place of x_t^2 to V."""
        weight = 1.0 / probability
        self.weight[column] += sign * weight
        if is_wrong:
            self.wrong[column] += sign * weight
            self.total[column, 0] += sign * weight
            self.variation[column, 0] += sign * ((weight - guess) ** 2 - guess * guess)
        else:
            self.from_above(column, probability, guess, -sign)

    def from_above(self, column: int, probability: float, guess: float, sign: float) -> None:
        """Count an event as a mistake in the sums that bound from above; ``sign`` -1 takes it back.

        sum X_t += 1 / p_t,     V_h += (1 / p_t - x_t)^2 - x_t^2,     for every h <= p_t."""
        weight = 1.0 / probability
        for place, threshold in enumerate(THRESHOLDS, 1):
            if probability >= threshold:
                self.total[column, place] += sign * weight
                self.variation[column, place] += sign * ((weight - guess) ** 2 - guess * guess)

    def mistakes(self, columns: Any, alpha: float) -> tuple[float, float]:
        """Limits for sum e_t in these columns together; each side may fail with probability alpha / 2.

            low = sum X_t - u(V, 1, alpha / 2),     high = min_h #(p_t < h) + sum X_t + u(V_h, c_h, alpha / 16)

        Both lie between 0 and the number of events."""
        events = float(self.events[columns].sum())
        total, variation = self.total[columns].sum(axis=0), self.variation[columns].sum(axis=0)
        excluded, largest = self.excluded[columns].sum(axis=0), self.largest[columns].max(axis=0)
        low = total[0] - margin(float(variation[0]), 1.0, alpha / 2.0)
        share = alpha / 2.0 / len(THRESHOLDS)
        high = min(
            float(total[place + 1] + excluded[place])
            + margin(float(variation[place + 1]), float(largest[place]), share, threshold)
            for place, threshold in enumerate(THRESHOLDS)
        )
        return min(max(float(low), 0.0), events), min(max(high, 0.0), events)

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name).tolist() for name in self.NAMES}

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> ConfidenceSequence:
        sequence = cls(len(state["events"]))
        sequence.largest[...] = 1.0 / np.array(THRESHOLDS)  # of a state that has none
        for name in cls.NAMES:
            if name != "largest" or name in state:
                getattr(sequence, name)[...] = state[name]
        return sequence


def rectangle(formula: Any, sequence: ConfidenceSequence, alpha: float) -> tuple[float, float]:
    """Limits of a metric that is monotone in the mistakes of either of two columns: its values with both at their lower
    and with both at their upper limits, each with alpha / 2."""
    limits: list[Numbers] = [np.array(sequence.mistakes([column], alpha / 2.0)) for column in (0, 1)]
    corners = np.array([[limits[0][end], limits[1][end]] for end in (0, 1)])
    ends = np.asarray(formula(corners))
    return float(ends.min()), float(ends.max())
