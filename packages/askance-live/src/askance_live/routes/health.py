"""Is it alive, is it ready, what is it."""

from __future__ import annotations

from typing import Any, TypedDict

from starlette.responses import Response

import askance
from askance_live.http.routing import Request, json_response, route
from askance_live.service import Service


@route("GET", "/livez", None, anywhere=True)
async def livez(service: Service, request: Request) -> dict[str, bool]:
    """Whether the process answers."""
    return {"alive": True}


Readiness = TypedDict("Readiness", {"ready": bool, "reasons": list[str], "warnings": list[str]})


@route("GET", "/readyz", None, anywhere=True, also={503: ("Not ready; the reasons are in the body.", Readiness)})
async def readyz(service: Service, request: Request) -> Readiness | Response:
    """Whether it should get traffic: the store can be written, the disk has room, the learner keeps up."""
    reasons = service.ready()
    found: Readiness = {"ready": not reasons, "reasons": reasons, "warnings": service.warnings()}
    return json_response(found, 503, {"Retry-After": "5"}) if reasons else found


@route("GET", "/version", None, anywhere=True)
async def version(service: Service, request: Request) -> dict[str, str]:
    """Which version this is."""
    return {"version": askance.__version__}


@route("GET", "/metrics", None, anywhere=True, media="text/plain")
async def metrics(service: Service, request: Request) -> Response:
    """Counters, gauges and histograms for Prometheus."""
    return Response(await service.metrics.shared.get(), media_type="text/plain; version=0.0.4; charset=utf-8")


@route("GET", "/openapi.json", None, anywhere=True)
async def openapi(service: Service, request: Request) -> dict[str, Any]:
    """This interface as an OpenAPI 3.1 document."""
    from askance_live.http.openapi import document

    servers = {"servers": [{"url": service.prefix}]} if service.prefix else {}
    return {**document(), **servers}
