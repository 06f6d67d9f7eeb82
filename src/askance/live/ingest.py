"""Events come in: checked, predicted, perhaps asked about, stored. All of it inside one transaction."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import uuid4

import msgspec

from askance.errors import AskanceError
from askance.features.rows import FieldError, flatten
from askance.features.times import seconds_in
from askance.live.asking import AUDIT, COLD_START
from askance.live.learner import Incoming
from askance.live.problems import Problem, TooManyFields
from askance.live.state import State
from askance.live.store.database import Session
from askance.live.tallies import asks_moved

LONGEST_ID = 200
LONGEST_TIME = 64
FIRST_MOMENT, LAST_MOMENT = -62_135_596_800.0, 253_402_300_800.0
LEAST_INFORMATIVE = 0.02

LEAST_WHOLE, GREATEST_WHOLE = -(2**63), 2**64 - 1

_canonical = msgspec.json.Encoder(order="sorted")
_LONG_NUMBER = re.compile("[0-9]{19}")


class Event(NamedTuple):
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


def name_of(value: Any, what: str) -> str:
    """An identifier that a client gave: a word or a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value or len(value) > LONGEST_ID or not value.isprintable():
        raise Problem("invalid", f"{what} must be a text of 1 to {LONGEST_ID} printable characters, or a whole number.")
    return value


def read_event(item: Any, event_bytes: int) -> Event:
    """An event from parsed JSON: {"id"?, "fields", "time"?}."""
    if not isinstance(item, dict):
        raise Problem("invalid", 'an event must be an object such as {"id": "m-1", "fields": {"text": "hello"}}.')
    for name in item:
        if name not in ("id", "fields", "time"):
            raise Problem(
                "invalid", f"an event has id, fields and time, but no {name!r}; put what it says into fields."
            )
    fields = item.get("fields")
    if not isinstance(fields, dict):
        raise Problem("invalid", "'fields' must be an object with the fields of the event.")
    identifier = name_of(item["id"], "'id'") if item.get("id") is not None else uuid4().hex
    time = item.get("time")
    if time is not None:
        _check_time(time)
    text = as_json(fields)
    size = len(text) if text.isascii() else len(text.encode())
    if size > event_bytes:
        raise Problem("event_too_large", f"the event has {size:,} bytes; at most {event_bytes:,} are taken.")
    if _LONG_NUMBER.search(text):
        _check_whole_numbers(fields)
    return Event(identifier, digest_of([fields, time]), fields, text, None if time is None else as_json(time))


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


def _check_time(value: Any) -> None:
    """Refuse what is no moment of the years 1 to 9999; any of them will do, for nothing here goes by it."""
    try:
        if isinstance(value, str) and len(value) > LONGEST_TIME:
            raise ValueError("it is too long")
        if FIRST_MOMENT <= seconds_in(value) < LAST_MOMENT:
            return
    except (ValueError, OverflowError):
        pass
    raise Problem(
        "invalid",
        "'time' must be ISO 8601 such as '2026-05-01T10:00:00Z', or seconds or milliseconds since 1970, in the years 1 "
        f"to 9999; got {as_json(value)[:40]}.",
        field="time",
    )


COLUMNS = (
    "seq, id, digest, fields, time, received, predicted, probabilities, scores, version, asked, probability, audit, "
    "audit_probability"
)
INSERT = f"INSERT INTO events ({COLUMNS}) VALUES ({', '.join('?' * 14)})"
INSERT_ASK = (
    "INSERT INTO asks (id, event, why, probability, audit, rank, state, created, expires) "
    "VALUES (?, ?, ?, ?, ?, ?, 'open', ?, ?)"
)


