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

from askance_live.problems import StartError, StoreInUse
from askance_live.store.database import Database, Session


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
    """Its place in the log, shared with ``learned``, ``settings`` and ``schemes``."""
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


class QuestionRow(NamedTuple):
    """A row of ``asks``."""

    id: int
    event: int
    why: str
    probability: float
    audit: int
    rank: float
    """Log informativeness + time / freshness: the highest comes first."""
    state: str
    """One of ``states.QuestionState``."""
    created: float
    expires: float
    skips: int = 0
    deliveries: int = 0
    annotator: str | None = None
    deadline: float | None = None
    wanted: int = 1
    """How many different people answer it."""


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
    agreement: float = 1.0
    """By how much less the model moves: the share of people who said so, where a consensus is weighed by that."""


class SettingsRow(NamedTuple):
    """A row of ``settings``: the budget and the audit share that hold from here on."""

    seq: int
    document: str


class LabelSchemaRow(NamedTuple):
    """A row of ``schemes``: the classes and the kinds of fields from here on (``askance_live.engine.label_schema``)."""

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


class NoteRow(NamedTuple):
    """A row of ``notes``: what somebody wrote beside an event."""

    seq: int
    event: int
    author: str
    created: float
    text: str


class MetaRow(NamedTuple):
    """A row of ``meta``: what there is one of, such as the version of the tables."""

    name: str
    value: str


class SetAsideRow(NamedTuple):
    """A row of ``set_aside``: a question that somebody skipped, and until when others have it."""

    ask: int
    annotator: str
    until: float


class CheckpointRow(NamedTuple):
    """A row of ``checkpoints``: the model after the log's entry ``seq``; 0 is that which the store starts from."""

    seq: int
    n: int
    """Answers learned."""
    digest: str
    created: float
    content: bytes
    """Compressed."""


class TokenRow(NamedTuple):
    """A row of ``tokens``."""

    id: str
    name: str
    digest: bytes
    scopes: str
    created: float
    expires: float | None
    revoked: float | None = None


class SessionRow(NamedTuple):
    """A row of ``sessions``: who is logged in."""

    digest: bytes
    token: str
    created: float
    expires: float


class ActivityRow(NamedTuple):
    """A row of ``audit_log``: who did what."""

    seq: int
    time: float
    actor: str
    action: str
    detail: str
    """JSON."""


class MinuteRow(NamedTuple):
    """A row of ``minutes``: what was counted in a minute."""

    minute: int
    """Since 1970."""
    document: str


class TallyRow(NamedTuple):
    """A row of ``tallies``: what the dashboard shows, counted as it happens."""

    kind: str
    name: str
    n: int


class PersonRow(NamedTuple):
    """A row of ``people``."""

    id: str
    name: str
    """Whose the answers are, and whom the activity log names; two people never share one."""
    email: str | None
    role: str
    """One of ``access.ROLES``."""
    created: float
    revoked: float | None = None
    seen: float | None = None
    """When they last did something, to the minute."""
    logins: int = 0
    subject: str | None = None
    """Who they are to the company's login: issuer and subject."""


class LinkRow(NamedTuple):
    """A row of ``links``: what lets somebody in once."""

    digest: bytes
    person: str
    kind: str
    """``invitation`` or ``login``."""
    created: float
    expires: float
    used: float | None = None


class OutboxRow(NamedTuple):
    """A row of ``outbox``: a message to a webhook that has not been taken yet."""

    seq: int
    id: str
    """The same with every try, so that the receiver knows a repetition."""
    hook: str
    """The address."""
    event: str
    body: str
    created: float
    due: float
    """When it is tried next."""
    attempts: int = 0
    given_up: int = 0
    error: str | None = None
    """Why the last try failed."""


TABLES: Final[dict[str, type[tuple[Any, ...]]]] = {
    "events": EventRow,
    "asks": QuestionRow,
    "answers": AnswerRow,
    "learned": LearnedRow,
    "settings": SettingsRow,
    "schemes": LabelSchemaRow,
    "widened": WidenedRow,
    "quarantine": QuarantineRow,
    "notes": NoteRow,
    "meta": MetaRow,
    "set_aside": SetAsideRow,
    "checkpoints": CheckpointRow,
    "tokens": TokenRow,
    "sessions": SessionRow,
    "audit_log": ActivityRow,
    "minutes": MinuteRow,
    "tallies": TallyRow,
    "people": PersonRow,
    "links": LinkRow,
    "outbox": OutboxRow,
}
"""Every table; rows are read and written by the names of their columns."""


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

# Several people answer a question; and whoever reviews events writes notes.
FIFTH = """
ALTER TABLE asks ADD COLUMN wanted $BIG NOT NULL DEFAULT 1;       -- how many different people answer it
ALTER TABLE learned ADD COLUMN agreement $REAL NOT NULL DEFAULT 1;
CREATE TABLE notes (
    seq $BIG PRIMARY KEY, event $BIG NOT NULL, author TEXT NOT NULL, created $REAL NOT NULL, text TEXT NOT NULL
);
CREATE INDEX notes_of_event ON notes (event);
"""

# People beside tokens, and the links that let each of them in once; what webhooks have not been told yet.
SIXTH = """
CREATE TABLE people (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    email TEXT,
    role TEXT NOT NULL,
    created $REAL NOT NULL,
    revoked $REAL,
    seen $REAL,
    logins $BIG NOT NULL DEFAULT 0,
    subject TEXT UNIQUE                -- who they are to the company's login
);
CREATE TABLE links (
    digest $BYTES PRIMARY KEY, person TEXT NOT NULL, kind TEXT NOT NULL, created $REAL NOT NULL, expires $REAL NOT NULL,
    used $REAL
);
CREATE TABLE outbox (
    seq $BIG PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    hook TEXT NOT NULL,
    event TEXT NOT NULL,
    body TEXT NOT NULL,
    created $REAL NOT NULL,
    due $REAL NOT NULL,
    attempts $BIG NOT NULL DEFAULT 0,
    given_up $BIG NOT NULL DEFAULT 0,
    error TEXT
);
CREATE INDEX outbox_due ON outbox (due) WHERE given_up = 0;
"""

# Classes and kinds of fields that changed; a store without a row has those of its settings.
SEVENTH = """
CREATE TABLE schemes (seq $BIG PRIMARY KEY, document TEXT NOT NULL);
"""

MIGRATIONS = [FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH, SEVENTH]


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
    check_known(database, found)
    if found == len(MIGRATIONS):
        return
    if found:
        try:
            database.own()
        except StoreInUse:
            raise StoreInUse(
                f"the tables of {database.place!r} must be changed for this version of askance, and another askance "
                "works on them: stop the processes that own the stream or stand by for it, then start this one."
            ) from None
    try:
        for number in range(found, len(MIGRATIONS)):
            with database.write() as session:
                if database.version(session) == number:  # else another start was faster
                    _apply(session, number, database.words)
    finally:
        if found:
            database.disown()


def check_known(database: Database, version: int) -> None:
    """Refuse tables of a newer askance: a process that was started before them would not know what they mean."""
    if version > len(MIGRATIONS):
        raise StartError(
            f"the store {database.place!r} was written by a newer askance (schema {version}; this one knows up to "
            f"{len(MIGRATIONS)}); upgrade askance, or restore a backup made by this version."
        )


def _apply(session: Session, number: int, words: dict[str, str]) -> None:
    for statement in statements(MIGRATIONS[number], words):
        session.execute(statement)
    session.execute(
        "INSERT INTO meta (name, value) VALUES ('schema', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (str(number + 1),),
    )
