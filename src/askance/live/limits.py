"""How much one client may ask for: requests per second, and so many at the same time."""

from __future__ import annotations

import time
from collections import OrderedDict

from askance.live.problems import Problem

MOST_CLIENTS = 10_000


class Rate:
    """A bucket of requests per client, filled steadily; two seconds' worth may come at once."""

    def __init__(self, per_second: float) -> None:
        self.per_second = per_second
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> None:
        """Count a request, or refuse it."""
        if self.per_second <= 0:
            return
        now = time.monotonic()
        full = 2.0 * self.per_second
        level, since = self._buckets.pop(client, (full, now))
        level = min(full, level + (now - since) * self.per_second)
        allowed = level >= 1.0
        self._buckets[client] = (level - 1.0 if allowed else level), now
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        if not allowed:
            raise Problem(
                "rate_limited",
                f"more than {self.per_second:g} requests a second; send events in batches, or slow down.",
                headers={"Retry-After": "1"},
            )
