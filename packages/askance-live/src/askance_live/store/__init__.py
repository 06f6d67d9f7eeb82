"""Where everything the service must not forget is kept: one SQLite file, or a PostgreSQL database.

``describe_store`` looks into a store that is there already, without changing it: whose it is.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from askance.extras import how_to_install
from askance_live.config import is_postgres
from askance_live.problems import StartError
from askance_live.store.database import Database, Session


def open_store(place: str, create: bool = False) -> Database:
    """The store at ``place``: a file, or an address that begins with ``postgresql://``."""
    if is_postgres(place):
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise StartError(
                f"a PostgreSQL store needs the package psycopg; install it with: {how_to_install('postgres')}."
            ) from None
        from askance_live.store.postgres import PostgresDatabase

        return PostgresDatabase(place, create)
    from askance_live.store.sqlite import SqliteDatabase

    return SqliteDatabase(place, create)


@contextmanager
def new_store(place: str) -> Iterator[Session]:
    """A new store, to be filled with its first rows; if the block fails, no file is left."""
    database = open_store(place, create=True)
    try:
        with database.write() as session:
            yield session
    except BaseException:
        database.discard()
        raise
    finally:
        database.close()


# --- what a store says of itself -----------------------------------------------------------------------


SETTINGS = "SELECT name, value FROM meta WHERE name IN ('title', 'model', 'declared')"
ANY_EVENT = "SELECT 1 FROM events LIMIT 1"


class StoreDescription(NamedTuple):
    """What a store says about itself."""

    title: str
    classes: list[str]
    """Those of the settings that it was started with last."""
    has_events: bool

    def sentence(self) -> str:
        """In a few words, for the end of a sentence.

        >>> StoreDescription("Mail", ["ham", "spam"], False).sentence()
        "the store of 'Mail' with the classes ham, spam, without events yet"
        """
        classes = ", ".join(self.classes[:20])
        events = "with events" if self.has_events else "without events yet"
        return f"the store of {self.title!r} with the classes {classes}, {events}"


def describe_store(place: str) -> StoreDescription | None:
    """Whose store this is; None where it is none, or cannot be read."""
    try:
        settings, event = _postgres(place) if is_postgres(place) else _sqlite(place)
        named: dict[str, str] = dict(settings)
        classes = json.loads(named.get("declared") or named["model"])["classes"]
        return StoreDescription(named.get("title", ""), classes, event is not None)
    except (_Unreadable, KeyError, ValueError):
        return None


def is_unfinished(path: str) -> bool:
    """Whether a file was begun as a store and never filled, as where the disk was full or ``askance init`` was killed:
    it is empty, or has no tables, or those of askance without settings and events."""
    try:
        if not Path(path).stat().st_size:
            return True
        with contextlib.closing(sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)) as connection:
            if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
                return True
        settings, event = _sqlite(path)
        return not settings and event is None
    except (OSError, sqlite3.Error, _Unreadable):
        return False


class _Unreadable(Exception):
    """There are no such tables."""


def _sqlite(place: str) -> tuple[list[Any], Any]:
    address = f"{Path(place).resolve().as_uri()}?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            return connection.execute(SETTINGS).fetchall(), connection.execute(ANY_EVENT).fetchone()
    except sqlite3.Error as error:
        raise _Unreadable from error


def _postgres(place: str) -> tuple[list[Any], Any]:
    import psycopg

    try:
        with psycopg.connect(place, connect_timeout=5) as connection:
            return connection.execute(SETTINGS).fetchall(), connection.execute(ANY_EVENT).fetchone()
    except psycopg.Error as error:
        raise _Unreadable from error
