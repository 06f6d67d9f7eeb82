"""Several streams in one process: each under a path of its own, and what concerns all of them at the root."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from starlette.responses import RedirectResponse, Response

import askance
from askance.errors import InvalidParameter
from askance_live.config import Config, is_postgres
from askance_live.dashboard.metrics import Shared
from askance_live.http.routing import json_response, problem_response
from askance_live.problems import Problem

if TYPE_CHECKING:
    from askance_live.service import Service

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
TAKEN = ("v1", "label", "login", "logout", "enter", "people", "static", "livez", "readyz", "metrics", "version")


def check_together(configs: list[Config]) -> None:
    """Refuse streams that cannot be served side by side."""
    names: set[str] = set()
    stores: set[str] = set()
    for config in configs:
        if not NAME.fullmatch(config.name) or config.name in TAKEN:
            raise InvalidParameter(
                f"{config.name!r} cannot name a stream among several, since addresses begin with it; give "
                'letters, digits, - or _ with name = "..." in its settings.'
            )
        if config.name in names:
            raise InvalidParameter(f'two streams are called {config.name!r}; give one another name = "...".')
        place = config.store if is_postgres(config.store) else str(Path(config.store).resolve())
        if place in stores:
            raise InvalidParameter(f"two streams name the store {config.store!r}; each stream needs one of its own.")
        names.add(config.name)
        stores.add(place)


class Streams:
    """The ASGI application in front of several services."""

    def __init__(self, services: list[Service]) -> None:
        self.services: dict[str, Service] = {}
        for service in services:
            self.add(service)
        self.registry = CollectorRegistry()
        self.registry.register(Together(self.services))
        self.metrics = Shared(self._metrics)

    def add(self, service: Service) -> None:
        """Serve a stream under its name."""
        self.services[service.config.name] = service
        service.prefix = f"/{service.config.name}"

    def remove(self, service: Service) -> None:
        """Serve it no more."""
        self.services.pop(service.config.name, None)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        _, _, below = scope["path"].partition("/")
        name, *rest = below.split("/", 1)
        if name in self.services and rest:
            await self.services[name]({**scope, "path": f"/{rest[0]}"}, receive, send)
            return
        from askance_live.display import Display
        from askance_live.service import security_headers

        try:
            for service in self.services.values():  # what is at the root tells of all of them
                service.check_open(scope, dict(scope["headers"]))
            response = await self._answer(scope["method"], scope["path"], name)
        except Problem as problem:
            response = problem_response(problem)
        response.raw_headers.extend(security_headers(Display()))
        await response(scope, receive, send)

    async def _metrics(self) -> bytes:
        for service in self.services.values():
            await service.metrics.refresh()
        return generate_latest(self.registry)

    async def _answer(self, method: str, path: str, name: str) -> Response:
        if method not in ("GET", "HEAD"):
            names = ", ".join(f"/{known}/" for known in self.services)
            return problem_response(Problem("not_found", f"there are several streams here; use {names}."))
        if name in self.services:
            return RedirectResponse(f"/{name}/", 308)
        if path == "/livez":
            return json_response({"alive": True})
        if path == "/version":
            return json_response({"version": askance.__version__})
        if path == "/metrics":
            return Response(await self.metrics.get(), media_type="text/plain; version=0.0.4; charset=utf-8")
        if path == "/readyz":
            reasons = [f"{name}: {reason}" for name, service in self.services.items() for reason in service.ready()]
            warnings = [f"{name}: {text}" for name, service in self.services.items() for text in service.warnings()]
            headers = {"Retry-After": "5"} if reasons else None
            found = {"ready": not reasons, "reasons": reasons, "warnings": warnings}
            return json_response(found, 503 if reasons else 200, headers)
        if path == "/":
            from askance_live.routes.pages import overview

            if not self.services:
                return problem_response(Problem("no_owner", "this process stands by, and serves no stream now."))
            return overview({name: service.config.title for name, service in self.services.items()})
        if self.services and (path.startswith("/static/") or path == "/favicon.ico"):
            return RedirectResponse(f"/{next(iter(self.services))}{path}", 307)
        return problem_response(
            Problem("not_found", f"there is nothing at {path[:200]!r}; the streams are {', '.join(self.services)}.")
        )


class Together(Collector):
    """The numbers of all streams, each with a label that says whose they are."""

    def __init__(self, services: dict[str, Service]) -> None:
        self.services = services

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        families: dict[str, Metric] = {}
        for name, service in self.services.items():
            for family in service.metrics.registry.collect():
                known = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                known.samples += [
                    sample._replace(labels={"stream": name, **sample.labels}) for sample in family.samples
                ]
        yield from families.values()
