"""What it costs the loop to hold a budget that is spread over the stream."""

from collections.abc import Callable
from typing import Any

import numpy as np

from askance.budgets import PerPeriod, Rate
from benchmarks.measure import take_turns
from benchmarks.report import Section, at_most
from benchmarks.speed import OurRun
from benchmarks.streams import DataMissingError, Stream, url_like, w8a

MOST = 10.0  # per cent of the loop
ROUNDS = 15
DAYS = 10
DAY = 86_400.0
# Letters with which each algorithm asks rarely, at times and often.
SETTINGS: dict[str, list[dict[str, float]]] = {
    "PAA-I": [{"delta": delta} for delta in (0.02, 0.2, 1.5)],
    "SOAL-diag": [{"delta": delta} for delta in (0.02, 0.2, 1.5)],
    "D-ADA": [{"b": b} for b in (0.02, 0.2, 1.5)],
    "UOAL-entropy": [{"prior_variance": 1.0}],
}


def costs(stream: Stream, algorithm: str, parameters: dict[str, float], rounds: int) -> tuple[float, dict[str, float]]:
    """The share of events that the algorithm asks by itself, and by how many per cent budgets that allow it as many
    labels slow its loop down."""
    times = np.linspace(0.0, DAYS * DAY, stream.n_events, endpoint=False)

    def run_with(budget: Any, times: np.ndarray | None = None) -> OurRun:
        return OurRun(algorithm, {**parameters, "budget": budget}, stream.X, stream.y, times)

    free = run_with(None)
    free.prepare()
    free.play()
    free.clear()
    share = float(free.trace.asked.mean())
    a_day = max(1, round(share * stream.n_events / DAYS))
    paced = {"Rate": run_with(Rate(share)), "PerPeriod": run_with(PerPeriod(a_day, "1d"), times)}
    take_turns({"none": free, **paced}, rounds)
    return share, {name: 100.0 * (run.best_loop / free.best_loop - 1.0) for name, run in paced.items()}


def measure(stream: Stream, rounds: int, report: Callable[[str], None]) -> Section:
    section = Section(
        f"What a budget costs: {stream.name}, {stream.nonzeros_per_event:.0f} non-zeros an event",
        "How much longer the loop takes with a budget that spreads its labels (`Rate`, or `PerPeriod` over ten days) "
        f"than without one, for as many labels. The best of {rounds} rounds each, in turn.",
    )
    for algorithm, settings in SETTINGS.items():
        for parameters in settings:
            report(f"{stream.name}: {algorithm} {parameters}")
            share, found = costs(stream, algorithm, parameters, rounds)
            for budget, percent in found.items():
                what = f"{algorithm}, {100 * share:.2g} % asked: {budget}"
                section.rows.append(at_most(what, percent, MOST, " %"))
    return section


def run(quick: bool, report: Callable[[str], None]) -> list[Section]:
    rounds = 2 if quick else ROUNDS
    try:
        sections = [measure(w8a(repeats=1 if quick else 10), rounds, report)]
    except DataMissingError as reason:
        sections = [Section("What a budget costs: w8a", "Not measured.", skipped=[f"w8a: {reason}"])]
    stream = url_like(n_events=2_000, n_features=50_000) if quick else url_like()
    return [*sections, measure(stream, rounds, report)]
