"""What a process pays before its first decision: the import, compiling once, loading ever after."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import askance
from benchmarks.report import Section, at_most, figure

MOST_IMPORT_SECONDS = 0.15
MOST_FIRST_SECONDS = 15.0
MOST_LATER_SECONDS = 2.0
COMMANDS = [
    ("the help", "--help", 0.4),
    ("a run", "run small.csv", 2.0),
    ("predictions", "predict small.csv --load a.model", 2.0),
    ("a look at a file", "check small.csv", 2.0),
    ("an empty pipe", "pipe --classes no,yes", 2.0),
    ("an unknown option", "run small.csv --nonsense", 0.5),
    ("an unknown column", "run small.csv --label nonsense", 1.0),
    ("a missing file", "run none.csv", 1.0),
]
"""What, its command line, and how much processor time it may take."""

RUN = """
import numpy as np, askance
rng = np.random.default_rng(0)
X = rng.standard_normal((200, 20))
y = np.where(X[:, 0] > 0, 1, -1)
askance.make({algorithm!r}, random_state=0).run(X, y)
"""
ASK = """
import askance
model = askance.make({algorithm!r}, classes=[-1, 1], n_features=20, random_state=0)
model.ask(([1, 4], [0.5, 1.0]))
"""


def seconds_of(code: str, cache: Path | None = None) -> float:
    """How long a fresh Python process takes for ``code``, from being started to having ended."""
    environment = dict(os.environ)
    package_folder = str(Path(askance.__file__).parents[1])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [package_folder, environment.get("PYTHONPATH")]))
    if cache is not None:
        environment["ASKANCE_CACHE_DIR"] = str(cache)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def import_section(repeats: int, report: Callable[[str], None]) -> Section:
    section = Section(
        "Import",
        f"Fresh processes in turn, medians of {repeats}: `python -c pass` and `python -c 'import askance'`.",
    )
    nothing, importing = [], []
    for turn in range(repeats):
        report(f"import, turn {turn + 1} of {repeats}")
        nothing.append(seconds_of("pass"))
        importing.append(seconds_of("import askance"))
    more = float(np.median(importing) - np.median(nothing))
    remark = f"{figure(float(np.median(importing)))} s against {figure(float(np.median(nothing)))} s"
    section.rows.append(at_most("`import askance`, beyond `pass`", more, MOST_IMPORT_SECONDS, " s", remark))
    return section


def first_decision_section(algorithms: list[str], repeats: int, report: Callable[[str], None]) -> Section:
    section = Section(
        "First decisions",
        "Whole processes, interpreter and imports included. First ever: with an empty cache folder, so that "
        f"everything is compiled. Later: a new process with that cache, median of {repeats}.",
    )
    for algorithm in algorithms:
        for what, template in (("run", RUN), ("ask", ASK)):
            report(f"{algorithm}, first and later {what}")
            code = template.format(algorithm=algorithm)
            with tempfile.TemporaryDirectory(prefix="askance-benchmark-") as folder:
                first = seconds_of(code, Path(folder))
                later = float(np.median([seconds_of(code, Path(folder)) for _ in range(repeats)]))
            title = f"{algorithm}, `{what}`"
            section.rows.append(at_most(f"{title}: first ever", first, MOST_FIRST_SECONDS, " s"))
            section.rows.append(at_most(f"{title}: later process", later, MOST_LATER_SECONDS, " s"))
    return section


def processor_seconds_of(words: list[str], folder: Path) -> float:
    """The processor time, user and system, that a command line takes in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "askance", *words],
        cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def commands_section(repeats: int, report: Callable[[str], None]) -> Section:
    section = Section(
        "Commands",
        f"Processor time of a command on 300 rows, the best of {repeats} processes with machine code at hand: imports, "
        "most of all.",
    )
    with tempfile.TemporaryDirectory(prefix="askance-benchmark-") as name:
        folder = Path(name)
        rng = np.random.default_rng(0)
        rows = [f"{a:.3f},{b:.3f},{'yes' if a + b > 0 else 'no'}" for a, b in rng.standard_normal((300, 2))]
        (folder / "small.csv").write_text("\n".join(["a,b,label", *rows]) + "\n")
        processor_seconds_of(["run", "small.csv", "--save", "a.model"], folder)
        for what, words, most in COMMANDS:
            report(what)
            best = min(processor_seconds_of(words.split(), folder) for _ in range(repeats + 1))
            section.rows.append(at_most(f"{what}: `askance {words}`", best, most, " s"))
    return section


def run(quick: bool, report: Callable[[str], None]) -> list[Section]:
    algorithms = ["PAA-I"] if quick else ["PAA-I", "SOAL-diag", "UOAL-entropy", "OA3", "SSOA3"]
    return [
        import_section(5 if quick else 15, report),
        first_decision_section(algorithms, 1 if quick else 3, report),
        commands_section(1 if quick else 5, report),
    ]
