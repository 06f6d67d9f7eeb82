"""Events in, predictions out."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import msgspec
from msgspec import Meta
from starlette.responses import Response

from askance.errors import InvalidInput
from askance_live.clock import iso
from askance_live.engine.label_space import ShownLabel
from askance_live.engine.quarantine_state import is_quarantined
from askance_live.engine.state import EngineState
from askance_live.exchange.received import NewEvent, ReceivedEvent, check_event, in_parts
from askance_live.http.routing import Items, Request, json_response, process_in_chunks, route
from askance_live.problems import Problem, result_or_problem
from askance_live.questions.queue import BY_NUMBER, reason
from askance_live.routes.answers import Answer, answers_of_event
from askance_live.service import Service
from askance_live.store.database import Session
from askance_live.store.rows import Query

Probability = Annotated[float, Meta(ge=0, le=1)]
Prediction = TypedDict("Prediction", {"label": ShownLabel, "probabilities": dict[str, Probability], "model": int})
Predicted = TypedDict("Predicted", {
    "id": str, "seq": int, "label": ShownLabel, "probabilities": dict[str, Probability], "model": int, "asked": bool,
    "ask": int | None, "ask_probability": float, "audit": bool, "duplicate": bool,
})  # fmt: skip
Quarantined = TypedDict("Quarantined", {
    "id": str, "code": Literal["quarantined"],
    "field": Annotated[str | None, Meta(description="The field whose value its kind cannot take.")], "detail": str,
})  # fmt: skip
Batch = TypedDict("Batch", {
    "items": list[dict[str, Any]], "accepted": int, "duplicates": int, "quarantined": int, "errors": int,
})  # fmt: skip
EventDetails = TypedDict("EventDetails", {
    "id": str, "seq": int, "fields": dict[str, Any], "time": str | float | None, "received": str,
    "prediction": Prediction, "now": Prediction, "ask": dict[str, Any] | None, "answers": list[Answer],
})  # fmt: skip
EventId = Annotated[str, Meta(min_length=1, description="The event's id.")]

NEW_OR_KEPT = {201: ("A new event.", Predicted), 202: ("Not predicted, but kept in quarantine.", Quarantined)}


@route("POST", "/v1/events", "ingest", responses=NEW_OR_KEPT, body_bytes=None, stateless=True)
async def ingest(service: Service, request: Request, body: Items[NewEvent]) -> Predicted | Batch | Response:
    """Take events in: one object, an array, or one object a line; each is predicted at once, and stored."""
    check = partial(check_event, event_bytes=service.config.server.event_bytes)
    events = await service.work(request, lambda: [result_or_problem(check, item) for item in body.items])
    parts = in_parts([event for event in events if isinstance(event, ReceivedEvent)])
    done = iter(await process_in_chunks(parts, service.ingest))
    outcomes = [event if isinstance(event, Problem) else next(done) for event in events]
    if body.is_single:
        outcome = body.only(outcomes)
        return json_response(outcome, _status(outcome))
    results = body.report(outcomes, _status)
    return {
        "items": results,
        "accepted": sum(item["status"] == 201 for item in results),
        "duplicates": sum(item["status"] == 200 for item in results),
        "quarantined": sum(item["status"] == 202 for item in results),
        "errors": sum(item["status"] >= 400 for item in results),
    }


def _status(outcome: dict[str, Any]) -> int:
    """201 for a new event, 200 for a repetition, 202 for one that is kept in quarantine."""
    if is_quarantined(outcome):
        return 202
    return 200 if outcome["duplicate"] else 201


@route("POST", "/v1/predict", "ingest", body_bytes=None, is_repeatable=True)
async def predict(service: Service, request: Request, body: NewEvent) -> Prediction:
    """What the model says of an event now; nothing is stored."""
    event = await service.work(request, lambda: check_event(body, service.config.server.event_bytes))
    return await asyncio.to_thread(_now, service.engine.state, event.fields)


def _now(state: EngineState, fields: dict[str, Any]) -> Prediction:
    """What the model says, whether the store can be written or not."""
    learner = state.learner
    try:
        best, chances = learner.predict(fields)
    except InvalidInput as error:
        raise Problem("invalid", str(error)) from None
    return _prediction(state, best, [round(chance, 6) for chance in chances], learner.version)


def _prediction(state: EngineState, predicted: int, chances: list[float], version: int) -> Prediction:
    return {
        "label": state.labels.show(predicted),
        "probabilities": dict(zip(state.classes, chances, strict=False)),
        "model": version,
    }


class DetailedEvent(NamedTuple):
    """What is shown of an event."""

    seq: int
    fields: str
    time: str | None
    received: float
    predicted: int
    probabilities: str
    version: int
    asked: int


DETAILED_EVENT = Query(DetailedEvent, "events", "WHERE id = ?")


@route("GET", "/v1/events/{event}", "read")
async def show(service: Service, request: Request, event: EventId) -> EventDetails:
    """An event: what was predicted when it came and what would be now, its ask and its answers."""
    state = service.engine.state

    def read(session: Session) -> dict[str, Any]:
        stored = DETAILED_EVENT.one(session, (event,))
        if stored is None:
            _, held = state.quarantine.find(session, [event]).get(event, (None, None))
            why = "." if held is None else f", for it is in quarantine: {held['detail']}"
            raise Problem("unknown_event", f"there is no event {event[:200]!r}{why}")
        chances = msgspec.json.decode(stored.probabilities)
        found: dict[str, Any] = {
            "id": event,
            "seq": stored.seq,
            "fields": msgspec.json.decode(stored.fields),
            "time": None if stored.time is None else msgspec.json.decode(stored.time),
            "received": iso(stored.received),
            "prediction": _prediction(state, stored.predicted, chances, stored.version),
            "ask": None,
            "answers": answers_of_event(session, state, stored.seq),
        }
        ask = BY_NUMBER.one(session, (stored.asked,)) if stored.asked else None
        if ask is not None:
            found["ask"] = {
                "id": ask.id,
                "state": ask.state,
                "why": ask.why,
                "text": reason(state.names, ask.why, state.labels.doubtful(stored.predicted, chances), ask.probability),
                "probability": ask.probability,
                "audit": bool(ask.audit),
                "created": iso(ask.created),
                "skips": ask.skips,
            }
        return found

    found = await service.read(read)
    found["now"] = await asyncio.to_thread(_now, state, found["fields"])
    return found
