"""One event at a time: what ``ask`` and ``tell`` cost a live service."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import askance
from benchmarks.report import Section, at_most
from benchmarks.streams import URL_FEATURES

NONZEROS = 100
MOST_MICROSECONDS = 20.0
MODELS: dict[str, dict[str, float]] = {
    "PAA-I": {"C": 1.0, "delta": 0.1},
    "SOAL-diag": {"eta": 1.0, "gamma": 1.0, "delta": 1.0},
    "D-ADA": {"eta": 0.1, "delta": 1.0, "b": 0.1},
    "UOAL-entropy": {"epsilon": 0.01},
}


def pairs(n_events: int, n_features: int) -> tuple[list[Any], np.ndarray]:
    """Events as (columns, values), and labels a linear model would give."""
    rng = np.random.default_rng(3)
    hidden = rng.standard_normal(n_features)
    events, labels = [], []
    for _ in range(n_events):
        columns = np.sort(rng.choice(n_features, NONZEROS, replace=False, shuffle=False)).astype(np.int32)
        values = rng.uniform(0.1, 1.0, NONZEROS)
        events.append((columns, values))
        labels.append(1 if hidden[columns] @ values > 0 else -1)
    return events, np.array(labels)


def as_csr_row(event: Any, n_features: int) -> sp.csr_matrix:
    columns, values = event
    return sp.csr_matrix((values, columns, np.array([0, len(columns)])), shape=(1, n_features))


def as_array(event: Any, n_features: int) -> np.ndarray:
    row = np.zeros(n_features)
    row[event[0]] = event[1]
    return row


FORMS: dict[str, tuple[int, Callable[[Any, int], Any]]] = {
    "(columns, values)": (URL_FEATURES, lambda event, n_features: event),
    "1-row CSR": (URL_FEATURES, as_csr_row),
    "1-D array of 300": (300, as_array),
}


def medians(algorithm: str, form: str, n_events: int) -> tuple[float, float]:
    """Microseconds of ``ask`` and of ``tell``, each the median over all events; every label is told."""
    n_features, convert = FORMS[form]
    events, labels = pairs(n_events, n_features)
    events = [convert(event, n_features) for event in events]
    letters = MODELS[algorithm]
    model = askance.make(algorithm, **letters, classes=[-1, 1], n_features=n_features, random_state=0)
    asking, telling = [], []
    clock = time.perf_counter_ns
    for event, label in zip(events, labels.tolist(), strict=True):
        start = clock()
        decision = model.ask(event)
        between = clock()
        model.tell(event, label, weight=decision.weight if decision.asked else 1.0)
        end = clock()
        asking.append(between - start)
        telling.append(end - between)
    warm = n_events // 5
    return float(np.median(asking[warm:])) / 1e3, float(np.median(telling[warm:])) / 1e3


def run(quick: bool, report: Callable[[str], None]) -> list[Section]:
    n_events = 1_000 if quick else 5_000
    section = Section(
        "One event at a time",
        f"`ask` and `tell` with {NONZEROS} non-zeros, from Python, in microseconds; medians over "
        f"{n_events:,} events, clock included. Models of {URL_FEATURES:,} features, the 1-D array of 300.",
    )
    for algorithm in MODELS:
        for form in FORMS:
            report(f"{algorithm}, {form}")
            ask, tell = medians(algorithm, form, n_events)
            section.rows.append(at_most(f"{algorithm}: `ask`, {form}", ask, MOST_MICROSECONDS, " µs"))
            section.rows.append(at_most(f"{algorithm}: `tell`, {form}", tell, MOST_MICROSECONDS, " µs"))
    return [section]
