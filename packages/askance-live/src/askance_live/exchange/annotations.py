"""Annotations of another tool as labels of our events: given, changed and deleted under a number of that tool's.

A deletion tells the number and nothing else. So each state of an annotation is an answer with an id of its own, in
which the length of the source's name tells where that ends,

    label::annotation:6:SOURCE:31.1    as it was made
    label::annotation:6:SOURCE:31.2    as it was changed

and the last one is what holds. An answer of another author under such an id is no state of the annotation. Up to
askance 0.2 the ids were ``label:annotation-SOURCE-31.1``, which two sources could share: of those, too, each has its
own. Every function runs inside a transaction.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from askance_live.engine.state import EngineState
from askance_live.problems import Problem
from askance_live.questions.corrections import BY_ID, EarlierAnswer, event_name, held_of_others
from askance_live.questions.labels import give_label
from askance_live.questions.states import KEPT, AnswerOutcome
from askance_live.questions.submissions import BY_EVENT
from askance_live.questions.undo import undo
from askance_live.store.database import Session

LONGEST_NUMBER = 40
MOST_SHARED = 100  # states of ids of 0.2, which two sources could share, that are looked through for one's own


def read_number(annotation: dict[str, Any]) -> str | None:
    """The number of an annotation; None where it has none."""
    number = annotation.get("id")
    is_one = isinstance(number, int | str) and not isinstance(number, bool)
    text = str(number) if is_one else ""
    return text if 0 < len(text) <= LONGEST_NUMBER and text.isprintable() else None


def _read_states(session: Session, source: str, number: str) -> tuple[EarlierAnswer | None, str]:
    """What was said last with an annotation of this source, and the id of what it says next."""
    earlier, current = f"annotation-{source}-{number}", f":annotation:{len(source)}:{source}:{number}"
    states = _count_states(session, current)
    identifier = f"{BY_EVENT}{current}.{states + 1}"
    newest = BY_ID.one(session, (f"{BY_EVENT}{current}.{states}",))
    if newest is None or newest.annotator != source:
        shared = (f"{BY_EVENT}{earlier}.{place}" for place in range(_count_states(session, earlier), 0, -1))
        found = (BY_ID.one(session, (name,)) for name in islice(shared, MOST_SHARED))
        newest = next((answer for answer in found if answer is not None and answer.annotator == source), None)
    return newest, identifier


def _count_states(session: Session, name: str) -> int:
    """How many states of an annotation are stored: looked up at every power of two, then in between."""
    least, most = 0, 1  # there are ``least`` or more, and less than ``most`` once that is missing

    def is_there(place: int) -> bool:
        return BY_ID.one(session, (f"{BY_EVENT}{name}.{place}",)) is not None

    while is_there(most):
        least, most = most, 2 * most
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if is_there(middle) else (least, middle)
    return least


def annotate(
    session: Session, state: EngineState, source: str, number: str | None, event: str, place: int, may_review: bool
) -> str:
    """An annotation was made or changed; what became of it."""
    identifier = None
    if number is not None:
        newest, identifier = _read_states(session, source, number)
        is_same = newest is not None and newest.label == place and newest.state in KEPT
        if newest is not None and is_same and event_name(session, newest.event) == event:
            return AnswerOutcome.ACCEPTED  # told once more
    given = give_label(session, state, source, event, place, identifier, True, may_review, is_made_here=True)
    return str(given["outcome"])


def withdraw(session: Session, state: EngineState, source: str, numbers: list[str]) -> int:
    """Annotations were deleted: their labels are taken back, where they still hold; how many these were."""
    taken = 0
    for number in numbers:
        newest, _ = _read_states(session, source, number)
        if newest is None or newest.state not in KEPT:
            continue
        if not held_of_others(session, state, newest, source):
            try:
                undo(session, state, source, newest.id, may_review=True, takes_question=False)
            except Problem:
                continue  # somebody has said something else since
            taken += 1
    return taken
