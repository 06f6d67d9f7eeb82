"""``python -m benchmarks.coverage``: how often the intervals of ``askance.quality`` hold the truth, on real sets.

A run plays the first events of a set (in a random but fixed order, unless the set is a stream), with its own seed; the
true value is the one over all events of that run, with all labels. Beside the width of the interval stands that of
plain random sampling: the same predictions, as many labels, each event asked with the same probability. Each run is
estimated once more with three of ten answers lost. Rows measured are kept in a file, so that a run that was stopped
goes on where it was.
"""

import argparse
import json
import os
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import askance
from askance.quality import Monitor, Quality, calibration_error, estimate, estimate_columns
from benchmarks.streams import DataMissingError, data_file

RESULTS = Path(__file__).with_name("COVERAGE.md")
EVENTS = 8_000
MANY = 20_000  # events, where a budget of SMALL_RATE is looked at many times
SMALL_RATE = 0.02
WINDOW = 2_000
FLOOR = 0.02
TARGET = 0.93
LOST = 0.3
RATE = 0.05
NO_FLOOR_SETS = ("a8a", "w8a", "mushrooms", "spambase", "magic04", "codrna_train")
RATE_SETS = ("a8a", "spambase", "magic04", "codrna_train", "ijcnn1", "spam_corpus")
RATE_ALGORITHMS = ("PAA-I", "SOAL-diag")
DESIGNS = {
    "floor": {"explore": FLOOR},
    "no floor": {"explore": 0.0},
    "rate, floor": {"budget": RATE, "explore": FLOOR},
    "rate": {"budget": RATE, "explore": 0.0},
    "auto": {"budget": RATE},  # its own defaults
}
TWO_CLASSES = {
    "a8a": "shuffled",
    "w8a": "shuffled",
    "mushrooms": "shuffled",
    "spambase": "shuffled",
    "magic04": "shuffled",
    "codrna_train": "shuffled",
    "svmguide1": "shuffled",
    "german": "shuffled",
    "reuters_moneyfx": "shuffled",
    "ijcnn1": "in order",
    "spam_corpus": "in order",
    "elec2": "in order",
}
AUTO_SETS = (*TWO_CLASSES, "satimage", "shuttle", "connect4")
MORE_CLASSES = {"satimage": "shuffled", "usps": "shuffled", "shuttle": "shuffled", "connect4": "shuffled"}
ALGORITHMS = {
    "PAA-I": {"delta": 0.05},
    "SOAL-diag": {"delta": 0.1},
    "UOAL-entropy": {"epsilon": 0.01},
    "D-ADA": {"b": 0.1},
}
ALGORITHMS_FOR_MORE = {"MPAA-I": {"delta": 0.1}, "MD-ADA": {"b": 0.1}}
AUTO = "auto"


def load(name: str, order: str, events: int = EVENTS) -> tuple[object, np.ndarray]:
    with np.load(data_file(f"{name}.npz")) as file:
        y = file["y"].astype(int)
        if "indptr" in file:
            X = sp.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
            X = X.astype(np.float64)
        else:
            X = file["X"].astype(np.float64)
            spread = X.std(axis=0)
            X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    rows = np.arange(len(y)) if order == "in order" else np.random.default_rng(0).permutation(len(y))
    return X[rows[:events]], y[rows[:events]]


@dataclass
class Found:
    """Of one set, algorithm and design, per metric: how often the truth was inside, and the sum of the widths."""

    runs: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    inside: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    width: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    labels: float = 0.0
    accuracy: float = 0.0
    floor_idle: bool = True

    def note(self, kind: str, quality: Quality, truth: dict[str, float]) -> None:
        for name, (_, low, high) in quality.items():
            slack = 1e-9 * max(1.0, abs(truth[name]))
            self.runs[f"{kind}{name}"] += 1
            self.inside[f"{kind}{name}"] += int(low - slack <= truth[name] <= high + slack)
            self.width[f"{kind}{name}"] += high - low

    def coverage(self, key: str) -> float:
        return self.inside[key] / self.runs[key]

    def mean_width(self, key: str) -> float:
        return self.width[key] / self.runs[key]


def full_truth(trace: askance.Trace, part: slice = slice(None)) -> dict[str, float]:
    from askance.metrics import summarise

    chance = trace.probability_positive
    margin = trace.margin
    truth = summarise(
        trace.truth[part],
        trace.predicted[part],
        trace.asked[part],
        classes=trace.classes,
        margin=margin[part],
        probability_positive=None if chance is None else chance[part],
    )
    if chance is not None:
        truth["calibration_error"] = calibration_error(trace.truth[part], chance[part], trace.classes[1])
    return truth


