"""Counts of events and answers by place, ask bin and true class: all that is kept of a stream."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askance.evaluate.quality.ask_bins import ASK_BINS, SQUARE_SHIFT
from askance.evaluate.quality.bins import Integers


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
