"""Events in, predictions out."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from starlette.responses import Response

from askance.errors import InvalidInput
from askance.live.clock import iso
from askance.live.ingest import Event, read_event
from askance.live.problems import Problem
from askance.live.queue import ASK, Ask, reason
from askance.live.routes.answers import answers_of_event
from askance.live.routing import Request, json_response, problem_response, route
from askance.live.service import Service
from askance.live.state import State
from askance.live.store.database import Session


@route("POST", "/v1/events", "ingest")
async def ingest(service: Service, request: Request) -> Response:
    """Take events in: one object, an array, or one object a line; each is predicted at once, and stored."""
    settings = service.config.server
    items: Any = request.documents(settings.batch_events)
    if isinstance(items, dict):
        event = read_event(items, settings.event_bytes)
        outcome = (await asyncio.wrap_future(service.engine.ingest([event])))[0]
        if isinstance(outcome, Problem):
            return problem_response(outcome)
        return json_response(outcome, 200 if outcome["duplicate"] else 201)
    if not isinstance(items, list):
        raise Problem("invalid", "the body must be an event, an array of events, or one event a line.")
    if len(items) > settings.batch_events:
        raise Problem("invalid", f"there are {len(items):,} events; at most {settings.batch_events:,} at a time.")
    return json_response(await ingest_batch(service, items))


async def ingest_batch(service: Service, items: list[Any]) -> dict[str, Any]:
    """Take many in: an outcome each, in their order."""
    read = [_read(item, service.config.server.event_bytes) for item in items]
    events = [item for item in read if isinstance(item, Event)]
    done = iter(await asyncio.wrap_future(service.engine.ingest(events))) if events else iter(())
    outcomes: list[dict[str, Any] | Problem] = [item if isinstance(item, Problem) else next(done) for item in read]
    results = [_result(outcome, item) for outcome, item in zip(outcomes, items, strict=True)]
    return {
        "items": results,
        "accepted": sum(item["status"] == 201 for item in results),
        "duplicates": sum(item["status"] == 200 for item in results),
        "errors": sum(item["status"] >= 400 for item in results),
    }


def _read(item: Any, event_bytes: int) -> Event | Problem:
    if isinstance(item, Problem):
        return item
    try:
        return read_event(item, event_bytes)
    except Problem as problem:
        return problem


def _result(outcome: dict[str, Any] | Problem, item: Any) -> dict[str, Any]:
    if isinstance(outcome, Problem):
        given = item.get("id") if isinstance(item, dict) else None
        return {"status": outcome.status, "id": given, "code": outcome.code, "detail": outcome.detail}
    return {"status": 200 if outcome["duplicate"] else 201, **outcome}


@route("POST", "/v1/predict", "ingest")
async def predict(service: Service, request: Request) -> Response:
    """What the model says of an event now; nothing is stored."""
    event = read_event(request.documents(1), service.config.server.event_bytes)

    return json_response(await asyncio.to_thread(_now, service.engine.state, event.fields))


def _now(state: State, fields: dict[str, Any]) -> dict[str, Any]:
    """What the model says, whether the store can be written or not."""
    learner = state.learner
    try:
        best, chances = learner.predict(fields)
    except InvalidInput as error:
        raise Problem("invalid", str(error)) from None
    return _prediction(state, best, [round(chance, 6) for chance in chances], learner.version)


def _prediction(state: State, predicted: int, chances: list[float], version: int) -> dict[str, Any]:
    return {
        "label": state.classes[predicted],
        "probabilities": dict(zip(state.classes, chances, strict=True)),
        "model": version,
    }


@route("GET", "/v1/events/{event}", "read")
async def show(service: Service, request: Request) -> Response:
    """An event: what was predicted when it came and what would be now, its ask and its answers."""
    identifier = request.parameters["event"]
    state = service.engine.state

    def look(session: Session) -> dict[str, Any]:
        row = session.one(
            "SELECT seq, fields, time, received, predicted, probabilities, version, asked FROM events WHERE id = ?",
            (identifier,),
        )
        if row is None:
            raise Problem("unknown_event", f"there is no event {identifier[:200]!r}.")
        seq, fields, time, received, predicted, probabilities, version, asked = row
        chances = msgspec.json.decode(probabilities)
        found: dict[str, Any] = {
            "id": identifier,
            "seq": seq,
            "fields": msgspec.json.decode(fields),
            "time": None if time is None else msgspec.json.decode(time),
            "received": iso(received),
            "prediction": _prediction(state, predicted, chances, version),
            "ask": None,
            "answers": answers_of_event(session, state, seq),
        }
        if asked:
            ask = Ask(*session.all(f"SELECT {ASK} FROM asks a WHERE a.id = ?", (asked,))[0])
            found["ask"] = {
                "id": ask.id,
                "state": ask.state,
                "why": ask.why,
                "text": reason(ask.why, state.classes[predicted], chances[predicted], ask.probability),
                "probability": ask.probability,
                "audit": bool(ask.audit),
                "created": iso(ask.created),
                "skips": ask.skips,
            }
        return found

    found = await service.read(look)
    found["now"] = await asyncio.to_thread(_now, state, found["fields"])
    return json_response(found)
