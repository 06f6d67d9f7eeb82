"""``python -m benchmarks.scale``: how well workers are used, and what sifting gains and costs. Prints the tables of
``SCALE.md``.

Efficiency is the time that workers spent in plays over the time that there were workers: E = sum of plays / (W T), so
that it says how well workers are used even on a machine that is busy with other things. Plays that sleep in place of
computing show more workers than there are processors here.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import numpy as np
from sklearn.preprocessing import StandardScaler

import askance
import askance.learner.engine
from askance.budgets import Rate
from askance.compare import Sweep, scheduler
from askance.compare.play import warm_up
from askance.engines import make_engine
from askance.learner import delayed_updates
from askance.runner import run, run_file
from askance.runner.algorithm_spec import AlgorithmSpec
from askance.runner.shared_reading import read_ahead
from benchmarks.measure import load, machine, versions
from benchmarks.parsing import write_libsvm
from benchmarks.peers import VowpalWabbit, write_vowpal_text
from benchmarks.scale_reading import measure_reading
from benchmarks.streams import real_set, url_like


def sleep_plays(
    table: Any, key: str, code: Any, conditions: Any, room: int, plays: list[Any]
) -> list[dict[str, float]]:
    """In place of ``play_shared``: each play sleeps for 0.05 to 0.45 seconds, by its parameters."""
    results = []
    for play in plays:
        seconds = 0.05 + 0.4 * float(dict(play.parameters)["delta"])
        time.sleep(seconds)
        results.append({"query_ratio": 0.1, "f1": 0.5, "seconds": seconds, "cost_seconds": seconds})
    return results


def load_worker(algorithm: str) -> None:
    """Import and compile what plays need, and stay busy until every worker has begun to do so."""
    warm_up(algorithm, 2, None)
    time.sleep(5.0)


def efficiency(sweep: Sweep, workers: int, engine: str) -> tuple[float, float]:
    """E and T of one sweep, from its first play on: what starting takes is told in the text."""
    spent: list[float] = []
    began: list[float] = []
    take = scheduler.WorkerPool.play

    def count(self: Any, plays: list[Any]) -> Any:
        if self._shared is None:
            self._start()
        began.append(time.perf_counter())
        future = take(self, plays)
        future.add_done_callback(lambda done: spent.extend(result["cost_seconds"] for result in done.result()))
        return future

    scheduler.WorkerPool.play = count  # type: ignore[method-assign]
    try:
        sweep.run(workers=workers, engine=engine)
        elapsed = time.perf_counter() - began[0]
    finally:
        scheduler.WorkerPool.play = take  # type: ignore[method-assign]
    return sum(spent) / (workers * elapsed), elapsed


def measure_engines(engines: list[str], plays: int, workers: list[int], asleep: bool) -> None:
    scheduler.WORTH_STARTING = -1.0
    if asleep:
        scheduler.play_shared = sleep_plays
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=500 if asleep else 20_000)
    X = rng.normal(size=(2, 60))[y] + 4.0 * rng.normal(size=(len(y), 60))
    name, scales = ("PAA-I", np.linspace(0.0125, 1.0, 20).tolist()) if asleep else ("SOAL", [0.01, 0.1])
    sweep = Sweep((X, y), [name], scales=scales, permutations=plays, search_permutations=1)
    print("| engine | workers | plays | seconds | efficiency |\n|---|--:|--:|--:|--:|")
    for engine in engines:
        for count in workers:
            runner = make_engine(engine, count)
            if engine != "local":
                runner.kill()
            runner.start()
            for future in [runner.submit(load_worker, name) for _ in range(count)]:
                future.result()
            found, seconds = efficiency(sweep, count, engine)
            print(f"| {engine} | {count} | {len(scales) * plays} | {seconds:.1f} | {found:.3f} |", flush=True)


def measure_rounds(most: int, algorithms: list[str]) -> None:
    """Balanced accuracy by the rule for the length of a round."""
    print("| set | algorithm | at once | 0.5 % | 1 % | 2 % | 10 % | fixed 1,000 |\n|---|---|--:|--:|--:|--:|--:|--:|")
    for name in ("magic04", "covtype", "elec2"):
        X, y = some_of(name, most)
        for algorithm in algorithms:
            cells = []
            for rule in (None, 0.005, 0.01, 0.02, 0.1, 1000):
                scores = [balanced(play_rounds(algorithm, X, y, rule, seed), y) for seed in range(3)]
                cells.append(f"{100 * np.mean(scores):.1f}")
            print(f"| {name} | {algorithm} | {' | '.join(cells)} |", flush=True)


def play_rounds(algorithm: str, X: Any, y: np.ndarray, rule: float | None, seed: int) -> np.ndarray:
    """The predictions of one play; a rule of None learns at once."""
    options: dict[str, Any] = {} if algorithm == "auto" else {"intercept": True, "normalize": "l2"}
    clf = askance.make(algorithm, budget=0.05, classes=np.unique(y), random_state=seed, **options)
    usual = delayed_updates.round_size
    if rule is not None:
        delayed_updates.round_size = (
            (lambda seen: int(rule)) if rule > 1 else (lambda seen: max(1, min(delayed_updates.MOST, int(rule * seen))))
        )
    try:
        return clf.run(X, y, workers=None if rule is None else 1).predicted
    finally:
        delayed_updates.round_size = usual


def some_of(name: str, most: int) -> tuple[Any, np.ndarray]:
    """So many events of a real set, its most frequent class against the others; elec2 in its own order."""
    X, y = real_set(name)
    order = np.arange(len(y)) if name == "elec2" else np.random.default_rng(0).permutation(len(y))
    labels, counts = np.unique(y, return_counts=True)
    if X.shape[1] <= 100:  # numbers rather than words
        X = StandardScaler(with_mean=False).fit_transform(X)
    return X[order[:most]], (y == labels[counts.argmax()]).astype(np.int64)[order[:most]]


def balanced(predicted: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean([np.mean(predicted[y == label] == label) for label in np.unique(y)]))


def dense_stream(n_events: int, n_features: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping clouds."""
    y = rng.integers(2, size=n_events)
    return rng.normal(size=(2, n_features))[y] + n_features**0.5 * rng.normal(size=(n_events, n_features)), y


