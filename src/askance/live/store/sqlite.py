"""The store in one SQLite file: WAL, every commit on disk before it counts, one writer, many readers."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from askance.live.problems import StartError
from askance.live.store.database import Database, Row, Session, StoreBusy, StoreError, StoreFull
from askance.live.store.schema import migrate, version_of

PATIENCE = 5.0  # seconds to wait for another process that writes
CHECKED_BYTES = 64_000_000  # a larger file would make the start slow; 'askance doctor' checks any
WORDS = {"BIG": "INTEGER", "REAL": "REAL", "BYTES": "BLOB"}


class SqliteSession(Session):
    """Statements on one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        return self.connection.execute(sql, values).rowcount

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        self.connection.executemany(sql, rows)

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        return self.connection.execute(sql, values).fetchall()

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        return iter(self.connection.execute(sql, values))


class SqliteDatabase(Database):
    """A SQLite file that exists, unless ``create``."""

    def __init__(self, path: str, create: bool = False) -> None:
        self.path = Path(path)
        self.place = str(path)
        self._lock: int | None = None
        self._readers = threading.local()
        self._open_readers: list[sqlite3.Connection] = []
        if create:
            self._create()
        if not self.path.exists():
            raise StartError(
                f"the database {self.place!r} does not exist; create it with 'askance init', or restore a backup with "
                "'askance restore'."
            )
        if not os.access(self.path, os.W_OK) or not os.access(self.path.parent, os.W_OK):
            raise StartError(
                f"the database {self.place!r} or its folder is read-only; make both writable for whoever runs askance."
            )
        try:
            self.writer = self._connect()
            self._prepare()
        except sqlite3.DatabaseError as error:
            raise self._refusal(error) from None

    def _create(self) -> None:
        try:
            handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except FileExistsError:
            raise StartError(f"{self.place!r} exists already; choose another name or remove it.") from None
        except OSError as error:
            raise StartError(f"cannot create {self.place!r}: {error.strerror}.") from None
        os.close(handle)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"file:{_quoted(self.path)}?mode=rw",
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA cache_size = -16000")
        connection.execute("PRAGMA wal_autocheckpoint = 2000")
        return connection

    def _prepare(self) -> None:
        if (
            0 < self.path.stat().st_size < CHECKED_BYTES
            and self.writer.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok"
        ):
            raise sqlite3.DatabaseError("the check of its pages failed")
        with self.write() as session:
            tables = session.value("SELECT count(*) FROM sqlite_master WHERE name = 'meta'")
            others = session.value("SELECT count(*) FROM sqlite_master")
            if others and not tables:
                raise StartError(f"{self.place!r} is a database of another program; choose another file.")
            migrate(session, version_of(session, bool(tables)), self.place, WORDS)

    def _refusal(self, error: sqlite3.DatabaseError) -> StartError:
        if "locked" in str(error):
            return StartError(f"the database {self.place!r} is locked by another program; end it, then start again.")
        return StartError(
            f"the database {self.place!r} is damaged or no database ({error}); restore a backup with 'askance restore'."
        )

    @contextmanager
    def write(self) -> Iterator[Session]:
        connection = self.writer
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield SqliteSession(connection)
            connection.execute("COMMIT")
        except BaseException as error:
            with contextlib.suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise meaning(error, self.place) from error
            raise

    @contextmanager
    def read(self) -> Iterator[Session]:
        connection: sqlite3.Connection | None = getattr(self._readers, "connection", None)
        if connection is None:
            connection = self._readers.connection = self._connect()
            connection.execute("PRAGMA query_only = ON")
            self._open_readers.append(connection)
        try:
            connection.execute("BEGIN")
            yield SqliteSession(connection)
        except sqlite3.Error as error:
            raise meaning(error, self.place) from error
        finally:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")

    def own(self) -> None:
        name = f"{self.path}.lock"
        handle = os.open(name, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise StartError(
                f"another askance works on {self.place!r} already; stop it first, or use another store."
            ) from None
        self._lock = handle

    def room(self) -> int | None:
        found = os.statvfs(self.path.parent)
        return found.f_bavail * found.f_frsize

    def recover(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            if self.writer.in_transaction:
                self.writer.execute("ROLLBACK")

    def backup(self, target: str) -> None:
        path = Path(target)
        if path.exists():
            raise StoreError(f"{target!r} exists already; choose another name.")
        part = path.with_name(path.name + ".part")
        os.close(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600))
        try:
            copy = sqlite3.connect(part)
            source = self._connect()
            try:
                source.backup(copy, pages=2000)
                copy.execute("PRAGMA journal_mode = DELETE")
            finally:
                source.close()
                copy.close()
            handle = os.open(part, os.O_RDONLY)
            os.fsync(handle)
            os.close(handle)
            os.replace(part, path)
        except sqlite3.Error as error:
            raise meaning(error, target) from error
        finally:
            part.unlink(missing_ok=True)

    def check(self) -> list[str]:
        with self.read() as session:
            return [str(row[0]) for row in session.all("PRAGMA integrity_check(20)") if row[0] != "ok"]

    def close(self) -> None:
        for connection in (*self._open_readers, self.writer):
            with contextlib.suppress(sqlite3.Error):
                connection.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def meaning(error: sqlite3.Error, place: str) -> StoreError:
    """A SQLite error as one of ours."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    if code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(f"the database {place!r} is held by another program.")
    if code & 0xFF == sqlite3.SQLITE_FULL or code in (sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE):
        return StoreFull(f"there is no room left for {place!r}.")
    return StoreError(f"the database {place!r} cannot be used: {str(error).rstrip('.')}.")


def _quoted(path: Path) -> str:
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def copy_file(source: Path, target: Path) -> None:
    """A copy for ``askance restore``: whole or not at all, readable by its owner only."""
    part = target.with_name(target.name + ".part")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600))
        shutil.copyfile(source, part)
        handle = os.open(part, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
