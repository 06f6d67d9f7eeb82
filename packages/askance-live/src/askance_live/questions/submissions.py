"""What people and sources say, as it is stored: appended once, and answered alike for ever.

Every function runs inside a transaction.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import msgspec

from askance_live.clock import iso
from askance_live.engine.label_space import name_some
from askance_live.engine.state import EngineState
from askance_live.problems import Problem
from askance_live.questions.states import BY_ONE, AnswerKind, AnswerState
from askance_live.questions.transitions import add_answer
from askance_live.store.database import Session
from askance_live.store.rows import Query
from askance_live.store.schema import AnswerRow


class Submission(NamedTuple):
    """An answer or a skip as a client sent it, checked but for what only the store can tell."""

    id: str
    digest: bytes
    token: str | None
    label: int | None
    reason: str | None
    ms: int | None
    comment: str | None
    supersedes: str | None


class Response(NamedTuple):
    """What was answered to an answer, the digest of what came, and from whom."""

    digest: bytes
    annotator: str
    response: str


RESPONSE = Query(Response, "answers", "WHERE id = ?")
BY_EVENT, OF_SEVERAL = "label:", "consensus:"
MOST_ANSWERS = 1_000
"""Of an event, corrections and skips counted: what one does with all of them takes a bounded time."""
MADE_HERE = (BY_EVENT, OF_SEVERAL)
"""How the ids begin that are made here, for labels without one and for what several people agree on; so nobody can take
that of somebody else before them."""


def find_response(
    session: Session, identifier: str, annotator: str, digest: bytes, otherwise: str
) -> dict[str, Any] | None:
    """What was answered to the same id of the same author before, if it came before; ``otherwise`` says what another
    use of it is."""
    before = RESPONSE.one(session, (identifier,))
    if before is None:
        if identifier.startswith(MADE_HERE):
            words = " or ".join(map(repr, MADE_HERE))
            raise Problem("invalid", f"ids that begin with {words} are made by the service; choose another one.")
        return None
    if before.annotator != annotator or bytes(before.digest) != digest:
        raise Problem("answer_id_reused", otherwise)
    response: dict[str, Any] = msgspec.json.decode(before.response)
    return response


def find_repeated(session: Session, annotator: str, given: Submission) -> dict[str, Any] | None:
    """What was answered to the same answer_id before, if it came before."""
    otherwise = f"the answer_id {given.id!r} was used for another answer; make a new one."
    return find_response(session, given.id, annotator, given.digest, otherwise)


def refuse_retired(state: EngineState, label: int) -> None:
    """Refuse a class that is no longer offered; to be called once what came before is known not to come again."""
    if not state.is_offered(label):
        known = name_some(state.config.classes)
        raise Problem(
            "retired_label", f"the class {state.labels.show(label)!r} is retired; choose one of {known}.", field="label"
        )


def store(
    session: Session, state: EngineState, given: Submission, kind: AnswerKind, ask: int | None, event: int,
    annotator: str, status: AnswerState, response: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """Append an answer with the response it will have for ever."""
    if session.value("SELECT count(*) FROM answers WHERE event = ?", (event,)) >= MOST_ANSWERS:
        raise Problem("too_many_answers", f"this event has {MOST_ANSWERS:,} answers; no more of them are taken.")
    now = state.clock.now()
    due = now + state.config.queue.learn_after if status == AnswerState.WAITING else None
    if "learn_at" in response:
        response["learn_at"] = None if due is None else iso(due)
    state.answers += 1
    row = AnswerRow(
        seq=state.answers, id=given.id, digest=given.digest, kind=kind, ask=ask, event=event, annotator=annotator,
        label=given.label, reason=given.reason, ms=given.ms, comment=given.comment, created=now, state=status, due=due,
        supersedes=given.supersedes, response=json.dumps(response),
    )  # fmt: skip
    add_answer(session, row)
    state.log_hash.add("answers", [row])
    if due is not None and (state.due is None or due < state.due):
        state.due = due
    if kind == AnswerKind.SKIP:
        state.count("skips")
    elif kind in BY_ONE and given.label is not None:
        state.count("answers")
        state.count_class("labeled", given.label)
    return response


def new_name(session: Session, state: EngineState, name: str) -> str:
    """A name for an answer that came without one: the same where it is free, so that it can be guessed."""
    number = state.answers + 1
    found = name
    while session.one("SELECT 1 FROM answers WHERE id = ?", (found,)) is not None:
        found = f"{name}:{number}"
        number += 1
    return found
