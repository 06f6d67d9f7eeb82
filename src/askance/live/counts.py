"""What is counted, minute by minute and for all time."""

from __future__ import annotations

import json
from typing import Any

from askance.learner.budget import SECONDS
from askance.live.store.database import Session

HOUR, DAY = int(SECONDS["h"]), int(SECONDS["d"])
COUNTED = ("events", "asks", "audits", "answers", "skips", "expired", "learned", "corrections")


def empty_counts(n_classes: int) -> dict[str, Any]:
    """The counts of one minute, or of all time. ``open`` is how many questions waited when it ended."""
    counts: dict[str, Any] = dict.fromkeys(COUNTED, 0)
    return {
        **counts,
        "predicted": [0] * n_classes,
        "labeled": [0] * n_classes,
        "margin": 0.0,
        "probability": 0.0,
        "open": None,
    }


def minutes_after(session: Session, minute: int, n_classes: int) -> list[tuple[int, dict[str, Any]]]:
    """The minutes after this one in which something was counted."""
    rows = session.all("SELECT minute, document FROM minutes WHERE minute > ? ORDER BY minute", (minute,))
    return [(int(place), {**empty_counts(n_classes), **json.loads(document)}) for place, document in rows]


class Lately:
    """What was counted in the hour and in the day under way, so that nobody has to add up their minutes."""

    def __init__(self) -> None:
        self._spans: dict[int, tuple[int, dict[str, int]]] = {length: (-1, {}) for length in (HOUR, DAY)}

    def count(self, minute: int, name: str, amount: int) -> None:
        """So much was counted in this minute; minutes come in order."""
        for length, (number, counts) in self._spans.items():
            if minute * 60 // length != number:
                counts = {}
                self._spans[length] = minute * 60 // length, counts
            counts[name] = counts.get(name, 0) + amount

    def number(self, name: str, length: int, now: float) -> int:
        """How much of it in the hour or day of ``now``."""
        number, counts = self._spans[length]
        return counts.get(name, 0) if number == int(now // length) else 0
