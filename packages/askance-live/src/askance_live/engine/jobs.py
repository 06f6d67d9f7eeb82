"""What other threads leave for the one that writes, and how much of it a transaction takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

from askance_live.engine.state import EngineState
from askance_live.exchange.received import ReceivedEvent
from askance_live.store.database import PATIENCE, Session

GROUP_EVENTS = 256  # events in one transaction: more would keep people waiting for their next question
GROUP_BYTES = 256_000  # of events in one transaction, unless one has more: encoding takes time by their bytes
GROUP_JOBS = 256

Work = Callable[[Session, EngineState], Any]


class Job:
    """Something to be done in a transaction; ``future`` gets what came of it."""

    __slots__ = ("events", "future", "size", "until", "work")

    def __init__(self, work: Work | None, events: list[ReceivedEvent] | None = None) -> None:
        self.work, self.events = work, events
        self.size = sum(len(event.text) for event in events or ())
        self.future: Future[Any] = Future()
        self.until = time.monotonic() + PATIENCE  # so long it waits for a store that is away


def in_parts(events: Sequence[ReceivedEvent]) -> Iterator[list[ReceivedEvent]]:
    """Events in groups that one transaction takes, in their order."""
    part: list[ReceivedEvent] = []
    size = 0
    for event in events:
        if part and (len(part) == GROUP_EVENTS or size + len(event.text) > GROUP_BYTES):
            yield part
            part, size = [], 0
        part.append(event)
        size += len(event.text)
    if part:
        yield part
