"""Events a second: ``run`` as a user calls it, beside hand-fused loops and beside what others offer."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import askance
from benchmarks.fused import FusedRun
from benchmarks.measure import Contestant, Timing, best_after_the_first, take_turns
from benchmarks.peers import River, ScikitLearn, vowpal_wabbits
from benchmarks.report import Row, Section, at_least, figure, speed
from benchmarks.streams import DataMissingError, Stream, url_like, w8a

SEED = 7
Timings = dict[str, Timing]

# The letters are chosen so that each algorithm asks for one label in ten to one in five. UOAL-entropy asks
# as often as it is in doubt, which no letter changes much: on the URL-like stream, for two in three.
PARAMETERS: dict[str, dict[str, dict[str, float]]] = {
    "w8a": {
        "PAA-I": {"C": 1.0, "delta": 1.0},
        "SOAL-diag": {"eta": 1.0, "gamma": 1.0, "delta": 1.0},
        "D-ADA": {"eta": 0.1, "delta": 1.0, "b": 0.3},
        "UOAL-entropy": {"epsilon": 0.01, "decay": 1.0, "prior_variance": 0.01},
    },
    "URL-like": {
        "PAA-I": {"C": 1.0, "delta": 0.1},
        "SOAL-diag": {"eta": 1.0, "gamma": 1.0, "delta": 1.0},
        "D-ADA": {"eta": 0.1, "delta": 1.0, "b": 0.1},
        "UOAL-entropy": {"epsilon": 0.0, "decay": 1.0, "prior_variance": 1.0},
    },
}
ALGORITHMS = ("PAA-I", "SOAL-diag", "D-ADA", "UOAL-entropy")
FUSED = ("PAA-I", "SOAL-diag")
LEAST_OF_FUSED = {"w8a": 0.5, "URL-like": 0.8}  # run, as the user calls it
LEAST_OF_FUSED_LOOP = 0.8  # its inner loop alone
LEAST_OF_VOWPAL = 15.0
LEAST_OF_RIVER = 80.0
FEWEST = 2  # rounds, for what takes long


def few(rounds: int) -> int:
    """How many rounds the others play."""
    return min(rounds, 5)


@dataclass
class OurRun(Contestant):
    """``askance.make(...).run(X, y)``: checks, labels, random numbers, loop and trace, from a fresh model."""

    algorithm: str
    parameters: dict[str, Any]
    X: Any
    y: np.ndarray
    times: np.ndarray | None = None
    loop: list[float] = field(default_factory=list)

    def prepare(self) -> None:
        self.trace: Any = None
        self.model = askance.make(self.algorithm, **self.parameters, random_state=SEED)

    def play(self) -> None:
        self.trace = self.model.run(self.X, self.y, times=self.times)
        self.labels = self.trace.predicted  # decoded when first read, so it is read here
        self.loop.append(self.trace.seconds)

    def clear(self) -> None:
        del self.model

    @property
    def best_loop(self) -> float:
        return best_after_the_first(self.loop)


def other_forms(stream: Stream) -> dict[str, tuple[Any, np.ndarray]]:
    """The same events and labels in other forms than CSR with int32, float64 and small integers."""
    X, y = stream.X, stream.y
    single = X.astype(np.float32)
    wide = X.copy()
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return {
        "labels as int64": (X, y.astype(np.int64)),
        "labels as strings": (X, np.where(y > 0, "spam", "ham")),
        "float32 values": (single, y),
        "int64 columns": (wide, y),
    }


class DecisionsDifferError(AssertionError):
    """The fused loop and ours did not decide the same; neither speed means anything then."""


def check_same_decisions(fused: FusedRun, ours: OurRun) -> float:
    """Raise unless every prediction and every question is the same; the largest difference of margins."""
    for what, theirs, our_own in (
        ("predicted", fused.predicted, ours.trace.predicted),
        ("asked", fused.asked, ours.trace.asked),
    ):
        differing = np.flatnonzero(theirs != our_own)
        if len(differing):
            event = differing[0]
            raise DecisionsDifferError(
                f"{ours.algorithm} on {fused.stream.name}: {len(differing)} events differ in '{what}', the "
                f"first is {event}: fused {theirs[event]} at margin {fused.margins[event]!r}, "
                f"ours {our_own[event]} at margin {ours.trace.margin[event]!r}"
            )
    return float(np.max(np.abs(fused.margins - ours.trace.margin)))


def peers_for(stream: Stream, folder: Path, section: Section, river_events: int) -> dict[str, Any]:
    """Those of the others that are installed."""
    forms = {"Vowpal Wabbit, text": False, "Vowpal Wabbit, cache file": True}
    peers: dict[str, Any] = {**vowpal_wabbits(stream, folder / f"{stream.name}.txt", forms, section)}
    try:
        import river  # noqa: F401
    except ImportError:
        section.skip("river", "pip install river")
    else:
        peers["river"] = River(stream.first(river_events))
    peers["scikit-learn"] = ScikitLearn(stream)
    return peers


def measure_stream(stream: Stream, rounds: int, river_events: int, report: Callable[[str], None]) -> Section:
    section = Section(
        f"Speed on {stream.name}",
        f"{stream.n_events:,} events x {stream.n_features:,} features, {stream.nonzeros_per_event:.1f} "
        f"non-zeros an event; one thread; best of {rounds} rounds taken in turn, of {few(rounds)} for Vowpal "
        f"Wabbit and scikit-learn and of {FEWEST} for river, which played the first {river_events:,} events. The fused "
        "loops add up in the order of the columns, as `run` does; they get ready-made random numbers and output "
        "arrays and no checks, and make their model; `run` makes, checks and records everything itself, and its "
        "labels are read. Ratios are of processor time, which waiting for a core does not lengthen; those of inner "
        "loops are by the clock. Vowpal Wabbit parses in a second thread: it played the text and its cache file, "
        "with two cores and held to one, and whatever took the least processor time counts; by the clock it has a "
        "row of its own. What share of the events each one asked for, and so learned from, stands in the last rows: "
        "no `--mellowness` was found with which Vowpal Wabbit asks for a share between none and two thirds of the "
        "URL-like stream.",
    )
    chosen = PARAMETERS[stream.name]
    fused = {name: FusedRun(stream, name, chosen[name], SEED) for name in FUSED}
    ours = {name: OurRun(name, chosen[name], stream.X, stream.y) for name in ALGORITHMS}
    with tempfile.TemporaryDirectory(prefix="askance-benchmark-") as folder:
        report("writing the stream for Vowpal Wabbit and river")
        peers = peers_for(stream, Path(folder), section, river_events)
        contestants = {f"fused {name}": run for name, run in fused.items()}
        contestants |= {f"run {name}": run for name, run in ours.items()} | peers
        seldom = {name: FEWEST if name == "river" else few(rounds) for name in peers}
        timings = take_turns(contestants, rounds, seldom, report)

    for name, run in fused.items():
        difference = check_same_decisions(run, ours[name])
        section.rows += fused_rows(stream, name, run, ours[name], timings, difference)
    section.rows += peer_rows(stream, ours, peers, timings)
    section.rows += speed_rows(stream, fused, ours, peers, timings)
    return section


def fused_rows(
    stream: Stream, name: str, fused: FusedRun, ours: OurRun, timings: Timings, difference: float
) -> list[Row]:
    limit = timings[f"fused {name}"]
    remark = f"decisions equal; margins differ by at most {difference:.1g}"
    making = limit.best - fused.best_loop
    if making > 0.01 * limit.best:
        without = (limit.best_cpu - making) / timings[f"run {name}"].best_cpu
        share = making / limit.best
        remark += f"; of the fused loop's time, making its model takes {share:.0%} (without: {without:.2f})"
    return [
        at_least(
            f"{name}: `run` / fused loop",
            limit.best_cpu / timings[f"run {name}"].best_cpu,
            LEAST_OF_FUSED[stream.name],
            "",
            remark,
        ),
        at_least(f"{name}: inner loop / fused loop", fused.best_loop / ours.best_loop, LEAST_OF_FUSED_LOOP, ""),
    ]


def peer_rows(stream: Stream, ours: dict[str, OurRun], peers: dict[str, Any], timings: Timings) -> list[Row]:
    """Our ``run`` against each of the others, by the time an event takes."""
    theirs: list[tuple[str, str, list[str], float | None]] = []  # name, kind of time, contestants, target
    vowpal = [name for name in peers if "Wabbit" in name]
    if vowpal:
        theirs.append(("Vowpal Wabbit", "best_cpu", vowpal, LEAST_OF_VOWPAL))
        theirs.append(("Vowpal Wabbit, clock", "best", vowpal, LEAST_OF_VOWPAL))
    if "river" in peers:
        theirs.append(("river", "best_cpu", ["river"], LEAST_OF_RIVER))
    theirs.append(("scikit-learn", "best_cpu", ["scikit-learn"], None))

    rows = []
    for algorithm in ours:
        for peer, kind, names, target in theirs:
            seconds = min(getattr(timings[name], kind) / peers[name].n_events for name in names)
            what = f"{algorithm}: `run` / {peer}"
            ratio = seconds / getattr(timings[f"run {algorithm}"], kind) * stream.n_events
            if target is None:
                rows.append(Row(what, f"{figure(ratio)} ×"))
                continue
            remark = ""
            if algorithm in FUSED and ratio < target:
                limit = seconds / getattr(timings[f"fused {algorithm}"], kind) * stream.n_events
                remark = f"the fused loop, without checks or trace: {figure(limit)} ×"
            rows.append(at_least(what, ratio, target, " ×", remark))
    return rows


def speed_rows(
    stream: Stream,
    fused: dict[str, FusedRun],
    ours: dict[str, OurRun],
    peers: dict[str, Any],
    timings: Timings,
) -> list[Row]:
    """The plain speeds, and how many labels each one asked for while at it."""
    rows = []
    for name in fused:
        rows.append(Row(f"{name}, fused loop", speed(stream.n_events, timings[f"fused {name}"].best)))
    for name, run in ours.items():
        wrong = np.mean(run.trace.predicted != stream.y)
        remark = f"inner loop {speed(stream.n_events, run.best_loop)}; asked {run.trace.asked.mean():.1%}, "
        remark += f"{wrong:.1%} predicted wrongly"
        rows.append(Row(f"{name}, `run`", speed(stream.n_events, timings[f"run {name}"].best), remark=remark))
    for name, peer in peers.items():
        remark = f"asked {peer.asked / peer.n_events:.1%}"
        if "Wabbit" in name:
            remark += f"; {speed(peer.n_events, timings[name].best_cpu)} of processor time"
        elif name == "scikit-learn":
            remark = "learns from every label, asks nothing"
        rows.append(Row(name, speed(peer.n_events, timings[name].best), remark=remark))
    return rows


def measure_forms(stream: Stream, rounds: int, report: Callable[[str], None]) -> Section:
    section = Section(
        "Other forms of input",
        f"PAA-I's `run` on {stream.name} with the same events in other forms; best of {rounds} rounds.",
    )
    letters = PARAMETERS[stream.name]["PAA-I"]
    contestants = {"int32, float64, int8 labels": OurRun("PAA-I", letters, stream.X, stream.y)}
    for form, (X, y) in other_forms(stream).items():
        contestants[form] = OurRun("PAA-I", letters, X, y)
    timings = take_turns(contestants, rounds, report=report)
    usual = next(iter(timings.values())).best_cpu
    for form, timing in timings.items():
        share = f"{figure(usual / timing.best_cpu)} of the first row's speed"
        section.rows.append(Row(form, speed(stream.n_events, timing.best), remark=share))
    return section


def run(quick: bool, report: Callable[[str], None]) -> list[Section]:
    rounds = 3 if quick else 9
    sections = []
    try:
        short_rows = w8a(repeats=2 if quick else 10)
    except DataMissingError as reason:
        sections.append(Section("Speed on w8a", "Not measured.", skipped=[f"w8a: {reason}"]))
    else:
        sections.append(measure_stream(short_rows, rounds, 10_000 if quick else 64_700, report))
        sections.append(measure_forms(short_rows, 3 if quick else 5, report))
    report("generating the URL-like stream")
    long_rows = url_like(n_events=20_000 if quick else 100_000)
    sections.append(measure_stream(long_rows, rounds, 2_000 if quick else 10_000, report))
    return sections
