"""The machine's clock, and how it is followed when somebody sets it.

Between two calls of ``follow`` time flows with the monotonic clock: it neither jumps nor stands still within a
transaction. ``follow`` takes up what the machine's clock says, and tells by how much that was set, forward or back, so
that what ends at a stored time can be moved along (``deadlines``). Sequence numbers order what happens, not times.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

STEP = 1.0  # seconds: less is a clock that is being adjusted, more is one that was set
LAST_MOMENT = 253_402_300_799.0  # of the year 9999
YEAR, DAY, HOUR, MINUTE = 365.25 * 86_400.0, 86_400.0, 3_600.0, 60.0


class Clock:
    """Seconds since 1970; ``wall`` is the machine's clock."""

    def __init__(self, wall: Callable[[], float] | None = None) -> None:
        self._wall = wall
        self._base = self._difference()

    def _difference(self) -> float:
        return (time.time() if self._wall is None else self._wall()) - time.monotonic()

    def now(self) -> float:
        """The time, in seconds since 1970."""
        return self._base + time.monotonic()

    def follow(self) -> float:
        """Take up the machine's time; by how many seconds it was set since the last call, 0 where it was not."""
        before, self._base = self._base, self._difference()
        step = self._base - before
        return step if abs(step) >= STEP else 0.0


def iso(seconds: float) -> str:
    """A time as people and programs read it.

    >>> iso(0.25)
    '1970-01-01T00:00:00.250Z'
    """
    moment = datetime.fromtimestamp(min(seconds, LAST_MOMENT), UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def span(seconds: float) -> str:
    """A time that passed, as one says it.

    >>> span(40.2), span(870), span(9000), span(604_800), span(1e8)
    ('40 seconds', '14 minutes', '2.5 hours', '7 days', '3.2 years')
    """
    if seconds < 90.0:
        return f"{seconds:.0f} seconds"
    if seconds < 1.5 * HOUR:
        return f"{seconds / MINUTE:.0f} minutes"
    unit, name = (HOUR, "hours") if seconds < 2 * DAY else (DAY, "days") if seconds < YEAR else (YEAR, "years")
    return f"{seconds / unit:.1f}".removesuffix(".0") + f" {name}"
