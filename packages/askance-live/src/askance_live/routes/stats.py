"""Numbers at once, over time, and as they change; whether the service is alive and ready; which version it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, TypedDict

import msgspec
from msgspec import Meta
from starlette.responses import Response

import askance
from askance_live.access.auth import User
from askance_live.dashboard.stats import series
from askance_live.http.routing import PlacedStream, Request, json_response, route
from askance_live.http.schemas import QueryString
from askance_live.questions.consensus import AgreementReport, measure_agreement
from askance_live.service import Service

QUIET = 15.0  # seconds without a change after which the stream says something anyway


@route("GET", "/v1/stats", "read", stateless=True)
async def stats(service: Service, request: Request) -> dict[str, Any]:
    """The numbers behind the dashboard, a quarter of a second old at most; with 'Cache-Control: no-cache', of now."""
    return await service.stats(fresh="no-cache" in request.header("cache-control"))


class Period(QueryString):
    """Which time is shown, and how finely."""

    minutes: Annotated[int, Meta(ge=1, le=525_600, description="How far back.")] = 180
    points: Annotated[int, Meta(ge=2, le=1000, description="Into how many points, at most.")] = 180


@route("GET", "/v1/stats/series", "read")
async def stats_series(service: Service, request: Request, query: Period) -> dict[str, Any]:
    """Counts over time, and accuracy over labels."""
    return await service.read(lambda session: series(session, service, query.minutes, query.points))


@route("GET", "/v1/live", "read", media="text/event-stream", stateless=True)
async def live(service: Service, request: Request) -> Response:
    """The numbers as server-sent events, about once a second while they change."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    updates, media = _updates(service, request.user), "text/event-stream"
    return PlacedStream(service.watchers, request.sender, updates, headers=headers, media_type=media)


async def _updates(service: Service, user: User) -> AsyncIterator[bytes]:
    last, quiet = None, 0.0
    yield b"retry: 2000\n\n"
    while not service.stopping.is_set() and service.knows(user):
        mark = service.mark()
        if mark != last or quiet >= QUIET:
            last, quiet = mark, 0.0
            yield b"event: stats\ndata: " + msgspec.json.encode(await service.stats()) + b"\n\n"
        try:
            await asyncio.wait_for(service.stopping.wait(), 1.0)
        except TimeoutError:
            quiet += 1.0
    yield b"event: bye\ndata: {}\n\n"


@route("GET", "/v1/agreement", "read", stateless=True)
async def agreement(service: Service, request: Request) -> AgreementReport:
    """How far people agree where several labeled the same events: alpha, kappa of each pair, and each person."""
    return await service.read_page(lambda session: measure_agreement(session, service.engine.state))


# --- health --------------------------------------------------------------------------------------------


@route("GET", "/livez", None, stateless=True)
async def livez(service: Service, request: Request) -> dict[str, bool]:
    """Whether the process answers."""
    return {"alive": True}


Readiness = TypedDict("Readiness", {"ready": bool, "reasons": list[str], "warnings": list[str]})


@route("GET", "/readyz", None, stateless=True, responses={503: ("Not ready; the reasons are in the body.", Readiness)})
async def readyz(service: Service, request: Request) -> Readiness | Response:
    """Whether it should get traffic: the store can be written, the disk has room, the learner keeps up."""
    reasons = service.ready()
    found: Readiness = {"ready": not reasons, "reasons": reasons, "warnings": service.warnings()}
    return json_response(found, 503, {"Retry-After": "5"}) if reasons else found


@route("GET", "/version", None, stateless=True)
async def version(service: Service, request: Request) -> dict[str, str]:
    """Which version this is."""
    return {"version": askance.__version__}


@route("GET", "/metrics", None, stateless=True, media="text/plain")
async def metrics(service: Service, request: Request) -> Response:
    """Counters, gauges and histograms for Prometheus."""
    return Response(await service.metrics.shared.get(), media_type="text/plain; version=0.0.4; charset=utf-8")


@route("GET", "/openapi.json", None, stateless=True)
async def openapi(service: Service, request: Request) -> dict[str, Any]:
    """This interface as an OpenAPI 3.1 document."""
    from askance_live.http.openapi import document

    servers = {"servers": [{"url": service.prefix}]} if service.prefix else {}
    return {**document(), **servers}
