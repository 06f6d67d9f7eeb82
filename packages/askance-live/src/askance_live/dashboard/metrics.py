"""What Prometheus may read at /metrics, and the latencies the dashboard shows."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from operator import add
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from askance_live.engine.thread import BACKGROUND_TASKS
from askance_live.problems import Problem
from askance_live.questions.states import IN_PLAY
from askance_live.store.database import StoreError

if TYPE_CHECKING:
    from askance_live.service import Service

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
WINDOW = 300.0
PATIENCE = 2.0  # seconds to wait for a store that does not answer: the rest is told all the same
SHOWN = {"/v1/events": "ingest", "/v1/asks/next": "next", "/v1/asks/{ask}/answer": "answer"}


class Shared:
    """Makes something once for all who wait for it, and never before they asked."""

    def __init__(self, make: Callable[[], Awaitable[bytes]]) -> None:
        self._make = make
        self._lock = asyncio.Lock()
        self._found, self._begun = b"", -1.0

    async def get(self) -> bytes:
        asked = time.monotonic()
        async with self._lock:
            if self._begun <= asked:
                begun = time.monotonic()
                self._found = await self._make()
                self._begun = begun
            return self._found


class Metrics:
    """Counts requests as they end; everything else is read from the engine when somebody looks."""

    def __init__(self, service: Service) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "askance_requests_total", "Requests answered.", ["method", "path", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "askance_request_seconds", "Time to answer.", ["path"], buckets=BUCKETS, registry=self.registry
        )
        self._recent: dict[str, deque[tuple[float, float]]] = {name: deque(maxlen=5000) for name in SHOWN.values()}
        self._children: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.registry.register(service.collector())
        self._service = service
        self.stats: dict[str, Any] | None = None
        """What the dashboard shows, as of the last look; None where the store does not answer."""
        self.shared = Shared(self._refreshed_text)

    def count_request(self, method: str, path: str, status: int, seconds: float) -> None:
        """A request was answered."""
        key = method, path, status
        if key not in self._children:
            if len(method) > 10:
                return
            self._children[key] = self._requests.labels(method, path, str(status)), self._seconds.labels(path)
        counter, histogram = self._children[key]
        counter.inc()
        histogram.observe(seconds)
        if method == "POST" and path in SHOWN and status < 400:
            self._recent[SHOWN[path]].append((time.monotonic(), seconds))

    def latencies(self) -> dict[str, dict[str, float | None]]:
        """Median and 99th percentile of the last minutes, in milliseconds."""
        since = time.monotonic() - WINDOW
        found = {}
        for name, recent in self._recent.items():
            values = sorted(seconds for moment, seconds in list(recent) if moment >= since)
            found[name] = {"p50": _at(values, 0.5), "p99": _at(values, 0.99)}
        return found

    async def refresh(self) -> None:
        """Take the dashboard's numbers, which whoever looks within a moment shares."""
        try:
            self.stats = await asyncio.wait_for(self._service.stats(), PATIENCE)
        except (StoreError, TimeoutError, Problem):
            self.stats = None

    def text(self) -> bytes:
        return generate_latest(self.registry)

    async def _refreshed_text(self) -> bytes:
        await self.refresh()
        return self.text()


def _at(values: list[float], share: float) -> float | None:
    return round(1000 * values[min(len(values) - 1, int(share * len(values)))], 3) if values else None


