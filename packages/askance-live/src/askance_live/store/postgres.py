"""The store in a PostgreSQL database, with ``synchronous_commit`` on."""

from __future__ import annotations

import contextlib
import itertools
import queue
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, ClassVar

import psycopg
from psycopg import errors

from askance_live.problems import StartError, StoreExists, StoreInUse, StoreUnreachable
from askance_live.store.database import (
    CommitUnknown,
    Database,
    Row,
    Session,
    StoreAway,
    StoreBusy,
    StoreError,
    StoreFull,
)
from askance_live.store.schema import migrate, stored_version

OWNER = 7_302_755_921  # the advisory lock of the one service
OWNED = (
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid::bigint = ? AND objid::bigint = ? AND "
    "objsubid = 1 AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
OWNER_PATIENCE = 5.0  # seconds in which the server notices that a service before us has died
LOCK_PATIENCE = "5s"
STATEMENT_PATIENCE = "60s"
SERVER_NOTICES = (
    "-c tcp_keepalives_idle=2 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=3 -c tcp_user_timeout=5000"
)
CLIENT_NOTICES: dict[str, Any] = {
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "tcp_user_timeout": 5000,
}
"""Within five seconds, that the machine at the other end is gone: a lock outlives its owner no longer."""
LOOK = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
CURSORS = itertools.count()


@cache
def translate(sql: str) -> str:
    """Our SQL in psycopg's spelling."""
    return sql.replace("%", "%%").replace("?", "%s")


class PostgresSession(Session):
    """Statements on one connection, whose errors are those of the store."""

    def __init__(self, connection: psycopg.Connection[Row], place: str) -> None:
        self.connection, self.place = connection, place

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        try:
            return self.connection.execute(translate(sql), values).rowcount
        except psycopg.Error as error:
            raise translate_error(error, self.place, self.connection) from error

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        try:
            with self.connection.cursor() as cursor:
                cursor.executemany(translate(sql), rows)
        except psycopg.Error as error:
            raise translate_error(error, self.place, self.connection) from error

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        try:
            return self.connection.execute(translate(sql), values).fetchall()
        except psycopg.Error as error:
            raise translate_error(error, self.place, self.connection) from error

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        try:
            with self.connection.cursor(name=f"askance_{next(CURSORS)}") as cursor:
                cursor.itersize = 500
                yield from cursor.execute(translate(sql), values)
        except psycopg.Error as error:
            raise translate_error(error, self.place, self.connection) from error


class PostgresDatabase(Database):
    """A PostgreSQL database whose tables exist, unless ``create``."""

    words: ClassVar[dict[str, str]] = {"BIG": "BIGINT", "REAL": "DOUBLE PRECISION", "BYTES": "BYTEA"}

    def __init__(self, address: str, create: bool = False) -> None:
        self.address = address
        self.place = re.sub(r"//[^@/]*@", "//", address)
        self._owned = False
        self._idle: queue.LifoQueue[psycopg.Connection[Row]] = queue.LifoQueue()
        try:
            self.writer = self._connect()
        except psycopg.Error as error:
            raise StoreUnreachable(f"cannot reach the database {self.place!r}: {_sentence(error)}") from None
        try:
            self._prepare(create)
        except BaseException:
            self.close()
            raise

    def _prepare(self, create: bool) -> None:
        with self.write() as session:
            tables = self.version(session)
            is_filled = tables and session.value("SELECT count(*) FROM meta WHERE name = 'model'")
        if not tables and not create:
            raise StartError(f"the database {self.place!r} has no askance tables; create them with 'askance init'.")
        if is_filled and create:
            raise StoreExists(f"the database {self.place!r} has askance tables already; choose another.", self.address)
        migrate(self)

    def version(self, session: Session) -> int:
        session.execute("SELECT pg_advisory_xact_lock(?)", (OWNER + 1,))  # two starts migrate in turn
        if not session.value("SELECT to_regclass('meta') IS NOT NULL"):
            return 0
        session.execute("SET LOCAL statement_timeout = 0")  # a migration of many rows takes its time
        return stored_version(session)

    def _connect(self) -> psycopg.Connection[Row]:
        connection = psycopg.connect(
            self.address,
            autocommit=True,
            connect_timeout=5,
            application_name="askance",
            options=f"-c synchronous_commit=on -c lock_timeout={LOCK_PATIENCE} "
            f"-c statement_timeout={STATEMENT_PATIENCE} {SERVER_NOTICES}",
            **CLIENT_NOTICES,
        )
        connection.prepare_threshold = 3
        with contextlib.suppress(psycopg.Error):  # which PostgreSQL 14 and later know, on most systems
            connection.execute("SET client_connection_check_interval = '1s'")  # a killed service lets go of its locks
        return connection

    @contextmanager
    def write(self) -> Iterator[Session]:
        connection = self.writer
        ending = False
        try:
            connection.execute("BEGIN")
            yield PostgresSession(connection, self.place)
            ending = True
            connection.execute("COMMIT")
        except BaseException as error:
            with contextlib.suppress(psycopg.Error):
                connection.execute("ROLLBACK")
            if isinstance(error.__cause__, errors.ReadOnlySqlTransaction):
                connection.close()  # the next one may lead to a server that writes again
            if isinstance(error, psycopg.Error):  # of BEGIN or COMMIT: the session has told the others
                if ending and connection.closed:
                    raise CommitUnknown(f"the connection to {self.place!r} broke during a commit.") from error
                raise translate_error(error, self.place, connection) from error
            raise

    @contextmanager
    def read(self) -> Iterator[Session]:
        try:
            connection = self._reader()
        except psycopg.Error as error:
            raise translate_error(error, self.place) from error
        try:
            yield PostgresSession(connection, self.place)
        finally:
            with contextlib.suppress(psycopg.Error):
                connection.execute("ROLLBACK")
            if connection.closed:
                connection.close()
            else:
                self._idle.put(connection)

    def _reader(self) -> psycopg.Connection[Row]:
        """A connection that looks at what is committed now: an idle one, but for those that were cut meanwhile."""
        while True:
            try:
                connection = self._idle.get_nowait()
            except queue.Empty:
                connection = self._connect()
                connection.execute(LOOK)
                return connection
            try:
                connection.execute(LOOK)
                return connection
            except psycopg.Error:
                connection.close()

    def own(self) -> None:
        deadline = time.monotonic() + OWNER_PATIENCE
        while not self.try_own():
            if time.monotonic() < deadline:
                time.sleep(0.1)
                continue
            raise StoreInUse(f"another askance works on {self.place!r} already; stop it first, or use another store.")

    def try_own(self) -> bool:
        self._owned = self._owned or self._take_ownership()
        return self._owned

    def is_owned(self) -> bool:
        with self.read() as session:
            return bool(session.value(OWNED, (OWNER >> 32, OWNER & 0xFFFFFFFF)))

    def backend(self) -> int:
        return 0 if self.writer.closed else self.writer.info.backend_pid

    def disown(self) -> None:
        with contextlib.suppress(psycopg.Error):  # without the connection there is no lock either
            self.writer.execute("SELECT pg_advisory_unlock(%s)", (OWNER,))
        self._owned = False

    def _take_ownership(self) -> bool:
        try:
            row = self.writer.execute("SELECT pg_try_advisory_lock(%s)", (OWNER,)).fetchone()
        except psycopg.Error as error:
            raise translate_error(error, self.place, self.writer) from error
        return bool(row and row[0])

    def is_small(self) -> bool:
        return False  # and the server may be far away; 'askance doctor' reads all of it

    def note_group(self, name: str, number: int) -> None:
        """Nothing: the server keeps its own journal."""

    def known_group(self, name: str) -> int | None:
        return None

    def room(self) -> int | None:
        return None

    def recover(self) -> None:
        if not self.writer.closed:
            return
        with contextlib.suppress(psycopg.Error):
            self.writer.close()
        while not self._idle.empty():
            with contextlib.suppress(psycopg.Error, queue.Empty):
                self._idle.get_nowait().close()
        try:
            self.writer = self._connect()
            if self._owned and not self._take_ownership():
                self.writer.close()
                raise StoreAway(f"the connection that {self.place!r} lost still counts as its owner.")
        except psycopg.Error as error:
            raise translate_error(error, self.place) from error

    def backup(self, target: str) -> None:
        raise StoreError("a PostgreSQL store is backed up with pg_dump.")

    def check(self) -> list[str]:
        with self.read() as session:
            session.value("SELECT count(*) FROM meta")
        return []

    def discard(self) -> None:
        """Nothing: the database was there before."""

    def close(self) -> None:
        with contextlib.suppress(psycopg.Error):
            self.writer.close()
        while not self._idle.empty():
            with contextlib.suppress(psycopg.Error, queue.Empty):
                self._idle.get_nowait().close()


AWAY = {"57P01", "57P02", "57P03", "57P05", "53300", "25006"}
"""What a server says that shuts down, starts, has no connection left, or has become a copy of another."""


def translate_error(error: psycopg.Error, place: str, connection: psycopg.Connection[Row] | None = None) -> StoreError:
    """A PostgreSQL error as one of ours; ``connection`` is where it came up."""
    if isinstance(error, errors.DiskFull | errors.OutOfMemory):
        return StoreFull(f"there is no room left for {place!r}.")
    if _is_away(error) or (connection is not None and connection.closed):
        return StoreAway(f"the database {place!r} cannot be reached: {_sentence(error)}")
    if isinstance(error, psycopg.OperationalError):
        return StoreBusy(f"the database {place!r} is held by others: {_sentence(error)}")
    return StoreError(f"the database {place!r} cannot be used: {_sentence(error)}")


def _is_away(error: psycopg.Error) -> bool:
    code = error.sqlstate
    if code is None:  # it never came to the server
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return code in AWAY or code.startswith("08")


def _sentence(error: psycopg.Error) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") + "." if str(error).strip() else "no reason given."
