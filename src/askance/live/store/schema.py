"""The tables, version by version. A migration is never edited once released; a change is a new one.

Each migration is one transaction, which also writes the version it leads to: a crash leaves the tables as they were
before it or after it, and the next start goes on from there. Words that differ between the databases stand in capitals
with a dollar sign: $BIG an integer, $REAL a double, $BYTES bytes.
"""

from __future__ import annotations

from askance.live.problems import StartError
from askance.live.store.database import Database, Session

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

# Nothing that is done for every request may take longer the more is stored. SQLite uses a partial index only where a
# query repeats its condition word for word, and, never having counted, prefers any index on state to the order of rank.
SECOND = """
CREATE INDEX answers_of_ask ON answers (ask);
CREATE INDEX answers_to_learn ON answers (seq, due) WHERE state = 'waiting';
CREATE INDEX asks_in_play ON asks (state, created) WHERE state IN ('open', 'leased', 'parked');
CREATE INDEX asks_to_expire ON asks (expires) WHERE state IN ('open', 'parked');
DROP INDEX asks_expiring;
CREATE INDEX set_aside_of_annotator ON set_aside (annotator, until);
"""

# What the dashboard shows is counted as it happens, and a look at it goes through no table.
THIRD = """
CREATE TABLE tallies (kind TEXT NOT NULL, name TEXT NOT NULL, n $BIG NOT NULL, PRIMARY KEY (kind, name));
CREATE INDEX answers_lately ON answers (annotator, created, kind, state);
"""

MIGRATIONS = [FIRST, SECOND, THIRD]


def statements(migration: str, words: dict[str, str]) -> list[str]:
    """The statements of a migration in the words of one database."""
    for word, meaning in words.items():
        migration = migration.replace(f"${word}", meaning)
    lines = [line.split("--")[0] for line in migration.splitlines()]
    return [text.strip() for text in "\n".join(lines).split(";") if text.strip()]


def stored_version(session: Session) -> int:
    """The version that the tables say they have."""
    return int(session.value("SELECT value FROM meta WHERE name = 'schema'") or 0)


def migrate(database: Database) -> None:
    """Bring the tables up to date, one transaction for each migration; refuse those of a newer askance.

    While there is something to change, no service may work on the store: it would not know the new tables.
    """
    with database.write() as session:
        found = database.version(session)
    if found > len(MIGRATIONS):
        raise StartError(
            f"the store {database.place!r} was written by a newer askance (schema {found}; this one knows up to "
            f"{len(MIGRATIONS)}); upgrade askance, or restore a backup made by this version."
        )
    if found == len(MIGRATIONS):
        return
    if found:
        database.own()
    try:
        for number in range(found, len(MIGRATIONS)):
            with database.write() as session:
                if database.version(session) == number:  # else another start was faster
                    _apply(session, number, database.words)
    finally:
        if found:
            database.disown()


def _apply(session: Session, number: int, words: dict[str, str]) -> None:
    for statement in statements(MIGRATIONS[number], words):
        session.execute(statement)
    session.execute(
        "INSERT INTO meta (name, value) VALUES ('schema', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (str(number + 1),),
    )