def cover(X: object, y: np.ndarray, name: str, design: str, parameters: dict[str, float], runs: int) -> Found:
    found = Found()
    settings = dict(DESIGNS[design])
    if "budget" in settings and name != AUTO:
        settings["budget"] = askance.budgets.Rate(settings["budget"])
    for seed in range(runs):
        trace = askance.make(name, normalize="l2", random_state=seed, **settings, **parameters).run(X, y)
        truth = full_truth(trace)
        found.note("", estimate(trace), truth)
        labels = int(trace.asked.sum())
        found.labels += labels / runs
        found.accuracy += float(truth["accuracy"]) / runs
        found.floor_idle &= bool((trace.probability > FLOOR).all())
        luck = np.random.default_rng([seed, len(name), labels])
        if seed % 2 == 0:
            found.note("recent ", estimate(trace, window=WINDOW), full_truth(trace, slice(-WINDOW, None)))
        if seed % 2 == 1:
            came = trace.asked & (luck.random(len(trace)) >= LOST)
            found.note("lost ", estimate_again(trace, trace.probability, came, trace.asked), truth)
        if seed % 10 == 0:
            rate = np.full(len(trace), labels / len(trace))
            random = luck.random(len(trace)) < rate
            found.note("random ", estimate_again(trace, rate, random, random), truth)
    return found


def estimate_again(trace: askance.Trace, probability: np.ndarray, answered: np.ndarray, asked: np.ndarray) -> Quality:
    """What the same predictions would have been judged to be worth with other answers."""
    return estimate_columns(
        trace.predicted,
        probability,
        answered,
        trace.truth,
        classes=trace.classes,
        asked=asked,
        score=trace.margin if len(trace.classes) == 2 else None,
        probability_positive=trace.probability_positive,
    )


def watched(
    X: object, y: np.ndarray, name: str, settings: dict[str, float], runs: int, looks: int = 40
) -> tuple[float, float, float, float]:
    """Somebody looks 40 times: in how many runs was an interval ever wrong? And how wide were the last ones?"""
    wrong_once, wrong_anytime, widths = [], [], []
    for seed in range(runs):
        trace = askance.make(name, normalize="l2", random_state=seed, **settings).run(X, y)
        monitor = Monitor(trace.classes.tolist(), anytime=True)
        missed = np.zeros(2, bool)
        mistakes = np.cumsum(trace.predicted_index != trace.truth_index)
        every = len(trace) // looks
        columns = zip(
            trace.predicted.tolist(),
            trace.probability.tolist(),
            trace.asked.tolist(),
            trace.truth.tolist(),
            strict=True,
        )
        for number, (predicted, probability, asked, label) in enumerate(columns, 1):
            ticket = monitor.event(predicted, probability, asked)
            if asked:
                monitor.answer(ticket, label)
            if number % every == 0:
                truth = 1.0 - mistakes[number - 1] / number
                anytime = monitor.overall.accuracy
                once = monitor._ledger.quality().accuracy
                missed |= [truth not in once, truth not in anytime]
        wrong_once.append(missed[0])
        wrong_anytime.append(missed[1])
        widths.append((once.high - once.low, anytime.high - anytime.low))
    once_width, anytime_width = np.mean(widths, axis=0)
    return float(np.mean(wrong_once)), float(np.mean(wrong_anytime)), float(once_width), float(anytime_width)


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


METRICS = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "balanced_accuracy": "balanced",
    "specificity": "specificity",
    "cost": "cost",
    "auc": "AUC",
    "calibration_error": "calibration",
}


Rows = dict[tuple[str, str, str], Found]


def table(results: Rows, design: str) -> list[str]:
    shown = list(METRICS)
    lines = [
        "| set | algorithm | runs | labels | truth | "
        + " | ".join(METRICS[name] for name in shown)
        + " | width | random |",
        "|---|---|--:|--:|--:|" + "--:|" * (len(shown) + 2),
    ]
    for (dataset, algorithm, its_design), found in results.items():
        if its_design != design:
            continue
        cells = [percent(found.coverage(name)) if found.runs.get(name) else "" for name in shown]
        lines.append(
            f"| {dataset} | {algorithm} | {found.runs['accuracy']} | {found.labels:.0f} | {found.accuracy:.3f} | "
            + " | ".join(cells)
            + f" | {found.mean_width('accuracy'):.4f} | {found.mean_width('random accuracy'):.4f} |"
        )
    return lines


