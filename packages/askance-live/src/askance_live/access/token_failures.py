"""Tokens that are not valid: how many are looked into, of one address and in all, in bounded memory.

A valid token is never held up, whoever else sends wrong ones from the same address: it is looked up first. The lookup
goes by the token's hash, so the time it takes says nothing about any token; and the answer is the same for one that is
unknown, expired or revoked. What is limited is the noise: answers, log lines, and rows of the activity log.

A login by a company's provider is another matter: whether it is valid, the provider must be asked. So an address with
too many failures waits before its next one.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from askance_live.http.proxies import read_address
from askance_live.problems import Problem

MOST_ADDRESSES = 10_000
ADDRESSES_AT_ONCE = 10
"""So many addresses may use up their own number within a minute before all of them wait."""


class Bucket:
    """So many at once, and as many again in every minute."""

    __slots__ = ("level", "per_minute", "since")

    def __init__(self, per_minute: float, now: float) -> None:
        self.per_minute, self.level, self.since = per_minute, per_minute, now

    def fill(self, now: float) -> None:
        self.level = min(self.per_minute, self.level + (now - self.since) * self.per_minute / 60.0)
        self.since = now

    def wait(self) -> float:
        """Seconds until there is room for one."""
        return max(0.0, (1.0 - self.level) * 60.0 / self.per_minute)


class Failures:
    """Counts wrong tokens by address; 0 per minute: any number."""

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute, self._clock = per_minute, clock
        self._all = Bucket(ADDRESSES_AT_ONCE * per_minute, clock())
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()
        self.unlogged = 0
        """Those refused since the last that was let through to the logs."""

    def count(self, address: str) -> int:
        """Count one that may be answered and logged, and tell how many before it were not; or refuse it."""
        if self.per_minute > 0:
            now = self._clock()
            own = self._own(address, now)
            self._all.fill(now)
            if wait := max(own.wait(), self._all.wait()):
                self.unlogged += 1
                raise _refusal("too many wrong tokens", wait, ", a valid one excepted")
            own.level -= 1.0
            self._all.level -= 1.0
        unlogged, self.unlogged = self.unlogged, 0
        return unlogged

    def check(self, address: str) -> None:
        """Refuse an address that has used up its own number, where it takes others' time to tell what is valid."""
        if self.per_minute > 0 and (wait := self._own(address, self._clock()).wait()):
            self.unlogged += 1
            raise _refusal("too many logins failed", wait)

    def _own(self, address: str, now: float) -> Bucket:
        key = group_of(address)
        own = self._buckets.pop(key, None) or Bucket(self.per_minute, now)
        self._buckets[key] = own
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        own.fill(now)
        return own


def _refusal(reason: str, wait: float, but: str = "") -> Problem:
    seconds = math.ceil(wait)
    return Problem(
        "rate_limited", f"{reason}; wait {seconds} seconds before the next{but}.",
        headers={"Retry-After": str(seconds)},
    )  # fmt: skip


def group_of(address: str) -> str:
    """Whose failures count together: an address of IPv4, or the network of IPv6 that one customer has.

    >>> group_of("10.1.2.3"), group_of("2001:db8::1") == group_of("2001:db8::2")
    ('10.1.2.3', True)
    """
    found = read_address(address)
    if found is None or found.version == 4:
        return address[:100] if found is None else str(found)
    return str(int(found) >> 64)
