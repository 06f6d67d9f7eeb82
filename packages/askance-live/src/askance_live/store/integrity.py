"""Whether the rows of a store are those that were written: a start checks small stores, ``askance doctor`` any."""

from __future__ import annotations

from askance_live.problems import StartError
from askance_live.questions.states import TAKEN_BACK, AnswerState, AskState, one_of
from askance_live.store.database import Session
from askance_live.store.log_hash import REMEDY, damaged_tables

STATES = {"asks": AskState, "answers": AnswerState}


def find_damage(session: Session) -> list[str]:
    """What is wrong with the log, in sentences, each with its remedy."""
    try:
        tables = damaged_tables(session)
    except StartError as error:
        return [str(error)]
    damaged = [f"the rows of {table} are not those that were written; {REMEDY}." for table in tables]
    return damaged + _states(session) + _check_learned(session)


def check_log(session: Session, place: str) -> None:
    """Refuse a store whose log is damaged."""
    if damage := find_damage(session):
        raise StartError(f"the database {place!r} is damaged: {damage[0]}")


def _states(session: Session) -> list[str]:
    findings = []
    for table, states in STATES.items():
        unknown = session.value(f"SELECT count(*) FROM {table} WHERE state NOT IN {one_of(states)}")
        if unknown:
            findings.append(f"{unknown} rows of {table} have a state that there is not; restore a backup.")
    return findings


def _check_learned(session: Session) -> list[str]:
    findings = []
    count, last = session.all("SELECT count(*), coalesce(max(n), 0) FROM learned")[0]
    if count != last:
        findings.append(f"the log of learned answers has {count} rows but its last number is {last}; restore a backup.")
    twice = session.value("SELECT count(*) FROM (SELECT answer FROM learned GROUP BY answer HAVING count(*) > 1) t")
    if twice:
        findings.append(f"{twice} answers were learned twice; restore a backup.")
    lost = session.value(
        f"SELECT count(*) FROM answers a WHERE a.state = '{AnswerState.LEARNED}' "
        "AND NOT EXISTS (SELECT 1 FROM learned l WHERE l.answer = a.seq)"
    )
    if lost:
        findings.append(f"{lost} answers count as learned but are not in the log; restore a backup.")
    left_out = session.value(
        "SELECT count(*) FROM learned l JOIN answers a ON a.seq = l.answer "
        f"WHERE l.left_out = 1 AND a.state NOT IN {one_of(TAKEN_BACK)}"
    )
    if left_out:
        findings.append(f"{left_out} answers are left out of the model but were not taken back; restore a backup.")
    return findings
