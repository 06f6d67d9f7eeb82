"""Answers become part of the model: once each, in order, in the transaction that says so."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from askance_live.dashboard.stored_counts import CountedAnswer
from askance_live.engine.learner import Answer
from askance_live.engine.state import EngineState, next_due
from askance_live.questions.consensus import find_agreement
from askance_live.questions.states import AnswerState
from askance_live.questions.transitions import move_answer
from askance_live.store.database import Session
from askance_live.store.rows import Query, insert
from askance_live.store.schema import LearnedRow
from askance_live.webhooks.outbox import emit, wanted_by

MOST_ANSWERS = 100
ENOUGH = 0.1  # seconds after which the rest is left for the next transaction, so that others have their turn
INSERT = insert(LearnedRow)


class Due(NamedTuple):
    """An answer whose grace is over, with what was said of its event when that came."""

    seq: int
    state: str
    kind: str
    ask: int | None
    event: int
    annotator: str
    label: int
    reason: str | None
    asked: int
    probability: float
    fields: str
    scores: str
    predicted: int
    audit: int
    received: float


DUE = Query(
    Due,
    "answers a JOIN events e ON e.seq = a.event",
    f"WHERE a.state = '{AnswerState.WAITING}' AND a.due <= ? ORDER BY a.seq LIMIT ?",
)


def learn_due(session: Session, state: EngineState) -> int:
    """Learn answers whose grace is over; how many that were."""
    if state.paused or state.due is None or state.due > state.clock.now():
        return 0
    began = time.monotonic()
    learned = 0
    told: list[Due] = []
    for due in DUE.all(session, (state.clock.now(), MOST_ANSWERS)):
        weight = 1.0 / due.probability if due.asked and due.probability > 0.0 else 1.0
        agreement = find_agreement(session, due) if state.config.queue.weigh_agreement else 1.0
        state.learner.learn(Answer.of(due, weight, agreement))
        state.seq += 1
        state.learned += 1
        state.learner.version = state.learned
        row = LearnedRow(state.seq, state.learned, due.seq, due.event, due.label, weight, agreement=agreement)
        session.execute(INSERT, row)
        state.log_hash.add("learned", [row])
        move_answer(session, CountedAnswer.of(due), AnswerState.LEARNED)
        learned += 1
        if state.is_offered(due.label):  # one that was retired since teaches nothing
            told.append(due)
        if time.monotonic() - began > ENOUGH:
            break
    if learned:
        state.count("learned", learned)
        if told and wanted_by(state.config, "answer.learned"):
            emit(session, state, "answer.learned", _tell(session, state, told))
    state.due = next_due(session)
    return learned


def _tell(session: Session, state: EngineState, told: list[Due]) -> list[dict[str, Any]]:
    """What webhooks learn of answers."""
    names: dict[int, str] = dict(
        session.select_in("SELECT seq, id FROM events WHERE seq IN ({})", [due.event for due in told])
    )
    return [
        {"event": names[due.event], "ask": due.ask, "label": state.labels.show(due.label), "annotator": due.annotator}
        for due in told
    ]