def ingest(session: Session, state: State, events: list[Event]) -> list[dict[str, Any] | Problem]:
    """Store new events with their predictions; answer repetitions with what was said the first time."""
    now = state.clock.now()
    seen: dict[str, tuple[bytes, dict[str, Any] | Problem]] = {}
    digests = {event.id: event.digest for event in events}
    for row in session.select_in(
        "SELECT id, digest, seq, predicted, probabilities, version, asked, probability, audit FROM events "
        "WHERE id IN ({})",
        digests,
    ):
        chances = msgspec.json.decode(row[4])
        digest = bytes(row[1]) if bytes(row[1]) == digests[row[0]] else _digest_anew(session, row[2])
        seen[row[0]] = digest, answer(state, row[0], row[2], row[3], chances, row[5], row[6], row[7], row[8])
    fresh: dict[str, Event] = {}
    for event in events:
        if event.id not in seen and event.id not in fresh:
            fresh[event.id] = event
    new: dict[str, dict[str, Any] | Problem] = dict(_too_new(state, list(fresh.values())))
    taken = [event for event in fresh.values() if event.id not in new]
    decisions = state.learner.decide([Incoming(event.fields, now) for event in taken], state.seq)
    rows, asks = [], []
    for event, decided in zip(taken, decisions, strict=True):
        if isinstance(decided, AskanceError):
            code = "too_many_fields" if isinstance(decided, TooManyFields) else "invalid"
            new[event.id] = Problem(code, str(decided))
            continue
        state.seq += 1
        ask = 0
        if decided.asked:
            state.asks += 1
            ask = state.asks
            rank = rank_of(decided.probabilities, decided.why, now, state.config.queue.freshness)
            expires = now + state.config.queue.time_to_live
            asks.append((ask, state.seq, decided.why, decided.probability, int(decided.audit), rank, now, expires))
        chances = [round(chance, 6) for chance in decided.probabilities]
        rows.append((
            state.seq, event.id, event.digest, event.text, event.time, now, decided.predicted, as_json(chances),
            as_json(decided.scores), state.learner.version, ask, decided.probability, int(decided.audit),
            decided.audit_probability,
        ))  # fmt: skip
        new[event.id] = answer(
            state, event.id, state.seq, decided.predicted, chances, state.learner.version, ask, decided.probability,
            decided.audit,
        )  # fmt: skip
        _count(state, decided)
    if rows:
        session.many(INSERT, rows)
        state.count("events", len(rows))
    if asks:
        session.many(INSERT_ASK, asks)
        state.count("asks", len(asks))
        state.count("audits", sum(ask[2] == AUDIT for ask in asks))
        keep_within(session, state)
    return [_outcome(event, seen, fresh, new) for event in events]


def _digest_anew(session: Session, seq: int) -> bytes:
    """The digest of a stored event; the one beside it may be of a time when 16 and 16.0 had different ones."""
    ((fields, time),) = session.all("SELECT fields, time FROM events WHERE seq = ?", (seq,))
    return digest_of([msgspec.json.decode(fields), None if time is None else msgspec.json.decode(time)])


def _too_new(state: State, events: list[Event]) -> Iterator[tuple[str, Problem]]:
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
    event: Event,
    seen: dict[str, tuple[bytes, dict[str, Any] | Problem]],
    fresh: dict[str, Event],
    new: dict[str, dict[str, Any] | Problem],
) -> dict[str, Any] | Problem:
    if fresh.get(event.id) is event:
        return new[event.id]
    digest, first = seen.get(event.id) or (fresh[event.id].digest, new[event.id])
    if digest != event.digest:
        return Problem(
            "id_reused", f"the event {event.id!r} is stored with another body; an id names one event for ever."
        )
    return first if isinstance(first, Problem) else {**first, "duplicate": True}


def _count(state: State, decided: Any) -> None:
    state.count_class("predicted", decided.predicted)
    margin = max(decided.probabilities) - sorted(decided.probabilities)[-2]
    for counts in (state.counts, state.totals):
        counts["margin"] += margin
        counts["probability"] += decided.probability


def answer(
    state: State, identifier: str, seq: int, predicted: int, chances: list[float], version: int, ask: int,
    probability: float, audit: Any,
) -> dict[str, Any]:  # fmt: skip
    """What is said of one event."""
    return {
        "id": identifier,
        "seq": seq,
        "label": state.classes[predicted],
        "probabilities": dict(zip(state.classes, chances, strict=True)),
        "model": version,
        "asked": bool(ask),
        "ask": ask or None,
        "ask_probability": probability,
        "audit": bool(audit),
        "duplicate": False,
    }


def rank_of(chances: list[float], why: str, now: float, freshness: float) -> float:
    """The logarithm of informativeness x freshness, up to a constant that is the same for all: so it never changes."""
    best, second = sorted(chances)[-1:-3:-1]
    informative = 1.0 if why in (AUDIT, COLD_START) else max(LEAST_INFORMATIVE, 1.0 - (best - second))
    return math.log(informative) + now / max(freshness, 1.0)


def keep_within(session: Session, state: State) -> None:
    """At most so many open asks: the least valuable expires first, counted."""
    excess = session.value("SELECT count(*) FROM asks WHERE state = 'open'") - state.config.queue.most_open
    if excess > 0:
        session.execute(
            "UPDATE asks SET state = 'expired' "
            "WHERE id IN (SELECT id FROM asks WHERE state = 'open' ORDER BY rank LIMIT ?)",
            (excess,),
        )
        asks_moved(session, "open", "expired", excess)
        state.count("expired", excess)
