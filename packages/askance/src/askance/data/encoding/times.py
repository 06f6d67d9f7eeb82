"""Times as they are written: the moment of an event in seconds, and what a learner can use of a date."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from functools import lru_cache
from math import isfinite
from typing import Any

_BEGINNING = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[Tt ]([0-9]{2}))?")
_END = re.compile(r":[0-5][0-9](?::[0-6][0-9](?:[.,][0-9]{1,9})?)? ?(?:[Zz]|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)?")
UP_TO_THE_HOUR = len("2026-05-01T10")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HOURS = 24
MILLISECONDS = 1e11  # Unix seconds reach this in the year 5138; Unix milliseconds were there in 1973


class DateText(str):
    """The ISO text of a value whose type says that it is a date: of such a field, the first value tells the kind."""

    __slots__ = ()


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


def date_words(text: str) -> tuple[str, ...] | None:
    """What recurs of an ISO date, or date and time: its weekday and, where it has a time, its hour, as it is written.

    The moment itself would only ever grow, and what is learned from a number that never comes again is of no use. None
    for a text that is no date.

    >>> date_words("2024-03-01"), date_words("2024-03-01T12:30:00Z"), date_words("2024-02-30")
    (('Friday',), ('Friday', '12 h'), None)
    """
    words = _words_at(text[:UP_TO_THE_HOUR])
    return words if words is None or len(words) == 1 or _is_an_end(text[UP_TO_THE_HOUR:]) else None


@lru_cache(4096)  # events come in the order of time: an hour comes again and again, and so does a minute and second
def _words_at(beginning: str) -> tuple[str, ...] | None:
    """The weekday and the hour of a date, up to the hour; None for one that no calendar has."""
    found = _BEGINNING.fullmatch(beginning)
    if found is None:
        return None
    try:
        weekday = WEEKDAYS[date.fromisoformat(found[1]).weekday()]
    except ValueError:
        return None
    if found[2] is None:
        return (weekday,)
    return (weekday, f"{found[2]} h") if int(found[2]) < HOURS else None


@lru_cache(4096)
def _is_an_end(text: str) -> bool:
    """Whether this is what may follow the hour of a date."""
    return _END.fullmatch(text) is not None


def why_not_a_date(text: str) -> str:
    """The reason why ``date_words`` is None, for people."""
    return f"{text[:40]!r} is no date such as 2026-05-01 or 2026-05-01T10:03:00; the kind 'category' allows any value."
