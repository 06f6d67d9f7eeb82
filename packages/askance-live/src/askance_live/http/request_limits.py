"""How much one sender may ask for: requests per second; places and bytes of bodies at the same time.

A sender is a token, wherever it is used, or an address where there is none.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from askance_live.problems import Problem

MOST_SENDERS = 10_000


class TokenBucket:
    """A bucket of requests per sender, filled steadily; two seconds' worth may come at once."""

    def __init__(self, per_second: float) -> None:
        self.per_second = per_second
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, sender: str) -> None:
        """Count a request, or refuse it."""
        if self.per_second <= 0:
            return
        now = time.monotonic()
        full = 2.0 * self.per_second
        level, since = self._buckets.pop(sender, (full, now))
        level = min(full, level + (now - since) * self.per_second)
        allowed = level >= 1.0
        self._buckets[sender] = (level - 1.0 if allowed else level), now
        if len(self._buckets) > MOST_SENDERS:
            self._buckets.popitem(last=False)
        if not allowed:
            raise Problem(
                "rate_limited",
                f"more than {self.per_second:g} requests a second; send events in batches, or slow down.",
                headers={"Retry-After": "1"},
            )


class Slots:
    """Places for what is under way at the same time, shared by those who want them.

    A sender who has h places gets another while more than h are free:

        h(s) < n - sum over r of h(r)

    So one alone gets half of the n places, k who take all they can get n / (k + 1) each, and whoever has none finds one
    (Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998).
    """

    def __init__(self, most: int, otherwise: str, seconds: int = 1) -> None:
        """``otherwise`` is said where there is no place, and that one should come back after so many ``seconds``."""
        self.most, self.otherwise, self.seconds = most, otherwise, seconds
        self.held: Counter[str] = Counter()
        self.total = 0

    @contextmanager
    def place(self, sender: str) -> Iterator[None]:
        """A place until the block ends, or a problem."""
        self.take(sender)
        try:
            yield
        finally:
            self.release(sender)

    def take(self, sender: str) -> None:
        """A place that must be released, or a problem."""
        if self.held[sender] >= self.most - self.total:
            raise Problem("busy", self.otherwise, headers={"Retry-After": str(self.seconds)})
        self.held[sender] += 1
        self.total += 1

    def release(self, sender: str) -> None:
        """The place is for others again."""
        self.total -= 1
        self.held[sender] -= 1
        if not self.held[sender]:
            del self.held[sender]


class Memory:
    """The bytes of all bodies that are being received or worked on, in all and of each sender.

    The first bytes of a body count for nothing: whoever sends short ones never waits for those who send long ones."""

    def __init__(self, most: int, most_of_one: int, free: int) -> None:
        self.most, self.most_of_one, self.free = most, most_of_one, free
        self.held: Counter[str] = Counter()
        self.total = 0

    @contextmanager
    def body(self, sender: str) -> Iterator[BodyMeter]:
        """Count a body of this sender until the block ends."""
        held = BodyMeter(self, sender)
        try:
            yield held
        finally:
            held.release()


class BodyMeter:
    """One body, as it grows."""

    __slots__ = ("counted", "memory", "sender", "size")

    def __init__(self, memory: Memory, sender: str) -> None:
        self.memory, self.sender = memory, sender
        self.size = self.counted = 0

    def grow(self, size: int) -> None:
        """Count so many bytes more, or refuse them."""
        memory = self.memory
        self.size += size
        more = max(0, self.size - memory.free) - self.counted
        if not more:
            return
        if memory.held[self.sender] + more > memory.most_of_one or memory.total + more > memory.most:
            raise Problem(
                "busy",
                "too many large bodies at the same time; send one after the other, or try again in a moment.",
                headers={"Retry-After": "1", "Connection": "close"},
            )
        self.counted += more
        memory.held[self.sender] += more
        memory.total += more

    def release(self) -> None:
        memory = self.memory
        memory.total -= self.counted
        memory.held[self.sender] -= self.counted
        if not memory.held[self.sender]:
            del memory.held[self.sender]
        self.counted = 0
