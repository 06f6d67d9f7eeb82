"""Answers, skips, labels from elsewhere, and taking them back. Every function runs inside a transaction.

An answer is appended and never changed, but for its state:

    waiting     it will be learned when its grace is over
    learned     it was, once
    extra       it is kept but not learned: another came first, or the event is bad data
    undone      taken back by its author          superseded    replaced by a later answer
    skipped     no label
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import msgspec

from askance.live.clock import iso
from askance.live.ingest import digest_of
from askance.live.problems import Problem
from askance.live.queue import FOR_EVER, Ask, find, lease_again
from askance.live.state import State
from askance.live.store.database import Session
from askance.live.tallies import VALID, Row, answer_moved, asks_moved

UNDOABLE = 50
SKIPS = ("unsure", "bad_data", "later")


class Given(NamedTuple):
    """An answer or a skip as a client sent it, checked but for what only the store can tell."""

    id: str
    digest: bytes
    token: str | None
    label: int | None
    reason: str | None
    ms: int | None
    comment: str | None
    supersedes: str | None


def repeated(session: Session, given: Given) -> dict[str, Any] | None:
    """What was answered to the same answer_id before, if it came before."""
    row = session.one("SELECT digest, response FROM answers WHERE id = ?", (given.id,))
    if row is None:
        return None
    if bytes(row[0]) != given.digest:
        raise Problem("answer_id_reused", f"the answer_id {given.id!r} was used for another answer; make a new one.")
    response: dict[str, Any] = msgspec.json.decode(row[1])
    return response


def store(
    session: Session, state: State, given: Given, kind: str, ask: int | None, event: int, annotator: str, status: str,
    response: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """Append an answer with the response it will have for ever."""
    now = state.clock.now()
    due = now + state.config.queue.learn_after if status == "waiting" else None
    if "learn_at" in response:
        response["learn_at"] = None if due is None else iso(due)
    state.answers += 1
    session.execute(
        "INSERT INTO answers (seq, id, digest, kind, ask, event, annotator, label, reason, ms, comment, created, "
        "state, due, supersedes, response) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            state.answers, given.id, given.digest, kind, ask, event, annotator, given.label, given.reason, given.ms,
            given.comment, now, status, due, given.supersedes, json.dumps(response),
        ),
    )  # fmt: skip
    answer_moved(session, Row(kind, event, annotator, given.label, given.reason), None, status)
    if due is not None and (state.due is None or due < state.due):
        state.due = due
    if kind == "skip":
        state.count("skips")
    elif given.label is not None:
        state.count("answers")
        state.count_class("labeled", given.label)
    return response


def answer(session: Session, state: State, annotator: str, number: int, given: Given) -> dict[str, Any]:
    """An answer to an ask: trains if the ask still waits for one, else it is kept as extra."""
    if (before := repeated(session, given)) is not None:
        return before
    ask = find(session, number)
    stale = given.token != ask.token or ask.state != "leased" or ask.annotator != annotator
    mine = _standing(session, number, annotator)
    counts = any(said.state in VALID for said in mine)
    status = "waiting" if ask.state in ("open", "leased", "parked") and not counts else "extra"
    if given.supersedes in [said.id for said in mine]:
        status = "waiting" if counts else status  # in the place of the one that counts, whichever was named
        for said in mine:
            take_back(session, state, said.id, said.state, "superseded")
    elif mine and mine[0].label != given.label:
        raise Problem(
            "already_answered",
            f"you answered ask {number} with {state.classes[mine[0].label]!r} already; to correct it send "
            f'"supersedes": "{mine[0].id}".',
            answer_id=mine[0].id,
        )
    elif given.supersedes is not None and not mine:
        raise Problem(
            "unknown_answer", f"you have no answer {given.supersedes!r} to ask {number} that could be superseded."
        )
    event = session.value("SELECT id FROM events WHERE seq = ?", (ask.event,))
    if status == "waiting":
        session.execute("UPDATE asks SET state = 'answered', annotator = NULL, deadline = NULL WHERE id = ?", (number,))
        asks_moved(session, ask.state, "answered")
    response = {
        "answer_id": given.id,
        "ask": number,
        "event": event,
        "label": state.classes[given.label or 0],
        "outcome": "accepted" if status == "waiting" else "extra",
        "stale_token": stale,
        "learn_at": None,
    }
    return store(session, state, given, "answer", number, ask.event, annotator, status, response)


class Said(NamedTuple):
    """An answer of somebody's that stands."""

    id: str
    label: int
    state: str


