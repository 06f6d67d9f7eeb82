"""For whoever leads: events found, corrected, closed and noted."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, TypedDict

from msgspec import Meta
from starlette.responses import Response

from askance_live.engine.state import EngineState
from askance_live.exchange.event_filter import EventFilter
from askance_live.http.routing import Request, process_in_chunks, route
from askance_live.http.schemas import ClassName, Name, RequestBody
from askance_live.problems import Problem, result_or_problem
from askance_live.questions.labels import class_of
from askance_live.questions.review import Note, Order, ReviewedPage, add_note, close, correct, find_events
from askance_live.routes.pages import page
from askance_live.service import Service
from askance_live.store.database import Session

MOST_AT_ONCE, TOGETHER = 500, 100
LONGEST_NOTE = 2_000
Reason = Annotated[str, Meta(min_length=1, max_length=LONGEST_NOTE, description="Why; it is kept with it.")]
Ids = Annotated[list[Name], Meta(max_length=MOST_AT_ONCE, description="The ids of events.")]
ReviewDone = TypedDict("ReviewDone", {"items": list[dict[str, Any]], "done": int, "errors": int})


class ReviewQuery(EventFilter):
    """Which events, and in which order."""

    sort: Annotated[
        Order, Meta(description="answered: the last answer first; unsure: what was most likely to be asked first.")
    ] = "newest"
    limit: Annotated[int, Meta(ge=1, le=200, description="How many.")] = 50
    cursor: Annotated[
        str,
        Meta(
            pattern=r"^([0-9]{1,15}(\.[0-9]{1,20})?(e-?[0-9]{1,2})?_[0-9]{1,15})?$(?!\n)",
            title="the 'next' of the page before",
            description="Where the page begins.",
        ),
    ] = ""


class Correction(RequestBody):
    """What some events are."""

    example = '{"events": ["m-1"], "label": "spam", "reason": "it sells watches"}'

    events: Ids
    label: ClassName
    reason: Reason


class Closing(RequestBody):
    """Events about which nobody is asked any more."""

    example = '{"events": ["m-1"], "reason": "no text"}'

    events: Ids
    reason: Reason


class NewNote(RequestBody):
    """A note beside an event."""

    example = '{"event": "m-1", "text": "ask the sender"}'

    event: Name
    text: Annotated[str, Meta(min_length=1, max_length=LONGEST_NOTE)]


@route("GET", "/v1/review", "review", stateless=True)
async def review(service: Service, request: Request, query: ReviewQuery) -> ReviewedPage:
    """Events that were asked about or answered, by what they say, their labels, predictions, people, state and time."""
    state = service.engine.state
    await service.refresh_classes()
    condition = query.condition(state)
    look = partial(find_events, state=state, condition=condition, order=query.sort, cursor=query.cursor)
    return await service.read_page(lambda session: look(session, limit=query.limit))


@route("POST", "/v1/review/correct", "review")
async def review_correct(service: Service, request: Request, body: Correction) -> ReviewDone:
    """Say what events are, whatever was said before, with a reason; what was learned of them is a correction."""
    place = class_of(service.engine.state, body.label)
    return await _each(service, request, body.events, partial(correct, place=place, why=body.reason))


@route("POST", "/v1/review/close", "review")
async def review_close(service: Service, request: Request, body: Closing) -> ReviewDone:
    """Close the questions about events, with a reason: they count as bad data, and are never learned."""
    return await _each(service, request, body.events, partial(close, why=body.reason))


@route("POST", "/v1/review/note", "label")
async def review_note(service: Service, request: Request, body: NewNote) -> Note:
    """Write a note beside an event, for everybody who reviews it."""
    return await service.do(add_note, request.user.name, body.event.value, body.text)


async def _each(service: Service, request: Request, events: list[Name], act: Any) -> ReviewDone:
    """Do something with each event, some in one transaction, so that others have their turn in between."""
    names = list(dict.fromkeys(event.value for event in events))

    def work(session: Session, state: EngineState, part: list[str]) -> list[Any]:
        return [result_or_problem(partial(act, session, state, request.user.name), name) for name in part]

    parts = [names[first : first + TOGETHER] for first in range(0, len(names), TOGETHER)]
    outcomes = await process_in_chunks(parts, lambda part: service.do(work, part))
    items: list[dict[str, Any]] = [
        {"event": name, "status": outcome.status, "code": outcome.code, "detail": outcome.detail}
        if isinstance(outcome, Problem)
        else {"event": name, "status": 200, "outcome": outcome["outcome"]}
        for name, outcome in zip(names, outcomes, strict=True)
    ]
    errors = sum(item["status"] >= 400 for item in items)
    return {"items": items, "done": len(items) - errors, "errors": errors}


@route("GET", "/review", "review", is_page=True, stateless=True)
async def review_page(service: Service, request: Request) -> Response:
    """Where whoever leads looks through events."""
    return page(service, request, "review.html")
