"""The states of questions and answers, and which change of state is allowed.

Queries take the states from here, written into their text: SQLite uses a partial index only where a query repeats its
condition word for word, so the states cannot be values that are bound. ``transitions`` is what writes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from askance.errors import AskanceError


class QuestionState(StrEnum):
    """Where a question is."""

    OPEN = "open"
    """In the queue, for anybody."""
    LEASED = "leased"
    """In somebody's hands until its deadline."""
    PARKED = "parked"
    """Out of the queue, since several people were unsure."""
    ANSWERED = "answered"
    CLOSED = "closed"
    """Somebody called the event bad data."""
    EXPIRED = "expired"
    """Given up: it waited too long, or others were worth more."""
    DISPUTED = "disputed"
    """Answered by as many people as it takes, who disagree: somebody with the scope ``review`` decides."""


class AnswerState(StrEnum):
    """What became of an answer or a skip."""

    WAITING = "waiting"
    """It will be learned when its grace is over."""
    LEARNED = "learned"
    EXTRA = "extra"
    """Kept but not learned: another came first, or the event is bad data."""
    VOTE = "vote"
    """One of several to the same question: what most of them say is learned, as an answer of its own."""
    SKIPPED = "skipped"
    """No label."""
    UNDONE = "undone"
    """Taken back."""
    SUPERSEDED = "superseded"
    """Replaced by a later answer."""


class AnswerKind(StrEnum):
    """How an answer came."""

    ANSWER = "answer"
    """To a question."""
    LABEL = "label"
    """By event, from any source."""
    SKIP = "skip"
    CONSENSUS = "consensus"
    """What most of several people said."""


class SkipReason(StrEnum):
    """Why a question was skipped."""

    UNSURE = "unsure"
    BAD_DATA = "bad_data"
    LATER = "later"


class AnswerOutcome(StrEnum):
    """What a client hears of an answer, or of a label by event."""

    ACCEPTED = "accepted"
    EXTRA = "extra"
    """Kept but not learned."""


class SkipOutcome(StrEnum):
    """What a client hears of a skip."""

    RETURNED = "returned"
    """For somebody else."""
    PARKED = "parked"
    CLOSED = "closed"
    LATER = "later"
    EXTRA = "extra"
    """Somebody else has the question, or it is over."""


class ReleaseOutcome(StrEnum):
    """What a client hears that gives a question back."""

    RELEASED = "released"
    STALE = "stale"
    """It was no longer theirs."""


class UndoOutcome(StrEnum):
    """What a client hears that takes an answer back."""

    WITHDRAWN = "withdrawn"
    """Before it was learned."""
    CORRECTION = "correction"
    """It was learned: a rebuild leaves it out."""
    ALREADY_UNDONE = "already_undone"


IN_PLAY: Final = (QuestionState.OPEN, QuestionState.LEASED, QuestionState.PARKED)
"""Questions that may still be answered."""
OVER: Final = (QuestionState.ANSWERED, QuestionState.CLOSED, QuestionState.EXPIRED)
"""Questions that nobody gets any more."""
OUT: Final = (*OVER, QuestionState.DISPUTED)
"""Questions that the queue no longer has."""
VALID: Final = (AnswerState.WAITING, AnswerState.LEARNED)
"""Answers that count."""
KEPT: Final = (*VALID, AnswerState.EXTRA, AnswerState.VOTE)
"""Answers that stand, whether they count or not."""
BY_ONE: Final = (AnswerKind.ANSWER, AnswerKind.LABEL)
"""What one person or source said."""
TAKEN_BACK: Final = (AnswerState.UNDONE, AnswerState.SUPERSEDED)

ASK_MOVES: Final[dict[str | None, frozenset[QuestionState]]] = {
    None: frozenset({QuestionState.OPEN}),
    QuestionState.OPEN: frozenset(QuestionState),
    QuestionState.LEASED: frozenset(QuestionState) - {QuestionState.EXPIRED},
    QuestionState.PARKED: frozenset(QuestionState),
    QuestionState.ANSWERED: frozenset(
        {QuestionState.ANSWERED, QuestionState.OPEN, QuestionState.LEASED, QuestionState.DISPUTED}
    ),
    QuestionState.CLOSED: frozenset(
        {QuestionState.OPEN, QuestionState.LEASED, QuestionState.ANSWERED, QuestionState.DISPUTED}
    ),
    QuestionState.EXPIRED: frozenset({QuestionState.OPEN, QuestionState.ANSWERED}),
    QuestionState.DISPUTED: frozenset(QuestionState) - {QuestionState.PARKED, QuestionState.EXPIRED},
}
"""Where a question may go from each state; None is one that is new.

What is in somebody's hands does not expire. What is over comes back when its answer, or the word that it is bad data,
is taken back, and when it expired by a clock that was ahead. A label by event answers an expired question, and replaces
the answer of one that is answered. Where several people answer, one who corrects their answer makes or ends a dispute.
"""

ANSWER_MOVES: Final[dict[str | None, frozenset[AnswerState]]] = {
    None: frozenset({AnswerState.WAITING, AnswerState.EXTRA, AnswerState.VOTE, AnswerState.SKIPPED}),
    AnswerState.WAITING: frozenset({AnswerState.LEARNED, *TAKEN_BACK}),
    AnswerState.LEARNED: frozenset(TAKEN_BACK),
    AnswerState.EXTRA: frozenset(TAKEN_BACK),
    AnswerState.VOTE: frozenset(TAKEN_BACK),
    AnswerState.SKIPPED: frozenset({AnswerState.UNDONE}),
    AnswerState.UNDONE: frozenset(),
    AnswerState.SUPERSEDED: frozenset(),
}
"""Where an answer may go from each state; None is one that is new. It is learned once, and taken back for good."""


class ForbiddenMove(AskanceError):
    """Something was about to get a state that it cannot have after the one it has."""


def check_question_move(before: str | None, after: str) -> None:
    """Refuse to move a question where it cannot go.

    >>> check_question_move("open", QuestionState.LEASED)
    >>> check_question_move("leased", QuestionState.EXPIRED)
    Traceback (most recent call last):
        ...
    askance_live.questions.states.ForbiddenMove: a question that is leased cannot become expired.
    """
    if after not in ASK_MOVES.get(before, ()):
        raise ForbiddenMove(f"a question that is {before or 'new'} cannot become {after}.")


def check_answer_move(before: str | None, after: str) -> None:
    """Refuse to move an answer where it cannot go.

    >>> check_answer_move("undone", AnswerState.LEARNED)
    Traceback (most recent call last):
        ...
    askance_live.questions.states.ForbiddenMove: an answer that is undone cannot become learned.
    """
    if after not in ANSWER_MOVES.get(before, ()):
        raise ForbiddenMove(f"an answer that is {before or 'new'} cannot become {after}.")


def one_of(states: Iterable[StrEnum]) -> str:
    """States as a list in SQL.

    >>> f"state IN {one_of(VALID)}"
    "state IN ('waiting', 'learned')"
    """
    return f"({', '.join(repr(state.value) for state in states)})"
