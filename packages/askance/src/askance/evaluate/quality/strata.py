"""What is counted of a stream, by place, ask bin and true class, and how many events each answer stands for.

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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askance.evaluate.metrics.arrays import Numbers, divide
from askance.evaluate.quality.bins import ASK_BINS, SQUARE_SHIFT, Integers


class StratumCounts:
    """Counts in whole numbers, so that events and answers may be added in any order, one by one or many at once.

    ``events[place, ask_bin]`` counts all events, ``asked`` those that were asked, answered or not. ``answered``,
    ``unasked`` and ``squares``, each ``[true class, place, ask_bin]``, hold the number of the answers, the sum of their
    unasked weights and of the squares of these. The owner decides what a place is: a predicted class, a bin of scores,
    a bin of probabilities.
    """

    NAMES = ("events", "asked", "answered", "unasked", "squares")
    """What is counted."""
    SAVED_AS = {name: name for name in NAMES} | {"unasked": "odds"}
    """What files call it."""

    def __init__(self, classes: int, places: int) -> None:
        self.shape = (classes, places, ASK_BINS)
        self.events = np.zeros((places, ASK_BINS), np.int64)
        self.asked = np.zeros((places, ASK_BINS), np.int64)
        self.answered = np.zeros(self.shape, np.int64)
        self.unasked = np.zeros(self.shape, np.int64)
        self.squares = np.zeros(self.shape, np.int64)

    def add_event(self, place: int, ask_bin: int, asked: bool) -> None:
        self.events[place, ask_bin] += 1
        if asked:
            self.asked[place, ask_bin] += 1

    def add_events(self, place: Integers, ask_bin: Integers, asked: NDArray[np.bool_]) -> None:
        """``add_event`` for several."""
        np.add.at(self.events, (place, ask_bin), 1)
        np.add.at(self.asked, (place[asked], ask_bin[asked]), 1)

    def add_answer(self, truth: int, place: int, ask_bin: int, unasked: int, sign: int = 1) -> None:
        """Count an answer; ``sign`` -1 takes one back."""
        at = (truth, place, ask_bin)
        self.answered[at] += sign
        self.unasked[at] += sign * unasked
        self.squares[at] += sign * (unasked * unasked >> SQUARE_SHIFT)

    @classmethod
    def of(
        cls,
        shape: tuple[int, int],
        place: Integers,
        ask_bin: Integers,
        unasked: Integers,
        truth: Integers,
        asked: NDArray[np.bool_],
    ) -> StratumCounts:
        """The counts of whole columns; ``truth`` is -1 where there is no answer."""
        counts = cls(*shape)
        flat = place * ASK_BINS + ask_bin
        counts.events += np.bincount(flat, minlength=counts.events.size).reshape(counts.events.shape)
        counts.asked += np.bincount(flat[asked], minlength=counts.events.size).reshape(counts.events.shape)
        known = np.flatnonzero(truth >= 0)
        cell = truth[known] * counts.events.size + flat[known]
        np.add.at(counts.answered.reshape(-1), cell, 1)
        np.add.at(counts.unasked.reshape(-1), cell, unasked[known])
        np.add.at(counts.squares.reshape(-1), cell, unasked[known] * unasked[known] >> SQUARE_SHIFT)
        return counts

    def to_dict(self) -> dict[str, Any]:
        """The counts that are not zero, in plain numbers, ready for JSON."""
        state: dict[str, Any] = {"classes": self.shape[0], "places": self.shape[1]}
        for name in self.NAMES:
            flat = getattr(self, name).reshape(-1)
            used = np.flatnonzero(flat)
            state[self.SAVED_AS[name]] = [used.tolist(), flat[used].tolist()]
        return state

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> StratumCounts:
        counts = cls(state["classes"], state["places"])
        for name in cls.NAMES:
            used, values = state[cls.SAVED_AS[name]]
            getattr(counts, name).reshape(-1)[np.array(used, np.int64)] = values
        return counts


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
