"""What was said, taken back or replaced: one's own word, or with the scope ``review`` anybody's.

The activity log has it.

Every function runs inside a transaction.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from askance.live.auth import note
from askance.live.dashboard_counts import CountedAnswer
from askance.live.engine_state import EngineState
from askance.live.problems import Problem
from askance.live.queue import Ask, find, lease_again
from askance.live.states import TAKEN_BACK, VALID, AnswerKind, AnswerState, AskState, SkipReason, one_of
from askance.live.store.database import Session
from askance.live.store.rows import Query
from askance.live.transitions import move_answer, move_ask

UNDOABLE = 50


class EarlierAnswer(NamedTuple):
    """An answer or a skip that is stored."""

    seq: int
    id: str
    kind: str
    ask: int | None
    event: int
    annotator: str
    label: int | None
    reason: str | None
    state: str


BY_ID = Query(EarlierAnswer, "answers", "WHERE id = ?")
STANDING = Query(
    EarlierAnswer,
    "answers",
    f"WHERE ask = ? AND annotator = ? AND kind = '{AnswerKind.ANSWER}' AND state NOT IN {one_of(TAKEN_BACK)} "
    "ORDER BY seq DESC",
)
VALID_OF_EVENT = Query(
    EarlierAnswer, "answers", f"WHERE event = ? AND state IN {one_of(VALID)} ORDER BY seq DESC LIMIT 1"
)
CALLED_BAD = Query(
    EarlierAnswer,
    "answers",
    f"WHERE ask = ? AND kind = '{AnswerKind.SKIP}' AND reason = '{SkipReason.BAD_DATA}' "
    f"AND state = '{AnswerState.SKIPPED}' ORDER BY seq",
)
COUNT_VALID = f"SELECT count(*) FROM answers WHERE event = ? AND state IN {one_of(VALID)}"
COUNT_UNSURE = (
    "SELECT count(DISTINCT annotator) FROM answers "
    f"WHERE ask = ? AND annotator <> ? AND kind = '{AnswerKind.SKIP}' AND reason = '{SkipReason.UNSURE}' "
    f"AND state = '{AnswerState.SKIPPED}'"
)


def event_name(session: Session, event: int) -> str:
    """The id of the event with this number."""
    return str(session.value("SELECT id FROM events WHERE seq = ?", (event,)))


def remember(
    session: Session, state: EngineState, actor: str, action: str, event: str, ask: int | None,
    before: list[dict[str, Any]], after: dict[str, Any] | None,
) -> None:  # fmt: skip
    """Write into the activity log what was said of an event, and what holds instead."""
    note(session, state.clock.now(), actor, action, {"event": event, "ask": ask, "before": before, "after": after})


def need_review(may_review: bool, what: str) -> None:
    if not may_review:
        raise Problem("forbidden", f"{what} needs a token with the scope 'review'.")


def earlier_answers(session: Session, ask: int, annotator: str) -> list[EarlierAnswer]:
    """A person's answers to an ask that stand: the one that counts, if one does, then the newest first.

    There are several where the same answer came twice, as from two devices.
    """
    return sorted(STANDING.all(session, (ask, annotator)), key=lambda earlier: earlier.state not in VALID)


def earlier_answers_of_another(
    session: Session, ask: int, annotator: str, identifier: str | None
) -> list[EarlierAnswer]:
    """The answers to an ask that stand, of the other person whose answer this is."""
    named = BY_ID.one(session, (identifier,)) if identifier else None
    if named is None or named.ask != ask or named.annotator == annotator:
        return []
    theirs = earlier_answers(session, ask, named.annotator)
    return theirs if identifier in [earlier.id for earlier in theirs] else []


def take_back(session: Session, state: EngineState, earlier: EarlierAnswer, after: AnswerState) -> dict[str, Any]:
    """An answer is no longer valid; what it was. What the model learned from it stays until a rebuild."""
    move_answer(session, CountedAnswer.of(earlier), after)
    if earlier.state == AnswerState.LEARNED:
        state.count("corrections")
    content = {"reason": earlier.reason} if earlier.label is None else {"label": state.classes[earlier.label]}
    return {"answer_id": earlier.id, **content, "by": earlier.annotator, "state": earlier.state}


def undo(
    session: Session, state: EngineState, annotator: str, identifier: str, may_review: bool = False
) -> dict[str, Any]:
    """Take one's own answer or skip back; its ask comes back to its author. Somebody else's: to whoever is next.

    Where the same person gave the same answer to the ask twice, that is one answer, and all of it is taken back.
    """
    given = BY_ID.one(session, (identifier,))
    if given is None:
        raise Problem("unknown_answer", f"there is no answer {identifier!r}.")
    author, number = given.annotator, given.ask
    if author != annotator:
        need_review(may_review, f"the answer {identifier!r} is {author}'s; taking it back")
    if given.state == AnswerState.UNDONE:
        return {"answer_id": identifier, "outcome": "already_undone", "ask": None}
    if given.state == AnswerState.SUPERSEDED:
        raise Problem("not_undoable", f"the answer {identifier!r} was replaced by a later one; undo that.")
    later = session.value("SELECT count(*) FROM answers WHERE annotator = ? AND seq > ?", (author, given.seq))
    if later >= UNDOABLE and not may_review:
        raise Problem("not_undoable", f"the answer {identifier!r} is not among your last {UNDOABLE}.")
    taken = [given]
    if given.kind == AnswerKind.ANSWER and number is not None:
        taken = earlier_answers(session, number, author)
    was = []
    for earlier in taken:
        was.append(take_back(session, state, earlier, AnswerState.UNDONE))
        if earlier.label is not None:
            state.count("answers", -1)
            state.count_class("labeled", earlier.label, -1)
    returned = None
    if number is not None:
        ask = find(session, number)
        if given.kind == AnswerKind.SKIP:
            session.execute("DELETE FROM set_aside WHERE ask = ? AND annotator = ?", (number, author))
            if given.reason == SkipReason.UNSURE:
                ask = ask._replace(skips=count_unsure(session, number))
                session.execute("UPDATE asks SET skips = ? WHERE id = ?", (ask.skips, number))
        if _is_free(session, ask, given.event):
            if author == annotator:
                returned = lease_again(session, state, annotator, ask)
            else:
                move_ask(session, ask, AskState.OPEN)
    remember(session, state, annotator, "answer undo", event_name(session, given.event), number, was, None)
    outcome = "correction" if any(earlier.state == AnswerState.LEARNED for earlier in taken) else "withdrawn"
    return {"answer_id": identifier, "outcome": outcome, "ask": returned}


def _is_free(session: Session, ask: Ask, event: int) -> bool:
    """Whether an ask has no answer that counts, and is in nobody's hands."""
    if ask.state in (AskState.LEASED, AskState.EXPIRED) or called_bad_by(session, ask):
        return False
    return not session.value(COUNT_VALID, (event,))


def called_bad_by(session: Session, ask: Ask) -> list[dict[str, Any]]:
    """Who closed an ask as bad data, where that was not taken back."""
    if ask.state != AskState.CLOSED:
        return []
    return [
        {"answer_id": skip.id, "reason": skip.reason, "by": skip.annotator, "state": skip.state}
        for skip in CALLED_BAD.all(session, (ask.id,))
    ]


def count_unsure(session: Session, ask: int, besides: str = "") -> int:
    """How many people, one left out, are unsure about an ask."""
    return int(session.value(COUNT_UNSURE, (ask, besides)))
