"""The service of a front: the same gate, pages and checks, with an owner elsewhere in place of the engine.

A route that is answered ``anywhere`` needs no model, and is answered here. Events are read and checked here, and
decided on by the owner. Every other request goes to the owner as it is, once the gate has let it in and its parameters
are found to be valid.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Iterator
from typing import Any, cast

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.responses import Response

from askance_live.cluster.messages import ForwardedEvent, ForwardedRequest, ForwardedResponse, Outcomes, PackedProblem
from askance_live.cluster.owner_client import OwnerClient
from askance_live.config import Config
from askance_live.engine.stored_settings import last_change, read_settings
from askance_live.engine.thread import Engine
from askance_live.exchange.received import ReceivedEvent
from askance_live.http.routing import ItemResult, Request, Route
from askance_live.service import Service
from askance_live.store.database import Database, Session


class FrontService(Service):
    """Everything between a request and the owner."""

    def __init__(self, config: Config, database: Database) -> None:
        with database.read() as session:
            settings = read_settings(session, config)
        self.owner = OwnerClient(database, config, settings)
        # Routes that are answered anywhere use of an engine what the client has, too: names, clock, and transactions.
        super().__init__(config, database, cast(Engine, self.owner))

    def collector(self) -> Collector:
        return FrontCollector(self)

    def tasks(self) -> list[Coroutine[Any, Any, None]]:
        return [*super().tasks(), self.owner.stay_connected()]

    async def refresh_keys(self) -> None:
        """Know the tokens, people and sessions of now, and the classes."""
        await super().refresh_keys()
        await self.refresh_classes()

    async def refresh_classes(self) -> None:
        def look(session: Session) -> None:
            if last_change(session) != self.owner.state.scheme.seq:
                self.owner.state.use_scheme(*read_settings(session, self.config))

        await self.read(look)

    async def ingest(self, events: list[ReceivedEvent]) -> list[ItemResult]:
        """Let the owner decide on events. A repetition does no harm, since all of them have ids by now."""
        packed = [ForwardedEvent(event.id, event.digest, event.text, event.time) for event in events]
        found = await self.owner.call("events", packed, Outcomes, is_repeatable=True)
        return [item.unpack() if isinstance(item, PackedProblem) else item for item in found.items]

    async def _call(self, chosen: Route, request: Request) -> Response:
        if chosen.anywhere:
            return await super()._call(chosen, request)
        await self.work(request, lambda: request.arguments(chosen))  # what is wrong with it is told here
        scope = request.scope
        forwarded = ForwardedRequest(
            scope["method"], scope["path"], scope.get("query_string", b""), list(scope["headers"]), request.body,
            request.user, scope.get("client"), scope.get("scheme", "http"), request.sender,
        )  # fmt: skip
        is_repeatable = scope["method"] in ("GET", "HEAD") or chosen.is_repeatable
        return (await self.owner.call("request", forwarded, ForwardedResponse, is_repeatable)).as_response()

    async def _compute_stats(self, until: float, fresh: bool) -> dict[str, Any]:
        found: dict[str, Any] = await self.owner.call("stats", fresh, dict[str, Any], is_repeatable=True)
        return {**found, "uptime": round(self.uptime(), 1), "latency_ms": self.metrics.latencies()}

    def mark(self) -> Any:
        status = self.owner.status
        return status and status.commits

    def count_rate(self) -> None:
        """The owner counts."""

    def ready(self) -> list[str]:
        reasons = ["it is stopping"] if self.stopping.is_set() else []
        status = self.owner.status
        return reasons + ([self.owner.trouble] if status is None else status.reasons)

    def warnings(self) -> list[str]:
        return self.owner.status.warnings if self.owner.status is not None else []


class FrontCollector(Collector):
    """The numbers of a front for Prometheus; those of the model are the owner's."""

    def __init__(self, service: FrontService) -> None:
        self.service = service

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        service = self.service
        yield GaugeMetricFamily(
            "askance_requests_running", "Requests with a token being answered.", value=service.slots.total
        )
        yield GaugeMetricFamily("askance_ready", "1 where /readyz says so.", value=0 if service.ready() else 1)
        yield GaugeMetricFamily(
            "askance_owner_connected", "1 while the owner of the model answers.", value=int(service.owner.healthy)
        )
