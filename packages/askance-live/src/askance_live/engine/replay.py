"""The model from the log: events, answers and settings in the order of their sequence numbers.

model = f(settings, seed, log[1..n]). A checkpoint is that model at some n; a restart loads the newest one and replays
what came after. A replay from the beginning gives the same bytes.

The settings are those of now: where classes or kinds of fields changed (``askance_live.engine.label_schema``), all of
the log is played with the new ones, and what was said of earlier events is taken from there.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple, TypeVar

import msgspec

from askance_live.config import AskingSettings
from askance_live.engine.learner import Answer, Learner
from askance_live.exchange.received import Incoming, Recorded
from askance_live.questions.states import TAKEN_BACK, one_of
from askance_live.store.database import Session, StoreError
from askance_live.store.rows import Query
from askance_live.store.schema import LabelSchemaRow, SettingsRow, WidenedRow

BATCH = 256
LOG = ("events", "learned", "settings", "schemes")
"""The tables whose rows share their sequence numbers."""


class LoggedEvent(NamedTuple):
    """An event as a replay needs it."""

    seq: int
    fields: str
    received: float
    asked: int
    scores: str
    predicted: int
    probabilities: str
    probability: float
    audit: int


class LoggedAnswer(NamedTuple):
    """An answer that was learned, with what was said of its event when that came."""

    seq: int
    n: int
    weight: float
    left_out: int
    agreement: float
    event: int
    label: int
    fields: str
    scores: str
    predicted: int
    audit: int
    received: float


EVENTS = Query(LoggedEvent, "events", "WHERE seq > ? AND seq <= ? ORDER BY seq")
ANSWERS = Query(
    LoggedAnswer, "learned l JOIN events e ON e.seq = l.event", "WHERE l.seq > ? AND l.seq <= ? ORDER BY l.seq"
)
SETTINGS = Query(SettingsRow, "settings", "WHERE seq > ? AND seq <= ? ORDER BY seq")
LABEL_SCHEMAS = Query(LabelSchemaRow, "schemes", "WHERE seq > ? AND seq <= ? ORDER BY seq")
WIDENED = Query(WidenedRow, "widened", "WHERE seq > ? AND seq <= ?")

Entry = LoggedEvent | LoggedAnswer | SettingsRow | LabelSchemaRow
Logged = TypeVar("Logged", LoggedEvent, LoggedAnswer, SettingsRow)
Found = TypeVar("Found")


def replay(
    session: Session,
    learner: Learner,
    after: int,
    until: int,
    left_out: Collection[int] = (),
) -> None:
    """Play the log's entries from ``after`` (excluded) to ``until`` once more, learned rows ``left_out`` left out."""
    waiting: list[Incoming] = []

    def flush(seq: int) -> None:
        """Events wait for one another, up to the entry ``seq``, the last of them."""
        if waiting:
            learner.decide(waiting, seq - len(waiting))
            waiting.clear()

    widened: dict[int, dict[str, str]] = {}
    for row in WIDENED.all(session, (after, until)):
        widened.setdefault(row.seq, {})[row.field] = row.kind
    tables = (EVENTS, ANSWERS, SETTINGS, LABEL_SCHEMAS)
    streams: list[Iterable[Entry]] = [query.stream(session, (after, until)) for query in tables]
    last = after
    for entry in heapq.merge(*streams, key=lambda entry: entry.seq):
        if isinstance(entry, LoggedEvent):
            event = _readable(_incoming, entry, "event")
            if entry.seq <= learner.model.since:
                event.recorded = _readable(_recorded, entry, "event")
            event.widened = widened.get(entry.seq)
            waiting.append(event)
            last = entry.seq
            if len(waiting) >= BATCH:
                flush(last)
            continue
        flush(last)
        if isinstance(entry, LabelSchemaRow):
            continue  # the model is that of the last one, from the beginning
        if isinstance(entry, SettingsRow):
            learner.follow(_readable(_asking, entry, "setting"))
            continue
        if not entry.left_out and entry.n not in left_out:
            learner.learn(_readable(_answer, entry, "answer"))
        learner.version = entry.n
    flush(last)


def _readable(read: Callable[[Logged], Found], row: Logged, what: str) -> Found:
    """A row as one of ours; one with values of another type, as only another program can store, is named."""
    try:
        return read(row)
    except (TypeError, ValueError, LookupError, msgspec.DecodeError) as error:
        raise StoreError(
            f"the {what} at {row.seq} of the log cannot be read ({str(error).rstrip('.')}); restore a backup."
        ) from error


def _incoming(row: LoggedEvent) -> Incoming:
    fields = msgspec.json.decode(row.fields, type=dict[str, Any])
    return Incoming(fields, _number(row.received), was_asked=_number(row.asked) > 0, stored_scores=row.scores)


def _recorded(row: LoggedEvent) -> Recorded:
    chances = msgspec.json.decode(row.probabilities, type=list[float])
    return Recorded(int(row.predicted), chances, row.asked > 0, float(row.probability), bool(row.audit))


def _answer(row: LoggedAnswer) -> Answer:
    for value in (row.event, row.label, row.predicted, row.audit, row.received):
        _number(value)
    return Answer.of(row, _number(row.weight), _number(row.agreement))


def _asking(row: SettingsRow) -> AskingSettings:
    return AskingSettings.from_document(row.document)


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{str(value)[:40]!r} stands where a number belongs")
    return value


def last_seq(session: Session) -> int:
    """The sequence number of the log's last entry."""
    return max(int(session.value(f"SELECT max(seq) FROM {name}") or 0) for name in LOG)


def find_taken_back(session: Session) -> set[int]:
    """The learned rows whose answers were undone or corrected afterwards."""
    rows = session.all(
        "SELECT l.n FROM learned l JOIN answers a ON a.seq = l.answer "
        f"WHERE l.left_out = 0 AND a.state IN {one_of(TAKEN_BACK)}"
    )
    return {int(row[0]) for row in rows}