def summary(results: Rows, design: str) -> list[str]:
    lines = [
        "| metric | worst | median | below 93 | recent: worst | median | below 93 | 30 % lost: worst | median "
        "| below 93 | width / random: median | worst |",
        "|---|" + "--:|" * 11,
    ]
    chosen = [found for key, found in results.items() if key[2] == design]
    for name, title in [*METRICS.items(), ("sum", "sum")]:
        have = [found for found in chosen if found.runs.get(name)]
        if not have:
            continue
        cells = [title]
        for kind in ("", "recent ", "lost "):
            shares = np.array([found.coverage(kind + name) for found in have])
            cells += [percent(shares.min()), percent(np.median(shares)), f"{(shares < TARGET).sum()} of {len(have)}"]
        ratio = np.array([found.mean_width(name) / max(found.mean_width(f"random {name}"), 1e-12) for found in have])
        lines.append("| " + " | ".join([*cells, f"{np.median(ratio):.2f}", f"{ratio.max():.2f}"]) + " |")
    return lines


def under_a_rate(results: Rows) -> list[str]:
    lines = [
        f"## Under a budget, `Rate({RATE})`",
        "",
        f"Coverage of the worst metric, of all events, of the last {WINDOW:,} and with 30 % of the answers lost; then "
        "the mean width of the accuracy interval, of all events and of the last ones, and of random sampling.",
        "",
        "| set | algorithm | explore | runs | labels | all | recent | lost | width | recent | random |",
        "|---|---|--:|" + "--:|" * 8,
    ]
    for (dataset, algorithm, design), found in results.items():
        if not design.startswith("rate"):
            continue
        worst = [
            percent(min(found.coverage(kind + name) for name in (*METRICS, "sum") if found.runs.get(kind + name)))
            for kind in ("", "recent ", "lost ")
        ]
        widths = [f"{found.mean_width(kind + 'accuracy'):.3f}" for kind in ("", "recent ", "random ")]
        cells = [
            dataset,
            algorithm,
            str(DESIGNS[design]["explore"]),
            str(found.runs["accuracy"]),
            f"{found.labels:.0f}",
        ]
        lines.append("| " + " | ".join([*cells, *worst, *widths]) + " |")
    return [*lines, ""]


def write(results: Rows, looked: list[str]) -> str:
    today = datetime.now(UTC).date().isoformat()
    parts = [
        "# Coverage of the intervals",
        "",
        f"Written by `python -m benchmarks.coverage` on {today}, "
        f"{EVENTS:,} events each (or all there are), 95 % intervals. A figure is the share of runs, in per cent, whose "
        "interval held the value that all labels give. `truth` is the mean true accuracy, `width` the mean width "
        "of the accuracy interval, `random` that "
        "of plain random sampling with as many labels and the same predictions (every tenth run); `recent` is the last "
        f"{WINDOW:,} events, in every other run; `30 % lost` the remaining runs with three of ten answers lost at "
        "random. Empty: the algorithm gives no such figure.",
        "",
    ]
    for design, title in (
        (AUTO, f"`auto` with `budget={RATE}`, as it comes"),
        ("floor", f"With a floor, `explore={FLOOR}`"),
        ("no floor", "Without a floor, `explore=0`, on six sets, where that makes a difference"),
    ):
        if any(key[2] == design for key in results):
            parts += [f"## {title}", "", *summary(results, design), "", *table(results, design), ""]
    return "\n".join([*parts, *under_a_rate(results), *looked, ""])


