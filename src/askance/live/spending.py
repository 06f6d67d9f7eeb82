"""How much of the budget is spent, for people; the budget itself is kept by the classifier."""

from __future__ import annotations

from typing import Any

from askance.live.clock import iso
from askance.live.counts import DAY, HOUR
from askance.live.state import State


def spending(state: State, now: float) -> dict[str, Any]:
    """Questions of this hour, of this day and in all, beside their limits; when there will be some again."""
    limits = state.config.asking
    asked = {
        "hour": state.lately.number("asks", HOUR, now),
        "day": state.lately.number("asks", DAY, now),
        "total": int(state.learner.clf.labels_asked_),
    }
    most = {"hour": limits.per_hour, "day": limits.per_day, "total": limits.total}
    spent = [name for name, limit in most.items() if limit is not None and asked[name] >= limit]
    ends = {"hour": int(now // HOUR + 1) * HOUR, "day": int(now // DAY + 1) * DAY}
    again = max((ends[name] for name in spent), default=None) if "total" not in spent else None
    return {
        "rate": limits.rate,
        **{name: {"spent": asked[name], "limit": most[name]} for name in most},
        "exhausted": bool(spent) or limits.rate == 0.0,
        "next_at": None if again is None else iso(again),
    }
