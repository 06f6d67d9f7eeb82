"""The tables, version by version. A migration is never edited once released; a change is a new one.

Words that differ between the databases stand in capitals with a dollar sign: $BIG an integer, $REAL a double,
$BYTES bytes.
"""

from __future__ import annotations

from askance.live.problems import StartError
from askance.live.store.database import Session

FIRST = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE events (
    seq $BIG PRIMARY KEY,              -- place in the log, shared with learned and settings
    id TEXT NOT NULL UNIQUE,
    digest $BYTES NOT NULL,            -- of the body, to tell a repetition from a second event of that name
    fields TEXT NOT NULL,
    time TEXT,                         -- as the client gave it, JSON
    received $REAL NOT NULL,
    predicted $BIG NOT NULL,
    probabilities TEXT NOT NULL,
    scores TEXT NOT NULL,
    version $BIG NOT NULL,             -- answers learned when it was predicted
    asked $BIG NOT NULL,               -- 0, or the number of the ask
    probability $REAL NOT NULL,
    audit $BIG NOT NULL,
    audit_probability $REAL NOT NULL
);

CREATE TABLE asks (
    id $BIG PRIMARY KEY,
    event $BIG NOT NULL UNIQUE,
    why TEXT NOT NULL,
    probability $REAL NOT NULL,
    audit $BIG NOT NULL,
    rank $REAL NOT NULL,               -- log informativeness + time / freshness: the highest comes first
    state TEXT NOT NULL,               -- open, leased, parked, answered, closed, expired
    created $REAL NOT NULL,
    expires $REAL NOT NULL,
    skips $BIG NOT NULL DEFAULT 0,
    deliveries $BIG NOT NULL DEFAULT 0,
    annotator TEXT,
    deadline $REAL
);
CREATE INDEX asks_open ON asks (rank) WHERE state = 'open';
CREATE INDEX asks_leased ON asks (annotator, deadline) WHERE state = 'leased';
CREATE INDEX asks_expiring ON asks (expires) WHERE state IN ('open', 'leased', 'parked');

CREATE TABLE set_aside (
    ask $BIG NOT NULL, annotator TEXT NOT NULL, until $REAL NOT NULL, PRIMARY KEY (ask, annotator)
);

CREATE TABLE answers (
    seq $BIG PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    digest $BYTES NOT NULL,
    kind TEXT NOT NULL,                -- answer, label, skip
    ask $BIG,
    event $BIG NOT NULL,
    annotator TEXT NOT NULL,
    label $BIG,
    reason TEXT,
    ms $BIG,
    comment TEXT,
    created $REAL NOT NULL,
    state TEXT NOT NULL,               -- waiting, learned, extra, undone, superseded, skipped
    due $REAL,
    supersedes TEXT,
    response TEXT NOT NULL
);
CREATE INDEX answers_waiting ON answers (due) WHERE state = 'waiting';
CREATE INDEX answers_of_event ON answers (event);
CREATE INDEX answers_of_annotator ON answers (annotator, seq);

CREATE TABLE learned (
    seq $BIG PRIMARY KEY,
    n $BIG NOT NULL UNIQUE,            -- 1, 2, 3, ... without a gap
    answer $BIG NOT NULL,
    event $BIG NOT NULL,
    label $BIG NOT NULL,
    weight $REAL NOT NULL,
    left_out $BIG NOT NULL DEFAULT 0   -- a rebuild leaves out what was taken back
);

CREATE TABLE settings (seq $BIG PRIMARY KEY, document TEXT NOT NULL);

CREATE TABLE checkpoints (
    seq $BIG PRIMARY KEY, n $BIG NOT NULL, digest TEXT NOT NULL, created $REAL NOT NULL, content $BYTES NOT NULL
);

CREATE TABLE tokens (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, digest $BYTES NOT NULL UNIQUE, scopes TEXT NOT NULL,
    created $REAL NOT NULL, expires $REAL, revoked $REAL
);
CREATE TABLE sessions (digest $BYTES PRIMARY KEY, token TEXT NOT NULL, created $REAL NOT NULL, expires $REAL NOT NULL);

CREATE TABLE audit_log (
    seq $BIG PRIMARY KEY, time $REAL NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, detail TEXT NOT NULL
);

CREATE TABLE minutes (minute $BIG PRIMARY KEY, document TEXT NOT NULL);
"""

MIGRATIONS = [FIRST]
VERSION = len(MIGRATIONS)


def statements(migration: str, words: dict[str, str]) -> list[str]:
    """The statements of a migration in the words of one database."""
    for word, meaning in words.items():
        migration = migration.replace(f"${word}", meaning)
    lines = [line.split("--")[0] for line in migration.splitlines()]
    return [text.strip() for text in "\n".join(lines).split(";") if text.strip()]


def version_of(session: Session, has_tables: bool) -> int:
    """The schema's version; 0 where there is none yet."""
    return int(session.value("SELECT value FROM meta WHERE name = 'schema'") or 0) if has_tables else 0


def migrate(session: Session, found: int, place: str, words: dict[str, str]) -> None:
    """Bring the tables up to date, inside one transaction."""
    if found > VERSION:
        raise StartError(
            f"the store {place!r} was written by a newer askance (schema {found}; this one knows up to {VERSION}); "
            "upgrade askance, or restore a backup made by this version."
        )
    for number in range(found, VERSION):
        for statement in statements(MIGRATIONS[number], words):
            session.execute(statement)
        session.execute(
            "INSERT INTO meta (name, value) VALUES ('schema', ?) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (str(number + 1),),
        )
