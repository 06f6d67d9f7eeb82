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
from askance_live.engine.learner import Decided
from askance_live.engine.quarantine_state import is_quarantined
from askance_live.engine.state import EngineState
from askance_live.exchange.received import ReceivedEvent, as_json, digest_of
from askance_live.problems import Problem, TooManyFields, Unusable
from askance_live.questions.queue import keep_within
from askance_live.questions.states import QuestionState
from askance_live.questions.transitions import add_questions
from askance_live.store.database import Session
from askance_live.store.rows import Query, insert
from askance_live.store.schema import EventRow, QuestionRow, WidenedRow
from askance_live.webhooks.outbox import emit

log = logging.getLogger("askance")

Outcome = dict[str, Any] | Problem
"""The response to an event, or what is wrong with it."""
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


def ingest(session: Session, state: EngineState, events: list[ReceivedEvent]) -> list[Outcome]:
    """Store new events with their predictions; answer repetitions with what was said the first time."""
    now = state.clock.now()
    outcomes: dict[str, Outcome] = {}
    digests: dict[str, bytes] = {}
    given = {event.id: event for event in events}
    for row in STORED.among(session, given):
        digests[row.id] = _digest_now(session, "events", bytes(row.digest), given[row.id])
        outcomes[row.id] = describe_event(state, row, msgspec.json.decode(row.probabilities))
    for identifier, (digest, outcome) in state.quarantine.find(session, given).items():
        digests[identifier] = _digest_now(session, "quarantine", digest, given[identifier])
        outcomes[identifier] = outcome
    fresh: dict[str, ReceivedEvent] = {}
    for event in events:
        if event.id not in outcomes and event.id not in fresh:
            fresh[event.id] = event
            digests[event.id] = event.digest
    outcomes |= _find_too_many_fields(state, list(fresh.values()))
    taken = [event for event in fresh.values() if event.id not in outcomes]
    for event, found in zip(taken, take_in(session, state, taken, now), strict=True):
        if isinstance(found, Unusable):
            found = state.quarantine.enter(session, state.config.server, event, found.field, str(found), now)
            state.count("quarantined", int(is_quarantined(found)))
        elif isinstance(found, AskanceError):
            found = Problem("too_many_fields" if isinstance(found, TooManyFields) else "invalid", str(found))
        outcomes[event.id] = found
    return [
        outcomes[event.id] if fresh.get(event.id) is event else _repeat(event, digests[event.id], outcomes[event.id])
        for event in events
    ]


def take_in(
    session: Session, state: EngineState, events: list[ReceivedEvent], now: float
) -> list[dict[str, Any] | AskanceError]:
    """Predict new events and store those that can be; the response for each, or why it cannot be used."""
    for event in events:
        event.received = now
    responses: list[dict[str, Any] | AskanceError] = []
    rows: list[EventRow] = []
    asks: list[QuestionRow] = []
    widened: list[WidenedRow] = []
    n_questions = 0
    outcomes = state.learner.decide(events, state.seq)
    _count(state, [decided for decided in outcomes if not isinstance(decided, AskanceError)])
    for event, decided in zip(events, outcomes, strict=True):
        if isinstance(decided, AskanceError):
            responses.append(decided)
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
            asks.append(QuestionRow(
                id=ask, event=state.seq, why=decided.why, probability=decided.probability, audit=int(decided.audit),
                rank=rank, state=QuestionState.OPEN, created=now, expires=now + state.config.queue.time_to_live,
                wanted=state.config.queue.wanted(decided.audit),
            ))  # fmt: skip
        widened += [WidenedRow(state.seq, name, kind) for name, kind in sorted(decided.widened.items())]
        chances = [round(chance, 6) for chance in decided.probabilities]
        row = EventRow(
            id=event.id, digest=event.digest, fields=event.text, time=event.time, received=now, seq=state.seq,
            predicted=decided.predicted, probabilities=as_json(chances), version=state.learner.version, asked=ask,
            probability=decided.probability, audit=int(decided.audit), scores=as_json(decided.scores),
            audit_probability=decided.audit_probability,
        )  # fmt: skip
        rows.append(row)
        responses.append(describe_event(state, row, chances))
    if rows:
        session.many(INSERT, rows)
        state.log_hash.add("events", rows)
        state.count("events", len(rows))
    if asks:
        add_questions(session, asks)
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
    return responses


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


def _repeat(event: ReceivedEvent, digest: bytes, first: Outcome) -> Outcome:
    """The response to an event whose id is known: as the first time where the body has the same digest."""
    if digest != event.digest:
        where = "kept in quarantine" if is_quarantined(first) else "stored"
        return Problem(
            "id_reused", f"the event {event.id!r} is {where} with another body; an id names one event for ever."
        )
    return first if isinstance(first, Problem) or is_quarantined(first) else {**first, "duplicate": True}


def _count(state: EngineState, decided: list[Decided]) -> None:
    """Count what was predicted, and how surely."""
    places = [place for item in decided for place in state.labels.places(item.predicted)]
    margins = [state.labels.margin(item.probabilities) for item in decided]
    for counts in (state.counts, state.totals):
        of_class, margin, probability = counts["predicted"], counts["margin"], counts["probability"]
        for place in places:
            of_class[place] += 1
        for item, more in zip(decided, margins, strict=True):
            margin += more
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
