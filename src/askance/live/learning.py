"""Answers become part of the model: once each, in order, in the transaction that says so."""

from __future__ import annotations

from askance.live.learner import ANSWERED, Answer
from askance.live.state import State
from askance.live.store.database import Session

AT_ONCE = 100


def learn_due(session: Session, state: State) -> int:
    """Learn the answers whose grace is over; how many that were."""
    if state.paused or state.due is None or state.due > state.clock.now():
        return 0
    rows = session.all(
        f"SELECT a.seq, e.asked, e.probability, a.event, a.label, {ANSWERED} FROM answers a "
        "JOIN events e ON e.seq = a.event WHERE a.state = 'waiting' AND a.due <= ? ORDER BY a.seq LIMIT ?",
        (state.clock.now(), AT_ONCE),
    )
    for number, asked, probability, *answered in rows:
        weight = 1.0 / probability if asked and probability > 0.0 else 1.0
        answer = Answer.of(answered, weight)
        state.learner.learn(answer)
        state.seq += 1
        state.learned += 1
        state.learner.version = state.learned
        session.execute(
            "INSERT INTO learned (seq, n, answer, event, label, weight) VALUES (?, ?, ?, ?, ?, ?)",
            (state.seq, state.learned, number, answer.event, answer.label, weight),
        )
        session.execute("UPDATE answers SET state = 'learned', due = NULL WHERE seq = ?", (number,))
    if rows:
        state.count("learned", len(rows))
    state.due = session.value("SELECT min(due) FROM answers WHERE state = 'waiting'")
    return len(rows)
