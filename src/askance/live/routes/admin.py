"""What only the people who run the service may do."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.responses import Response

from askance.live.auth import note
from askance.live.clock import iso
from askance.live.problems import Problem
from askance.live.rebuild import rebuild
from askance.live.routing import Request, json_response, route
from askance.live.service import Service
from askance.live.state import UPSERT, State
from askance.live.store.database import Session


@route("GET", "/v1/audit", "admin")
async def audit(service: Service, request: Request) -> Response:
    """Who did what: tokens, logins, pauses, rebuilds, imports; newest first."""
    limit = request.whole_number("limit", 200, 1, 1000)
    rows = await service.read(
        lambda session: session.all(
            "SELECT seq, time, actor, action, detail FROM audit_log ORDER BY seq DESC LIMIT ?", (limit,)
        )
    )
    entries = [
        {"seq": seq, "time": iso(time), "actor": actor, "action": action, "detail": json.loads(detail)}
        for seq, time, actor, action, detail in rows
    ]
    return json_response({"entries": entries})


async def _set_paused(service: Service, request: Request, paused: bool) -> Response:
    request.object()
    actor = request.user.name

    def work(session: Session, state: State) -> dict[str, Any]:
        session.execute(UPSERT, ("paused", "1" if paused else "0"))
        note(session, state.clock.now(), actor, "model pause" if paused else "model resume", {})
        state.paused = paused
        return {"paused": paused, "model": state.learned}

    return json_response(await service.engine.do(work))


@route("POST", "/v1/model/pause", "admin")
async def pause(service: Service, request: Request) -> Response:
    """Stop learning; events are predicted, questions asked and answers kept."""
    return await _set_paused(service, request, True)


@route("POST", "/v1/model/resume", "admin")
async def resume(service: Service, request: Request) -> Response:
    """Go on learning, with the answers that came meanwhile first."""
    return await _set_paused(service, request, False)


@route("POST", "/v1/model/rebuild", "admin")
async def rebuild_model(service: Service, request: Request) -> Response:
    """Make the model anew from the log, without the answers that were taken back after they were learned."""
    request.object()
    if service.rebuilding.locked():
        raise Problem("busy", "a rebuild is under way already.", headers={"Retry-After": "10"})
    async with service.rebuilding:
        loop = asyncio.get_running_loop()
        done = await loop.run_in_executor(None, rebuild, service.engine, request.user.name)
    return json_response(done)
