"""The tables: their rows as they are now, and how they came to be, version by version.

A new column is a field of its row here, and a migration below; whoever writes the row gives it a value, and an export
shows it where the field says so. A migration is never edited once released; a change is a new one.

Each migration is one transaction, which also writes the version it leads to: a crash leaves the tables as they were
before it or after it, and the next start goes on from there. Words that differ between the databases stand in capitals
with a dollar sign: $BIG an integer, $REAL a double, $BYTES bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from typing import Annotated, Any, Final, NamedTuple, get_type_hints

from askance.live.problems import StartError
from askance.live.store.database import Database, Session


class Form(Enum):
    """How an export shows what a column holds."""

    AS_IT_IS = auto()
    JSON = auto()
    """JSON, which is part of the export's."""
    MOMENT = auto()
    """Seconds since 1970, as ISO 8601."""
    CLASS = auto()
    """The place of a class, as its name."""
    BY_CLASS = auto()
    """A JSON list with a value for each class, by their names."""
    FLAG = auto()
    """0 or 1, as false or true."""


class Exported(NamedTuple):
    """Where an export has a column: a name, or the name of an object and one within that."""

    path: str
    form: Form = Form.AS_IT_IS


class EventRow(NamedTuple):
    """A row of ``events``; an export has the columns in this order."""

    id: Annotated[str, Exported("id")]
    fields: Annotated[str, Exported("fields", Form.JSON)]
    time: Annotated[str | None, Exported("time", Form.JSON)]
    """As the client gave it, JSON."""
    received: Annotated[float, Exported("received", Form.MOMENT)]
    seq: Annotated[int, Exported("seq")]
    """Its place in the log, shared with ``learned`` and ``settings``."""
    predicted: Annotated[int, Exported("prediction.label", Form.CLASS)]
    probabilities: Annotated[str, Exported("prediction.probabilities", Form.BY_CLASS)]
    version: Annotated[int, Exported("prediction.model")]
    """Answers learned when it was predicted."""
    asked: Annotated[int, Exported("ask.id")]
    """0, or the number of the ask; where it is 0, an export has no ``ask``."""
    probability: Annotated[float, Exported("ask.probability")]
    audit: Annotated[int, Exported("ask.audit", Form.FLAG)]
    digest: bytes
    """Of the body, to tell a repetition from a second event of that name."""
    scores: str
    audit_probability: float


class AskRow(NamedTuple):
    """A row of ``asks``."""

    id: int
    event: int
    why: str
    probability: float
    audit: int
    rank: float
    """Log informativeness + time / freshness: the highest comes first."""
    state: str
    """One of ``states.AskState``."""
    created: float
    expires: float
    skips: int = 0
    deliveries: int = 0
    annotator: str | None = None
    deadline: float | None = None


class AnswerRow(NamedTuple):
    """A row of ``answers``; an export has the columns of the valid answer in this order."""

    label: Annotated[int | None, Exported("label", Form.CLASS)]
    id: Annotated[str, Exported("answer.answer_id")]
    annotator: Annotated[str, Exported("answer.annotator")]
    kind: Annotated[str, Exported("answer.kind")]
    """One of ``states.AnswerKind``."""
    created: Annotated[float, Exported("answer.created", Form.MOMENT)]
    ms: Annotated[int | None, Exported("answer.ms")]
    comment: Annotated[str | None, Exported("answer.comment")]
    seq: int
    digest: bytes
    ask: int | None
    event: int
    reason: str | None
    """Of a skip, one of ``states.SkipReason``."""
    state: str
    """One of ``states.AnswerState``."""
    due: float | None
    supersedes: str | None
    response: str


class LearnedRow(NamedTuple):
    """A row of ``learned``."""

    seq: int
    n: int
    """1, 2, 3, ... without a gap."""
    answer: int
    event: int
    label: int
    weight: float
    left_out: int = 0
    """1 where a rebuild leaves it out, since it was taken back."""


class SettingsRow(NamedTuple):
    """A row of ``settings``: the budget and the audit share that hold from here on."""

    seq: int
    document: str


class WidenedRow(NamedTuple):
    """A row of ``widened``: a settled field that got a wider kind with an event."""

    seq: int
    field: str
    kind: str


class QuarantineRow(NamedTuple):
    """A row of ``quarantine``."""

    seq: int
    """The order in which they came; no place in the log."""
    id: str
    digest: bytes
    fields: str
    time: str | None
    received: float
    field: str | None
    """What could not be taken, where it is one field."""
    reason: str
    bytes: int
    label: str | None = None
    """Where it came with one."""
    annotator: str | None = None
    """From whom the label is."""


TABLES: Final[dict[str, type[tuple[Any, ...]]]] = {
    "events": EventRow,
    "asks": AskRow,
    "answers": AnswerRow,
    "learned": LearnedRow,
    "settings": SettingsRow,
    "widened": WidenedRow,
    "quarantine": QuarantineRow,
}
"""The tables whose rows are read and written by the names of their columns."""


def exported_fields(row: type[tuple[Any, ...]]) -> Iterator[tuple[str, Exported]]:
    """The columns of a table that an export has, and where."""
    for name, hint in get_type_hints(row, include_extras=True).items():
        for note in getattr(hint, "__metadata__", ()):
            if isinstance(note, Exported):
                yield name, note


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

# Events that cannot be encoded are kept; and the log says where a settled field got a wider kind.
FOURTH = """
CREATE TABLE quarantine (
    seq $BIG PRIMARY KEY,              -- the order in which they came; no place in the log
    id TEXT NOT NULL UNIQUE,
    digest $BYTES NOT NULL,
    fields TEXT NOT NULL,
    time TEXT,
    received $REAL NOT NULL,
    field TEXT,                        -- what could not be taken, where it is one field
    reason TEXT NOT NULL,
    bytes $BIG NOT NULL,
    label TEXT,                        -- where it came with one, and from whom
    annotator TEXT
);
CREATE TABLE widened (seq $BIG NOT NULL, field TEXT NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (seq, field));
"""

MIGRATIONS = [FIRST, SECOND, THIRD, FOURTH]


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
