"""A sliding window: the last events of a stream, kept one by one; each new one replaces the oldest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from askance.evaluate.metrics.probability import calibration_bins
from askance.evaluate.quality.arrays import fill_ledger
from askance.evaluate.quality.bins import Integers, as_scores, ask_bins_of, score_keys, unasked_weights
from askance.evaluate.quality.ledger import PROBABILITY_UNIT, EstimateSettings, Ledger


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


ASKED, TRUTH = (EventNumbers._fields.index(name) for name in ("asked", "truth"))


def read_columns(
    predicted_class: Integers,
    probabilities: Sequence[float],
    asked: Sequence[bool],
    probabilities_positive: Sequence[float] | None,
    n_classes: int,
) -> Integers | None:
    """The ``EventNumbers`` of several events, a row each; None if one of them cannot be counted."""
    ask, is_asked = np.array(probabilities, np.float64), np.array(asked, np.bool_)
    if not ((ask >= 0.0) & (ask <= 1.0) & ((ask > 0.0) | ~is_asked)).all():
        return None
    rows = np.zeros((len(ask), len(EventNumbers._fields)), np.int64)
    ask_bin = ask_bins_of(ask)
    key: Any = 0
    chance_bin: Any = -1
    chance_units: Any = 0
    is_scored = n_classes == 2 and probabilities_positive is not None
    if is_scored:
        chance = np.array(probabilities_positive, np.float64)
        if not ((chance >= 0.0) & (chance <= 1.0)).all():
            return None
        key = score_keys(as_scores(chance))
        chance_bin, chance_units = calibration_bins(chance), np.rint(chance * PROBABILITY_UNIT).astype(np.int64)
    columns: tuple[Any, ...] = (
        predicted_class, key, ask_bin, unasked_weights(ask, ask_bin), chance_bin, chance_units, is_scored, is_asked, -1
    )  # fmt: skip
    for place, column in enumerate(columns):
        rows[:, place] = column
    return rows


class Recent:
    """A ring buffer of ``size`` events; event n is in row n modulo the size."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows = np.zeros((size, len(EventNumbers._fields)), np.int64)

    def add(self, number: int, event_row: EventNumbers) -> None:
        self.rows[number % self.size] = event_row

    def add_rows(self, number: int, rows: Integers) -> None:
        """Several events, the first with this number."""
        rows = rows[-self.size :] if (left_out := max(len(rows) - self.size, 0)) else rows
        self.rows[(number + left_out + np.arange(len(rows))) % self.size] = rows

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
