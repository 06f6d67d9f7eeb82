"""Numbers: at once, over time, and as they change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec
from starlette.responses import Response, StreamingResponse

from askance.live.problems import Problem
from askance.live.routing import Request, json_response, route
from askance.live.service import MOST_STREAMS, Service
from askance.live.stats import series

QUIET = 15.0  # seconds without a change after which the stream says something anyway


@route("GET", "/v1/stats", "read")
async def stats(service: Service, request: Request) -> Response:
    """The numbers behind the dashboard, a quarter of a second old at most; with 'Cache-Control: no-cache', of now."""
    return json_response(await service.stats(fresh="no-cache" in request.header("cache-control")))


@route("GET", "/v1/stats/series", "read")
async def stats_series(service: Service, request: Request) -> Response:
    """Counts over time, and accuracy over labels."""
    minutes = request.whole_number("minutes", 180, 1, 525_600)
    points = request.whole_number("points", 180, 2, 1000)
    return json_response(await service.read(lambda session: series(session, service, minutes, points)))


@route("GET", "/v1/live", "read", is_stream=True)
async def live(service: Service, request: Request) -> Response:
    """The numbers as server-sent events, about once a second while they change."""
    if service.streams >= MOST_STREAMS:
        raise Problem("busy", "too many pages watch already; close one.", headers={"Retry-After": "30"})
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_updates(service), headers=headers, media_type="text/event-stream")


async def _updates(service: Service) -> AsyncIterator[bytes]:
    service.streams += 1
    last, quiet = None, 0.0
    try:
        yield b"retry: 2000\n\n"
        while not service.stopping.is_set():
            mark = service.mark()
            if mark != last or quiet >= QUIET:
                last, quiet = mark, 0.0
                yield b"event: stats\ndata: " + msgspec.json.encode(await service.stats()) + b"\n\n"
            try:
                await asyncio.wait_for(service.stopping.wait(), 1.0)
            except TimeoutError:
                quiet += 1.0
        yield b"event: bye\ndata: {}\n\n"
    finally:
        service.streams -= 1
