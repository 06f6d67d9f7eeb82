"""The last events of a stream, kept one by one: what enters pushes the oldest out."""

from __future__ import annotations

from typing import Any

import numpy as np

from askance.quality.arrays import filed
from askance.quality.ledger import Ledger, Settings

COLUMNS = ("place", "octave", "odds", "chance_bin", "chance_units", "truth", "scored")


class Recent:
    """A ring of ``size`` filed events; event number n has the place n modulo the size."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows = np.zeros((size, len(COLUMNS)), np.int64)

    def add(self, number: int, row: tuple[int, int, int, int, int, int, int]) -> None:
        self.rows[number % self.size] = row

    def answer(self, number: int, count: int, truth: int) -> None:
        """Note the answer of event ``number``, of ``count`` so far, if it is still here."""
        if number >= count - self.size:
            self.rows[number % self.size, 5] = truth

    def ledger(self, settings: Settings, count: int) -> Ledger:
        """All that is in the ring, filed anew: a fixed amount of work, done only when somebody looks."""
        rows = self.rows[: min(count, self.size)]
        place, octave, odds, chance_bin, chance_units, truth, scored = rows.T
        is_probable = bool(len(rows)) and bool((chance_bin >= 0).all())
        return filed(
            settings,
            place,
            octave,
            odds,
            truth,
            bool(scored.all()),
            chance_bin if is_probable else None,
            chance_units if is_probable else None,
        )

    def to_list(self, count: int) -> list[Any]:
        return list(self.rows[: min(count, self.size)].T.tolist())

    @classmethod
    def from_list(cls, size: int, state: list[Any]) -> Recent:
        recent = cls(size)
        columns = np.array(state, np.int64).reshape(len(COLUMNS), -1)
        recent.rows[: columns.shape[1]] = columns.T
        return recent
