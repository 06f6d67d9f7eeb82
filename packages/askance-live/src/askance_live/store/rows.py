"""Rows by name: queries whose columns are the fields of a NamedTuple, checked against the tables of the schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from askance_live.store.database import Session
from askance_live.store.schema import TABLES, MetaRow

R = TypeVar("R", bound=tuple[Any, ...])


def columns(row: type[tuple[Any, ...]], source: str, **computed: str) -> str:
    """The columns of a query that fills such a row from these tables, each from the first that has it by the schema.

    ``computed`` says what a field is that no table has by that name.

    >>> from typing import NamedTuple
    >>> class Delay(NamedTuple):
    ...     annotator: str
    ...     seconds: float
    >>> columns(Delay, "answers a JOIN events e ON e.seq = a.event", seconds="a.created - e.received")
    'a.annotator, a.created - e.received'
    """
    known: dict[str, str] = {}
    for part in re.split(r" (?:LEFT )?JOIN ", source):
        table, *alias = part.split(" ")[:2]
        for name in fields_of(TABLES[table]) if table in TABLES else ():
            known.setdefault(name, ".".join([*alias, name]))
    return ", ".join(computed.get(name) or known[name] for name in fields_of(row))


def fields_of(row: type[tuple[Any, ...]]) -> tuple[str, ...]:
    """The names of a NamedTuple's fields."""
    names: tuple[str, ...] = row._fields  # type: ignore[attr-defined]
    return names


class Query(Generic[R]):
    """A query whose rows have names: the tables it reads, and what comes after them (WHERE, ORDER BY, LIMIT).

    A field that neither a table of the schema has nor is ``computed`` is an error when the query is made.
    """

    def __init__(self, row: type[R], source: str, rest: str = "", **computed: str) -> None:
        self.sql = f"SELECT {columns(row, source, **computed)} FROM {source} {rest}".rstrip()
        self._row: Any = row._make  # type: ignore[attr-defined]

    def all(self, session: Session, values: Sequence[Any] = ()) -> list[R]:
        """Every row."""
        return [*map(self._row, session.all(self.sql, values))]

    def one(self, session: Session, values: Sequence[Any] = ()) -> R | None:
        """The first row, if there is one."""
        found = session.one(self.sql, values)
        return None if found is None else self._row(found)

    def stream(self, session: Session, values: Sequence[Any] = ()) -> Iterator[R]:
        """The rows one after the other, in constant memory."""
        return map(self._row, session.stream(self.sql, values))

    def among(self, session: Session, keys: Iterable[Any]) -> list[R]:
        """The rows of a query whose ``{}`` stands for a list of keys."""
        return [*map(self._row, session.select_in(self.sql, keys))]


def insert(row: type[tuple[Any, ...]]) -> str:
    """The statement that stores a whole row of a table of the schema."""
    (table,) = (name for name, declared in TABLES.items() if declared is row)
    names = fields_of(row)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


def upsert(row: type[tuple[Any, ...]], *keys: str) -> str:
    """The statement that stores a row, in the place of one with the same keys.

    >>> from askance_live.store.schema import MetaRow
    >>> upsert(MetaRow, "name")
    'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value'
    """
    new = ", ".join(f"{name} = excluded.{name}" for name in fields_of(row) if name not in keys)
    return f"{insert(row)} ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {new}"


UPSERT_META = upsert(MetaRow, "name")
"""The statement that stores what there is one of."""


def await_turn(session: Session) -> None:
    """Wait for whichever process writes what has no single owner: people, tokens, sessions and notes."""
    session.execute("UPDATE meta SET value = value WHERE name = 'store'")  # locked until the commit
