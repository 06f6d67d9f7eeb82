"""What is kept of a stream: events and answers, counted by place, octave of the ask probability and true class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askance.learner.octaves import OCTAVES, SQUARE_SHIFT
from askance.quality.bins import Integers


class Tally:
    """Whole numbers only, so that events and answers may be added in any order, one by one or many at once.

    ``events[place, octave]`` counts all events, ``asked`` those that were asked, whether or not there is an answer;
    ``answered``, ``odds`` and ``squares``, each ``[true class, place, octave]``, hold the number of the answers, the
    sum of their odds and of the odds' squares. What a place is, the owner decides: a predicted class, a bin of scores,
    a bin of probabilities.
    """

    NAMES = ("events", "asked", "answered", "odds", "squares")

    def __init__(self, classes: int, places: int) -> None:
        self.shape = (classes, places, OCTAVES)
        self.events = np.zeros((places, OCTAVES), np.int64)
        self.asked = np.zeros((places, OCTAVES), np.int64)
        self.answered = np.zeros(self.shape, np.int64)
        self.odds = np.zeros(self.shape, np.int64)
        self.squares = np.zeros(self.shape, np.int64)

    def add_event(self, place: int, octave: int, asked: bool) -> None:
        self.events[place, octave] += 1
        if asked:
            self.asked[place, octave] += 1

    def add_answer(self, truth: int, place: int, octave: int, odds: int, sign: int = 1) -> None:
        """Count an answer; ``sign`` -1 takes one back."""
        at = (truth, place, octave)
        self.answered[at] += sign
        self.odds[at] += sign * odds
        self.squares[at] += sign * (odds * odds >> SQUARE_SHIFT)

    @classmethod
    def of(
        cls,
        shape: tuple[int, int],
        place: Integers,
        octave: Integers,
        odds: Integers,
        truth: Integers,
        asked: NDArray[np.bool_],
    ) -> Tally:
        """The tally of whole columns; ``truth`` is -1 where there is no answer."""
        tally = cls(*shape)
        flat = place * OCTAVES + octave
        tally.events += np.bincount(flat, minlength=tally.events.size).reshape(tally.events.shape)
        tally.asked += np.bincount(flat[asked], minlength=tally.events.size).reshape(tally.events.shape)
        known = np.flatnonzero(truth >= 0)
        cell = truth[known] * tally.events.size + flat[known]
        np.add.at(tally.answered.reshape(-1), cell, 1)
        np.add.at(tally.odds.reshape(-1), cell, odds[known])
        np.add.at(tally.squares.reshape(-1), cell, odds[known] * odds[known] >> SQUARE_SHIFT)
        return tally

    def to_dict(self) -> dict[str, Any]:
        """Only what is not zero: plain numbers, ready for JSON."""
        state: dict[str, Any] = {"classes": self.shape[0], "places": self.shape[1]}
        for name in self.NAMES:
            flat = getattr(self, name).reshape(-1)
            used = np.flatnonzero(flat)
            state[name] = [used.tolist(), flat[used].tolist()]
        return state

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Tally:
        tally = cls(state["classes"], state["places"])
        for name in cls.NAMES:
            used, values = state[name]
            getattr(tally, name).reshape(-1)[np.array(used, np.int64)] = values
        return tally