def _standing(session: Session, ask: int, annotator: str) -> list[Said]:
    """A person's answers to an ask that stand: the one that counts, if one does, then the newest first.

    There are several where the same answer came twice, as from two devices.
    """
    rows = session.all(
        "SELECT id, label, state FROM answers WHERE ask = ? AND annotator = ? AND kind = 'answer' "
        "AND state NOT IN ('undone', 'superseded') ORDER BY seq DESC",
        (ask, annotator),
    )
    return sorted((Said(*row) for row in rows), key=lambda said: said.state not in VALID)


def skip(session: Session, state: State, annotator: str, number: int, given: Given) -> dict[str, Any]:
    """A question that cannot be answered: passed on, closed, or put off."""
    if (before := repeated(session, given)) is not None:
        return before
    ask = find(session, number)
    outcome = "extra"
    if ask.state in ("open", "leased", "parked"):
        outcome = _skipped(session, state, annotator, ask, given.reason or "")
    event = session.value("SELECT id FROM events WHERE seq = ?", (ask.event,))
    response = {"answer_id": given.id, "ask": number, "event": event, "reason": given.reason, "outcome": outcome}
    return store(session, state, given, "skip", number, ask.event, annotator, "skipped", response)


def _skipped(session: Session, state: State, annotator: str, ask: Ask, reason: str) -> str:
    settings = state.config.queue
    holds = ask.state != "leased" or ask.annotator == annotator  # else somebody else has it now, and keeps it
    if reason == "bad_data":
        session.execute("UPDATE asks SET state = 'closed', annotator = NULL, deadline = NULL WHERE id = ?", (ask.id,))
        asks_moved(session, ask.state, "closed")
        return "closed"
    unsure = reason == "unsure"
    until = FOR_EVER if unsure else state.clock.now() + settings.later
    session.execute(
        "INSERT INTO set_aside (ask, annotator, until) VALUES (?, ?, ?) "
        "ON CONFLICT (ask, annotator) DO UPDATE SET until = excluded.until",
        (ask.id, annotator, until),
    )
    skips = _unsure(session, ask.id, annotator) + 1 if unsure else ask.skips
    parked = skips >= settings.park_after
    session.execute("UPDATE asks SET skips = ? WHERE id = ?", (skips, ask.id))
    if holds:
        session.execute(
            "UPDATE asks SET state = ?, annotator = NULL, deadline = NULL WHERE id = ?",
            ("parked" if parked else "open", ask.id),
        )
    return "later" if not unsure else "parked" if parked else "returned"


def _unsure(session: Session, ask: int, besides: str = "") -> int:
    """How many people, one left out, are unsure about an ask."""
    found = session.value(
        "SELECT count(DISTINCT annotator) FROM answers "
        "WHERE ask = ? AND annotator <> ? AND kind = 'skip' AND reason = 'unsure' AND state = 'skipped'",
        (ask, besides),
    )
    return int(found)


def take_back(session: Session, state: State, identifier: str, before: str, after: str) -> None:
    """An answer is no longer valid. What the model learned from it stays until a rebuild."""
    (row,) = session.all("SELECT kind, event, annotator, label, reason FROM answers WHERE id = ?", (identifier,))
    session.execute("UPDATE answers SET state = ?, due = NULL WHERE id = ?", (after, identifier))
    answer_moved(session, Row(*row), before, after)
    if before == "learned":
        state.count("corrections")


def undo(session: Session, state: State, annotator: str, identifier: str) -> dict[str, Any]:
    """Take one's own answer or skip back; its ask comes back to its author.

    Where the same person gave the same answer to the ask twice, that is one answer, and all of it is taken back.
    """
    row = session.one(
        "SELECT seq, annotator, kind, ask, event, label, state, reason FROM answers WHERE id = ?", (identifier,)
    )
    if row is None or row[1] != annotator:
        raise Problem("unknown_answer", f"you have no answer {identifier!r}.")
    seq, _, kind, number, event, label, before, reason = row
    if before == "undone":
        return {"answer_id": identifier, "outcome": "already_undone", "ask": None}
    if before == "superseded":
        raise Problem("not_undoable", f"the answer {identifier!r} was replaced by a later one; undo that.")
    later = session.value("SELECT count(*) FROM answers WHERE annotator = ? AND seq > ?", (annotator, seq))
    if later >= UNDOABLE:
        raise Problem("not_undoable", f"the answer {identifier!r} is not among your last {UNDOABLE}.")
    taken = _standing(session, number, annotator) if kind == "answer" else [Said(identifier, label, before)]
    for said in taken:
        take_back(session, state, said.id, said.state, "undone")
        if kind != "skip":
            state.count("answers", -1)
            state.count_class("labeled", said.label, -1)
    returned = None
    if number is not None:
        ask = find(session, number)
        if kind == "skip":
            session.execute("DELETE FROM set_aside WHERE ask = ? AND annotator = ?", (number, annotator))
            if reason == "unsure":
                ask = ask._replace(skips=_unsure(session, number))
                session.execute("UPDATE asks SET skips = ? WHERE id = ?", (ask.skips, number))
        if _is_free(session, ask, event):
            returned = lease_again(session, state, annotator, ask)
    outcome = "correction" if any(said.state == "learned" for said in taken) else "withdrawn"
    return {"answer_id": identifier, "outcome": outcome, "ask": returned}


