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
from typing import Any, ClassVar

from askance_live.problems import StartError, StoreExists, StoreInUse
from askance_live.store import is_unfinished
from askance_live.store.database import Database, Row, Session, StoreBusy, StoreError, StoreFull
from askance_live.store.schema import migrate, stored_version

PATIENCE = 5.0  # seconds to wait for another process that writes
CHECKED_BYTES = 64_000_000  # a larger file would make the start slow; 'askance doctor' checks any
COPIED_PAGES = 2000  # of a backup, before it looks whether it shall end
SETTINGS = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    "cache_size = -16000",
    "wal_autocheckpoint = 2000",
)
BESIDE = ("-journal", "-wal", "-shm")  # what SQLite keeps beside a file


class SqliteSession(Session):
    """Statements on one connection, whose errors are those of the store."""

    def __init__(self, connection: sqlite3.Connection, place: str) -> None:
        self.connection, self.place = connection, place

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        try:
            return self.connection.execute(sql, values).rowcount
        except sqlite3.Error as error:
            raise translate_error(error, self.place) from error

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        try:
            self.connection.executemany(sql, rows)
        except sqlite3.Error as error:
            raise translate_error(error, self.place) from error

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        try:
            return self.connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise translate_error(error, self.place) from error

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        try:
            cursor = self.connection.execute(sql, values)
            for row in cursor:  # noqa: UP028 - that closes the cursor, perhaps after the database
                yield row
        except sqlite3.Error as error:
            raise translate_error(error, self.place) from error


