"""Answers and skips. Every function runs inside a transaction.

An answer is appended and never changed, but for its state (``states.AnswerState``). One's own word may be taken back or
replaced; somebody else's takes the scope ``review``. Either is in the activity log.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import msgspec

from askance.live.clock import iso
from askance.live.corrections import (
    EarlierAnswer,
    count_unsure,
    earlier_answers,
    earlier_answers_of_another,
    event_name,
    need_review,
    remember,
    take_back,
)
from askance.live.engine_state import EngineState
from askance.live.problems import Problem
from askance.live.queue import FOR_EVER, Ask, find, is_passed_on
from askance.live.states import IN_PLAY, VALID, AnswerKind, AnswerState, AskState, SkipReason
from askance.live.store.database import Session
from askance.live.store.rows import Query
from askance.live.store.schema import AnswerRow
from askance.live.transitions import add_answer, move_ask

SKIPS = tuple(SkipReason)


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
    """What was answered to an answer, and the digest of what came."""

    digest: bytes
    response: str


RESPONSE = Query(Response, "answers", "WHERE id = ?")
MADE_HERE = "label:"
"""How the ids begin that labels get which come without one; so nobody can take that of somebody else before them."""


def find_response(session: Session, identifier: str, digest: bytes, otherwise: str) -> dict[str, Any] | None:
    """What was answered to the same id before, if it came before; ``otherwise`` says what another use of it is."""
    before = RESPONSE.one(session, (identifier,))
    if before is None:
        if identifier.startswith(MADE_HERE):
            raise Problem("invalid", f"ids that begin with {MADE_HERE!r} are made by the service; choose another one.")
        return None
    if bytes(before.digest) != digest:
        raise Problem("answer_id_reused", otherwise)
    response: dict[str, Any] = msgspec.json.decode(before.response)
    return response


def find_repeated(session: Session, given: Submission) -> dict[str, Any] | None:
    """What was answered to the same answer_id before, if it came before."""
    otherwise = f"the answer_id {given.id!r} was used for another answer; make a new one."
    return find_response(session, given.id, given.digest, otherwise)


def store(
    session: Session, state: EngineState, given: Submission, kind: AnswerKind, ask: int | None, event: int,
    annotator: str, status: AnswerState, response: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """Append an answer with the response it will have for ever."""
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
    elif given.label is not None:
        state.count("answers")
        state.count_class("labeled", given.label)
    return response


def answer(
    session: Session, state: EngineState, annotator: str, number: int, given: Submission, may_review: bool = False
) -> dict[str, Any]:
    """An answer to an ask: trains if the ask still waits for one, else it is kept as extra.

    It does not wait for this one where it has passed on to somebody else, who has it now.
    """
    if (before := find_repeated(session, given)) is not None:
        return before
    ask = find(session, number)
    has_passed_on = is_passed_on(ask, annotator, given.token or "", state.clock.now())
    stale = given.token != ask.token or ask.state != AskState.LEASED or ask.annotator != annotator
    mine = earlier_answers(session, number, annotator)
    counts = any(earlier.state in VALID for earlier in mine)
    is_free = ask.state in IN_PLAY and not has_passed_on
    status = AnswerState.WAITING if is_free and not counts else AnswerState.EXTRA
    taken: list[EarlierAnswer] = []
    if given.supersedes in [earlier.id for earlier in mine]:
        taken = mine
    elif theirs := earlier_answers_of_another(session, number, annotator, given.supersedes):
        need_review(may_review, f"the answer {given.supersedes!r} is {theirs[0].annotator}'s; replacing it")
        taken = [*theirs, *mine]
    elif mine and mine[0].label != given.label:
        raise Problem(
            "already_answered",
            f"you answered ask {number} with {state.classes[mine[0].label or 0]!r} already; to correct it send "
            f'"supersedes": "{mine[0].id}".',
            answer_id=mine[0].id,
        )
    elif given.supersedes is not None and not mine:
        raise Problem(
            "unknown_answer", f"you have no answer {given.supersedes!r} to ask {number} that could be superseded."
        )
    if any(earlier.state in VALID for earlier in taken):
        status = AnswerState.WAITING  # in the place of the one that counts, whichever was named
    event = event_name(session, ask.event)
    if taken:
        was = [take_back(session, state, earlier, AnswerState.SUPERSEDED) for earlier in taken]
        after = {"answer_id": given.id, "label": state.classes[given.label or 0], "by": annotator}
        remember(session, state, annotator, "answer replace", event, number, was, after)
    if status == AnswerState.WAITING:
        move_ask(session, ask, AskState.ANSWERED)
    response = {
        "answer_id": given.id,
        "ask": number,
        "event": event,
        "label": state.classes[given.label or 0],
        "outcome": "accepted" if status == AnswerState.WAITING else "extra",
        "stale_token": stale,
        "learn_at": None,
    }
    return store(session, state, given, AnswerKind.ANSWER, number, ask.event, annotator, status, response)


def skip(session: Session, state: EngineState, annotator: str, number: int, given: Submission) -> dict[str, Any]:
    """A question that cannot be answered: passed on, closed, or put off."""
    if (before := find_repeated(session, given)) is not None:
        return before
    ask = find(session, number)
    has_passed_on = is_passed_on(ask, annotator, given.token or "", state.clock.now())
    event = event_name(session, ask.event)
    outcome = "extra"
    if ask.state in IN_PLAY:
        if given.reason != SkipReason.BAD_DATA:
            outcome = _set_aside(session, state, annotator, ask, given.reason or "", not has_passed_on)
        elif not has_passed_on:
            move_ask(session, ask, AskState.CLOSED)  # nobody is asked about it any more
            outcome = "closed"
            after = {"answer_id": given.id, "reason": given.reason, "by": annotator}
            remember(session, state, annotator, "question close", event, number, [], after)
    response = {"answer_id": given.id, "ask": number, "event": event, "reason": given.reason, "outcome": outcome}
    return store(session, state, given, AnswerKind.SKIP, number, ask.event, annotator, AnswerState.SKIPPED, response)


def _set_aside(session: Session, state: EngineState, annotator: str, ask: Ask, reason: str, moves: bool) -> str:
    """Unsure, or later: for others meanwhile, unless somebody has it now, who keeps it."""
    settings = state.config.queue
    unsure = reason == SkipReason.UNSURE
    until = FOR_EVER if unsure else state.clock.now() + settings.later
    session.execute(
        "INSERT INTO set_aside (ask, annotator, until) VALUES (?, ?, ?) "
        "ON CONFLICT (ask, annotator) DO UPDATE SET until = excluded.until",
        (ask.id, annotator, until),
    )
    skips = count_unsure(session, ask.id, annotator) + 1 if unsure else ask.skips
    parked = skips >= settings.park_after
    session.execute("UPDATE asks SET skips = ? WHERE id = ?", (skips, ask.id))
    if moves:
        move_ask(session, ask, AskState.PARKED if parked else AskState.OPEN)
    return "later" if not unsure else "parked" if parked else "returned"
