"""Annotations of another tool as labels of our events: given, changed and deleted under a number of that tool's.

A deletion tells the number and nothing else. So each state of an annotation is an answer with an id of its own,

    annotation-SOURCE-31.1    as it was made
    annotation-SOURCE-31.2    as it was changed

and the last one is what holds. Every function runs inside a transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from askance.live.engine.state import EngineState
from askance.live.problems import Problem
from askance.live.questions.corrections import BY_ID, EarlierAnswer
from askance.live.questions.labels import give_label
from askance.live.questions.states import KEPT, AnswerOutcome
from askance.live.questions.submissions import BY_EVENT
from askance.live.questions.undo import undo
from askance.live.store.database import Session

LONGEST_NUMBER = 40


def read_number(annotation: dict[str, Any]) -> str | None:
    """The number of an annotation; None where it has none."""
    number = annotation.get("id")
    is_one = isinstance(number, int | str) and not isinstance(number, bool)
    text = str(number) if is_one else ""
    return text if 0 < len(text) <= LONGEST_NUMBER and text.isprintable() else None


def _states_of(session: Session, source: str, number: str) -> Iterator[EarlierAnswer | str]:
    """What was said with an annotation, the oldest first; then the id of what it says next."""
    for place in count(1):
        identifier = f"{BY_EVENT}annotation-{source}-{number}.{place}"
        found = BY_ID.one(session, (identifier,))
        if found is None:
            yield identifier
            return
        yield found


def annotate(
    session: Session, state: EngineState, source: str, number: str | None, event: str, place: int, may_review: bool
) -> str:
    """An annotation was made or changed; what became of it."""
    identifier = None
    if number is not None:
        *before, last = _states_of(session, source, number)
        assert isinstance(last, str)
        identifier = last
        newest = before[-1] if before else None
        if isinstance(newest, EarlierAnswer) and newest.label == place and newest.state in KEPT:
            return AnswerOutcome.ACCEPTED  # told once more
    given = give_label(session, state, source, event, place, identifier, True, may_review, is_made_here=True)
    return str(given["outcome"])


def withdraw(session: Session, state: EngineState, source: str, numbers: list[str]) -> int:
    """Annotations were deleted: their labels are taken back, where they still hold; how many these were."""
    taken = 0
    for number in numbers:
        *before, _ = _states_of(session, source, number)
        newest = before[-1] if before else None
        if isinstance(newest, EarlierAnswer) and newest.state in KEPT:
            try:
                undo(session, state, source, newest.id, may_review=True, takes_question=False)
            except Problem:
                continue  # somebody has said something else since
            taken += 1
    return taken