class SqliteDatabase(Database):
    """A SQLite file that exists, unless ``create``."""

    words: ClassVar[dict[str, str]] = {"BIG": "INTEGER", "REAL": "REAL", "BYTES": "BLOB"}

    def __init__(self, path: str, create: bool = False) -> None:
        self.path = Path(path)
        self.place = str(path)
        self._lock: int | None = None
        self._readers = threading.local()
        self._open_readers: list[sqlite3.Connection] = []
        self._is_new = create and self._create()
        if not self.path.exists():
            raise StartError(
                f"the database {self.place!r} does not exist; create it with 'askance init', or restore a backup with "
                "'askance restore'."
            )
        if not create and not self.path.stat().st_size:
            raise StartError(
                f"the database {self.place!r} is empty; remove it and create one with 'askance init', or restore a "
                "backup with 'askance restore --force'."
            )
        if not os.access(self.path, os.W_OK) or not os.access(self.path.parent, os.W_OK):
            raise StartError(
                f"the database {self.place!r} or its folder is read-only; make both writable for whoever runs askance."
            )
        try:
            self.writer = self._connect()
            self._prepare()
        except BaseException as error:
            self.discard()
            if not isinstance(error, sqlite3.DatabaseError):
                raise
            raise self._refusal(error) from None

    def _create(self) -> bool:
        """Whether there is a new file; one that was begun and never filled is gone on with."""
        try:
            handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except FileExistsError:
            if is_unfinished(self.place):
                return False
            raise StoreExists(f"{self.place!r} exists already; choose another name.", self.place) from None
        except OSError as error:
            raise StartError(f"cannot create {self.place!r}: {error.strerror}.") from None
        os.close(handle)
        return True

    def _connect(self, *more: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"file:{_quote(self.path)}?mode=rw",
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.executescript("".join(f"PRAGMA {setting};" for setting in (*SETTINGS, *more)))
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self) -> None:
        if (
            self.path.stat().st_size
            and self.is_small()
            and self.writer.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok"
        ):
            raise sqlite3.DatabaseError("the check of its pages failed")
        migrate(self)

    def version(self, session: Session) -> int:
        if session.value("SELECT count(*) FROM sqlite_master WHERE name = 'meta'"):
            return stored_version(session)
        if session.value("SELECT count(*) FROM sqlite_master"):
            raise StartError(f"{self.place!r} is a database of another program; choose another file.")
        return 0

    def _refusal(self, error: sqlite3.DatabaseError) -> Exception:
        if isinstance(found := translate_error(error, self.place), StoreFull):
            return found
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
            yield SqliteSession(connection, self.place)
            connection.execute("COMMIT")
        except BaseException as error:
            with contextlib.suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise translate_error(error, self.place) from error
            raise

    @contextmanager
    def read(self) -> Iterator[Session]:
        connection: sqlite3.Connection | None = getattr(self._readers, "connection", None)
        try:
            if connection is None:
                connection = self._readers.connection = self._connect("query_only = ON")
                self._open_readers.append(connection)
            connection.execute("BEGIN")
            yield SqliteSession(connection, self.place)
        except sqlite3.Error as error:
            raise translate_error(error, self.place) from error
        finally:
            if connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")

    def own(self) -> None:
        self._lock = lock(self.path)

    def disown(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def is_small(self) -> bool:
        return self.path.stat().st_size < CHECKED_BYTES

    def note_group(self, name: str, number: int) -> None:
        # Not synced, since the store is: after a power cut it may be behind, and is never ahead.
        if self._lock is not None:
            with contextlib.suppress(OSError):
                os.pwrite(self._lock, f"{number:020d} {name}\n".encode(), 0)

    def known_group(self, name: str) -> int | None:
        found = "" if self._lock is None else os.pread(self._lock, 100, 0).decode("utf-8", "replace")
        number, _, whose = found.partition("\n")[0].partition(" ")
        return int(number) if len(number) == 20 and number.isdecimal() and whose == name else None

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
        try:
            with _whole_or_absent(path) as part:
                copy = sqlite3.connect(part)
                source = self._connect()
                try:
                    # One look at the source for all of the copy: otherwise every commit would begin it anew.
                    source.execute("BEGIN")
                    source.execute("SELECT count(*) FROM meta").fetchone()
                    source.backup(copy, pages=COPIED_PAGES)
                    copy.execute("PRAGMA journal_mode = DELETE")
                finally:
                    source.close()
                    copy.close()
        except sqlite3.Error as error:
            raise translate_error(error, target) from error
        except OSError as error:
            raise StoreError(f"cannot write {target!r}: {error.strerror}.") from None

    def check(self) -> list[str]:
        with self.read() as session:
            found = [str(row[0]) for row in session.all("PRAGMA integrity_check(20)") if row[0] != "ok"]
            return found + _wrong_types(session)

    def discard(self) -> None:
        if self._is_new:
            remove_file(self.path)

    def close(self) -> None:
        for connection in (*self._open_readers, self.writer):
            with contextlib.suppress(sqlite3.Error):
                connection.close()
        self.disown()


KINDS = {"INTEGER": "'integer'", "REAL": "'real', 'integer'", "TEXT": "'text'", "BLOB": "'blob'"}
"""What a column of a declared type may hold; SQLite itself takes anything in most of them."""


def _wrong_types(session: Session) -> list[str]:
    """Values of another type than their column's, as only another program stores them."""
    found = []
    tables = session.all("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'checkpoints' ORDER BY name")
    for (table,) in tables:
        columns = session.all('SELECT name, type, "notnull" FROM pragma_table_info(?)', (table,))
        known = [(name, KINDS[kind] + ("" if is_needed else ", 'null'")) for name, kind, is_needed in columns]
        sums = ", ".join(f"coalesce(sum(typeof({name}) NOT IN ({kinds})), 0)" for name, kinds in known)
        ((*numbers,),) = session.all(f"SELECT {sums} FROM {table}")
        found += [
            f"{number} values in the column {name} of the table {table} are of another type"
            for (name, _), number in zip(known, numbers, strict=True)
            if number
        ]
    return found


def translate_error(error: sqlite3.Error, place: str) -> StoreError:
    """A SQLite error as one of ours."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    if code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(f"the database {place!r} is held by another program.")
    if code & 0xFF == sqlite3.SQLITE_FULL or code in (sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE):
        return StoreFull(f"there is no room left for {place!r}.")
    return StoreError(f"the database {place!r} cannot be used: {str(error).rstrip('.')}.")


def _quote(path: Path) -> str:
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def lock(path: Path) -> int:
    """Become the one program that works on a file, sound or not; closing what is returned ends it."""
    handle = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise StoreInUse(
            f"another askance works on {str(path)!r} already; stop it first, or use another store."
        ) from None
    return handle


def copy_file(source: Path, target: Path) -> None:
    """A copy for ``askance restore``: whole or not at all, readable by its owner only."""
    with _whole_or_absent(target) as part:
        shutil.copyfile(source, part)
        for name in BESIDE:  # of an attempt that was killed: they would be taken for this file's
            Path(f"{target}{name}").unlink(missing_ok=True)


def replace_store(staged: Path, target: Path) -> None:
    """Put a store that was checked in the place of another, sound or not; a crash leaves one of the two, whole."""
    if target.exists():
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(target)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # from here on it does without what is beside it
    for name in BESIDE:
        Path(f"{target}{name}").unlink(missing_ok=True)
    os.replace(staged, target)
    _sync(target.parent)


@contextmanager
def _whole_or_absent(target: Path) -> Iterator[Path]:
    """An empty file to be filled, which becomes ``target`` once it is whole and on disk."""
    part = target.with_name(target.name + ".part")
    remove_file(part)
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield part
        _sync(part)
        os.replace(part, target)
        _sync(target.parent)
    finally:
        remove_file(part)


def remove_file(path: Path) -> None:
    """Remove a database file, if there is one, with what SQLite keeps beside it."""
    for name in ("", *BESIDE):
        Path(f"{path}{name}").unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """What was written to a file, or which names a folder has, is on disk from here on."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
