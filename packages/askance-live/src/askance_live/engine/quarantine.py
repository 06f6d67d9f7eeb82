"""Events that could not be encoded: kept as they came, shown, and taken in once their fields can be.

An event is in the log or in quarantine, never in both: what moves it is one transaction. Its id names it in either
place, so a client that sends it again gets the same response, and gets the prediction once there is one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from askance_live.access.auth import note
from askance_live.clock import iso
from askance_live.engine.ingest import take_in
from askance_live.exchange.received import ReceivedEvent
from askance_live.problems import Unusable, result_or_problem
from askance_live.questions.labels import class_of, give_label
from askance_live.store.database import Session
from askance_live.store.rows import Query
from askance_live.store.schema import QuarantineRow

if TYPE_CHECKING:
    from askance_live.engine.state import EngineState
    from askance_live.engine.thread import Engine

AT_ONCE = 256  # events replayed in one transaction
GROUP_BYTES = 256_000  # of events replayed in one transaction, unless one has more: others wait while they are encoded
PAGE_BYTES = 1_000_000  # of events on one page, unless one has more
NEWEST = 3  # shown on the dashboard
AHEAD = "SELECT bytes FROM quarantine WHERE seq > ? ORDER BY seq LIMIT ?"
NEXT = Query(QuarantineRow, "quarantine", "WHERE seq > ? ORDER BY seq LIMIT ?")


class Fault(NamedTuple):
    """What is wrong with an event in quarantine."""

    id: str
    received: float
    field: str | None
    reason: str


LAST_FAULTS = Query(Fault, "quarantine", "ORDER BY seq DESC LIMIT ?")


class Page(NamedTuple):
    """Some of the events in quarantine, in the order in which they came."""

    events: list[dict[str, Any]]
    next: str | None


def read_page(session: Session, after: int, limit: int) -> Page:
    """The events after the one with this number: at most so many, and fewer that are large."""
    rows, more = _read_rows(session, after, limit, PAGE_BYTES)
    return Page([as_object(row) for row in rows], str(rows[-1].seq) if more else None)


def read_some(session: Session, limit: int) -> Page:
    """The first events, as many as are wanted, however large they are."""
    events: list[dict[str, Any]] = []
    page = Page([], "0")
    while page.next is not None and len(events) < limit:
        page = read_page(session, int(page.next), limit - len(events))
        events += page.events
    return Page(events, page.next)


def _read_rows(session: Session, after: int, most: int, most_bytes: int) -> tuple[list[QuarantineRow], bool]:
    """The next events, at least one if there is any, and whether others follow."""
    ahead = session.all(AHEAD, (after, most + 1))
    fitting = sum(size <= most_bytes for size in accumulate(int(size) for (size,) in ahead[:most]))
    rows = NEXT.all(session, (after, max(1, fitting)))
    return rows, len(ahead) > len(rows)


def as_object(row: QuarantineRow) -> dict[str, Any]:
    """An event in quarantine, for people and programs."""
    return {
        "id": row.id,
        "fields": msgspec.json.decode(row.fields),
        "time": None if row.time is None else msgspec.json.decode(row.time),
        "received": iso(row.received),
        "field": row.field,
        "reason": row.reason,
        "label": row.label,
    }


def newest(session: Session) -> list[dict[str, Any]]:
    """What is wrong with the events that came last."""
    return [
        {"id": row.id, "received": iso(row.received), "field": row.field, "reason": row.reason}
        for row in LAST_FAULTS.all(session, (NEWEST,))
    ]


def keep_label(session: Session, identifier: str, label: str, annotator: str) -> None:
    """Remember the label that an event in quarantine came with."""
    session.execute("UPDATE quarantine SET label = ?, annotator = ? WHERE id = ?", (label, annotator, identifier))


# --- out of it -------------------------------------------------------------------------------------------


def replay(session: Session, state: EngineState, after: int, most: int = AT_ONCE) -> dict[str, Any]:
    """Take the next events in, as if they came now; those that still cannot be encoded stay, with the reason."""
    rows, _ = _read_rows(session, after, most, GROUP_BYTES)
    done: dict[str, Any] = {"replayed": 0, "labels": 0, "kept": 0, "last": rows[-1].seq if rows else None}
    outcomes = take_in(session, state, [ReceivedEvent.of(row) for row in rows], state.clock.now())
    for row, outcome in zip(rows, outcomes, strict=True):
        if isinstance(outcome, Exception):
            field = outcome.field if isinstance(outcome, Unusable) else None
            session.execute("UPDATE quarantine SET field = ?, reason = ? WHERE seq = ?", (field, str(outcome), row.seq))
            done["kept"] += 1
            continue
        session.execute("DELETE FROM quarantine WHERE seq = ?", (row.seq,))
        state.quarantine.leave(1, row.bytes)
        state.count("replayed")
        done["replayed"] += 1
        label = None if row.label is None else result_or_problem(partial(class_of, state), row.label)
        if isinstance(label, int):
            give_label(session, state, row.annotator or "", row.id, label, None, False)
            done["labels"] += 1
    return done


def drop(session: Session, state: EngineState, identifiers: Sequence[str] | None, actor: str) -> int:
    """Give some events up, or all of them; how many there were."""
    where, values = "", list[Any]()
    if identifiers is not None:
        if not identifiers:
            return 0
        where, values = f" WHERE id IN ({', '.join('?' * len(identifiers))})", list(identifiers)
    count, size = session.all(f"SELECT count(*), coalesce(sum(bytes), 0) FROM quarantine{where}", values)[0]
    session.execute(f"DELETE FROM quarantine{where}", values)
    state.quarantine.leave(int(count), int(size))
    note(session, state.clock.now(), actor, "quarantine drop", {"events": int(count)})
    return int(count)


def replay_all(engine: Engine, actor: str) -> dict[str, int]:
    """Every event once, in transactions of some hundred, for a thread that may wait; the activity log has the sum."""
    total, after = {"replayed": 0, "labels": 0, "kept": 0}, 0
    while True:
        done = engine.submit(partial(replay, after=after)).result()
        if done["last"] is None:
            break
        for name in total:
            total[name] += done[name]
        after = done["last"]
    engine.submit(lambda session, state: note(session, state.clock.now(), actor, "quarantine replay", total)).result()
    return total


# --- what is wrong with it -------------------------------------------------------------------------------


def examine(session: Session) -> list[str]:
    """Problems in sentences, for ``askance doctor``."""
    stored = json.loads(session.value("SELECT value FROM meta WHERE name = 'quarantine'") or "{}")
    counted = tuple(map(int, session.all("SELECT count(*), coalesce(sum(bytes), 0) FROM quarantine")[0]))
    both = session.value("SELECT count(*) FROM quarantine q WHERE EXISTS (SELECT 1 FROM events e WHERE e.id = q.id)")
    findings = []
    stated = stored.get("held", 0)
    if counted != (stated, stored.get("bytes", 0)):
        findings.append(f"the quarantine holds {counted[0]} events but counts {stated}; restore a backup.")
    if both:
        findings.append(f"{both} events are in the log and in quarantine; restore a backup.")
    return findings


def remarks(session: Session) -> list[str]:
    """What people should know, without being wrong, in sentences."""
    held = int(session.value("SELECT count(*) FROM quarantine") or 0)
    if not held:
        return []
    last = newest(session)[0]
    return [
        f"{held:,} {'event is' if held == 1 else 'events are'} in quarantine, the last one {last['id']!r}: "
        f"{last['reason']} 'askance quarantine list' shows them; give the field a wider kind and rebuild, then "
        "'askance quarantine replay'."
    ]


def as_lines(page: Page) -> Iterator[dict[str, Any]]:
    """Events in quarantine as lines of an export, which /v1/import reads."""
    for item in page.events:
        reason = {"field": item.pop("field"), "reason": item.pop("reason")}
        yield {**item, "seq": None, "prediction": None, "ask": None, "answer": None, "quarantine": reason}
