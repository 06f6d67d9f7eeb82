"""Time that never jumps: the wall clock at the start, moved on by the monotonic one.

Deadlines and time stamps both come from here. So a lease cannot end early because somebody set the machine's clock,
and a stored deadline still means something after a restart.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime


class Clock:
    """Seconds since 1970, never going back while the process lives."""

    def __init__(self) -> None:
        self._base = time.time() - time.monotonic()

    def now(self) -> float:
        """The time, in seconds since 1970."""
        return self._base + time.monotonic()

    def not_before(self, moment: float) -> None:
        """Move on to ``moment`` if that lies ahead: what the store has seen already is in the past."""
        self._base += max(0.0, moment - self.now())


def iso(seconds: float) -> str:
    """A time as people and programs read it.

    >>> iso(0.25)
    '1970-01-01T00:00:00.250Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
