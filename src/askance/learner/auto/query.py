"""The committee's query rule: ask where it is unsure, and where classes that count more are at stake.

    p = 1 / (1 + (m / (delta c^a))^2),

where the margin m is in units of its usual size, and c is the mean weight of the two leading classes (see
``committee.stake``; 1 for two classes). The odds of asking are (delta c^a / m)^2: they fall with the square of the
margin, so that few labels go to events that are nearly decided. Those of the papers' rules fall with the margin itself.
A paced budget scales the odds, that is delta^2.

With many classes and a = 0, most labels go to the border between the two largest classes. With a = 1, an event between
two classes that count twice as much is asked as if its margin were half as large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askance.learner.rule import QueryRule, parameter, positive


def by_inverse_square_margin(parameters, margin, variance, squared_length, tally):
    """p = 1 / (1 + (m / (delta c^a))^2); in place of a variance a committee gives c."""
    distance = margin / (parameters[0] * variance ** parameters[1])  # delta, a
    return 1.0 / (1.0 + distance * distance)


@dataclass
class InverseSquareMargin(QueryRule):
    """Ask with probability ``1 / (1 + (margin / (delta c^class_power))^2)``, c the weight of the two leading classes.

    Parameters
    ----------
    delta : float, default 0.2
        The margin at which the probability is one half; larger asks more.
    class_power : float, default 0.0
        How much events between classes that count more are asked for. ``make("auto")`` has 1; 0 leaves the classes out,
        as in models saved before there was a choice.
    """

    delta: float = positive(0.2)
    class_power: float = parameter(0.0, "in [0, 2]", lambda value: 0.0 <= value <= 2.0)

    probability: ClassVar = staticmethod(by_inverse_square_margin)
    reads_variance: ClassVar = True  # which makes a committee watch every event, not only those it learns from
