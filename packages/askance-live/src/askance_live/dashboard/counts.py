"""What is counted, minute by minute and for all time."""

from __future__ import annotations

import json
import zlib
from typing import Any

from askance.learner.budget_kinds import DAY, HOUR, period_kinds
from askance_live.store.database import Session
from askance_live.store.rows import Query
from askance_live.store.schema import MinuteRow

MINUTES = Query(MinuteRow, "minutes", "WHERE minute >= ? AND minute <= ? ORDER BY minute")
LAST_MINUTE = 1 << 60
CHECKSUM = "checksum"
COUNTED = (
    "events", "asks", "audits", "answers", "skips", "expired", "learned", "corrections", "quarantined", "replayed",
)  # fmt: skip
BY_CLASS = ("predicted", "labeled")


def empty_counts(n_classes: int) -> dict[str, Any]:
    """The counts of one minute, or of all time. ``open`` is how many questions waited when it ended."""
    counts: dict[str, Any] = dict.fromkeys(COUNTED, 0)
    return {
        **counts,
        **{name: [0] * n_classes for name in BY_CLASS},
        "margin": 0.0,
        "probability": 0.0,
        "open": None,
    }


def minutes_between(session: Session, first: int, last: int, n_classes: int) -> list[tuple[int, dict[str, Any]]]:
    """The minutes from ``first`` to ``last`` in which something was counted; the clock may have been ahead before."""
    found = ((int(row.minute), read_counts(row.document, n_classes)) for row in MINUTES.all(session, (first, last)))
    return [(place, counts) for place, counts in found if counts is not None]


def read_counts(document: Any, n_classes: int) -> dict[str, Any] | None:
    """Stored counts, with room for classes that were added since; None where they are damaged: they are shown, and
    decide nothing."""
    counts = empty_counts(n_classes)
    try:
        counts |= json.loads(document)
        checksum = counts.pop(CHECKSUM, None)
        if checksum not in (None, _checksum(_text(counts))):
            return None
        were_two = all(len(counts[name]) >= 2 for name in BY_CLASS)  # no stream has fewer
        pad_counts(counts, n_classes)
        sound = (
            were_two
            and all(_is_number(counts[name]) for name in (*COUNTED, "margin", "probability"))
            and all(len(counts[name]) == n_classes and all(map(_is_number, counts[name])) for name in BY_CLASS)
        )
    except (TypeError, ValueError, RecursionError):
        sound = False
    return counts if sound else None


def pad_counts(counts: dict[str, Any], n_classes: int) -> None:
    """Give counts by class a place for each of so many: a label keeps its place, and new ones come last."""
    for name in BY_CLASS:
        counts[name] = counts[name] + [0] * (n_classes - len(counts[name]))


def write_counts(counts: dict[str, Any]) -> str:
    """Counts as they are stored, with a checksum by which ``read_counts`` knows damaged ones."""
    text = _text(counts)
    return f'{text[:-1]}, "{CHECKSUM}": {_checksum(text)}}}'


def _text(counts: dict[str, Any]) -> str:
    return json.dumps(counts, sort_keys=True)


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def add_up(session: Session, n_classes: int) -> dict[str, Any]:
    """The counts of all time, by the minutes."""
    totals = empty_counts(n_classes)
    for _, counts in minutes_between(session, 0, LAST_MINUTE, n_classes):
        for name in (*COUNTED, "margin", "probability"):
            totals[name] += counts[name]
        for name in BY_CLASS:
            totals[name] = [before + more for before, more in zip(totals[name], counts[name], strict=True)]
    return totals


def counted_periods() -> list[int]:
    """The seconds of an hour, of a day, and of the periods of all kinds of budgets, the longest last."""
    return sorted({HOUR, DAY, *(kind.span.seconds for kind in period_kinds().values() if kind.span)})


class PeriodCounts:
    """What was counted in the hour, the day and every other period of a budget under way, so that nobody has to add up
    their minutes."""

    def __init__(self) -> None:
        self._spans: dict[int, tuple[int, dict[str, int]]] = {length: (-1, {}) for length in counted_periods()}

    @classmethod
    def at(cls, minute: int, minutes: list[tuple[int, dict[str, Any]]]) -> PeriodCounts:
        """What was counted in the periods of a minute, by the minutes of the longest of them in any order."""
        new = cls()
        for length in new._spans:
            number, counts = minute * 60 // length, dict.fromkeys(COUNTED, 0)
            for place, row in minutes:
                if place * 60 // length == number:
                    for name in COUNTED:
                        counts[name] += row[name]
            new._spans[length] = number, counts
        return new

    def count(self, minute: int, name: str, amount: int) -> None:
        """So much was counted in this minute; minutes come in order."""
        for length, (number, counts) in self._spans.items():
            if minute * 60 // length != number:
                counts = {}
                self._spans[length] = minute * 60 // length, counts
            counts[name] = counts.get(name, 0) + amount

    def number(self, name: str, length: int, now: float) -> int:
        """How much of it in the period of this length that ``now`` lies in."""
        number, counts = self._spans[length]
        return counts.get(name, 0) if number == int(now // length) else 0
