"""Query rules that compare the margin with its variance v: ask with certainty while the model is unsure of itself.

    Variance               q = |p| - eta gamma v / (2 (gamma + v))              paper 3, Algorithm 1
                           1 if q <= 0, else delta / (delta + q)
    Asymmetric variance    q = max(0, |p| - eta rho_max gamma v / (2 (gamma + v)))    paper 4, Algorithm 3
                           delta_pos / (delta_pos + q) for p >= 0, delta_neg / (delta_neg + q) for p < 0

where rho_max = max(1, rho). What is taken from the margin is the largest step that this event could cause.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askance.learner.query.margin import closeness
from askance.learner.rule import QueryRule, positive

__all__ = ["AsymmetricVariance", "Variance"]


def largest_step(rate, regulariser, variance):
    """eta gamma v / (2 (gamma + v))."""
    return 0.5 * rate * regulariser * (variance / (regulariser + variance))


def by_variance(parameters, margin, variance, squared_length, tally):
    scale = parameters[0]  # delta
    rate = parameters[1]  # eta
    regulariser = parameters[2]  # gamma
    return closeness(scale, max(0.0, abs(margin) - largest_step(rate, regulariser, variance)))


def by_asymmetric_variance(parameters, margin, variance, squared_length, tally):
    scale = parameters[0] if margin >= 0.0 else parameters[1]  # delta_pos, delta_neg
    rate = parameters[2] * max(1.0, parameters[4])  # eta rho_max
    regulariser = parameters[3]  # gamma
    return closeness(scale, max(0.0, abs(margin) - largest_step(rate, regulariser, variance)))


@dataclass
class Variance(QueryRule):
    """Ask while the variance could turn the prediction; beyond that, the less the further (SOAL).

    Parameters
    ----------
    delta : float, default 1.0
        The scale of the rule once the model is sure of itself; larger asks more.
    eta, gamma : float, optional
        As in the update rule; taken from it unless given.
    """

    delta: float = positive(1.0)
    eta: float | None = positive(None)
    gamma: float | None = positive(None)

    probability: ClassVar = staticmethod(by_variance)
    scales: ClassVar = 1
    reads_variance: ClassVar = True


@dataclass
class AsymmetricVariance(QueryRule):
    """``Variance`` with a scale for each predicted class (OA3).

    Parameters
    ----------
    delta_pos, delta_neg : float, default 1.0
        The scale where the second class is predicted, and where the first is.
    eta, gamma, rho : float, optional
        As in the update rule; taken from it unless given.
    """

    delta_pos: float = positive(1.0)
    delta_neg: float = positive(1.0)
    eta: float | None = positive(None)
    gamma: float | None = positive(None)
    rho: float | None = positive(None)

    probability: ClassVar = staticmethod(by_asymmetric_variance)
    scales: ClassVar = 2
    reads_variance: ClassVar = True
