"""Events come in: predicted, perhaps asked about, stored. All of it inside one transaction."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from askance.data.encoding.rows import FieldError, flatten
from askance.errors import AskanceError
from askance_live.engine.exploration import AUDIT, COLD_START
from askance_live.engine.label_space import known_of
from askance_live.engine.learner import Decided, Incoming
from askance_live.engine.quarantine_state import is_quarantined
from askance_live.engine.state import EngineState
from askance_live.exchange.received import ReceivedEvent, as_json, digest_of
from askance_live.problems import Problem, TooManyFields, Unusable
from askance_live.questions.queue import keep_within
from askance_live.questions.states import AskState
from askance_live.questions.transitions import add_asks
from askance_live.store.database import Session
from askance_live.store.rows import Query, insert
from askance_live.store.schema import AskRow, EventRow, WidenedRow
from askance_live.webhooks.outbox import emit

log = logging.getLogger("askance")

LEAST_INFORMATIVE = 0.02
MOST_SHORTER = 8
"""How many times shorter the same fields may be written: 1e16 and 10000000000000000 are one number."""


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
BODIES = {table: Query(GivenEvent, table, "WHERE id = ? AND length(fields) <= ?") for table in ("events", "quarantine")}
INSERT = insert(EventRow)
INSERT_WIDENED = insert(WidenedRow)


def ingest(session: Session, state: EngineState, events: list[ReceivedEvent]) -> list[dict[str, Any] | Problem]:
    """Store new events with their predictions; answer repetitions with what was said the first time."""
    now = state.clock.now()
    seen: dict[str, tuple[bytes, dict[str, Any] | Problem]] = {}
    given = {event.id: event for event in events}
    for row in STORED.among(session, given):
        chances = msgspec.json.decode(row.probabilities)
        digest = _digest_now(session, "events", bytes(row.digest), given[row.id])
        seen[row.id] = digest, describe_event(state, row, chances)
    for identifier, (digest, said) in state.quarantine.find(session, given).items():
        seen[identifier] = _digest_now(session, "quarantine", digest, given[identifier]), said
    fresh: dict[str, ReceivedEvent] = {}
    for event in events:
        if event.id not in seen and event.id not in fresh:
            fresh[event.id] = event
    new: dict[str, dict[str, Any] | Problem] = dict(_find_too_many_fields(state, list(fresh.values())))
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
    widened: list[WidenedRow] = []
    n_questions = 0
    outcomes = state.learner.decide(incoming, state.seq)
    _count(state, [decided for decided in outcomes if not isinstance(decided, AskanceError)])
    for event, decided in zip(events, outcomes, strict=True):
        if isinstance(decided, AskanceError):
            new[event.id] = decided
            continue
        state.seq += 1
        ask = 0
        if decided.asked:
            state.asks += 1
            n_questions += decided.n_asked
            ask = state.asks
            doubt = (
                decided.probabilities if decided.about is None else _those_known(decided.about, decided.probabilities)
            )
            rank = rank_of(state.labels.margin(doubt), decided.why, now, state.config.queue.freshness)
            asks.append(AskRow(
                id=ask, event=state.seq, why=decided.why, probability=decided.probability, audit=int(decided.audit),
                rank=rank, state=AskState.OPEN, created=now, expires=now + state.config.queue.time_to_live,
                wanted=state.config.queue.wanted(decided.audit),
            ))  # fmt: skip
        widened += [WidenedRow(state.seq, name, kind) for name, kind in sorted(decided.widened.items())]
        chances = [round(chance, 6) for chance in decided.probabilities]
        row = EventRow(
            **event.columns(), received=now, seq=state.seq, predicted=decided.predicted,
            probabilities=as_json(chances), version=state.learner.version, asked=ask, probability=decided.probability,
            audit=int(decided.audit), scores=as_json(decided.scores), audit_probability=decided.audit_probability,
        )  # fmt: skip
        rows.append(row)
        new[event.id] = describe_event(state, row, chances)
    if rows:
        session.many(INSERT, rows)
        state.log_hash.add("events", rows)
        state.count("events", len(rows))
    if asks:
        add_asks(session, asks)
        state.log_hash.add("asks", asks)
        state.count("asks", n_questions)
        state.count("audits", sum(ask.why == AUDIT for ask in asks))
        keep_within(session, state)
        names = {row.asked: row.id for row in rows}
        told = ({"ask": ask.id, "event": names[ask.id], "why": ask.why, "audit": bool(ask.audit)} for ask in asks)
        emit(session, state, "question.asked", told)
    if widened:
        session.many(INSERT_WIDENED, widened)
        state.log_hash.add("widened", widened)
        for _, name, kind in widened:
            log.warning("too many values of the field %r did not fit its kind: it is a %s from here on", name, kind)
    return new


def _digest_now(session: Session, table: str, kept: bytes, event: ReceivedEvent) -> bytes:
    """The digest of what is stored under the id of an event.

    The one that was ``kept`` may be of a time when 16 and 16.0 had different ones. It is made anew only where the event
    could be the same: a short one costs nothing in proportion to what is stored.
    """
    if kept == event.digest:
        return kept
    body = BODIES[table].one(session, (event.id, MOST_SHORTER * len(event.text)))
    if body is None:
        return kept
    return digest_of([msgspec.json.decode(body.fields), None if body.time is None else msgspec.json.decode(body.time)])


def _find_too_many_fields(state: EngineState, events: list[ReceivedEvent]) -> Iterator[tuple[str, Problem]]:
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
        elif len(new := [name for name in names if name not in known and name not in first]) > most:
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


def _count(state: EngineState, decided: list[Decided]) -> None:
    """Count what was predicted, and how surely."""
    labels = state.labels
    for counts in (state.counts, state.totals):
        of_class, margin, probability = counts["predicted"], counts["margin"], counts["probability"]
        for item in decided:
            for place in labels.places(item.predicted):
                of_class[place] += 1
            margin += labels.margin(item.probabilities)
            probability += item.probability
        counts["margin"], counts["probability"] = margin, probability


def describe_event(state: EngineState, row: EventRow | StoredEvent, chances: list[float]) -> dict[str, Any]:
    """What is said of one event, whose probabilities are ``chances``."""
    return {
        "id": row.id,
        "seq": row.seq,
        "label": state.labels.show(row.predicted),
        "probabilities": dict(zip(state.classes, chances, strict=False)),
        "model": row.version,
        "asked": bool(row.asked),
        "ask": row.asked or None,
        "ask_probability": row.probability,
        "audit": bool(row.audit),
        "duplicate": False,
    }


def _those_known(about: int, chances: list[float]) -> list[float]:
    """The probabilities of the labels of a set that are asked about."""
    return [chance for place, chance in enumerate(chances) if known_of(about) >> place & 1]


def rank_of(margin: float, why: str, now: float, freshness: float) -> float:
    """The logarithm of informativeness x freshness, up to a constant that is the same for all: so it never changes."""
    informative = 1.0 if why in (AUDIT, COLD_START) else max(LEAST_INFORMATIVE, 1.0 - margin)
    return math.log(informative) + now / max(freshness, 1.0)
