"""States of monitors that an earlier version saved, brought to the present form."""

from __future__ import annotations

from typing import Any

from askance.learner.octaves import OCTAVES
from askance.quality.bins import BINS_PER_OCTAVE, LOWEST_EXPONENT, LOWEST_TOP, SCORE_BINS, score_bin
from askance.quality.recent import Filing

FORMAT = 2

# Format 1 filed scores from 2^-6 to 2^10, whatever their scale, and did not count asked events.
OLD_BINS_PER_SIDE = 256
OLD_SCORE_BINS = 2 * OLD_BINS_PER_SIDE + 1
OLD_SMALLEST_EXPONENT = -6


def upgraded(state: dict[str, Any]) -> dict[str, Any]:
    """A state of format 1 as one of format 2.

    Asked events without an answer are those that were still waited for; forgotten ones count as not asked, as they did.
    """
    scored = len(state["classes"]) == 2

    def said_and_key(place: int) -> tuple[int, int]:
        return (place // OLD_SCORE_BINS, key_of(place % OLD_SCORE_BINS)) if scored else (place, 0)

    keys = [said_and_key(cell // OCTAVES)[1] for cell in state["tally"]["events"][0]]
    top = max([LOWEST_TOP, *(abs(key) // BINS_PER_OCTAVE for key in keys)])

    def place_of(old: int) -> int:
        said, key = said_and_key(old)
        return said * SCORE_BINS + score_bin(key, top) if scored else said

    waiting = [(record[5], record[1]) for record in state["open"] if record[6] < 0]
    open_ = []
    for ticket, number, said, probability, guess, (place, octave, odds, chance_bin), truth in state["open"]:
        filing = Filing(said, said_and_key(place)[1], octave, odds, chance_bin, 0, 1, 1, truth)
        open_.append([ticket, number, probability, guess, list(filing)])
    awaited = {number % state["window"] for _, number in waiting if number >= state["events"] - state["window"]}
    recent = []
    for row, (place, octave, odds, chance_bin, units, truth, was_scored) in enumerate(
        zip(*state["recent"], strict=True)
    ):
        asked = truth >= 0 or row in awaited
        recent.append(Filing(*said_and_key(place), octave, odds, chance_bin, units, was_scored, int(asked), truth))
    return state | {
        "format": FORMAT,
        "top": top,
        "tally": tally(state["tally"], place_of, [(filing[0], filing[1]) for filing, _ in waiting]),
        "by_probability": tally(
            state["by_probability"],
            lambda place: place,
            [(filing[3], filing[1]) for filing, _ in waiting if filing[3] >= 0],
        ),
        "recent": [list(column) for column in zip(*recent, strict=True)] or [[] for _ in Filing._fields],
        "open": open_,
    }


def key_of(old_bin: int) -> int:
    """The key of the scores that shared a bin."""
    step = abs(old_bin - OLD_BINS_PER_SIDE) - 1
    if step < 0:
        return 0
    key = (OLD_SMALLEST_EXPONENT + 1 - LOWEST_EXPONENT) * BINS_PER_OCTAVE + step
    return key if old_bin > OLD_BINS_PER_SIDE else -key


def tally(old: dict[str, Any], place_of: Any, waiting: list[tuple[int, int]]) -> dict[str, Any]:
    """A tally with its places moved; ``waiting`` are the (old) places and octaves of asked events without an answer."""
    old_places = old["places"]
    places = old_places // OLD_SCORE_BINS * SCORE_BINS if old_places % OLD_SCORE_BINS == 0 else old_places

    def moved(cell: int) -> int:
        truth, rest = divmod(cell, old_places * OCTAVES)
        place, octave = divmod(rest, OCTAVES)
        return (truth * places + int(place_of(place))) * OCTAVES + octave

    new: dict[str, Any] = {"classes": old["classes"], "places": places}
    for name in ("events", "answered", "odds", "squares"):
        cells: dict[int, int] = {}
        for cell, count in zip(*old[name], strict=True):
            cells[moved(cell)] = cells.get(moved(cell), 0) + count
        new[name] = [list(cells), list(cells.values())]
    asked: dict[int, int] = {}
    for cell, count in zip(*new["answered"], strict=True):
        asked[cell % (places * OCTAVES)] = asked.get(cell % (places * OCTAVES), 0) + count
    for place, octave in waiting:
        cell = int(place_of(place)) * OCTAVES + octave
        asked[cell] = asked.get(cell, 0) + 1
    return new | {"asked": [list(asked), list(asked.values())]}