def look_often(results: Rows, runs: int) -> list[str]:
    """The table of intervals that are looked at 40 times, for the sets that were measured."""
    lines = [
        "## Looked at forty times",
        "",
        f"PAA-I with `explore={FLOOR}`, and `auto` with `budget={SMALL_RATE}` on {MANY:,} events (or all there are). "
        f"The accuracy interval was looked at 40 times in each of {runs} runs: share of the runs, in per cent, in "
        "which it was ever wrong, and the width at the end.",
        "",
        "| set | algorithm | ever wrong | ever wrong, `anytime` | width | width, `anytime` |",
        "|---|---|--:|--:|--:|--:|",
    ]
    floor = {"delta": 0.05, "explore": FLOOR}
    rows = [(name, "PAA-I", floor, EVENTS) for name in ("a8a", "magic04", "spam_corpus", "w8a")]
    rows += [(name, AUTO, {"budget": SMALL_RATE}, MANY) for name in ("a8a", "magic04", "codrna_train", "ijcnn1")]
    for dataset, algorithm, settings, events in rows:
        if any(key[:2] == (dataset, algorithm) for key in results):
            X, y = load(dataset, TWO_CLASSES[dataset], events)
            once, anytime, width, anytime_width = watched(X, y, algorithm, settings, runs)
            shares = f"{percent(once)} | {percent(anytime)}"
            lines.append(f"| {dataset} | {algorithm} | {shares} | {width:.4f} | {anytime_width:.4f} |")
            print(lines[-1], flush=True)
    return lines


def work(runs: int, only: list[str] | None) -> list[tuple[str, str, str, int]]:
    """What is measured, the most important first: set, algorithm, design and the number of runs."""
    both = ((TWO_CLASSES, ALGORITHMS), (MORE_CLASSES, ALGORITHMS_FOR_MORE))
    pairs = [(name, algorithm) for sets, algorithms in both for name in sets for algorithm in algorithms]
    rates = [(name, algorithm) for name in RATE_SETS for algorithm in RATE_ALGORITHMS]
    first = [pair for pair in pairs if pair[1] in ("PAA-I", "MPAA-I")]
    found = [(name, AUTO, AUTO, runs) for name in AUTO_SETS]
    found += [(*pair, "floor", runs) for pair in first]
    found += [(*pair, design, runs) for design in ("rate, floor", "rate") for pair in rates]
    found += [(*pair, "floor", runs) for pair in sorted(pairs, key=lambda pair: pair[1], reverse=True)]
    found += [(*pair, "no floor", runs) for pair in pairs if pair[0] in NO_FLOOR_SETS]
    return [row for row in dict.fromkeys(found) if not only or row[0] in only]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="runs of each set, algorithm and design (500)")
    parser.add_argument("--only", action="append", metavar="SET", help="one set; may be given more than once")
    parser.add_argument("--output", type=Path, help="write the table there; COVERAGE.md unless --only or fewer runs")
    parser.add_argument("--kept-only", action="store_true", help="measure no more rows: write those of --kept")
    parser.add_argument("--kept", type=Path, help="a file of rows already measured, added to; none unless given")
    options = parser.parse_args(arguments)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    started = time.perf_counter()
    results: Rows = {}
    if options.kept and options.kept.exists():
        for line in options.kept.read_text(encoding="utf-8").splitlines():
            *key, state = json.loads(line)
            results[tuple(key)] = Found(**state)
    for dataset, algorithm, design, runs in [] if options.kept_only else work(options.runs, options.only):
        key = (dataset, algorithm, design)
        with_floor = results.get((dataset, algorithm, "floor"))
        if key in results or (design == "no floor" and with_floor and with_floor.floor_idle):
            continue
        try:
            X, y = load(dataset, (TWO_CLASSES | MORE_CLASSES)[dataset])
        except DataMissingError as reason:
            print(f"{dataset} is skipped: {reason}", file=sys.stderr)
            continue
        parameters = {} if algorithm == AUTO else (ALGORITHMS | ALGORITHMS_FOR_MORE)[algorithm]
        found = cover(X, y, algorithm, design, parameters, runs)
        results[key] = found
        if options.kept:
            with options.kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps([*key, vars(found)]) + "\n")
        shares = {name: found.coverage(name) for name in found.runs if not name.startswith("random ")}
        low = {name: percent(share) for name, share in shares.items() if share < TARGET}
        print(f"{dataset:16} {algorithm:13} {design:12} {time.perf_counter() - started:6.0f} s  {low}", flush=True)
    looked = look_often(results, max(options.runs // 5, 10))
    sets, algorithms = list(TWO_CLASSES | MORE_CLASSES), [AUTO, *ALGORITHMS, *ALGORITHMS_FOR_MORE]
    keys = sorted(results, key=lambda key: (sets.index(key[0]), algorithms.index(key[1])))
    text = write({key: results[key] for key in keys}, looked)
    output = options.output or (RESULTS if not options.only and options.runs >= 500 else None)
    if output:
        output.write_text(text, encoding="utf-8")
        print(f"Written to {output}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