class Clocked(delayed_updates.DelayedUpdates):
    """Delayed updates that note the processor time of its three steps."""

    spent: ClassVar[Counter[str]] = Counter()

    def _score(self, *arguments: Any) -> None:
        self._clock("score", super()._score, *arguments)

    def _decide(self, piece: delayed_updates.Piece, decide: Callable[..., None]) -> None:
        self._clock("decide", super()._decide, piece, decide)

    def _learn(self, piece: delayed_updates.Piece) -> None:
        self._clock("learn", super()._learn, piece)

    def _clock(self, name: str, step: Callable[..., None], *arguments: Any) -> None:
        began = time.thread_time()
        step(*arguments)
        self.spent[name] += time.thread_time() - began


def measure_sifting(repeats: int) -> None:
    """Processor time per event of the plain loop and of the steps of sifting, and what follows for W workers."""
    askance.learner.engine.DelayedUpdates = Clocked  # type: ignore[misc]
    print("| stream | algorithm | labels | at once, us | score | decide | learn | rest | W = 2 | 8 | 64 |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    rng = np.random.default_rng(0)
    narrow, wide = dense_stream(4_000, 600, rng), dense_stream(2_000, 1_500, rng)
    for name, (X, labels), algorithm, rate in (
        ("w8a, 60,000 events", some_of("w8a", 60_000), "PAA-I", 0.02),
        ("w8a, 60,000 events", some_of("w8a", 60_000), "SOAL-diag", 0.02),
        ("4,000 events, 600 dense features", narrow, "SOAL", 0.02),
        ("2,000 events, 1,500 dense features", wide, "SOAL", 0.02),
        ("2,000 events, 1,500 dense features", wide, "SOAL", 0.005),
    ):
        best: dict[str, float] = {}
        for _ in range(repeats):
            for workers in (None, 1):
                clf = askance.make(algorithm, budget=Rate(rate, burst=0), classes=np.unique(labels), random_state=0)
                Clocked.spent.clear()
                began = time.thread_time()
                clf.run(X, labels, workers=workers)
                total = time.thread_time() - began
                found = {"once": total} if workers is None else {**Clocked.spent, "total": total}
                best |= {step: min(seconds, best.get(step, np.inf)) for step, seconds in found.items()}
        micro = {step: 1e6 * seconds / len(labels) for step, seconds in best.items()}
        rest = micro["total"] - micro["score"] - micro["decide"] - micro["learn"]
        gains = [micro["once"] / (micro["total"] - micro["score"] * (1 - 1 / count)) for count in (2, 8, 64)]
        cells = [micro["once"], micro["score"], micro["decide"], micro["learn"], rest]
        shown = [f"{cell:.3f}" for cell in cells] + [f"{gain:.2f}" for gain in gains]
        print(f"| {name} | {algorithm} | {rate:.1%} | {' | '.join(shown)} |", flush=True)


def measure_reader(repeats: int, events: int) -> None:
    """Processor time of playing a text file, by one thread and by several, and of Vowpal Wabbit on the same events.

    On two free cores the time by the clock is T = max(m, (m + r) / 2) if the m seconds of the playing thread stay where
    they are and the r seconds of the others are shared, and max(m, r) if there is only one other thread.
    """
    stream = url_like(events)
    print("| how | in all, s | play | others | two free cores | times one thread |\n|---|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        path, theirs = Path(folder) / "url.libsvm", Path(folder) / "url.txt"
        write_libsvm(stream, path)
        write_vowpal_text(stream, theirs)
        ways: dict[str, tuple[Callable[[], Any], bool]] = {}
        for algorithm in ("PAA-I", "SOAL-diag"):
            play = partial(run_file, str(path), AlgorithmSpec(algorithm))
            ways[f"{algorithm}, one thread"] = partial(restricted, play, pass_on), False
            ways[f"{algorithm}, a thread that reads ahead"] = partial(restricted, play), False
            ways[f"{algorithm}, two threads that parse"] = play, True
        vowpal = VowpalWabbit(theirs, stream, from_cache=False)
        vowpal.prepare()
        ways["Vowpal Wabbit"] = vowpal.play, False
        spent: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for _ in range(repeats + 1):  # in turn; the first round compiles
            for name, (play, _) in ways.items():
                whole, own = time.process_time(), time.thread_time()
                play()
                spent[name].append((time.process_time() - whole, time.thread_time() - own))
        single = 0.0
        for name, (_, is_shared) in ways.items():
            total, playing = min(spent[name][1:])
            clock = max(playing, total / 2 if is_shared else total - playing)
            single = total if name.endswith("one thread") else single
            gain = single / clock
            print(f"| {name} | {total:.3f} | {playing:.3f} | {total - playing:.3f} | {clock:.3f} | {gain:.2f} |")


def no_threads(*_: Any) -> None:
    """In place of threads that parse: none."""


def restricted(play: Callable[[], Any], ahead: Callable[..., Any] = read_ahead) -> Any:
    """Play without threads that parse, and read ahead in another way."""
    with mock.patch.object(run, "parser_threads", no_threads), mock.patch.object(run, "read_ahead", ahead):
        return play()


def pass_on(batches: Iterator[Any]) -> Generator[Any]:
    """In place of a thread that reads ahead: none."""
    yield from batches


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("what", choices=("engines", "asleep", "reader", "reading", "rounds", "sifting"))
    parser.add_argument("--engine", action="append", choices=("local", "ray", "dask"))
    parser.add_argument("--workers", type=int, action="append")
    parser.add_argument("--algorithm", action="append", help="for rounds")
    parser.add_argument("--plays", type=int, default=8, help="permutations")
    parser.add_argument("--most", type=int, default=20_000, help="events of each set")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    print(f"{machine()}; load {load()}; {versions()}\n")
    if options.what in ("engines", "asleep"):
        engines, is_asleep = options.engine or ["local"], options.what == "asleep"
        measure_engines(engines, options.plays, options.workers or ([2, 4, 8] if is_asleep else [2]), is_asleep)
    elif options.what == "reader":
        measure_reader(options.repeats, options.most)
    elif options.what == "reading":
        measure_reading(options.repeats, options.most)
    elif options.what == "rounds":
        measure_rounds(options.most, options.algorithm or ["PAA-I", "SOAL-diag", "auto"])
    else:
        measure_sifting(options.repeats)
    return 0


if __name__ == "__main__":
    sys.exit(main())
