"""Where everything the service must not forget is kept: one SQLite file, or a PostgreSQL database."""

from __future__ import annotations

from askance.live.config import is_postgres
from askance.live.problems import StartError
from askance.live.store.database import Database


def open_store(place: str, create: bool = False) -> Database:
    """The store at ``place``: a file, or an address that begins with ``postgresql://``."""
    if is_postgres(place):
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise StartError(
                "a PostgreSQL store needs the package psycopg; install it with: pip install 'askance[postgres]'."
            ) from None
        from askance.live.store.postgres import PostgresDatabase

        return PostgresDatabase(place, create)
    from askance.live.store.sqlite import SqliteDatabase

    return SqliteDatabase(place, create)
