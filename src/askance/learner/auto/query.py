"""The committee's query rule: ask where it is in doubt.

    p = 1 / (1 + (|m| / delta)^2),

where the margin m is in units of its usual size. The odds of asking fall with the square of the margin, so that few
labels go to events that are nearly decided; those of the papers' rules fall with the margin itself. A paced budget
scales the odds, that is delta^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askance.learner.rule import QueryRule, positive


def by_doubt(parameters, margin, variance, squared_length, tally):
    distance = margin / parameters[0]  # delta
    return 1.0 / (1.0 + distance * distance)


@dataclass
class Doubt(QueryRule):
    """Ask with probability ``1 / (1 + (margin / delta)^2)``.

    Parameters
    ----------
    delta : float, default 0.2
        The margin at which the probability is one half; larger asks more.
    """

    delta: float = positive(0.2)

    probability: ClassVar = staticmethod(by_doubt)
    reads_variance: ClassVar = True  # which makes a committee watch every event, not only those it learns from
