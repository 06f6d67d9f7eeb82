"""Second-order learning with a full covariance matrix: where the arithmetic is d squared an event."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import askance
from askance import queries, updates
from benchmarks.measure import Contestant, take_turns
from benchmarks.report import Row, Section, at_least, at_most, figure
from benchmarks.streams import DataMissingError, cifar, dense_random, w8a

LEAST_EVENTS_PER_SECOND = 25_000
CIFAR_BUDGET = 5_000
CIFAR_MOST_SECONDS = 60
CIFAR_PAPER_SECONDS = 1_948


@dataclass
class AskEverything(Contestant):
    """OA3's update with every label bought."""

    X: Any
    y: np.ndarray

    def prepare(self) -> None:
        update = updates.AsymmetricAdaptive(eta=1.0, gamma=1.0, rho=10.0)
        self.model = askance.ActiveClassifier(update=update, query=queries.Always(), random_state=0)

    def play(self) -> None:
        self.trace = self.model.run(self.X, self.y)


def at_300_features(quick: bool, report: Callable[[str], None]) -> Section:
    section = Section(
        "OA3 with d = 300, asking everything",
        "`run` of OA3's update with the query rule Always, from a fresh model; best round.",
    )
    n_events = 5_000 if quick else 20_000
    X, y = dense_random(n_events, 300)
    guesses = np.random.default_rng(1).choice(np.array([-1, 1], dtype=np.int8), n_events)
    contestants = {
        "dense Gaussian events": AskEverything(X, y),
        "dense Gaussian events, labels by coin": AskEverything(X, guesses),  # so nearly every event is a step
    }
    try:
        stream = w8a(repeats=1)
    except DataMissingError as reason:
        section.skip("w8a", reason)
    else:
        contestants["w8a"] = AskEverything(stream.X, stream.y)
    timings = take_turns(contestants, 2 if quick else 4, report=report)
    for name, contestant in contestants.items():
        trace = contestant.trace
        learned = np.mean(trace.asked & (contestant.y * trace.margin < 1.0))
        remark = f"{len(trace.asked):,} events, asked {trace.asked.mean():.1%}, learned from {learned:.1%}"
        if name == "w8a":
            remark += "; the events not asked have no features"
        rate = len(trace.asked) / timings[name].best
        section.rows.append(at_least(name, rate, LEAST_EVENTS_PER_SECOND, " events/s", remark))
    return section


def at_3072_features(quick: bool, report: Callable[[str], None]) -> Section:
    section = Section(
        "OA3 on CIFAR-10, d = 3072",
        "The first 10,000 training images, class 0 against the rest, each of unit length, "
        f"B = {CIFAR_BUDGET:,}; one `run`, everything included. The paper reports {CIFAR_PAPER_SECONDS:,} s "
        "for this task, on its own machine.",
    )
    try:
        X, y = cifar()
    except DataMissingError as reason:
        section.skip("CIFAR-10", reason)
        return section
    n_events = 500 if quick else len(y)
    budget = CIFAR_BUDGET * n_events // len(y)
    rho = float(np.sum(y < 0) / np.sum(y > 0))
    letters = {"eta": 1.0, "gamma": 1.0, "rho": rho, "delta_pos": 10.0, "delta_neg": 1.0}
    report(f"CIFAR-10, {n_events:,} images")
    for rows in (slice(20), slice(n_events)):  # the twenty compile, if nobody did before
        model = askance.make("OA3", **letters, budget=budget, normalize="l2", classes=[-1, 1], random_state=0)
        processor, start = time.process_time(), time.perf_counter()
        trace = model.run(X[rows], y[rows])
        seconds, processor = time.perf_counter() - start, time.process_time() - processor
    size = f"{n_events:,} images"
    spent = int(np.flatnonzero(trace.asked)[-1]) + 1 if trace.asked.any() else 0
    positive, predicted = y[:n_events] > 0, np.asarray(trace.predicted) > 0
    balanced = (np.mean(predicted[positive]) + np.mean(~predicted[~positive])) / 2
    remark = f"{trace.asked.sum():,} labels, the last at event {spent:,}; sum metric {balanced:.1%}; "
    remark += f"{figure(processor)} s of processor time"
    if quick:  # too short to say anything about the target
        section.rows.append(Row(size, f"{figure(seconds)} s", remark=remark))
    else:
        section.rows.append(at_most(size, seconds, CIFAR_MOST_SECONDS, " s", remark))
        section.rows.append(Row("the paper's time / ours", f"{figure(CIFAR_PAPER_SECONDS / seconds)} ×"))
    return section


def run(quick: bool, report: Callable[[str], None]) -> list[Section]:
    return [at_300_features(quick, report), at_3072_features(quick, report)]
