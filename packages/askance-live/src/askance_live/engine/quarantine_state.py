"""What the engine remembers of the quarantine: how much it holds, and the way into it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from askance.data.encoding.kind_evidence import TypeMismatches
from askance_live.problems import Problem
from askance_live.store.database import Session
from askance_live.store.rows import Query, insert
from askance_live.store.schema import QuarantineRow

if TYPE_CHECKING:
    from askance_live.config import ServerSettings
    from askance_live.engine.learner import Learner
    from askance_live.exchange.received import ReceivedEvent

NAME = "quarantine"
CODE = "quarantined"


class HeldEvent(NamedTuple):
    """What is said of an event in quarantine, as it is stored."""

    id: str
    digest: bytes
    field: str | None
    reason: str


HELD = Query(HeldEvent, "quarantine", "WHERE id IN ({})")
INSERT = insert(QuarantineRow)


class QuarantineState:
    """How many events are in quarantine, how large they are, and how many were not kept; stored with every change."""

    def __init__(self, document: str | None) -> None:
        kept: dict[str, Any] = json.loads(document or "{}")
        self.held: int = kept.get("held", 0)
        self.bytes: int = kept.get("bytes", 0)
        self.dropped: int = kept.get("dropped", 0)
        self.last: int = kept.get("last", 0)
        self.strays: dict[str, Any] = kept.get("strays", {})
        self._document = document

    def take_changes(self, learner: Learner) -> str | None:
        """All of it, as JSON, where it is not what is stored; with the stray values that are no part of the model."""
        self.strays = learner.features.mismatches.to_dict()
        numbers = {"held": self.held, "bytes": self.bytes, "dropped": self.dropped, "last": self.last}
        document = json.dumps({**numbers, "strays": self.strays})
        is_new = self._document is None and not any(numbers.values()) and not self.strays
        if is_new or document == self._document:
            return None
        self._document = document
        return document

    def remind(self, learner: Learner) -> None:
        """Tell a model that was read from the log which values were stray lately."""
        learner.features.mismatches = TypeMismatches.from_dict(self.strays)

    def enter(
        self, session: Session, settings: ServerSettings, event: ReceivedEvent, field: str, reason: str, now: float
    ) -> Any:
        """Keep an event; what is said of it, or a problem where there is no room."""
        size = len(event.text.encode())
        if self.held >= settings.quarantine_events or self.bytes + size > settings.quarantine_bytes:
            self.dropped += 1
            return Problem(
                "invalid",
                f"{reason} The event was not kept, for the quarantine is full (server.quarantine_events, "
                "server.quarantine_bytes): replay or drop what is in it.",
                field=field,
            )
        self.last += 1
        self.held += 1
        self.bytes += size
        row = QuarantineRow(
            id=event.id, digest=event.digest, fields=event.text, time=event.time, seq=self.last, received=now,
            field=field, reason=reason, bytes=size,
        )  # fmt: skip
        session.execute(INSERT, row)
        return say(event.id, field, reason)

    def leave(self, events: int, size: int) -> None:
        """So many events are no longer in quarantine."""
        self.held -= events
        self.bytes -= size

    def find(self, session: Session, identifiers: Iterable[str]) -> dict[str, tuple[bytes, dict[str, Any]]]:
        """The digests of the events that are in quarantine, and what is said of them, by their ids."""
        if not self.held:
            return {}
        return {
            row.id: (bytes(row.digest), say(row.id, row.field, row.reason)) for row in HELD.among(session, identifiers)
        }


def say(identifier: str, field: str | None, reason: str) -> dict[str, Any]:
    """What is said of an event in quarantine."""
    return {
        "id": identifier,
        "code": CODE,
        "field": field,
        "detail": f"{reason} The event was not predicted; it is kept in quarantine.",
    }


def is_quarantined(outcome: Any) -> bool:
    """Whether this is said of an event in quarantine."""
    return isinstance(outcome, dict) and outcome.get("code") == CODE
