"""A sliding window: the last events of a stream, kept one by one; each new one replaces the oldest.

Also how the states of monitors are read that an earlier version saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from askance.evaluate.metrics.scores import calibration_bins
from askance.evaluate.quality.arrays import fill_ledger
from askance.evaluate.quality.bins import (
    ASK_BINS,
    BINS_PER_EXPONENT,
    LOWEST_EXPONENT,
    LOWEST_TOP,
    SCORE_BINS,
    Integers,
    as_scores,
    ask_bins_of,
    score_bin,
    score_keys,
    unasked_weights,
)
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


FORMAT = 2

# Format 1 had bins for scores from 2^-6 to 2^10, whatever their scale, and did not count asked events.
OLD_BINS_PER_SIDE = 256
OLD_SCORE_BINS = 2 * OLD_BINS_PER_SIDE + 1
OLD_SMALLEST_EXPONENT = -6


def upgrade(state: dict[str, Any]) -> dict[str, Any]:
    """A state of format 1 as one of format 2.

    Pending events count as asked. Those that were forgotten count as not asked, as they did in format 1.
    """
    scored = len(state["classes"]) == 2

    def predicted_and_key(place: int) -> tuple[int, int]:
        return (place // OLD_SCORE_BINS, key_of(place % OLD_SCORE_BINS)) if scored else (place, 0)

    keys = [predicted_and_key(cell // ASK_BINS)[1] for cell in state["tally"]["events"][0]]
    top = max([LOWEST_TOP, *(abs(key) // BINS_PER_EXPONENT for key in keys)])

    def place_of(old: int) -> int:
        predicted_class, key = predicted_and_key(old)
        return predicted_class * SCORE_BINS + score_bin(key, top) if scored else predicted_class

    waiting = [(record[5], record[1]) for record in state["open"] if record[6] < 0]
    open_ = []
    for ticket, number, predicted_class, probability, guess, (place, ask_bin, unasked, chance_bin), truth in state[
        "open"
    ]:
        event_row = EventNumbers(
            predicted_class, predicted_and_key(place)[1], ask_bin, unasked, chance_bin, 0, 1, 1, truth
        )
        open_.append([ticket, number, probability, guess, list(event_row)])
    awaited = {number % state["window"] for _, number in waiting if number >= state["events"] - state["window"]}
    recent = []
    for row, (place, ask_bin, unasked, chance_bin, units, truth, was_scored) in enumerate(
        zip(*state["recent"], strict=True)
    ):
        asked = truth >= 0 or row in awaited
        recent.append(
            EventNumbers(*predicted_and_key(place), ask_bin, unasked, chance_bin, units, was_scored, int(asked), truth)
        )
    return state | {
        "format": FORMAT,
        "top": top,
        "tally": move_places(state["tally"], place_of, [(event_row[0], event_row[1]) for event_row, _ in waiting]),
        "by_probability": move_places(
            state["by_probability"],
            lambda place: place,
            [(event_row[3], event_row[1]) for event_row, _ in waiting if event_row[3] >= 0],
        ),
        "recent": [list(column) for column in zip(*recent, strict=True)] or [[] for _ in EventNumbers._fields],
        "open": open_,
    }


def key_of(old_bin: int) -> int:
    """The key of the scores in a bin of format 1."""
    step = abs(old_bin - OLD_BINS_PER_SIDE) - 1
    if step < 0:
        return 0
    key = (OLD_SMALLEST_EXPONENT + 1 - LOWEST_EXPONENT) * BINS_PER_EXPONENT + step
    return key if old_bin > OLD_BINS_PER_SIDE else -key


def move_places(old: dict[str, Any], place_of: Any, waiting: list[tuple[int, int]]) -> dict[str, Any]:
    """Counts with their places moved; ``waiting`` are the (old) places and ask bins of pending events."""
    old_places = old["places"]
    places = old_places // OLD_SCORE_BINS * SCORE_BINS if old_places % OLD_SCORE_BINS == 0 else old_places

    def move_cell(cell: int) -> int:
        truth, rest = divmod(cell, old_places * ASK_BINS)
        place, ask_bin = divmod(rest, ASK_BINS)
        return (truth * places + int(place_of(place))) * ASK_BINS + ask_bin

    new: dict[str, Any] = {"classes": old["classes"], "places": places}
    for name in ("events", "answered", "odds", "squares"):
        cells: dict[int, int] = {}
        for cell, count in zip(*old[name], strict=True):
            cells[move_cell(cell)] = cells.get(move_cell(cell), 0) + count
        new[name] = [list(cells), list(cells.values())]
    asked: dict[int, int] = {}
    for cell, count in zip(*new["answered"], strict=True):
        asked[cell % (places * ASK_BINS)] = asked.get(cell % (places * ASK_BINS), 0) + count
    for place, ask_bin in waiting:
        cell = int(place_of(place)) * ASK_BINS + ask_bin
        asked[cell] = asked.get(cell, 0) + 1
    return new | {"asked": [list(asked), list(asked.values())]}
