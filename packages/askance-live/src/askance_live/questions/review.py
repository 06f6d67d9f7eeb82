"""Events that were asked about or answered, for whoever leads: found, sorted, corrected, closed, noted.

What changes something runs inside a transaction.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypedDict
from uuid import uuid4

import msgspec

from askance_live.clock import iso
from askance_live.engine.label_space import ShownLabel
from askance_live.engine.state import EngineState
from askance_live.exchange.event_filter import ASKED_OR_ANSWERED, Condition
from askance_live.exchange.export import summary
from askance_live.problems import Problem
from askance_live.questions.answers import skip_for_all
from askance_live.questions.labels import LABELED_EVENT, give_label
from askance_live.questions.queue import reason
from askance_live.questions.states import KEPT, VALID, AnswerKind, one_of
from askance_live.store.database import Session
from askance_live.store.rows import Query, columns, insert
from askance_live.store.schema import NoteRow

LAST_ANSWER = "coalesce((SELECT max(a.seq) FROM answers a WHERE a.event = e.seq), 0)"
Order = Literal["newest", "oldest", "answered", "unsure"]
ORDERS: dict[Order, tuple[str, str, str]] = {
    "newest": ("e.seq", "DESC", "<"),
    "oldest": ("e.seq", "ASC", ">"),
    "answered": (LAST_ANSWER, "DESC", "<"),
    "unsure": ("e.probability", "DESC", "<"),
}
"""What events are sorted by, in which direction, and how the next page relates to the last event of this one."""


class FoundEvent(NamedTuple):
    """An event of a page, and what the page is sorted by."""

    seq: int
    id: str
    fields: str
    received: float
    predicted: int
    probabilities: str
    asked: int
    state: str | None
    why: str | None
    probability: float
    key: float


class SaidOfEvent(NamedTuple):
    """An answer of an event of a page."""

    event: int
    id: str
    kind: str
    annotator: str
    label: int | None
    reason: str | None
    comment: str | None
    state: str
    created: float


SOURCE = "events e LEFT JOIN asks q ON q.id = e.asked"
SAID = Query(SaidOfEvent, "answers", f"WHERE state IN {one_of(KEPT)} AND event IN ({{}}) ORDER BY seq")
NOTES = Query(NoteRow, "notes", "WHERE event IN ({}) ORDER BY seq")
INSERT_NOTE = insert(NoteRow)
MOST_NOTES = 1_000
"""Of an event: a page of events has all of them."""


class Note(TypedDict):
    """A note beside an event."""

    by: str
    created: str
    text: str


class Said(TypedDict):
    """What somebody said of an event."""

    answer_id: str
    by: str
    kind: str
    label: ShownLabel | None
    state: str
    comment: str | None
    created: str


class Reviewed(TypedDict):
    """An event with what was said of it."""

    id: str
    seq: int
    received: str
    summary: str
    predicted: ShownLabel
    probability: float
    label: ShownLabel | None
    by: str | None
    state: str | None
    why: str | None
    answers: list[Said]
    notes: list[Note]


class ReviewedPage(TypedDict):
    """Some of the events."""

    events: list[Reviewed]
    next: str | None


def find_events(
    session: Session, state: EngineState, condition: Condition, order: Order, cursor: str, limit: int
) -> ReviewedPage:
    """A page of events, after the one that the ``cursor`` names."""
    key, direction, relation = ORDERS[order]
    condition = condition.and_(ASKED_OR_ANSWERED)
    if cursor:
        value, _, seq = cursor.partition("_")
        condition = condition.and_(f"({key}, e.seq) {relation} (?, ?)", float(value), int(seq))
    sql = (
        f"SELECT {columns(FoundEvent, SOURCE, state='q.state', key=key)} FROM {SOURCE} WHERE {condition.sql} "
        f"ORDER BY {key} {direction}, e.seq {direction} LIMIT ?"
    )
    rows = [FoundEvent(*row) for row in session.all(sql, (*condition.values, limit + 1))]
    page = rows[:limit]
    numbers = [row.seq for row in page]
    said: dict[int, list[SaidOfEvent]] = {}
    for answer in SAID.among(session, numbers):
        said.setdefault(answer.event, []).append(answer)
    notes: dict[int, list[Note]] = {}
    for note in NOTES.among(session, numbers):
        notes.setdefault(note.event, []).append(describe_note(note))
    return {
        "events": [_describe(state, row, said.get(row.seq, []), notes.get(row.seq, [])) for row in page],
        "next": f"{float(page[-1].key)!r}_{page[-1].seq}" if len(rows) > limit else None,
    }


def _describe(state: EngineState, row: FoundEvent, said: list[SaidOfEvent], notes: list[Note]) -> Reviewed:
    chances = msgspec.json.decode(row.probabilities)
    valid = next((answer for answer in said if answer.state in VALID), None)
    doubt = state.labels.doubtful(row.predicted, chances)
    return {
        "id": row.id,
        "seq": row.seq,
        "received": iso(row.received),
        "summary": summary(msgspec.json.decode(row.fields)),
        "predicted": state.labels.show(row.predicted),
        "probability": state.labels.chance(row.predicted, chances),
        "label": None if valid is None else _label(state, valid),
        "by": None if valid is None else valid.annotator,
        "state": row.state,
        "why": None if row.why is None else reason(state.names, row.why, doubt, row.probability),
        "answers": [
            {
                "answer_id": answer.id,
                "by": answer.annotator,
                "kind": answer.kind,
                "label": _label(state, answer),
                "state": answer.state,
                "comment": answer.comment,
                "created": iso(answer.created),
            }
            for answer in said
            if answer.kind != AnswerKind.SKIP
        ],
        "notes": notes,
    }


def _label(state: EngineState, answer: SaidOfEvent) -> ShownLabel | None:
    return None if answer.label is None else state.labels.show(answer.label)


def describe_note(note: NoteRow) -> Note:
    """A note as a client sees it."""
    return {"by": note.author, "created": iso(note.created), "text": note.text}


# --- what is done --------------------------------------------------------------------------------------------


def correct(session: Session, state: EngineState, by: str, event: str, place: int, why: str) -> dict[str, Any]:
    """Say what an event is, whatever was said before."""
    return give_label(session, state, by, event, place, None, True, may_review=True, comment=why)


def close(session: Session, state: EngineState, by: str, event: str, why: str) -> dict[str, Any]:
    """Nobody is asked about an event any more, and nothing is learned of it."""
    found = _find(session, event)
    if not found.asked:
        raise Problem("not_found", f"nobody was asked about the event {event!r}; there is nothing to close.")
    return skip_for_all(session, state, by, found.asked, uuid4().hex, why)


def add_note(session: Session, state: EngineState, by: str, event: str, text: str) -> Note:
    """Write something beside an event."""
    found = _find(session, event).seq
    if session.value("SELECT count(*) FROM notes WHERE event = ?", (found,)) >= MOST_NOTES:
        raise Problem("too_many_notes", f"this event has {MOST_NOTES:,} notes; no more of them are taken.")
    number = int(session.value("SELECT max(seq) FROM notes") or 0) + 1
    row = NoteRow(number, found, by, state.clock.now(), text)
    session.execute(INSERT_NOTE, row)
    return describe_note(row)


def _find(session: Session, event: str) -> Any:
    found = LABELED_EVENT.one(session, (event,))
    if found is None:
        raise Problem("unknown_event", f"there is no event {event!r}.")
    return found
