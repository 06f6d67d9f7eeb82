"""An answer or a skip is taken back. Every function runs inside a transaction."""

from __future__ import annotations

from typing import Any

from askance_live.engine.state import EngineState
from askance_live.problems import Problem
from askance_live.questions.consensus import has_voted, settle
from askance_live.questions.corrections import (
    BY_ID,
    count_unsure,
    earlier_answers,
    event_name,
    held_of_others,
    list_bad_data_reports,
    need_review,
    remember,
    take_back,
)
from askance_live.questions.queue import Ask, find, lease_again
from askance_live.questions.states import VALID, AnswerKind, AnswerState, AskState, SkipReason, UndoOutcome, one_of
from askance_live.questions.transitions import move_ask
from askance_live.store.database import Session

UNDOABLE = 50
LATER = f"SELECT seq FROM answers WHERE annotator = ? AND seq > ? ORDER BY seq LIMIT 1 OFFSET {UNDOABLE - 1}"
COUNT_VALID = f"SELECT count(*) FROM answers WHERE event = ? AND state IN {one_of(VALID)}"


def undo(
    session: Session, state: EngineState, annotator: str, identifier: str, may_review: bool = False,
    takes_question: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """Take one's own answer or skip back; its ask comes back to its author, who ``takes_question``. Somebody else's: to
    whoever is next.

    Where the same person gave the same answer to the ask twice, that is one answer, and all of it is taken back.
    """
    given = BY_ID.one(session, (identifier,))
    if given is None:
        raise Problem("unknown_answer", f"there is no answer {identifier!r}.")
    author, number = given.annotator, given.ask
    if author != annotator:
        need_review(may_review, f"the answer {identifier!r} is {author}'s; taking it back")
    elif others := held_of_others(session, state, given, annotator):
        need_review(may_review, f"the answer {identifier!r} holds what {others[0].annotator} said; taking it back")
    if given.kind == AnswerKind.CONSENSUS:
        raise Problem(
            "not_undoable",
            f"{identifier!r} is what several people agreed on; take one of their answers back, or label the event "
            f'{event_name(session, given.event)!r} with "replace": true.',
        )
    if given.state == AnswerState.UNDONE:
        return {"answer_id": identifier, "outcome": UndoOutcome.ALREADY_UNDONE, "ask": None}
    if given.state == AnswerState.SUPERSEDED:
        raise Problem("not_undoable", f"the answer {identifier!r} was replaced by a later one; undo that.")
    if not may_review and session.one(LATER, (author, given.seq)) is not None:
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
        if (given.kind == AnswerKind.SKIP or ask.wanted > 1) and not has_voted(session, ask, author):
            session.execute("DELETE FROM set_aside WHERE ask = ? AND annotator = ?", (number, author))
        if given.reason == SkipReason.UNSURE:
            ask = ask._replace(skips=count_unsure(session, number))
            session.execute("UPDATE asks SET skips = ? WHERE id = ?", (ask.skips, number))
        is_settled = ask.wanted > 1 and settle(session, state, ask)
        if not is_settled and _is_free(session, ask, given.event):
            if author == annotator and takes_question:
                returned = lease_again(session, state, annotator, ask)
            else:
                move_ask(session, ask, AskState.OPEN)
    remember(session, state, annotator, "answer undo", event_name(session, given.event), number, was, None)
    was_learned = any(earlier.state == AnswerState.LEARNED for earlier in taken)
    outcome = UndoOutcome.CORRECTION if was_learned else UndoOutcome.WITHDRAWN
    return {"answer_id": identifier, "outcome": outcome, "ask": returned}


def _is_free(session: Session, ask: Ask, event: int) -> bool:
    """Whether an ask has no answer that counts, and is in nobody's hands."""
    if ask.state in (AskState.LEASED, AskState.EXPIRED) or list_bad_data_reports(session, ask):
        return False
    return not session.value(COUNT_VALID, (event,))
