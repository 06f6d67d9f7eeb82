"""A hash over the rows that are written once, so that damage to them is found.

A database checks the form of its pages, not what stands in them: a flipped bit in a text or a number would be served as
if it had been said. So each table of the log has a running hash over its rows in their order, with the row's n-th

    h(n) = blake2b(h(n-1) + row(n)),    h(0) = nothing

kept in the transaction that adds them. It covers the columns that never change; states, leases and deadlines do. Which
they were is kept with the hash: a column that a later version adds is not taken for damage, and is in the hash from the
first start of that version on.

``find_damage`` compares the rows of a store with it: a start checks small stores, ``askance doctor`` any.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from askance_live.problems import StartError
from askance_live.questions.states import TAKEN_BACK, AnswerState, QuestionState, one_of
from askance_live.store.database import Session
from askance_live.store.schema import TABLES

NAME = "log_hash"
CHANGING = {
    "asks": {"rank", "state", "expires", "skips", "deliveries", "annotator", "deadline"},
    "answers": {"state", "due"},
}
KEYS = {
    "events": "seq", "asks": "id", "answers": "seq", "learned": "seq", "settings": "seq", "schemes": "seq",
    "widened": "seq",
}  # fmt: skip
COLUMNS = {
    table: tuple(name for name in TABLES[table].__annotations__ if name not in CHANGING.get(table, ()))
    for table in KEYS
}
VALUES: dict[str, Callable[[Any], Any] | None] = {
    table: None if names == tuple(TABLES[table].__annotations__) else attrgetter(*names)
    for table, names in COLUMNS.items()
}
"""What of a row is in the hash; None: all of it, as it is."""
SIZE = 16  # bytes
REMEDY = "restore a backup with 'askance restore', or keep what is there as it is with 'askance rebuild'"
_encode = msgspec.json.Encoder().encode


class Hashed(NamedTuple):
    """The rows of a table that are in its hash."""

    columns: tuple[str, ...]
    """What of a row is in it."""
    last: int = 0
    """The number of the last one."""
    n: int = 0
    digest: str = ""

    def add(self, rows: Iterable[Sequence[Any]], key: str) -> Hashed:
        """With more rows; their number is in the column ``key``."""
        last, n, digest, place = self.last, self.n, bytes.fromhex(self.digest), self.columns.index(key)
        for row in rows:
            digest = hashlib.blake2b(digest + _encode(row), digest_size=SIZE).digest()
            last, n = row[place], n + 1
        return Hashed(self.columns, last, n, digest.hex())


class LogHash:
    """The hashes of all tables of the log; ``document`` is what the store has of them."""

    def __init__(self, document: str | None) -> None:
        self.is_changed = False
        try:
            read = json.loads(document or "{}").items()
            self.tables = {table: Hashed(tuple(columns), *rest) for table, (columns, *rest) in read}
            for table, hashed in self.tables.items():
                hashed.add((), KEYS[table])
                if not set(hashed.columns) <= set(COLUMNS[table]):
                    raise ValueError
        except (TypeError, ValueError, AttributeError, KeyError):
            raise StartError(f"the hash of the log cannot be read; {REMEDY}.") from None

    def document(self) -> str:
        """As the store keeps them."""
        return _encode(self.tables).decode()

    def add(self, table: str, rows: Sequence[Any]) -> None:
        """Rows were added, in the order of their numbers."""
        if rows:
            values = VALUES[table]
            self._extend(table, rows if values is None else map(values, rows))

    def _extend(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        before = self._of(table)
        self.tables[table] = before.add(rows, KEYS[table])
        self.is_changed |= self.tables[table] != before

    def _of(self, table: str) -> Hashed:
        return self.tables.get(table, Hashed(COLUMNS[table]))

    def take_up(self, session: Session) -> None:
        """Add the rows that an askance without hashes wrote, and the columns that an earlier one did not have."""
        for table in KEYS:
            if self._of(table).columns != COLUMNS[table]:
                self.start_anew(session, table)
            else:
                self._extend(table, _rows(session, table, COLUMNS[table], ">", self._of(table).last))

    def start_anew(self, session: Session, table: str) -> None:
        """Hash a table as it is now."""
        self.tables[table] = Hashed(COLUMNS[table])
        self._extend(table, _rows(session, table, COLUMNS[table], ">", 0))
        self.is_changed = True


def _rows(session: Session, table: str, columns: Sequence[str], relation: str, number: int) -> Iterable[Sequence[Any]]:
    key, names = KEYS[table], ", ".join(columns)
    rows = session.stream(f"SELECT {names} FROM {table} WHERE {key} {relation} ? ORDER BY {key}", (number,))
    return sorted(rows) if table == "widened" else rows  # several of an event, in no order that databases agree on


def damaged_tables(session: Session) -> list[str]:
    """The tables whose rows are not those that were written."""
    stored = LogHash(session.value("SELECT value FROM meta WHERE name = ?", (NAME,)))
    return [
        table
        for table, (columns, last, *rest) in stored.tables.items()
        if Hashed(columns).add(_rows(session, table, columns, "<=", last), KEYS[table]) != (columns, last, *rest)
    ]


# --- whether the log is as it was written --------------------------------------------------------------


STATES = {"asks": QuestionState, "answers": AnswerState}


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
