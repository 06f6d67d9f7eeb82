"""Events come in: checked, predicted, perhaps asked about, stored. All of it inside one transaction."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, NamedTuple
from uuid import uuid4

import msgspec
from msgspec import Meta

from askance.errors import AskanceError
from askance.features.rows import FieldError, flatten
from askance.features.times import seconds_in
from askance.live.engine_state import EngineState
from askance.live.exploration import AUDIT, COLD_START
from askance.live.learner import Incoming
from askance.live.problems import Problem, TooManyFields, Unusable
from askance.live.quarantine_state import is_quarantined
from askance.live.queue import keep_within
from askance.live.schemas import Checked, Name, RequestBody, read
from askance.live.states import AskState
from askance.live.store.database import Session
from askance.live.store.rows import Query, insert
from askance.live.store.schema import AskRow, EventRow, WidenedRow
from askance.live.transitions import add_asks

log = logging.getLogger("askance")

LONGEST_TIME = 64
FIRST_MOMENT, LAST_MOMENT = -62_135_596_800.0, 253_402_300_800.0
LEAST_INFORMATIVE = 0.02

LEAST_WHOLE, GREATEST_WHOLE = -(2**63), 2**64 - 1

_canonical = msgspec.json.Encoder(order="sorted")
_LONG_NUMBER = re.compile("[0-9]{19}")


class ReceivedEvent(NamedTuple):
    """An event as it came, checked but for what only the model can tell."""

    id: str
    digest: bytes
    fields: dict[str, Any]
    text: str
    time: str | None


def as_json(value: Any) -> str:
    """Compact JSON that reads back as the same values, in the same order."""
    try:
        return msgspec.json.encode(value).decode()
    except (OverflowError, ValueError):  # whole numbers beyond 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def digest_of(value: Any) -> bytes:
    """A hash that is the same for the same JSON: the order of names and how a number is written do not matter.

    >>> digest_of({"a": 16, "b": [10, 0.5]}) == digest_of({"b": [1e1, 5e-1], "a": 16.0})
    True
    >>> digest_of({"a": 1}) == digest_of({"a": True})
    False
    """
    value = _by_value(value)
    try:
        canonical = _canonical.encode(value)
    except (OverflowError, ValueError):
        canonical = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    return hashlib.blake2b(canonical, digest_size=16).digest()


def _by_value(value: Any) -> Any:
    """The same JSON with every whole number as such: 16.0 and 1.6e1 are 16."""
    kind = value.__class__
    if kind is float:
        return int(value) if value.is_integer() else value
    if kind is dict:
        return {name: _by_value(part) for name, part in value.items()}
    if kind is list:
        return [_by_value(part) for part in value]
    return value


class Moment(Checked[str | float]):
    """When an event happened, as the sender says: any moment will do, for nothing here goes by it."""

    schema: ClassVar[dict[str, Any]] = {
        "title": "ISO 8601 such as '2026-05-01T10:00:00Z', or seconds or milliseconds since 1970, in the years 1 to "
        "9999",
        "anyOf": [{"type": "string", "maxLength": LONGEST_TIME}, {"type": "number"}],
    }

    @staticmethod
    def check(value: Any) -> str | float:
        is_too_long = isinstance(value, str) and len(value) > LONGEST_TIME
        try:
            if is_too_long or not FIRST_MOMENT <= seconds_in(value) < LAST_MOMENT:
                raise ValueError
        except OverflowError:
            raise ValueError from None
        return value


class NewEvent(RequestBody):
    """An event as a client sends it."""

    example = '{"id": "m-1", "fields": {"text": "hello"}}'
    hint = "; what an event says goes into 'fields'"
    identifier = "id"

    fields: Annotated[dict[str, Any], Meta(description="What the event says: nested objects, texts, numbers, lists.")]
    id: Annotated[
        Name | None, Meta(description="The key by which a repetition is known; made up where it is missing.")
    ] = None
    time: Annotated[
        Moment | None,
        Meta(
            description="When it happened, as the sender says; a text without an offset is in UTC. Kept and shown as "
            "it is; nothing goes by it: budgets and the queue have the service's own clock."
        ),
    ] = None


def read_event(item: Any, event_bytes: int) -> ReceivedEvent:
    """An event from parsed JSON: {"id"?, "fields", "time"?}."""
    return check_event(read(NewEvent, item), event_bytes)


def check_event(new: NewEvent, event_bytes: int) -> ReceivedEvent:
    """An event that is small enough and has only numbers that everybody can read."""
    text = as_json(new.fields)
    size = len(text) if text.isascii() else len(text.encode())
    if size > event_bytes:
        raise Problem("event_too_large", f"the event has {size:,} bytes; at most {event_bytes:,} are taken.")
    if _LONG_NUMBER.search(text):
        _check_whole_numbers(new.fields)
    identifier = new.id.value if new.id else uuid4().hex
    time = new.time.value if new.time else None
    return ReceivedEvent(
        identifier, digest_of([new.fields, time]), new.fields, text, None if time is None else as_json(time)
    )


def _check_whole_numbers(fields: dict[str, Any]) -> None:
    """Refuse whole numbers beyond 64 bits, which few readers of JSON keep as they are."""
    level: list[tuple[str, Any]] = list(fields.items())
    while level:
        inner: list[tuple[str, Any]] = []
        for name, value in level:
            if value.__class__ is int and not LEAST_WHOLE <= value <= GREATEST_WHOLE:
                raise Problem(
                    "invalid",
                    f"field {name!r}: whole numbers have at most 64 bits, got {str(value)[:40]}; send it as text, or "
                    "with a decimal point.",
                    field=name,
                )
            if value.__class__ is dict:
                inner += [(f"{name}.{key}", part) for key, part in value.items()]
            elif value.__class__ is list:
                inner += [(f"{name}.{place}", part) for place, part in enumerate(value)]
        level = inner


class StoredEvent(NamedTuple):
    """What is said of an event, as it is stored."""

    id: str
    digest: bytes
    seq: int
    predicted: int
    probabilities: str
    version: int
    asked: int
    probability: float
    audit: int


class GivenEvent(NamedTuple):
    """What a client said of an event."""

    fields: str
    time: str | None


STORED = Query(StoredEvent, "events", "WHERE id IN ({})")
BODY = Query(GivenEvent, "events", "WHERE seq = ?")
INSERT = insert(EventRow)
INSERT_WIDENED = insert(WidenedRow)


def ingest(session: Session, state: EngineState, events: list[ReceivedEvent]) -> list[dict[str, Any] | Problem]:
    """Store new events with their predictions; answer repetitions with what was said the first time."""
    now = state.clock.now()
    seen: dict[str, tuple[bytes, dict[str, Any] | Problem]] = {}
    digests = {event.id: event.digest for event in events}
    for row in STORED.among(session, digests):
        chances = msgspec.json.decode(row.probabilities)
        digest = bytes(row.digest) if bytes(row.digest) == digests[row.id] else _digest_anew(session, row.seq)
        seen[row.id] = digest, describe_event(state, row, chances)
    seen |= state.quarantine.find(session, digests)
    fresh: dict[str, ReceivedEvent] = {}
    for event in events:
        if event.id not in seen and event.id not in fresh:
            fresh[event.id] = event
    new: dict[str, dict[str, Any] | Problem] = dict(_too_new(state, list(fresh.values())))
    taken = [event for event in fresh.values() if event.id not in new]
    outcomes = take_in(session, state, taken, now)
    for event in taken:
        outcome = outcomes[event.id]
        if isinstance(outcome, Unusable):
            outcome = state.quarantine.enter(session, state.config.server, event, outcome.field, str(outcome), now)
            state.count("quarantined", int(is_quarantined(outcome)))
        elif isinstance(outcome, AskanceError):
            code = "too_many_fields" if isinstance(outcome, TooManyFields) else "invalid"
            outcome = Problem(code, str(outcome))
        new[event.id] = outcome
    return [_outcome(event, seen, fresh, new) for event in events]


def take_in(
    session: Session, state: EngineState, events: list[ReceivedEvent], now: float, are_repeated: bool = False
) -> dict[str, dict[str, Any] | AskanceError]:
    """Predict new events and store those that can be; what is said of each, or why it cannot be used."""
    new: dict[str, dict[str, Any] | AskanceError] = {}
    incoming = [Incoming(event.fields, now, is_repeated=are_repeated) for event in events]
    rows: list[EventRow] = []
    asks: list[AskRow] = []
    gave_way: list[WidenedRow] = []
    for event, decided in zip(events, state.learner.decide(incoming, state.seq), strict=True):
        if isinstance(decided, AskanceError):
            new[event.id] = decided
            continue
        state.seq += 1
        ask = 0
        if decided.asked:
            state.asks += 1
            ask = state.asks
            rank = rank_of(decided.probabilities, decided.why, now, state.config.queue.freshness)
            asks.append(AskRow(
                id=ask, event=state.seq, why=decided.why, probability=decided.probability, audit=int(decided.audit),
                rank=rank, state=AskState.OPEN, created=now, expires=now + state.config.queue.time_to_live,
            ))  # fmt: skip
        gave_way += [WidenedRow(state.seq, name, kind) for name, kind in sorted(decided.gave_way.items())]
        chances = [round(chance, 6) for chance in decided.probabilities]
        row = EventRow(
            id=event.id, fields=event.text, time=event.time, received=now, seq=state.seq, predicted=decided.predicted,
            probabilities=as_json(chances), version=state.learner.version, asked=ask, probability=decided.probability,
            audit=int(decided.audit), digest=event.digest, scores=as_json(decided.scores),
            audit_probability=decided.audit_probability,
        )  # fmt: skip
        rows.append(row)
        new[event.id] = describe_event(state, row, chances)
        _count(state, decided)
    if rows:
        session.many(INSERT, rows)
        state.log_hash.add("events", rows)
        state.count("events", len(rows))
    if asks:
        add_asks(session, asks)
        state.log_hash.add("asks", asks)
        state.count("asks", len(asks))
        state.count("audits", sum(ask.why == AUDIT for ask in asks))
        keep_within(session, state)
    if gave_way:
        session.many(INSERT_WIDENED, gave_way)
        state.log_hash.add("widened", gave_way)
        for _, name, kind in gave_way:
            log.warning("too many values of the field %r did not fit its kind: it is a %s from here on", name, kind)
    return new


def _digest_anew(session: Session, seq: int) -> bytes:
    """The digest of a stored event; the one beside it may be of a time when 16 and 16.0 had different ones."""
    (body,) = BODY.all(session, (seq,))
    return digest_of([msgspec.json.decode(body.fields), None if body.time is None else msgspec.json.decode(body.time)])


def _too_new(state: EngineState, events: list[ReceivedEvent]) -> Iterator[tuple[str, Problem]]:
    """Events that bring too many names of fields at once; the first of a stream may bring any."""
    most, known = state.config.server.new_fields, state.learner.features.kinds.keys()
    first: set[str] = set()
    for place, event in enumerate(events):
        if len(event.text) <= 2 * most:  # an item of a list, the shortest field there is, takes two
            continue
        try:
            names = flatten(event.fields).keys()
        except FieldError:
            continue
        if not place and not state.totals["events"]:
            first = set(names)
        elif len(new := names - known - first) > most:
            yield (
                event.id,
                Problem(
                    "too_many_fields",
                    f"the event brings {len(new):,} fields that none before had, and at most {most:,} are taken at "
                    "once (server.new_fields); are there identifiers among the names of the fields?",
                ),
            )


def _outcome(
    event: ReceivedEvent,
    seen: dict[str, tuple[bytes, dict[str, Any] | Problem]],
    fresh: dict[str, ReceivedEvent],
    new: dict[str, dict[str, Any] | Problem],
) -> dict[str, Any] | Problem:
    if fresh.get(event.id) is event:
        return new[event.id]
    digest, first = seen.get(event.id) or (fresh[event.id].digest, new[event.id])
    if digest != event.digest:
        where = "kept in quarantine" if is_quarantined(first) else "stored"
        return Problem(
            "id_reused", f"the event {event.id!r} is {where} with another body; an id names one event for ever."
        )
    return first if isinstance(first, Problem) or is_quarantined(first) else {**first, "duplicate": True}


def _count(state: EngineState, decided: Any) -> None:
    state.count_class("predicted", decided.predicted)
    margin = max(decided.probabilities) - sorted(decided.probabilities)[-2]
    for counts in (state.counts, state.totals):
        counts["margin"] += margin
        counts["probability"] += decided.probability


def describe_event(state: EngineState, row: EventRow | StoredEvent, chances: list[float]) -> dict[str, Any]:
    """What is said of one event, whose probabilities are ``chances``."""
    return {
        "id": row.id,
        "seq": row.seq,
        "label": state.classes[row.predicted],
        "probabilities": dict(zip(state.classes, chances, strict=True)),
        "model": row.version,
        "asked": bool(row.asked),
        "ask": row.asked or None,
        "ask_probability": row.probability,
        "audit": bool(row.audit),
        "duplicate": False,
    }


def rank_of(chances: list[float], why: str, now: float, freshness: float) -> float:
    """The logarithm of informativeness x freshness, up to a constant that is the same for all: so it never changes."""
    best, second = sorted(chances)[-1:-3:-1]
    informative = 1.0 if why in (AUDIT, COLD_START) else max(LEAST_INFORMATIVE, 1.0 - (best - second))
    return math.log(informative) + now / max(freshness, 1.0)
