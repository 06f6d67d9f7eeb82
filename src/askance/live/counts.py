"""What is counted, minute by minute and for all time."""

from __future__ import annotations

import json
from typing import Any

from askance.live.store.database import Session

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
