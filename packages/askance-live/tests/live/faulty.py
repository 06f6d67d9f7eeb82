"""SQLite that fails where it is told: any call of the store, once or, as if the power went, from there on for ever.

The calls are counted at the border with SQLite, not in our own code: every connection, every statement with ``BEGIN``
and ``COMMIT``, every stream of rows. So whatever the store does is a place where it can fail.
"""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

ERRORS = {
    "error": (sqlite3.SQLITE_IOERR, "disk I/O error"),
    "full": (sqlite3.SQLITE_FULL, "database or disk is full"),
    "busy": (sqlite3.SQLITE_BUSY, "database is locked"),
}
LATE = "late"
"""An error that is reported after the call was done, as of a commit whose answer was lost."""
CRASH = "crash"
"""The end of the machine, of which only the files remain."""


def make_error(kind):
    code, text = ERRORS.get(kind, ERRORS["error"])
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


class Faults:
    """Counts the calls while ``is_counting``, and lets the one with the number ``at`` fail, of those that begin with
    ``among``."""

    def __init__(self, at=None, kind="error", among=""):
        self.at, self.kind, self.among = at, kind, among
        self.count, self.is_counting, self.is_down = 0, False, False
        self.fired_at = None
        self.place = self.image = None

    def call(self, what, work):
        """Do something with SQLite, unless it is to fail."""
        if not self.is_counting:
            return work()
        if self.is_down:
            raise make_error("error")
        self.count += what.startswith(self.among)
        if self.count != self.at or self.fired_at:
            return work()
        self.fired_at = what
        if self.kind == CRASH:
            self.is_down = True
            copy_store(self.place, self.image)
        elif self.kind == LATE:
            work()
        raise make_error(self.kind)


def copy_store(source, target):
    """The files of a store, as a machine that stops now leaves them."""
    for name in ("", "-wal"):
        beside = Path(f"{source}{name}")
        if beside.exists():
            shutil.copyfile(beside, f"{target}{name}")
            Path(f"{target}{name}").chmod(0o600)


def connect_to(faults):
    """``sqlite3.connect``, with faults in all that comes of it."""

    class FaultyCursor(sqlite3.Cursor):
        begun = False

        def execute(self, sql, values=()):
            return faults.call(sql, lambda: super(FaultyCursor, self).execute(sql, values))

        def executemany(self, sql, rows):
            return faults.call(sql, lambda: super(FaultyCursor, self).executemany(sql, rows))

        def __next__(self):
            if self.begun:
                return super().__next__()
            self.begun = True  # later rows are read as this one is
            return faults.call("next row", super().__next__)

    class FaultyConnection(sqlite3.Connection):
        def cursor(self, factory=FaultyCursor):
            return super().cursor(factory)

        def execute(self, sql, values=()):
            return self.cursor().execute(sql, values)

        def executemany(self, sql, rows):
            return self.cursor().executemany(sql, rows)

        def executescript(self, sql):
            return faults.call(sql, lambda: super(FaultyConnection, self).executescript(sql))

    connect = sqlite3.connect

    def open_connection(*words, **options):
        return faults.call("connect", lambda: connect(*words, factory=FaultyConnection, **options))

    return open_connection
