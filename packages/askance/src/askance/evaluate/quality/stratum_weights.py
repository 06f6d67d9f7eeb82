"""Stratum weights: how many of the unanswered events of its group each answer stands for.

A group is a predicted class and an ask bin. Of its N events, k were asked and m of these answered; answer i has the
unasked weight o_i = (1 - p_i) / p_i, and O is their sum. Its events without an answer are of two kinds:

    k - m    asked, but the answer is late or lost    all answers stand for them alike
    N - k    not asked                                answers stand for them by their unasked weights

for an asked event was drawn with p, answered or not, and one that was not asked with 1 - p. So answer i stands for

    w_i = u + b o_i,        u = (k - m) / m,        b = (N - k) / O

events. Sums of w and of w^2 need the sums of the unasked weights and of their squares only. If all answers came with
p = 1, then O = 0: no answer stands for the events not asked, and they are left open.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askance.evaluate.metrics.arrays import Numbers, divide


@dataclass(frozen=True)
class StratumWeights:
    """The weights of all groups. All arrays are ``[..., ask_bin]``, with one entry for each group."""

    each: Numbers
    """u: the weight of an answer whatever its unasked weight."""
    by_unasked: Numbers
    """b: the weight of an answer for each unit of unasked weight."""
    total: Numbers
    """W = sum w_i: the events that the answers stand for, unless there are none."""
    size: Numbers
    """W^2 / sum w_i^2: how many answers of equal weight would vary as much (Kish's effective size)."""
    events: Numbers
    """Events without an answer that answers stand for."""
    open: Numbers
    """Events without an answer that no answer stands for."""

    @classmethod
    def of(
        cls, events: Numbers, asked: Numbers, answers: Numbers, unasked: Numbers, squares: Numbers
    ) -> StratumWeights:
        """The weights from N, k, m, O = sum o_i and sum o_i^2:

            W = u m + b O,        sum w_i^2 = u^2 m + 2 u b O + b^2 sum o_i^2

        In a group without unanswered events u = 1, so that its answers still count in shares that others borrow."""
        missing, not_asked = asked - answers, events - asked
        stood_for = np.where(answers > 0.0, missing, 0.0) + np.where(unasked > 0.0, not_asked, 0.0)
        idle = (answers > 0.0) & (stood_for <= 0.0)  # a group whose events all have answers
        each = np.where(idle, 1.0, divide(missing, answers))
        by_unasked = divide(not_asked, unasked)
        total = each * answers + by_unasked * unasked
        square = each * each * answers + 2.0 * each * by_unasked * unasked + by_unasked * by_unasked * squares
        return cls(each, by_unasked, total, divide(total * total, square), stood_for, events - answers - stood_for)

    def weight(self, answers: Numbers, unasked: Numbers) -> Numbers:
        """sum w_i = u m + b O over some of the answers: their number m, and the sum O of their unasked weights."""
        return self.each * answers + self.by_unasked * unasked

    def squares(self, answers: Numbers, unasked: Numbers, squares: Numbers) -> Numbers:
        """sum w_i^2 = u^2 m + 2 u b O + b^2 sum o_i^2 over some of the answers."""
        return self.each**2 * answers + 2.0 * self.each * self.by_unasked * unasked + self.by_unasked**2 * squares
