"""The time of an event, however it is written, in seconds."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite
from typing import Any

MILLISECONDS = 1e11  # Unix seconds reach this in the year 5138; Unix milliseconds were there in 1973


def seconds_in(value: Any) -> float:
    """Unix seconds from a number of seconds or milliseconds, or from ISO 8601 text (UTC unless it says otherwise).

    A ValueError with the reason if it is no time.

    >>> seconds_in(1.5), seconds_in("1970-01-02"), seconds_in("1970-01-01T01:00:00+01:00"), seconds_in(1700000000000)
    (1.5, 86400.0, 0.0, 1700000000.0)
    """
    if isinstance(value, str):
        try:
            return seconds_in(float(value))
        except ValueError:
            pass
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            raise ValueError(
                f"{value[:40]!r} is no time; write seconds, or ISO 8601 such as 2026-05-01T10:03:00."
            ) from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if value is None:
        raise ValueError("the time is missing.")
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"{str(value)[:40]!r} is no time; write seconds, or ISO 8601 such as 2026-05-01T10:03:00.")
    return value / 1000.0 if abs(value) >= MILLISECONDS else float(value)
