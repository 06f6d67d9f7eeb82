"""Where everything the service must not forget is kept: one SQLite file, or a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
