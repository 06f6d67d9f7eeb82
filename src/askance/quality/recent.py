"""The last events of a stream, kept one by one: what enters pushes the oldest out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from askance.quality.arrays import filed
from askance.quality.ledger import Ledger, Settings


class Filing(NamedTuple):
    """What is kept of an event, in whole numbers."""

    said: int
    key: int
    """Of its score; 0 if it has none."""
    octave: int
    odds: int
    chance_bin: int
    """-1 if it has no probability of the positive class."""
    chance_units: int
    scored: int
    asked: int
    truth: int = -1
    """-1 as long as there is no answer."""


TRUTH = Filing._fields.index("truth")


class Recent:
    """A ring of ``size`` filed events; event number n has the place n modulo the size."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows = np.zeros((size, len(Filing._fields)), np.int64)

    def add(self, number: int, filing: Filing) -> None:
        self.rows[number % self.size] = filing

    def answer(self, number: int, count: int, truth: int) -> None:
        """Note the answer of event ``number``, of ``count`` so far, if it is still here."""
        if number >= count - self.size:
            self.rows[number % self.size, TRUTH] = truth

    def ledger(self, settings: Settings, count: int) -> Ledger:
        """All that is in the ring, filed anew: a fixed amount of work, done only when somebody looks."""
        rows = self.rows[: min(count, self.size)]
        said, key, octave, odds, chance_bin, chance_units, scored, asked, truth = rows.T
        is_probable = bool(len(rows)) and bool((chance_bin >= 0).all())
        return filed(
            settings,
            said,
            key,
            octave,
            odds,
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
        columns = np.array(state, np.int64).reshape(len(Filing._fields), -1)
        recent.rows[: columns.shape[1]] = columns.T
        return recent
