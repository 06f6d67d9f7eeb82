"""What Prometheus may read at /metrics, and the latencies the dashboard shows."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from askance.live.service import Service

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
WINDOW = 300.0
SHOWN = {"/v1/events": "ingest", "/v1/asks/next": "next", "/v1/asks/{ask}/answer": "answer"}


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
        self.registry.register(EngineCollector(service))

    def seen(self, method: str, path: str, status: int, seconds: float) -> None:
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

    def text(self) -> bytes:
        return generate_latest(self.registry)


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
        totals = state.totals
        for name, help_text in (
            ("events", "Events stored."), ("asks", "Questions made."), ("audits", "Questions of the random sample."),
            ("answers", "Answers and labels taken."), ("skips", "Questions skipped."),
            ("expired", "Questions given up."), ("learned", "Answers learned."),
            ("corrections", "Answers taken back after they were learned."),
        ):  # fmt: skip
            yield CounterMetricFamily(f"askance_{name}", help_text, value=totals[name])
        predicted = CounterMetricFamily("askance_predicted", "Events by predicted class.", labels=["label"])
        labeled = CounterMetricFamily("askance_labeled", "Answers by class.", labels=["label"])
        for label, n_predicted, n_labeled in zip(state.classes, totals["predicted"], totals["labeled"], strict=True):
            predicted.add_metric([label], n_predicted)
            labeled.add_metric([label], n_labeled)
        yield predicted
        yield labeled
        yield GaugeMetricFamily("askance_model_version", "Number of the last answer learned.", value=state.learned)
        yield GaugeMetricFamily(
            "askance_fields", "Names of fields, of at most server.fields.", value=len(state.learner.features.kinds)
        )
        yield GaugeMetricFamily(
            "askance_learner_lag_seconds", "How overdue the oldest answer is.", value=self.service.lag()
        )
        yield GaugeMetricFamily(
            "askance_jobs_waiting", "Requests the writer has not begun.", value=self.service.engine.waiting
        )
        yield GaugeMetricFamily("askance_requests_running", "Requests being answered.", value=self.service.running)
        yield GaugeMetricFamily("askance_ready", "1 where /readyz says so.", value=0 if self.service.ready() else 1)
        yield CounterMetricFamily("askance_commits", "Transactions committed.", value=self.service.engine.groups)
