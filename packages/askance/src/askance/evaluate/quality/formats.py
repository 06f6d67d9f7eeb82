"""Read the states of monitors that an earlier version saved."""

from __future__ import annotations

from typing import Any

from askance.evaluate.quality.ask_bins import ASK_BINS
from askance.evaluate.quality.bins import BINS_PER_EXPONENT, LOWEST_EXPONENT, LOWEST_TOP, SCORE_BINS, score_bin
from askance.evaluate.quality.recent import EventNumbers

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
