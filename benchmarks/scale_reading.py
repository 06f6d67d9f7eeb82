"""Text to decisions with workers: what they take over, what stays with the learner, and what follows for up to 64.

In one process, with every piece parsed by a copy of the stream and sent through pickle as to a worker, the processor
time of each piece is measured: of its parsing, and of what the learner does with it (unpickle, scale, play). From
these, a simulation of W workers and one learner, with as many pieces under way as ``SharedReader`` allows, gives the
time of a long stream. Runs with 1 and 2 real processes are compared with one without: by the clock, which others on
the machine slow down, and by the processor time of learner and workers, from which follows the clock of a free machine.
"""

import json
import os
import pickle
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import dump_svmlight_file

from askance.engines import local, make_engine
from askance.runner.algorithm_spec import AlgorithmSpec
from askance.runner.run import run_file
from askance.runner.shared_reading import AHEAD
from benchmarks.streams import url_like

WORKERS = (1, 2, 4, 8, 16, 64)


class Clocked:
    """An engine whose only worker is this process, and which notes the processor time of each piece of work."""

    is_remote, is_running, count, losses = False, True, 1, ()

    def __init__(self) -> None:
        self.parsed: list[float] = []
        self.bytes = 0

    def start(self) -> None:
        """There is nothing to start."""

    def kill(self) -> None:
        """There is nothing to stop."""

    def put(self, value: Any) -> Any:
        return value

    def free(self, handle: Any) -> None:
        """There is nothing to forget."""

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        began = time.thread_time()
        sent = pickle.dumps(work(*arguments), protocol=5)
        self.parsed.append(time.thread_time() - began)
        self.bytes += len(sent)
        future: Future[Any] = Future()
        future.set_result(pickle.loads(sent))
        return future


def write_streams(folder: Path, n_events: int) -> Iterator[tuple[str, Path]]:
    """Files to read: their names for people, and paths."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n_events)
    words = np.array([f"word{k}" for k in range(5_000)])
    texts = [" ".join(row) for row in words[(rng.zipf(1.3, size=(n_events, 30)) + 3 * y[:, None]) % len(words)]]
    numbers = np.round(rng.normal(size=(n_events, 20)) + 0.3 * y[:, None], 4)
    many = np.tile(np.column_stack([numbers, y]), (5, 1))
    path = folder / "mail.jsonl"
    with path.open("w") as file:
        for t in range(n_events):
            row = {"text": texts[t], "size": numbers[t, 0], "city": f"city{t % 50}", "label": int(y[t])}
            file.write(json.dumps(row) + "\n")
    yield "JSON lines, a text of 30 words, a number, a category", path
    path = folder / "numbers.csv"
    names = [f"field{k}" for k in range(20)] + ["label"]
    np.savetxt(path, many, fmt="%.10g", delimiter=",", header=",".join(names), comments="")
    yield "CSV, 20 numbers", path
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "mail.parquet"
    columns = {"text": texts, "label": y} | {f"field{k}": numbers[:, k] for k in range(10)}
    pq.write_table(pa.table(columns), path, row_group_size=16_384)
    yield "Parquet, a text of 30 words, 10 numbers", path
    urls = url_like(min(n_events, 20_000))
    path = folder / "url.libsvm"
    dump_svmlight_file(urls.X, urls.y, str(path), zero_based=False)
    yield "LIBSVM, 115 of 3.2 million features", path


def simulate(parsing: np.ndarray, learning: np.ndarray, workers: int, pieces: int = 2_000) -> float:
    """The seconds that a stream of so many pieces takes, if they go on as those that were measured."""
    free = np.zeros(workers)
    ready: deque[float] = deque()
    done = 0.0
    sent = 0
    for piece in range(pieces):
        while sent < pieces and len(ready) < AHEAD * workers:
            first = int(free.argmin())
            free[first] = max(free[first], done) + parsing[sent % len(parsing)]
            ready.append(float(free[first]))
            sent += 1
        done = max(done, ready.popleft()) + learning[piece % len(learning)]
    return done


def measure_reading(repeats: int, n_events: int) -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory() as folder:
        streams = list(write_streams(Path(folder), n_events))
        cases = [(name, path, "PAA-I") for name, path in streams] + [(*streams[0], "auto")]
        print(
            "| stream | algorithm | plain, µs | parse | learner | bytes sent | " + " | ".join(map(str, WORKERS)) + " |"
        )
        print("|---|---|--:|--:|--:|--:|" + "--:|" * len(WORKERS))
        for name, path, algorithm in cases:
            print(f"| {name} | {algorithm} | {' | '.join(simulated_row(path, algorithm, repeats))} |", flush=True)
        print("\n| stream | algorithm | plain, s | 1: learner | 1: workers | 1: gain | 1: clock | 2: ... |")
        print("|---|---|--:|" + "--:|" * 8)
        for name, path, algorithm in cases:
            print(f"| {name} | {algorithm} | {' | '.join(clocked_row(path, algorithm, repeats))} |", flush=True)


def simulated_row(path: Path, algorithm: str, repeats: int) -> list[str]:
    """Processor time per event, and the speed against a run without workers for each number of them."""
    spec, best = AlgorithmSpec(algorithm, budget=0.02), np.inf
    parsing, learning, sent, plain = np.zeros(1), np.zeros(1), 0, np.inf
    for _ in range(repeats + 1):  # the first compiles
        began = time.process_time()
        events = run_file(str(path), spec).totals.events
        plain = min(plain, time.process_time() - began)
        engine, began = Clocked(), time.process_time()
        run_file(str(path), spec, engine=engine, in_rounds=False)  # type: ignore[arg-type]
        total = time.process_time() - began
        if total < best:
            best, parsing, sent = total, np.array(engine.parsed), engine.bytes
            learning = np.full(len(parsing), (total - parsing.sum()) / len(parsing))
    micro = 1e6 / events
    cells = [f"{1e6 * plain / events:.1f}", f"{micro * parsing.sum():.1f}", f"{micro * learning.sum():.1f}"]
    one = 2_000 * plain / len(parsing)
    return [*cells, f"{sent / events:.0f}", *(f"{one / simulate(parsing, learning, count):.2f}" for count in WORKERS)]


def clocked_row(path: Path, algorithm: str, repeats: int) -> list[str]:
    """Processor seconds without workers; with 1 and 2 of them, those of the learner and of all workers, the gain that
    follows on a free machine, and the gain by the clock here."""
    spec, best = AlgorithmSpec(algorithm, budget=0.02), dict[int, list[float]]()
    for _ in range(repeats):
        for workers in (0, 1, 2):
            engine = make_engine("local", workers) if workers else None
            if engine is not None:  # started and warm before the clock runs
                run_file(str(path), spec, engine=engine, in_rounds=False)
            began = time.perf_counter(), time.process_time(), workers_time()
            run_file(str(path), spec, engine=engine, in_rounds=False)
            spent = time.perf_counter() - began[0], time.process_time() - began[1], workers_time() - began[2]
            best[workers] = [min(pair) for pair in zip(spent, best.get(workers, spent), strict=True)]
    plain, cells = best[0], [f"{best[0][1]:.2f}"]
    for workers in (1, 2):
        clock, learner, parsing = best[workers]
        gain = plain[1] / max(learner, parsing / workers)
        cells += [f"{learner:.2f}", f"{parsing:.2f}", f"{gain:.2f}", f"{plain[0] / clock:.2f}"]
    return cells


def workers_time() -> float:
    """The processor time of all local workers so far, as Linux tells it."""
    if local._running_pool is None:
        return 0.0
    ticks = 0
    for process in local._running_pool.pool._processes:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
