"""Answers and skips, and how they are taken back. Every function runs inside a transaction.

An answer is appended and never changed, but for its state (``states.AnswerState``). One's own word may be taken back or
replaced; somebody else's takes the scope ``review``. Either is in the activity log.
"""

from __future__ import annotations

from typing import Any

from askance_live.engine.state import EngineState
from askance_live.exchange.received import digest_of
from askance_live.problems import Problem
from askance_live.questions.consensus import has_voted, settle, vote
from askance_live.questions.corrections import (
    BY_ID,
    EarlierAnswer,
    count_unsure,
    earlier_answers,
    earlier_answers_of_another,
    event_name,
    held_of_others,
    list_bad_data_reports,
    need_review,
    refuse_second,
    remember,
    take_back,
)
from askance_live.questions.queue import FOR_EVER, SET_ASIDE, StoredQuestion, find, is_passed_on, lease_again
from askance_live.questions.states import (
    IN_PLAY,
    VALID,
    AnswerKind,
    AnswerOutcome,
    AnswerState,
    QuestionState,
    SkipOutcome,
    SkipReason,
    UndoOutcome,
    one_of,
)
from askance_live.questions.submissions import Submission, find_repeated, refuse_retired, store
from askance_live.questions.transitions import move_question
from askance_live.store.database import Session
from askance_live.store.schema import SetAsideRow

SKIPS = tuple(SkipReason)


def answer(
    session: Session, state: EngineState, annotator: str, number: int, given: Submission, may_review: bool = False
) -> dict[str, Any]:
    """An answer to an ask: trains if the ask still waits for one, else it is kept as extra.

    It does not wait for this one where it has passed on to somebody else, who has it now.
    """
    if (before := find_repeated(session, annotator, given)) is not None:
        return before
    assert given.label is not None
    refuse_retired(state, given.label)
    ask = find(session, number)
    if ask.wanted > 1:
        return vote(session, state, annotator, ask, given)
    has_passed_on = is_passed_on(ask, annotator, given.token or "", state.clock.now())
    stale = given.token != ask.token or ask.state != QuestionState.LEASED or ask.annotator != annotator
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
    else:
        refuse_second(state, number, mine, given.label, given.supersedes)
    if any(earlier.state in VALID for earlier in taken):
        status = AnswerState.WAITING  # in the place of the one that counts, whichever was named
    event = event_name(session, ask.event)
    if taken:
        was = [take_back(session, state, earlier, AnswerState.SUPERSEDED) for earlier in taken]
        after = {"answer_id": given.id, "label": state.labels.show(given.label or 0), "by": annotator}
        remember(session, state, annotator, "answer replace", event, number, was, after)
    if status == AnswerState.WAITING:
        move_question(session, ask, QuestionState.ANSWERED)
    response = {
        "answer_id": given.id,
        "ask": number,
        "event": event,
        "label": state.labels.show(given.label or 0),
        "outcome": AnswerOutcome.ACCEPTED if status == AnswerState.WAITING else AnswerOutcome.EXTRA,
        "stale_token": stale,
        "learn_at": None,
    }
    return store(session, state, given, AnswerKind.ANSWER, number, ask.event, annotator, status, response)


def skip(session: Session, state: EngineState, annotator: str, number: int, given: Submission) -> dict[str, Any]:
    """A question that cannot be answered: passed on, closed, or put off."""
    if (before := find_repeated(session, annotator, given)) is not None:
        return before
    ask = find(session, number)
    has_passed_on = is_passed_on(ask, annotator, given.token or "", state.clock.now())
    event = event_name(session, ask.event)
    outcome = SkipOutcome.EXTRA
    if ask.state in IN_PLAY and not has_voted(session, ask, annotator):
        if given.reason != SkipReason.BAD_DATA:
            outcome = _set_aside(session, state, annotator, ask, given.reason or "", not has_passed_on)
        elif not has_passed_on:
            move_question(session, ask, QuestionState.CLOSED)  # nobody is asked about it any more
            outcome = SkipOutcome.CLOSED
            after = {"answer_id": given.id, "reason": given.reason, "by": annotator}
            remember(session, state, annotator, "question close", event, number, [], after)
    response = {"answer_id": given.id, "ask": number, "event": event, "reason": given.reason, "outcome": outcome}
    return store(session, state, given, AnswerKind.SKIP, number, ask.event, annotator, AnswerState.SKIPPED, response)


def skip_for_all(
    session: Session, state: EngineState, by: str, number: int, identifier: str, comment: str
) -> dict[str, Any]:
    """Close a question as bad data, whoever has it and whatever was answered to it so far; for whoever reviews."""
    ask = find(session, number)
    if ask.state not in (*IN_PLAY, QuestionState.DISPUTED):
        raise Problem("already_answered", f"the question {number} is {ask.state}; only one that waits can be closed.")
    move_question(session, ask, QuestionState.CLOSED)
    event, bad_data = event_name(session, ask.event), SkipReason.BAD_DATA
    after = {"answer_id": identifier, "reason": bad_data, "by": by, "comment": comment}
    held = [{"leased_to": holder}] if (holder := ask.holder(state.clock.now())) else []
    remember(session, state, by, "question close", event, number, held, after)
    given = Submission(identifier, digest_of([by, number, comment]), None, None, bad_data, None, comment, None)
    response = {
        "answer_id": identifier,
        "ask": number,
        "event": event,
        "reason": bad_data,
        "outcome": SkipOutcome.CLOSED,
    }
    return store(session, state, given, AnswerKind.SKIP, number, ask.event, by, AnswerState.SKIPPED, response)


def _set_aside(
    session: Session, state: EngineState, annotator: str, ask: StoredQuestion, reason: str, moves: bool
) -> SkipOutcome:
    """Unsure, or later: for others meanwhile, unless somebody has it now, who keeps it."""
    settings = state.config.queue
    unsure = reason == SkipReason.UNSURE
    until = FOR_EVER if unsure else state.clock.now() + settings.later
    session.execute(SET_ASIDE, SetAsideRow(ask.id, annotator, until))
    skips = count_unsure(session, ask.id, annotator) + 1 if unsure else ask.skips
    parked = skips >= settings.park_after
    session.execute("UPDATE asks SET skips = ? WHERE id = ?", (skips, ask.id))
    if moves:
        move_question(session, ask, QuestionState.PARKED if parked else QuestionState.OPEN)
    if not unsure:
        return SkipOutcome.LATER
    return SkipOutcome.PARKED if parked else SkipOutcome.RETURNED


# --- undo ----------------------------------------------------------------------------------------------


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
                move_question(session, ask, QuestionState.OPEN)
    remember(session, state, annotator, "answer undo", event_name(session, given.event), number, was, None)
    was_learned = any(earlier.state == AnswerState.LEARNED for earlier in taken)
    outcome = UndoOutcome.CORRECTION if was_learned else UndoOutcome.WITHDRAWN
    return {"answer_id": identifier, "outcome": outcome, "ask": returned}


def _is_free(session: Session, ask: StoredQuestion, event: int) -> bool:
    """Whether an ask has no answer that counts, and is in nobody's hands."""
    if ask.state in (QuestionState.LEASED, QuestionState.EXPIRED) or list_bad_data_reports(session, ask):
        return False
    return not session.value(COUNT_VALID, (event,))
