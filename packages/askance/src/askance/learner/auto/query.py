"""The committee's query rule: ask where it is unsure, and where classes that count more are at stake.

    p = 1 / (1 + (|m| / (delta c^a))^b),

where the margin m is in units of its usual size, and c is what is at stake (see ``asking``). The odds of asking are
(delta c^a / |m|)^b: with b = 2 they fall with the square of the margin, so that few labels go to events that are nearly
decided. Those of the papers' rules fall with the margin itself. A paced budget scales the odds, that is delta^b.

With many classes and a = 0, most labels go to the border between the two largest classes. With a = 1, an event between
two classes that count twice as much is asked as if its margin were half as large.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from askance.learner.budget import Budget
from askance.learner.rule import QueryRule, parameter, positive


def by_inverse_square_margin(parameters, margin, variance, squared_length, tally):
    """p = 1 / (1 + (|m| / (delta c^a))^b); in place of a variance a committee gives c."""
    distance = abs(margin) / (parameters[0] * variance ** parameters[1])  # delta, a
    return 1.0 / (1.0 + distance ** parameters[2])  # b


@dataclass
class InverseSquareMargin(QueryRule):
    """Ask with probability ``1 / (1 + (margin / (delta c^class_power))^power)``, c the weight of the classes at stake.

    Parameters
    ----------
    delta : float, default 0.2
        The margin at which the probability is one half; larger asks more.
    class_power : float, default 0.0
        How much events between classes that count more are asked for. ``make("auto")`` has 1; 0 leaves the classes out,
        as in models saved before there was a choice.
    power : float, default 2.0
        How fast the odds of asking fall with the margin: by its square, as in models saved before there was a choice.
        ``make("auto")`` has 3. Without a budget that sets a pace, 2 is the most: nothing makes up for few questions
        then, and a committee that is sure too soon would stay so.
    """

    delta: float = positive(0.2)
    class_power: float = parameter(0.0, "in [0, 2]", lambda value: 0.0 <= value <= 2.0)
    power: float = parameter(2.0, "in (0, 16]", lambda value: 0.0 < value <= 16.0)

    probability: ClassVar = staticmethod(by_inverse_square_margin)
    reads_variance: ClassVar = True  # which makes a committee watch every event, not only those it learns from

    def for_budget(self, budget: Budget) -> InverseSquareMargin:
        return self if budget.sets_pace else replace(self, power=min(self.power, 2.0))
