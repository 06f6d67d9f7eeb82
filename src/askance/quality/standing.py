"""What one answer stands for: the events of its group that have no answer.

A group is a predicted class and an octave of ask probabilities. Its events without an answer are of two kinds, and the
answers represent each of them differently:

    asked, but the answer is late or lost    the answers there are, one like the other
    not asked                                the answers by their odds (1 - p) / p (see ``bins``)

for whoever was asked was drawn with p, answered or not, and whoever was not with 1 - p. So answer i stands for

    w_i = missing / answers + not asked * odds_i / (sum of odds)

events, which needs the sums of the odds and of their squares only. If no answer has odds above 0, all of them having
come with p = 1, the events not asked have nobody to stand for them and are left open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def divide(part: Any, whole: Any) -> Any:
    """0 / 0 is 0, as everywhere in ``askance.metrics``."""
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=np.asarray(whole) > 0.0)


@dataclass(frozen=True)
class Standing:
    """All arrays are ``[..., octave]``, one entry for each group."""

    each: Numbers
    """What an answer weighs, whatever its odds, and what it weighs for each unit of odds."""
    by_odds: Numbers
    total: Numbers
    """The weights of all answers together: the events they stand for, unless there are none."""
    size: Numbers
    """How many answers of equal weight would vary as much (Kish)."""
    events: Numbers
    """Events without an answer that answers stand for, and events that nobody stands for."""
    open: Numbers

    @classmethod
    def of(cls, events: Numbers, asked: Numbers, answers: Numbers, odds: Numbers, squares: Numbers) -> Standing:
        """All events, asked ones, answers; the sum of the answers' odds and of the squares of these."""
        missing, not_asked = asked - answers, events - asked
        stood_for = np.where(answers > 0.0, missing, 0.0) + np.where(odds > 0.0, not_asked, 0.0)
        idle = (answers > 0.0) & (stood_for <= 0.0)  # nobody to stand for: its answers count alike, for other groups
        each = np.where(idle, 1.0, divide(missing, answers))
        by_odds = divide(not_asked, odds)
        total = each * answers + by_odds * odds
        square = each * each * answers + 2.0 * each * by_odds * odds + by_odds * by_odds * squares
        return cls(each, by_odds, total, divide(total * total, square), stood_for, events - answers - stood_for)

    def weight(self, answers: Numbers, odds: Numbers) -> Numbers:
        """The weights of some of the answers: their number, and the sum of their odds."""
        return self.each * answers + self.by_odds * odds

    def squares(self, answers: Numbers, odds: Numbers, squares: Numbers) -> Numbers:
        """The squares of the weights of some of them."""
        return self.each**2 * answers + 2.0 * self.each * self.by_odds * odds + self.by_odds**2 * squares
