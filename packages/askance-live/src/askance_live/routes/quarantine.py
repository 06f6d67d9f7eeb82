"""Events that could not be encoded: seen, taken in once they can be, given up."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, TypedDict

from msgspec import Meta

from askance_live.engine import quarantine
from askance_live.http.routing import Request, route
from askance_live.http.schemas import Paging, RequestBody
from askance_live.problems import Problem
from askance_live.service import Service

HeldEvent = TypedDict("HeldEvent", {
    "id": str, "fields": dict[str, Any], "time": str | float | None, "received": str, "field": str | None,
    "reason": str, "label": str | None,
})  # fmt: skip
Quarantine = TypedDict("Quarantine", {
    "events": list[HeldEvent], "next": str | None, "held": int, "bytes": int,
    "dropped": Annotated[int, Meta(description="Not kept so far, for lack of room.")],
})  # fmt: skip
Replayed = TypedDict("Replayed", {"replayed": int, "labels": int, "kept": int})
Dropped = TypedDict("Dropped", {"dropped": int})
Ids = Annotated[list[str], Meta(max_length=500)]


class QuarantinePage(Paging):
    """Which events in quarantine."""

    limit: Annotated[int, Meta(ge=1, le=1000, description="How many.")] = 100


class Drop(RequestBody):
    """Which events in quarantine are given up."""

    example = '{"ids": ["m-1"]}'

    ids: Annotated[Ids | None, Meta(description="The ids of events.")] = None
    all: Annotated[bool, Meta(description="Instead: all of them.")] = False


@route("GET", "/v1/quarantine", "read")
async def show_quarantine(service: Service, request: Request, query: QuarantinePage) -> Quarantine:
    """Events that could not be encoded, in the order in which they came, each with the reason."""
    page = await service.read(lambda session: quarantine.read_page(session, int(query.cursor or 0), query.limit))
    held = service.engine.state.quarantine
    return {"events": page.events, "next": page.next, "held": held.held, "bytes": held.bytes, "dropped": held.dropped}


@route("POST", "/v1/quarantine/replay", "admin")
async def replay_quarantine(service: Service, request: Request) -> Replayed:
    """Take the events in quarantine in, in order, as if they came now; what still cannot be encoded stays."""
    total: Any = await asyncio.to_thread(quarantine.replay_all, service.engine, request.user.name)
    return total


@route("POST", "/v1/quarantine/drop", "admin")
async def drop_quarantine(service: Service, request: Request, body: Drop) -> Dropped:
    """Give events in quarantine up: those with these ids, or all of them."""
    if (body.ids is not None) == body.all:
        raise Problem("invalid", 'send {"ids": [...]} with the ids of events, or {"all": true}.')
    return {"dropped": await service.do(quarantine.drop, body.ids, request.user.name)}
