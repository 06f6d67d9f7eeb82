"""States of questions and answers: one place says which change is allowed, and one place writes them."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.live.in_process import create_store, label, new_engine, opened, running_engine, send

import askance_live
from askance_live.exchange.export import as_objects, rows
from askance_live.problems import Problem
from askance_live.questions.queue import find
from askance_live.questions.states import (
    ANSWER_MOVES,
    ASK_MOVES,
    KEPT,
    OVER,
    AnswerState,
    ForbiddenMove,
    QuestionState,
)
from askance_live.questions.transitions import MoveOfQuestions, move_question
from askance_live.store import schema
from askance_live.store.rows import Query, columns
from askance_live.store.sqlite import SqliteDatabase

SOURCE = Path(askance_live.__file__).parent


def test_every_state_has_its_moves():
    assert ASK_MOVES.keys() == {None, *QuestionState}
    assert ANSWER_MOVES.keys() == {None, *AnswerState}


@pytest.mark.parametrize("state", OVER)
def test_what_is_over_is_neither_parked_nor_closed(state):
    assert not ASK_MOVES[state] & {QuestionState.PARKED, QuestionState.CLOSED, QuestionState.EXPIRED}


def test_an_answer_is_learned_once_and_taken_back_for_good():
    assert [state for state, moves in ANSWER_MOVES.items() if AnswerState.LEARNED in moves] == [AnswerState.WAITING]
    assert {state for state, moves in ANSWER_MOVES.items() if not moves} == {*AnswerState} - {
        *KEPT,
        AnswerState.SKIPPED,
    }


def test_one_file_writes_states():
    writers = [path.name for path in SOURCE.rglob("*.py") if re.search(r"SET state", path.read_text())]
    assert writers == ["transitions.py"]


def test_a_forbidden_move_changes_nothing(tmp_path):
    with new_engine(tmp_path) as engine:
        (event,) = send(engine, "e1")
        label(engine, "e1", 1)

        def park(session, state):
            move_question(session, find(session, event["ask"]), QuestionState.PARKED)

        with pytest.raises(Problem, match="something went wrong here"):
            engine.submit(park).result(60)
        with engine.database.read() as session:
            ask = find(session, event["ask"])
            assert ask.state == QuestionState.ANSWERED
            with pytest.raises(ForbiddenMove, match="a question that is answered cannot become parked"):
                move_question(session, ask, QuestionState.PARKED)


def test_a_forbidden_move_of_many_cannot_be_declared():
    with pytest.raises(ForbiddenMove, match="a question that is leased cannot become expired"):
        MoveOfQuestions([QuestionState.OPEN, QuestionState.LEASED], QuestionState.EXPIRED, "expires <= ?")


# --- rows by name ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", schema.TABLES)
def test_the_rows_are_those_of_the_newest_schema(table):
    with closing(sqlite3.connect(":memory:")) as connection:
        for migration in schema.MIGRATIONS:
            for statement in schema.statements(migration, SqliteDatabase.words):
                connection.execute(statement)
        found = {name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}
    assert found == {*schema.TABLES[table]._fields}


class Misspelled(NamedTuple):
    lable: int


def test_a_misspelled_column_cannot_be_asked_for():
    with pytest.raises(KeyError, match="lable"):
        Query(Misspelled, "answers")


class Pair(NamedTuple):
    id: str
    event: str


def test_a_column_is_of_the_first_table_that_has_it():
    source = "answers a JOIN events e ON e.seq = a.event"
    assert columns(Pair, source) == "a.id, a.event"
    assert columns(Pair, source, event="e.id") == "a.id, e.id"


def at(item, path):
    for name in path.split("."):
        item = item[name]
    return item


def test_an_export_has_every_column_that_the_schema_says_it_has(tmp_path):
    config = create_store(tmp_path, asking={"rate": 1.0})
    with running_engine(config) as engine:
        send(engine, "e1", "e2")
        label(engine, "e1", 1)
    with opened(config) as database, database.read() as session:
        first, second = as_objects(*rows(session, 0), config.labels)
    for table in (schema.EventRow, schema.AnswerRow):
        for name, where in schema.exported_fields(table):
            assert (at(first, where.path) is None) == (name in ("time", "ms", "comment")), name
    assert (second["label"], second["answer"]) == (None, None)
