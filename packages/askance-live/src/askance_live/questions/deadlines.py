"""What ends at a stored time (leases, questions, what was put off, the grace of answers; tokens and sessions) when the
clock was set.

Set forward while the service runs, the ends move along: everything keeps the time it had left. Set back, while it runs
or between two runs, nothing lies further ahead than it could if it had begun now; and questions that were given up
only because the clock was ahead are open again. The rank of a question, which has its time in it, goes the same way.
Tokens and sessions end at the time that was said: only those that were made by a clock that was ahead are moved, once
it is set back.
"""

from __future__ import annotations

from askance_live.access.auth import begin_now
from askance_live.engine.state import EngineState, next_due
from askance_live.questions.queue import FOR_EVER, keep_within
from askance_live.questions.states import IN_PLAY, AnswerState, QuestionState, one_of
from askance_live.questions.transitions import MoveOfQuestions
from askance_live.store.database import Session

PENDING = f"state IN {one_of(IN_PLAY)}"
LEASED = f"state = '{QuestionState.LEASED}'"
WAITING = f"state = '{AnswerState.WAITING}'"
OPEN_AGAIN = MoveOfQuestions([QuestionState.EXPIRED], QuestionState.OPEN, "expires > ?")


def follow_clock(session: Session, state: EngineState, step: float) -> None:
    """The clock was set by so many seconds."""
    if step > 0.0:
        _move(session, state, step)
    else:
        _bound(session, state)
    state.due = next_due(session)


def _move(session: Session, state: EngineState, step: float) -> None:
    session.execute(f"UPDATE asks SET deadline = deadline + ? WHERE {LEASED}", (step,))
    session.execute(
        f"UPDATE asks SET expires = expires + ?, rank = rank + ? WHERE {PENDING}", (step, step / _freshness(state))
    )
    session.execute("UPDATE set_aside SET until = until + ? WHERE until < ?", (step, FOR_EVER - step))
    session.execute(f"UPDATE answers SET due = due + ? WHERE {WAITING}", (step,))


def _bound(session: Session, state: EngineState) -> None:
    now, settings = state.clock.now(), state.config.queue
    begin_now(session, now)
    opened = OPEN_AGAIN.apply(session, (now,))
    for sql, latest in (
        (f"UPDATE asks SET deadline = ? WHERE {LEASED} AND deadline > ?", now + settings.lease),
        (f"UPDATE asks SET expires = ? WHERE {PENDING} AND expires > ?", now + settings.time_to_live),
        (f"UPDATE asks SET rank = ? WHERE {PENDING} AND rank > ?", now / _freshness(state)),
        (f"UPDATE answers SET due = ? WHERE {WAITING} AND due > ?", now + settings.learn_after),
    ):
        session.execute(sql, (latest, latest))
    session.execute(
        "UPDATE set_aside SET until = ? WHERE until > ? AND until < ?",
        (now + settings.later, now + settings.later, FOR_EVER),
    )
    if opened:
        state.count("expired", -opened)
        keep_within(session, state)


def _freshness(state: EngineState) -> float:
    return max(state.config.queue.freshness, 1.0)
