"""Query rules that prefer events with rare features.

Paper 2, Algorithm 1, with v = sum x_i^2 / H_i before this event:

    q = |p| - (eta / 2) a v,     b / (b + max(q, 0))

    Discriminative              a = 1 / max(1, ||x||^2)     "D-"
    Discriminative, unscaled    a = 1                       "D- -I"

Multi-class, p is the best score minus the second best, and v is Eq. 8's sum, which the update rule provides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askance.learner.query.margin import closeness
from askance.learner.rule import QueryRule, positive

__all__ = ["Discriminative", "DiscriminativeUnscaled"]


def by_rarity(parameters, margin, variance, squared_length, tally):
    scale = parameters[0]  # b
    rate = parameters[1]  # eta
    moderation = 1.0 / max(1.0, squared_length)  # a
    return closeness(scale, max(0.0, abs(margin) - 0.5 * rate * moderation * variance))


def by_unscaled_rarity(parameters, margin, variance, squared_length, tally):
    scale = parameters[0]  # b
    rate = parameters[1]  # eta
    return closeness(scale, max(0.0, abs(margin) - 0.5 * rate * variance))


@dataclass
class Discriminative(QueryRule):
    """Ask where the margin is small or the features are rare (D-ADA, D-AMD).

    Parameters
    ----------
    b : float, default 1.0
        The scale of the rule; larger asks more.
    eta : float, optional
        As in the update rule; taken from it unless given.
    """

    b: float = positive(1.0)
    eta: float | None = positive(None)

    probability: ClassVar = staticmethod(by_rarity)
    scales: ClassVar = 1
    reads_variance: ClassVar = True
    reads_length: ClassVar = True


@dataclass
class DiscriminativeUnscaled(QueryRule):
    """``Discriminative`` without the moderation of long events: asks more (D-ADA-I, D-AMD-I).

    Parameters
    ----------
    b : float, default 1.0
        The scale of the rule; larger asks more.
    eta : float, optional
        As in the update rule; taken from it unless given.
    """

    b: float = positive(1.0)
    eta: float | None = positive(None)

    probability: ClassVar = staticmethod(by_unscaled_rarity)
    scales: ClassVar = 1
    reads_variance: ClassVar = True
