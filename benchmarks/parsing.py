"""From a file to decisions: reading text and playing it, beside Vowpal Wabbit; and the readers by themselves.

``python -m benchmarks.parsing`` runs it alone.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import askance
from askance.data import open_stream
from benchmarks.measure import Contestant, Timing, take_turns
from benchmarks.peers import vowpal_wabbits
from benchmarks.report import Row, Section, at_least, figure, print_section, speed
from benchmarks.streams import DataMissingError, Stream, url_like, w8a

SEED = 7
LEAST_OF_VOWPAL = 1.0
PARAMETERS: dict[str, dict[str, dict[str, float]]] = {
    "w8a": {"PAA-I": {"C": 1.0, "delta": 1.0}, "SOAL-diag": {"eta": 1.0, "gamma": 1.0, "delta": 1.0}},
    "URL-like": {"PAA-I": {"C": 1.0, "delta": 0.1}, "SOAL-diag": {"eta": 1.0, "gamma": 1.0, "delta": 1.0}},
}
Timings = dict[str, Timing]


def write_libsvm(stream: Stream, path: Path) -> None:
    """The stream as LIBSVM text, with the values as Vowpal Wabbit gets them."""
    words = np.char.add((stream.X.indices + 1).astype(str), ":1").tolist()
    for k in np.flatnonzero(stream.X.data != 1.0).tolist():
        words[k] = f"{words[k][:-1]}{stream.X.data[k]:.6g}"
    starts = stream.X.indptr.tolist()
    with path.open("w", encoding="ascii") as lines:
        for event, label in enumerate(stream.y.tolist()):
            lines.write(f"{label} {' '.join(words[starts[event] : starts[event + 1]])}\n")


@dataclass
class FilePlay(Contestant):
    """Open a file, and play it batch by batch; the width of the model shows as it goes."""

    path: Path
    algorithm: str
    parameters: dict[str, float]
    asked: int = 0

    def prepare(self) -> None:
        self.model = askance.make(self.algorithm, **self.parameters, classes=[-1, 1], random_state=SEED)

    def play(self) -> None:
        self.asked = self.n_events = 0
        model = self.model
        for batch in open_stream(self.path, format="libsvm", raw=True):
            if self.n_events and batch.X.shape[1] > model.n_features_in_:
                model.widen(batch.X.shape[1] + batch.X.shape[1] // 8)
            trace = model.run(batch.to_width(model.n_features_in_) if self.n_events else batch.X, batch.y)
            self.n_events += batch.X.shape[0]
            self.asked += int(trace.asked.sum())


@dataclass
class Reading(Contestant):
    """Read a file, and do nothing with it."""

    path: Path
    options: dict[str, Any]

    def prepare(self) -> None:
        self.n_events = 0

    def play(self) -> None:
        for batch in open_stream(self.path, **self.options):
            self.n_events += batch.X.shape[0]


@dataclass
class Pandas(Contestant):
    """``pandas.read_csv``, which reads all of a file at once."""

    path: Path

    def prepare(self) -> None:
        self.n_events = 0

    def play(self) -> None:
        import pandas

        self.n_events = len(pandas.read_csv(self.path))


def measure_file(stream: Stream, rounds: int, report: Callable[[str], None]) -> Section:
    section = Section(
        f"From a text file to decisions: {stream.name}",
        f"{stream.n_events:,} events, {stream.nonzeros_per_event:.1f} non-zeros an event, as LIBSVM text for askance "
        "and in its own text format, with the same values, for Vowpal Wabbit (--active --simulation). Both open the "
        f"file, parse it, predict every event and learn from the asked ones; best of {rounds} rounds taken in turn. "
        "Vowpal Wabbit parses in a second thread, so it played with two cores and held to one, and there is a row by "
        "the clock and one by processor time: the least of each counts.",
    )
    with tempfile.TemporaryDirectory(prefix="askance-benchmark-") as folder:
        report("writing the text files")
        ours_file = Path(folder) / "events.libsvm"
        write_libsvm(stream, ours_file)
        contestants: dict[str, Any] = {
            name: FilePlay(ours_file, name, letters) for name, letters in PARAMETERS[stream.name].items()
        }
        contestants["reading alone"] = Reading(ours_file, {"format": "libsvm", "raw": True})
        theirs = vowpal_wabbits(stream, Path(folder) / "events.txt", {"Vowpal Wabbit": False}, section)
        contestants |= theirs
        timings = take_turns(contestants, rounds, report=report)
        size = ours_file.stat().st_size
    for name in PARAMETERS[stream.name]:
        assert contestants[name].n_events == stream.n_events
        if theirs:
            section.rows += ratios(name, timings[name], [timings[other] for other in theirs])
    section.rows += speeds(stream, contestants, timings, size)
    return section


def ratios(name: str, ours: Timing, theirs: list[Timing]) -> list[Row]:
    """Beside the way in which the other took least."""
    clock = min(timing.best for timing in theirs) / ours.best
    processor = min(timing.best_cpu for timing in theirs) / ours.best_cpu
    return [
        at_least(f"{name}: file / Vowpal Wabbit, clock", clock, LEAST_OF_VOWPAL, " ×"),
        at_least(f"{name}: file / Vowpal Wabbit, processor time", processor, LEAST_OF_VOWPAL, " ×"),
    ]


def speeds(stream: Stream, contestants: dict[str, Any], timings: Timings, size: int) -> list[Row]:
    rows = []
    for name, contestant in contestants.items():
        remark = f"{speed(stream.n_events, timings[name].best_cpu)} of processor time"
        if name == "reading alone":
            remark += f"; {figure(size / timings[name].best_cpu / 1e6)} MB a second of it"
        else:
            remark += f"; asked {contestant.asked / stream.n_events:.1%}"
        rows.append(Row(f"{name}, from text", speed(stream.n_events, timings[name].best), remark=remark))
    return rows


def measure_readers(n_rows: int, rounds: int, report: Callable[[str], None]) -> Section:
    """The other text formats, by themselves."""
    section = Section(
        "Readers",
        f"{n_rows:,} rows read into batches of sparse rows, numbers standardised, words hashed; nothing is learned. "
        f"Best of {rounds} rounds taken in turn; pandas for comparison, which neither standardises nor hashes.",
    )
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n_rows, 10)).round(5).tolist()
    words = [f"word{k}" for k in rng.zipf(1.3, size=n_rows * 12) % 50_000]
    texts = [" ".join(words[12 * row : 12 * row + 12]) for row in range(n_rows)]
    with tempfile.TemporaryDirectory(prefix="askance-benchmark-") as name:
        report("writing the files")
        folder = Path(name)
        with (folder / "numbers.csv").open("w") as file:
            file.write("a,b,c,d,e,f,g,h,i,j,label\n")
            file.writelines(f"{','.join(map(repr, row))},{row[0] > 0:d}\n" for row in numbers)
        with (folder / "mixed.csv").open("w") as file:
            file.write("size,colour,text,label\n")
            rows = zip(numbers, texts, strict=True)
            file.writelines(f'{row[0]!r},c{int(9 * abs(row[1]))},"{text}",{row[0] > 0:d}\n' for row, text in rows)
        with (folder / "mixed.jsonl").open("w") as file:
            rows = zip(numbers, texts, strict=True)
            file.writelines(
                f'{{"size": {row[0]!r}, "text": "{text}", "label": {row[0] > 0:d}}}\n' for row, text in rows
            )
        contestants: dict[str, Any] = {path.name: Reading(path, {}) for path in sorted(folder.iterdir())}
        try:
            import pandas  # noqa: F401
        except ImportError:
            section.skip("pandas", "pip install pandas")
        else:
            contestants["numbers.csv, pandas"] = Pandas(folder / "numbers.csv")
        sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
        timings = take_turns(contestants, rounds, report=report)
    for name in contestants:
        megabytes = sizes[name.split(",")[0]] / timings[name].best_cpu / 1e6
        section.rows.append(Row(name, speed(n_rows, timings[name].best_cpu), remark=f"{figure(megabytes)} MB a second"))
    return section


def run(quick: bool, report: Callable[[str], None]) -> list[Section]:
    rounds = 3 if quick else 5
    sections = []
    try:
        short_rows = w8a(repeats=2 if quick else 10)
    except DataMissingError as reason:
        sections.append(Section("From a text file to decisions: w8a", "Not measured.", skipped=[f"w8a: {reason}"]))
    else:
        sections.append(measure_file(short_rows, rounds, report))
    report("generating the URL-like stream")
    sections.append(measure_file(url_like(n_events=20_000 if quick else 100_000), rounds, report))
    sections.append(measure_readers(20_000 if quick else 100_000, rounds, report))
    return sections


if __name__ == "__main__":
    import sys

    from rich.console import Console

    console = Console(width=150)
    for found in run("--quick" in sys.argv, lambda message: None):
        print_section(console, found)
