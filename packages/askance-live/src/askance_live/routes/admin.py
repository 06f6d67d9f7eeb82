"""What only the people who run the service may do, and the events in quarantine: shown, taken in, dropped."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any, NotRequired, TypedDict

from msgspec import Meta

from askance_live.access.auth import note
from askance_live.clock import iso
from askance_live.engine import quarantine
from askance_live.engine.rebuild import rebuild
from askance_live.engine.state import EngineState
from askance_live.http.routing import Request, route
from askance_live.http.schemas import NEWEST, Paging, RequestBody
from askance_live.problems import Problem
from askance_live.service import Service
from askance_live.store.database import Session
from askance_live.store.rows import UPSERT_META, Query
from askance_live.store.schema import ActivityRow

ACTIVITY = Query(ActivityRow, "audit_log", "WHERE seq < ? ORDER BY seq DESC LIMIT ?")
Entry = TypedDict("Entry", {"seq": int, "time": str, "actor": str, "action": str, "detail": dict[str, Any]})
ActivityLog = TypedDict("ActivityLog", {"entries": list[Entry], "next": str | None})
ModelState = TypedDict(
    "ModelState", {"paused": bool, "model": int, "left_out": NotRequired[int], "digest": NotRequired[str]}
)


class ActivityPage(Paging):
    """Which entries of the activity log."""

    limit: Annotated[int, Meta(ge=1, le=1000, description="How many.")] = 200


@route("GET", "/v1/audit", "admin", stateless=True)
async def audit(service: Service, request: Request, query: ActivityPage) -> ActivityLog:
    """Who did what: tokens, logins, what was replaced or taken back, pauses, rebuilds, imports; newest first."""
    limit, before = query.limit, int(query.cursor or NEWEST)
    rows = await service.read(lambda session: ACTIVITY.all(session, (before, limit + 1)))
    entries: list[Entry] = [
        {
            "seq": row.seq,
            "time": iso(row.time),
            "actor": row.actor,
            "action": row.action,
            "detail": json.loads(row.detail),
        }
        for row in rows[:limit]
    ]
    return {"entries": entries, "next": str(rows[limit - 1].seq) if len(rows) > limit else None}


def _set_paused(session: Session, state: EngineState, actor: str, paused: bool) -> ModelState:
    session.execute(UPSERT_META, ("paused", "1" if paused else "0"))
    note(session, state.clock.now(), actor, "model pause" if paused else "model resume", {})
    state.paused = paused
    return {"paused": paused, "model": state.learned}


@route("POST", "/v1/model/pause", "admin", is_repeatable=True)
async def pause(service: Service, request: Request) -> ModelState:
    """Stop learning; events are predicted, questions asked and answers kept."""
    return await service.do(_set_paused, request.user.name, True)


@route("POST", "/v1/model/resume", "admin", is_repeatable=True)
async def resume(service: Service, request: Request) -> ModelState:
    """Go on learning, with the answers that came meanwhile first."""
    return await service.do(_set_paused, request.user.name, False)


@route("POST", "/v1/model/rebuild", "admin")
async def rebuild_model(service: Service, request: Request) -> ModelState:
    """Make the model anew from the log, without the answers that were taken back after they were learned."""
    if service.rebuilding.locked():
        raise Problem("busy", "a rebuild is under way already.", headers={"Retry-After": "10"})
    async with service.rebuilding:
        loop = asyncio.get_running_loop()
        done: Any = await loop.run_in_executor(None, rebuild, service.engine, request.user.name)
    return done


# --- quarantine ----------------------------------------------------------------------------------------


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
