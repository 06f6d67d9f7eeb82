"""Opens a store as a later askance would, with migrations that exist only here; dies where it is told.

    main([PLACE, STATEMENT])

kills itself, as if the power went, after that statement of the migrations it does, counted from 1: the version row is
the last one of each, the commit comes after it. ``slow`` for a number makes one statement that takes longer
than any test.
"""

from __future__ import annotations

import os
import signal
import sys

from askance.errors import AskanceError
from askance_live.store import open_store, schema
from askance_live.store.postgres import PostgresSession
from askance_live.store.sqlite import SqliteSession

LATER = [
    """
    ALTER TABLE events ADD COLUMN source TEXT;
    UPDATE events SET source = 'http';
    CREATE INDEX events_of_source ON events (source);
    """,
    """
    CREATE TABLE names (seq $BIG PRIMARY KEY, name TEXT NOT NULL UNIQUE, weight $REAL);
    INSERT INTO names (seq, name) SELECT seq, id FROM events;
    DROP TABLE set_aside;
    CREATE TABLE set_aside (ask $BIG NOT NULL, who TEXT NOT NULL, until $REAL NOT NULL, PRIMARY KEY (ask, who));
    """,
]
SLOW = """
    CREATE TABLE numbers (n $BIG PRIMARY KEY);
    INSERT INTO numbers WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < 2000000000)
        SELECT n FROM count;
"""


def die_after(statement: int) -> None:
    """Kill this process once so many statements of migrations are done."""
    done = 0
    for kind in (SqliteSession, PostgresSession):
        original = kind.execute

        def counted(self, sql, values=(), original=original):
            nonlocal done
            changed = original(self, sql, values)
            if not sql.startswith(("SELECT", "SET LOCAL")):
                done += 1
                if done == statement:
                    os.kill(os.getpid(), signal.SIGKILL)
            return changed

        kind.execute = counted


def main(words: list[str]) -> int:
    place, *rest = words
    schema.MIGRATIONS += [SLOW] if rest == ["slow"] else LATER
    if rest and rest != ["slow"]:
        die_after(int(rest[0]))
    print("begun", flush=True)
    try:
        open_store(place).close()
    except AskanceError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
