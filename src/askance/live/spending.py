"""How much of the budget is spent, for people; the budget itself is kept by the classifier."""

from __future__ import annotations

from typing import Any

from askance.live.clock import iso
from askance.live.counts import minutes_after
from askance.live.state import State
from askance.live.store.database import Session

HOUR, DAY = 3600, 86400


def spending(session: Session, state: State, now: float) -> dict[str, Any]:
    """Questions of this hour, of this day and in all, beside their limits; when there will be some again."""
    limits = state.config.asking
    hour, day = int(now // HOUR) * HOUR, int(now // DAY) * DAY
    minutes = minutes_after(session, day // 60 - 1, len(state.classes))
    asked = {
        "hour": sum(row["asks"] for minute, row in minutes if minute >= hour // 60),
        "day": sum(row["asks"] for _, row in minutes),
        "total": int(state.learner.clf.labels_asked_),
    }
    most = {"hour": limits.per_hour, "day": limits.per_day, "total": limits.total}
    spent = [name for name, limit in most.items() if limit is not None and asked[name] >= limit]
    ends = {"hour": hour + HOUR, "day": day + DAY}
    again = max((ends[name] for name in spent), default=None) if "total" not in spent else None
    return {
        "rate": limits.rate,
        **{name: {"spent": asked[name], "limit": most[name]} for name in most},
        "exhausted": bool(spent) or limits.rate == 0.0,
        "next_at": None if again is None else iso(again),
    }
