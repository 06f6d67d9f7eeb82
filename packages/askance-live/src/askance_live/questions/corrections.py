"""What was said, taken back or replaced: one's own word, or with the scope ``review`` anybody's.

The activity log has it.

Every function runs inside a transaction.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from askance_live.access.auth import note
from askance_live.dashboard.stored_counts import CountedAnswer
from askance_live.engine.state import EngineState
from askance_live.problems import Problem
from askance_live.questions.queue import StoredQuestion
from askance_live.questions.states import TAKEN_BACK, VALID, AnswerKind, AnswerState, QuestionState, SkipReason, one_of
from askance_live.questions.transitions import move_answer
from askance_live.store.database import Session
from askance_live.store.rows import Query


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


class Correction(NamedTuple):
    """An answer, and which one it took the place of."""

    id: str
    annotator: str
    label: int | None
    supersedes: str | None


BY_ID = Query(EarlierAnswer, "answers", "WHERE id = ?")
OF_EVENT = Query(Correction, "answers", "WHERE event = ?")
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


def held_of_others(session: Session, state: EngineState, answer: EarlierAnswer, author: str) -> list[Correction]:
    """What an answer holds that others than its author said: labels of a set that theirs were added to."""
    said = {one.id: one for one in OF_EVENT.all(session, (answer.event,))}
    held: list[Correction] = []
    earlier = said.get(answer.id)
    while earlier is not None and earlier.label is not None:
        if earlier.annotator != author and state.labels.agree(answer.label or 0, earlier.label):
            held.append(earlier)
        earlier = said.get(earlier.supersedes or "")
    return held


def refuse_second(
    state: EngineState, ask: int, mine: list[EarlierAnswer], label: int | None, supersedes: str | None
) -> None:
    """Refuse a second answer of the same person that says something else, and a correction of what is not theirs."""
    if mine and mine[0].label != label:
        raise Problem(
            "already_answered",
            f"you answered ask {ask} with {state.labels.show(mine[0].label or 0)!r} already; to correct it send "
            f'"supersedes": "{mine[0].id}".',
            answer_id=mine[0].id,
        )
    if supersedes is not None and not mine:
        raise Problem("unknown_answer", f"you have no answer {supersedes!r} to ask {ask} that could be superseded.")


def take_back(session: Session, state: EngineState, earlier: EarlierAnswer, after: AnswerState) -> dict[str, Any]:
    """An answer is no longer valid; what it was. What the model learned from it stays until a rebuild."""
    move_answer(session, CountedAnswer.of(earlier), after)
    if earlier.state == AnswerState.LEARNED:
        state.count("corrections")
    content = {"reason": earlier.reason} if earlier.label is None else {"label": state.labels.show(earlier.label)}
    return {"answer_id": earlier.id, **content, "by": earlier.annotator, "state": earlier.state}


def list_bad_data_reports(session: Session, ask: StoredQuestion) -> list[dict[str, Any]]:
    """Who closed an ask as bad data, where that was not taken back."""
    if ask.state != QuestionState.CLOSED:
        return []
    return [
        {"answer_id": skip.id, "reason": skip.reason, "by": skip.annotator, "state": skip.state}
        for skip in CALLED_BAD.all(session, (ask.id,))
    ]


def count_unsure(session: Session, ask: int, besides: str = "") -> int:
    """How many people, one left out, are unsure about an ask."""
    return int(session.value(COUNT_UNSURE, (ask, besides)))