class EngineCollector(Collector):
    """The engine's numbers."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        state = self.service.engine.state
        totals, learned = self.service.engine.committed
        for name, help_text in (
            ("events", "Events stored."), ("asks", "Questions made."), ("audits", "Questions of the random sample."),
            ("answers", "Answers and labels taken."), ("skips", "Questions skipped."),
            ("expired", "Questions given up."), ("learned", "Answers learned."),
            ("corrections", "Answers taken back after they were learned."),
            ("quarantined", "Events that could not be encoded, and were kept."),
            ("replayed", "Events taken in out of quarantine."),
        ):  # fmt: skip
            yield CounterMetricFamily(f"askance_{name}", help_text, value=totals[name])
        predicted = CounterMetricFamily("askance_predicted", "Events by predicted class.", labels=["label"])
        labeled = CounterMetricFamily("askance_labeled", "Answers by class.", labels=["label"])
        for label, n_predicted, n_labeled in zip(state.classes, totals["predicted"], totals["labeled"], strict=False):
            predicted.add_metric([label], n_predicted)
            labeled.add_metric([label], n_labeled)
        yield predicted
        yield labeled
        yield GaugeMetricFamily("askance_model_version", "Number of the last answer learned.", value=learned)
        yield GaugeMetricFamily(
            "askance_fields", "Names of fields, of at most server.fields.", value=len(state.learner.features.kinds)
        )
        held = state.quarantine
        yield GaugeMetricFamily("askance_quarantine_events", "Events in quarantine.", value=held.held)
        yield GaugeMetricFamily("askance_quarantine_bytes", "How large they are.", value=held.bytes)
        yield CounterMetricFamily(
            "askance_quarantine_dropped", "Events that were not kept, for lack of room.", value=held.dropped
        )
        yield GaugeMetricFamily(
            "askance_learner_lag_seconds", "How overdue the oldest answer is.", value=self.service.lag()
        )
        yield GaugeMetricFamily(
            "askance_jobs_waiting", "Requests the writer has not begun.", value=self.service.engine.waiting
        )
        yield GaugeMetricFamily(
            "askance_requests_running", "Requests with a token being answered.", value=self.service.slots.total
        )
        yield GaugeMetricFamily("askance_ready", "1 where /readyz says so.", value=0 if self.service.ready() else 1)
        failing = GaugeMetricFamily("askance_chore_failing", "1 while a chore of the writer fails.", labels=["chore"])
        for name in BACKGROUND_TASKS:
            failing.add_metric([name], int(name in self.service.engine.failing))
        yield failing
        waiting: dict[str, list[int]] = {}  # by host, since an address can be as good as a password
        for sender in self.service.webhook_senders:
            counts = waiting.setdefault(sender.hook.host, [0] * len(sender.waiting))
            counts[:] = map(add, counts, sender.waiting)
        for place, (name, help_text) in enumerate((
            ("messages", "Messages that wait for a webhook."), ("bytes", "Their bodies."),
            ("given_up", "Messages that were given up."),
        )):  # fmt: skip
            family = GaugeMetricFamily(f"askance_webhook_{name}", help_text, labels=["host"])
            for host, counts in waiting.items():
                family.add_metric([host], counts[place])
            yield family
        yield CounterMetricFamily("askance_commits", "Transactions committed.", value=self.service.engine.groups)
        if self.service.metrics.stats is not None:
            yield from _dashboard_metrics(self.service.metrics.stats)


def _dashboard_metrics(stats: dict[str, Any]) -> Iterator[Metric]:
    """What the dashboard shows; what is not known yet is left out."""
    queue, headline, budget = stats["queue"], stats["accuracy"]["headline"], stats["budget"]
    yield _gauge("queue", "Questions that wait.", "state", {state.value: queue[state] for state in IN_PLAY})
    yield _gauge("oldest_question_seconds", "How long the oldest waits, parked ones left out; 0 without any.", "",
                 {"": queue["oldest_seconds"] or 0.0})  # fmt: skip
    known = {"value": headline["estimate"], "low": headline["low"], "high": headline["high"]}
    yield _gauge("accuracy", "Share of the events predicted right, estimated, and its 95 % interval.", "estimate",
                 known)  # fmt: skip
    yield _gauge("accuracy_answers", "Answers that this estimate rests on.", "", {"": headline["n"]})
    yield _gauge("accuracy_baseline", "The same of always saying the most frequent class.", "",
                 {"": headline["baseline"]["estimate"]})  # fmt: skip
    level = stats["drift"]["level"]
    yield _gauge("drift", "1 at the present level; unknown: too few random checks so far.", "level",
                 {name: int(name == level) for name in ("unknown", "none", "drift")})  # fmt: skip
    spans = budget["spans"].values()
    yield _gauge("budget_spent", "Questions asked this hour, this day and in all.", "period",
                 {name: budget[name]["spent"] for name in spans})  # fmt: skip
    yield _gauge("budget_limit", "The most there may be, where there is a limit.", "period",
                 {name: budget[name]["limit"] for name in spans})  # fmt: skip
    yield _gauge("budget_exhausted", "1 while nothing can be asked.", "", {"": int(budget["exhausted"])})
    delay = stats["labels"]["delay_seconds"]
    yield _gauge("label_delay_seconds", "From event to label, of recent labels.", "quantile",
                 {"0.5": delay["median"], "0.9": delay["p90"]})  # fmt: skip
    active = sum(person["last_hour"] > 0 for person in stats["people"])  # no names: whoever asks gets this page
    yield _gauge("people_active", "People and programs that labeled in the last hour.", "", {"": active})


def _gauge(name: str, help_text: str, label: str, values: dict[str, float | None]) -> GaugeMetricFamily:
    """A gauge with a value for each of what ``label`` can be, or one without a label; None is left out."""
    family = GaugeMetricFamily(f"askance_{name}", help_text, labels=[label] if label else [])
    for value_of, value in values.items():
        if value is not None:
            family.add_metric([value_of] if label else [], value)
    return family
