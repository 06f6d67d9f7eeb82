"""The one way in which questions and answers are stored and get another state: checked, written, counted.

Every function runs inside a transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from askance_live.dashboard.stored_counts import CountedAnswer, count_answer, count_questions
from askance_live.questions.states import AnswerState, QuestionState, check_answer_move, check_question_move, one_of
from askance_live.store.database import Session
from askance_live.store.rows import insert
from askance_live.store.schema import AnswerRow, QuestionRow

if TYPE_CHECKING:
    from askance_live.questions.queue import StoredQuestion

INSERT_QUESTION = insert(QuestionRow)
INSERT_ANSWER = insert(AnswerRow)
MOVE_QUESTION = "UPDATE asks SET state = ?, annotator = ?, deadline = ?, deliveries = ? WHERE id = ?"
MOVE_ANSWER = "UPDATE answers SET state = ?, due = NULL WHERE seq = ?"


def add_questions(session: Session, rows: Sequence[QuestionRow]) -> None:
    """Store new questions."""
    for row in rows:
        check_question_move(None, row.state)
    session.many(INSERT_QUESTION, rows)


def move_question(
    session: Session, ask: StoredQuestion, after: QuestionState, annotator: str | None = None,
    deadline: float | None = None, is_delivered: bool = False,
) -> StoredQuestion:  # fmt: skip
    """Give a question another state, or the same anew; as it is then. Nobody holds it but who is named."""
    check_question_move(ask.state, after)
    deliveries = ask.deliveries + is_delivered
    session.execute(MOVE_QUESTION, (after, annotator, deadline, deliveries, ask.id))
    count_questions(session, ask.state, after)
    return ask._replace(state=after, annotator=annotator, deadline=deadline, deliveries=deliveries)


class MoveOfQuestions:
    """A change of state of all questions for which a condition holds, whoever holds them.

    Of several states that they may have had, none is counted for the dashboard.
    """

    def __init__(self, before: Sequence[QuestionState], after: QuestionState, where: str) -> None:
        for state in before:
            check_question_move(state, after)
        self.before, self.after = before[0], after
        having = f"state = '{before[0]}'" if len(before) == 1 else f"state IN {one_of(before)}"
        self.sql = f"UPDATE asks SET state = '{after}', deadline = NULL WHERE {having} AND {where}"

    def apply(self, session: Session, values: Sequence[Any]) -> int:
        """Move them; how many there were."""
        number = session.execute(self.sql, values)
        if number:
            count_questions(session, self.before, self.after, number)
        return number


def add_answer(session: Session, row: AnswerRow) -> None:
    """Store a new answer or skip."""
    check_answer_move(None, row.state)
    session.execute(INSERT_ANSWER, row)
    count_answer(session, CountedAnswer.of(row)._replace(state=None), row.state)


def move_answer(session: Session, answer: CountedAnswer, after: AnswerState) -> None:
    """An answer is learned, or no longer valid."""
    check_answer_move(answer.state, after)
    session.execute(MOVE_ANSWER, (after, answer.seq))
    count_answer(session, answer, after)
