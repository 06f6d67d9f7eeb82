"""Query rules that read the margin p alone: the closer to the boundary, the more likely a question.

    Margin                  delta / (delta + |p|)                         papers 1 and 3
    Function value          b / (b + |p|), the same under another name    papers 2 and 5
    Shifted margin          delta / (delta + 1 + |p|)                     paper 1, Theorem 4
    Decreasing margin       Margin with delta_t = delta / (t + 1)         paper 1, §5.2, CSPAA(a)
    Mistake-driven margin   Margin with delta_t = delta sqrt(1 + k)       paper 1, SEL-ada
    Asymmetric margin       Margin with delta_pos for p >= 0, delta_neg for p < 0    paper 4, §2.4

where t counts events from 1, and k counts the wrong predictions among those answered before.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

from askance.learner.rule import QueryRule, SearchRange, positive

__all__ = ["AsymmetricMargin", "DecreasingMargin", "FunctionValue", "Margin", "MistakeDrivenMargin", "ShiftedMargin"]


def closeness(scale, distance):
    """scale / (scale + distance)."""
    return scale / (scale + distance)


def by_margin(parameters, margin, variance, squared_length, tally):
    return closeness(parameters[0], abs(margin))  # delta, or b


def by_shifted_margin(parameters, margin, variance, squared_length, tally):
    return closeness(parameters[0], 1.0 + abs(margin))  # delta


def by_decreasing_margin(parameters, margin, variance, squared_length, tally):
    return closeness(parameters[0] / (tally.seen + 1.0), abs(margin))  # delta


def by_mistake_driven_margin(parameters, margin, variance, squared_length, tally):
    return closeness(parameters[0] * sqrt(1.0 + tally.mistakes), abs(margin))  # delta


def by_asymmetric_margin(parameters, margin, variance, squared_length, tally):
    scale = parameters[0] if margin >= 0.0 else parameters[1]  # delta_pos, delta_neg
    return closeness(scale, abs(margin))


@dataclass
class Margin(QueryRule):
    """Ask with probability ``delta / (delta + |margin|)``.

    Parameters
    ----------
    delta : float, default 1.0
        The margin at which the probability is one half; larger asks more.
    """

    delta: float = positive(1.0)

    probability: ClassVar = staticmethod(by_margin)
    scales: ClassVar = 1


@dataclass
class FunctionValue(QueryRule):
    """Ask with probability ``b / (b + |margin|)``: ``Margin``, with the letter of papers 2 and 5.

    Parameters
    ----------
    b : float, default 1.0
        The margin at which the probability is one half; larger asks more.
    """

    b: float = positive(1.0)

    probability: ClassVar = staticmethod(by_margin)
    scales: ClassVar = 1


@dataclass
class ShiftedMargin(QueryRule):
    """Ask with probability ``delta / (delta + 1 + |margin|)``: never with certainty.

    Parameters
    ----------
    delta : float, default 1.0
        Larger asks more.
    """

    delta: float = positive(1.0)

    probability: ClassVar = staticmethod(by_shifted_margin)
    scales: ClassVar = 1


@dataclass
class DecreasingMargin(QueryRule):
    """``Margin`` whose scale shrinks as ``delta / (t + 1)``: ask much at first, little later.

    Parameters
    ----------
    delta : float, default 1e4
        The scale at the start, large on purpose.
    """

    delta: float = positive(1e4)

    probability: ClassVar = staticmethod(by_decreasing_margin)
    scales: ClassVar = 1
    search: ClassVar = SearchRange(start=1e4)


@dataclass
class MistakeDrivenMargin(QueryRule):
    """``Margin`` whose scale grows with the square root of the mistakes that answers revealed.

    Parameters
    ----------
    delta : float, default 1.0
        The scale before the first mistake.
    """

    delta: float = positive(1.0)

    probability: ClassVar = staticmethod(by_mistake_driven_margin)
    scales: ClassVar = 1
    search: ClassVar = SearchRange(start=0.1)


@dataclass
class AsymmetricMargin(QueryRule):
    """``Margin`` with a scale for each predicted class.

    Parameters
    ----------
    delta_pos, delta_neg : float, default 1.0
        The scale where the second class is predicted, and where the first is.
    """

    delta_pos: float = positive(1.0)
    delta_neg: float = positive(1.0)

    probability: ClassVar = staticmethod(by_asymmetric_margin)
    scales: ClassVar = 2