def _is_free(session: Session, ask: Ask, event: int) -> bool:
    """Whether an ask has no answer that counts, and is in nobody's hands."""
    if ask.state in ("leased", "expired") or _is_bad(session, ask):
        return False
    return not session.value(
        "SELECT count(*) FROM answers WHERE event = ? AND state IN ('waiting', 'learned')", (event,)
    )


def _is_bad(session: Session, ask: Ask) -> bool:
    """Whether an ask is closed as bad data, and that was not taken back."""
    return ask.state == "closed" and bool(
        session.value(
            "SELECT count(*) FROM answers WHERE ask = ? AND kind = 'skip' AND reason = 'bad_data' "
            "AND state = 'skipped'",
            (ask.id,),
        )
    )


def label(
    session: Session, state: State, source: str, event_id: str, place: int, identifier: str | None, replace: bool
) -> dict[str, Any]:
    """A label by event from any source: late truth, another tool. What the source says already changes nothing.

    One for an event that somebody called bad data is kept as extra, unless it is to ``replace`` that judgement.
    """
    row = session.one("SELECT seq, asked FROM events WHERE id = ?", (event_id,))
    if row is None:
        raise Problem("unknown_event", f"there is no event {event_id!r}; send it to /v1/events first, then its label.")
    event, ask = row
    said = {"event": event_id, "label": state.classes[place]}
    digest = digest_of([said, "label"])
    if identifier is not None:
        before = session.one("SELECT digest, response FROM answers WHERE id = ?", (identifier,))
        if before is not None and bytes(before[0]) == digest:
            return {**msgspec.json.decode(before[1]), "duplicate": True}
        if before is not None:
            raise Problem("answer_id_reused", f"the id {identifier!r} was used for another label; make a new one.")
    valid = session.one(
        "SELECT id, label, state, annotator FROM answers WHERE event = ? AND state IN ('waiting', 'learned') "
        "ORDER BY seq DESC LIMIT 1",
        (event,),
    )
    status = "waiting"
    bad = valid is None and not replace and ask and _is_bad(session, find(session, ask))
    if bad or (valid is not None and valid[1] == place):
        if identifier is None and (said_before := _said_before(session, event, source, place)) is not None:
            return {**said_before, "duplicate": True}
        status = "extra"
    elif valid is not None:
        if not replace:
            raise Problem(
                "already_labeled",
                f"the event {event_id!r} was labeled {state.classes[valid[1]]!r} by {valid[3]}; "
                'send "replace": true to correct it.',
            )
        take_back(session, state, valid[0], valid[2], "superseded")
    name = identifier or _new_name(session, state, f"label:{source}:{event_id}")
    given = Given(name, digest, None, place, None, None, None, valid[0] if valid and status == "waiting" else None)
    if ask and status == "waiting" and (was := find(session, ask).state) != "closed":
        session.execute("UPDATE asks SET state = 'answered', annotator = NULL, deadline = NULL WHERE id = ?", (ask,))
        asks_moved(session, was, "answered")
    response = {
        "label_id": name,
        **said,
        "outcome": "accepted" if status == "waiting" else "extra",
        "learn_at": None,
        "duplicate": False,
    }
    return store(session, state, given, "label", ask or None, event, source, status, response)


def _said_before(session: Session, event: int, source: str, place: int) -> dict[str, Any] | None:
    """What was answered to the same label from the same source, where that still stands."""
    row = session.one(
        "SELECT response FROM answers WHERE event = ? AND annotator = ? AND kind = 'label' AND label = ? "
        "AND state IN ('waiting', 'learned', 'extra') ORDER BY seq DESC LIMIT 1",
        (event, source, place),
    )
    return None if row is None else msgspec.json.decode(row[0])


def _new_name(session: Session, state: State, name: str) -> str:
    """A name for a label that came without one: the same where it is free, so that it can be guessed."""
    number = state.answers + 1
    found = name
    while session.one("SELECT 1 FROM answers WHERE id = ?", (found,)) is not None:
        found = f"{name}:{number}"
        number += 1
    return found
