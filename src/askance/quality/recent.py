"""A sliding window: the last events of a stream, kept one by one; each new one replaces the oldest."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from askance.quality.arrays import fill_ledger
from askance.quality.ledger import EstimateSettings, Ledger


class EventNumbers(NamedTuple):
    """What is kept of an event, in whole numbers."""

    predicted_class: int
    key: int
    """The key of its score (see ``bins``); 0 if it has none."""
    ask_bin: int
    unasked: int
    chance_bin: int
    """-1 if it has no probability of the positive class."""
    chance_units: int
    scored: int
    asked: int
    truth: int = -1
    """-1 as long as there is no answer."""


TRUTH = EventNumbers._fields.index("truth")


class Recent:
    """A ring buffer of ``size`` events; event n is in row n modulo the size."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows = np.zeros((size, len(EventNumbers._fields)), np.int64)

    def add(self, number: int, event_row: EventNumbers) -> None:
        self.rows[number % self.size] = event_row

    def answer(self, number: int, count: int, truth: int) -> None:
        """Note the answer to event ``number``, of ``count`` so far, if it is still in the window."""
        if number >= count - self.size:
            self.rows[number % self.size, TRUTH] = truth

    def ledger(self, settings: EstimateSettings, count: int) -> Ledger:
        """The ledger of the window, counted afresh: a fixed amount of work, done only when somebody asks for it."""
        rows = self.rows[: min(count, self.size)]
        predicted_class, key, ask_bin, unasked, chance_bin, chance_units, scored, asked, truth = rows.T
        is_probable = bool(len(rows)) and bool((chance_bin >= 0).all())
        return fill_ledger(
            settings,
            predicted_class,
            key,
            ask_bin,
            unasked,
            truth,
            asked.astype(np.bool_),
            bool(scored.all()),
            chance_bin if is_probable else None,
            chance_units if is_probable else None,
        )

    def to_list(self, count: int) -> list[Any]:
        return list(self.rows[: min(count, self.size)].T.tolist())

    @classmethod
    def from_list(cls, size: int, state: list[Any]) -> Recent:
        recent = cls(size)
        columns = np.array(state, np.int64).reshape(len(EventNumbers._fields), -1)
        recent.rows[: columns.shape[1]] = columns.T
        return recent
