"""How much of the budget is spent, for people; the budget itself is kept by the classifier."""

from __future__ import annotations

from typing import Any

from askance.learner.pacing import Rhythm
from askance.live.clock import iso
from askance.live.counts import DAY, HOUR
from askance.live.state import State

PERIODS = {"hour": (HOUR, "this hour"), "day": (DAY, "today")}
MINUTE = 60


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
    ends = {name: (int(now // length) + 1) * length for name, (length, _) in PERIODS.items()}
    again = max((ends[name] for name in spent), default=None) if "total" not in spent else None
    exhausted = bool(spent) or limits.rate == 0.0
    return {
        "rate": limits.rate,
        **{name: {"spent": asked[name], "limit": most[name]} for name in most},
        "exhausted": exhausted,
        "next_at": None if again is None else iso(again),
        "pace": None if exhausted else _pace(state, now, asked, most),
    }


def _pace(state: State, now: float, asked: dict[str, int], most: dict[str, int | None]) -> dict[str, Any] | None:
    """What is left of an hour or a day, where it is spread over the rest of it; None where that holds nothing back."""
    slowest: tuple[float, str] | None = None
    for name, (length, _) in PERIODS.items():
        limit = most[name]
        if limit is not None and _is_held_back(state, now, length, limit - asked[name]):
            seconds = (length - now % length) / (limit - asked[name])
            slowest = max(slowest or (0.0, ""), (seconds, name))
    if slowest is None:
        return None
    seconds, name = slowest
    next_at = iso((now + seconds + MINUTE - 1) // MINUTE * MINUTE)
    detail = (
        f"{asked[name]:,} of {most[name]:,} questions were asked {PERIODS[name][1]}; the rest is spread over the "
        f"{name}, about one every {_span(seconds)} while events come. The next is due by about {next_at}."
    )
    return {"period": name, "seconds": round(seconds, 1), "next_at": next_at, "detail": detail}


def _is_held_back(state: State, now: float, length: int, left: int) -> bool:
    """Whether fewer of the events may be asked about for the sake of what is ``left`` of this period."""
    rhythm: Rhythm | None = state.learner.clf.rhythm_
    if rhythm is None or rhythm.time // length != now // length:
        return False
    rate = state.config.asking.rate
    if rate >= 1.0:  # nothing else sets a pace
        return rhythm.wanted < 1.0
    return rhythm.interval >= 0.0 and left * rhythm.interval < rate * (rhythm.interval + length - now % length)


def _span(seconds: float) -> str:
    """A time to wait, as one says it.

    >>> _span(40), _span(870), _span(9000)
    ('40 seconds', '14 minutes', '2.5 hours')
    """
    if seconds < 90:
        return f"{max(1.0, seconds):.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
