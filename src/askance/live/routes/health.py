"""Is it alive, is it ready, what is it."""

from __future__ import annotations

from starlette.responses import Response

import askance
from askance.live.routing import Request, json_response, route
from askance.live.service import Service


@route("GET", "/livez", None)
async def livez(service: Service, request: Request) -> Response:
    """Whether the process answers."""
    return json_response({"alive": True})


@route("GET", "/readyz", None)
async def readyz(service: Service, request: Request) -> Response:
    """Whether it should get traffic: the store can be written, the disk has room, the learner keeps up."""
    reasons = service.ready()
    headers = {"Retry-After": "5"} if reasons else None
    return json_response({"ready": not reasons, "reasons": reasons}, 503 if reasons else 200, headers)


@route("GET", "/version", None)
async def version(service: Service, request: Request) -> Response:
    """Which version this is."""
    return json_response({"version": askance.__version__})


@route("GET", "/metrics", None)
async def metrics(service: Service, request: Request) -> Response:
    """Counters, gauges and histograms for Prometheus."""
    await service.metrics.refresh()
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@route("GET", "/openapi.json", None)
async def openapi(service: Service, request: Request) -> Response:
    """This interface as an OpenAPI 3.1 document."""
    from askance.live.openapi import document

    servers = {"servers": [{"url": service.prefix}]} if service.prefix else {}
    return json_response({**document(), **servers})
