"""A hash over the rows that are written once, so that damage to them is found.

A database checks the form of its pages, not what stands in them: a flipped bit in a text or a number would be served as
if it had been said. So each table of the log has a running hash over its rows in their order, with the row's n-th

    h(n) = blake2b(h(n-1) + row(n)),    h(0) = nothing

kept in the transaction that adds them. It covers the columns that never change; states, leases and deadlines do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from askance.live.problems import StartError
from askance.live.store.database import Session
from askance.live.store.schema import TABLES

NAME = "log_hash"
CHANGING = {
    "asks": {"rank", "state", "expires", "skips", "deliveries", "annotator", "deadline"},
    "answers": {"state", "due"},
}
KEYS = {"events": "seq", "asks": "id", "answers": "seq", "learned": "seq", "settings": "seq", "widened": "seq"}
COLUMNS = {
    table: [name for name in TABLES[table].__annotations__ if name not in CHANGING.get(table, ())] for table in KEYS
}
VALUES = {table: attrgetter(*names) for table, names in COLUMNS.items()}
SIZE = 16  # bytes
REMEDY = "restore a backup with 'askance restore', or keep what is there as it is with 'askance rebuild'"
_encode = msgspec.json.Encoder().encode


class Hashed(NamedTuple):
    """The rows of a table that are in its hash."""

    last: int = 0
    """The number of the last one."""
    n: int = 0
    digest: str = ""

    def add(self, rows: Iterable[Sequence[Any]], key: int) -> Hashed:
        """With more rows; their number is in the column ``key``."""
        last, n, digest = self.last, self.n, bytes.fromhex(self.digest)
        for row in rows:
            digest = hashlib.blake2b(digest + _encode(row), digest_size=SIZE).digest()
            last, n = row[key], n + 1
        return Hashed(last, n, digest.hex())


class LogHash:
    """The hashes of all tables of the log; ``document`` is what the store has of them."""

    def __init__(self, document: str | None) -> None:
        self.is_changed = False
        try:
            self.tables = {table: Hashed(*entry) for table, entry in json.loads(document or "{}").items()}
            if not self.tables.keys() <= KEYS.keys():
                raise ValueError
            for hashed in self.tables.values():
                hashed.add((), 0)
        except (TypeError, ValueError, AttributeError):
            raise StartError(f"the hash of the log cannot be read; {REMEDY}.") from None

    def document(self) -> str:
        """As the store keeps them."""
        return json.dumps(self.tables)

    def add(self, table: str, rows: Sequence[Any]) -> None:
        """Rows were added, in the order of their numbers."""
        if rows:
            self._extend(table, map(VALUES[table], rows))

    def _extend(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        before = self.tables.get(table, Hashed())
        self.tables[table] = before.add(rows, _place_of_key(table))
        self.is_changed |= self.tables[table] != before

    def take_up(self, session: Session) -> None:
        """Add the rows that an askance without hashes wrote."""
        for table in KEYS:
            self._extend(table, _rows(session, table, ">", self.tables.get(table, Hashed()).last))

    def start_anew(self, session: Session, table: str) -> None:
        """Hash a table as it is now."""
        self.tables[table] = Hashed()
        self._extend(table, _rows(session, table, ">", 0))


def _place_of_key(table: str) -> int:
    return COLUMNS[table].index(KEYS[table])


def _rows(session: Session, table: str, relation: str, number: int) -> Iterable[Sequence[Any]]:
    key, names = KEYS[table], ", ".join(COLUMNS[table])
    rows = session.stream(f"SELECT {names} FROM {table} WHERE {key} {relation} ? ORDER BY {key}", (number,))
    return sorted(rows) if table == "widened" else rows  # several of an event, in no order that databases agree on


def damaged_tables(session: Session) -> list[str]:
    """The tables whose rows are not those that were written."""
    stored = LogHash(session.value("SELECT value FROM meta WHERE name = ?", (NAME,)))
    return [
        table
        for table, hashed in stored.tables.items()
        if Hashed().add(_rows(session, table, "<=", hashed.last), _place_of_key(table)) != hashed
    ]
