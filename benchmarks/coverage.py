"""``python -m benchmarks.coverage``: how often the intervals of ``askance.quality`` hold the truth, on real sets.

A run plays the first events of a set (in a random but fixed order, unless the set is a stream), with its own seed; the
true value is the one over all events of that run, with all labels. Beside the width of the interval stands that of
plain random sampling: the same predictions, as many labels, each event asked with the same probability.
"""

import argparse
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
WINDOW = 2_000
FLOOR = 0.02
TARGET = 0.93
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
MORE_CLASSES = {"satimage": "shuffled", "usps": "shuffled", "shuttle": "shuffled", "connect4": "shuffled"}
ALGORITHMS = {
    "PAA-I": {"delta": 0.05},
    "SOAL-diag": {"delta": 0.1},
    "UOAL-entropy": {"epsilon": 0.01},
    "D-ADA": {"b": 0.1},
}
ALGORITHMS_FOR_MORE = {"MPAA-I": {"delta": 0.1}, "MD-ADA": {"b": 0.1}}


def load(name: str, order: str) -> tuple[object, np.ndarray]:
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
    return X[rows[:EVENTS]], y[rows[:EVENTS]]


@dataclass
class Found:
    """Of one set, algorithm and design: per metric, how often the truth was inside, and the widths."""

    inside: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    width: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    labels: list[int] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)

    def note(self, kind: str, quality: Quality, truth: dict[str, float]) -> None:
        for name, (_, low, high) in quality.items():
            slack = 1e-9 * max(1.0, abs(truth[name]))
            self.inside[f"{kind}{name}"].append(low - slack <= truth[name] <= high + slack)
            self.width[f"{kind}{name}"].append(high - low)

    def coverage(self, key: str) -> float:
        return float(np.mean(self.inside[key]))

    def mean_width(self, key: str) -> float:
        return float(np.mean(self.width[key]))


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


def cover(X: object, y: np.ndarray, name: str, parameters: dict[str, float], floor: float, runs: int) -> Found:
    found = Found()
    for seed in range(runs):
        clf = askance.make(name, normalize="l2", explore=floor, random_state=seed, **parameters)
        trace = clf.run(X, y)
        truth = full_truth(trace)
        found.note("", estimate(trace), truth)
        found.note("recent ", estimate(trace, window=WINDOW), full_truth(trace, slice(-WINDOW, None)))
        labels = int(trace.asked.sum())
        found.labels.append(labels)
        found.accuracy.append(float(truth["accuracy"]))
        rate = np.full(len(trace), labels / len(trace))
        random = np.random.default_rng([seed, len(name), labels]).random(len(trace)) < rate
        binary = len(trace.classes) == 2
        plain = estimate_columns(
            trace.predicted,
            rate,
            random,
            trace.truth,
            classes=trace.classes,
            score=trace.margin if binary else None,
            probability_positive=trace.probability_positive,
        )
        found.note("random ", plain, truth)
    return found


def watched(X: object, y: np.ndarray, runs: int, looks: int = 40) -> tuple[float, float, float, float]:
    """Somebody looks 40 times: in how many runs was an interval ever wrong? And how wide were the last ones?"""
    wrong_once, wrong_anytime, widths = [], [], []
    for seed in range(runs):
        trace = askance.make("PAA-I", delta=0.05, normalize="l2", explore=FLOOR, random_state=seed).run(X, y)
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


def table(results: dict[tuple[str, str, float], Found], floor: float) -> list[str]:
    shown = list(METRICS)
    lines = [
        "| set | algorithm | labels | truth | " + " | ".join(METRICS[name] for name in shown) + " | width | random |",
        "|---|---|--:|--:|" + "--:|" * (len(shown) + 2),
    ]
    for (dataset, algorithm, its_floor), found in results.items():
        if its_floor != floor:
            continue
        cells = [percent(found.coverage(name)) if found.inside.get(name) else "" for name in shown]
        lines.append(
            f"| {dataset} | {algorithm} | {np.mean(found.labels):.0f} | {np.mean(found.accuracy):.3f} | "
            + " | ".join(cells)
            + f" | {found.mean_width('accuracy'):.4f} | {found.mean_width('random accuracy'):.4f} |"
        )
    return lines


def summary(results: dict[tuple[str, str, float], Found], floor: float) -> list[str]:
    lines = [
        "| metric | worst | median | below 93 | recent: worst | median | below 93 | width / random: median | worst |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    chosen = [found for key, found in results.items() if key[2] == floor]
    for name, title in [*METRICS.items(), ("sum", "sum")]:
        have = [found for found in chosen if found.inside.get(name)]
        if not have:
            continue
        cells = [title]
        for kind in ("", "recent "):
            shares = np.array([found.coverage(kind + name) for found in have])
            cells += [percent(shares.min()), percent(np.median(shares)), f"{(shares < TARGET).sum()} of {len(have)}"]
        ratio = np.array([found.mean_width(name) / max(found.mean_width(f"random {name}"), 1e-12) for found in have])
        lines.append("| " + " | ".join([*cells, f"{np.median(ratio):.2f}", f"{ratio.max():.2f}"]) + " |")
    return lines


def write(results: dict[tuple[str, str, float], Found], looked: list[str], runs: int, seconds: float) -> str:
    today = datetime.now(UTC).date().isoformat()
    parts = [
        "# Coverage of the intervals",
        "",
        f"Written by `python -m benchmarks.coverage` on {today}, in {seconds / 60:.0f} minutes: {runs} runs a row, "
        f"{EVENTS:,} events each (or all there are), 95 % intervals. A figure is the share of runs, in per cent, whose "
        "interval held the value that all labels give. `truth` is the mean true accuracy, `width` the mean width "
        "of the accuracy interval, `random` that "
        "of plain random sampling with as many labels and the same predictions; `recent` is the last "
        f"{WINDOW:,} events. Empty: the algorithm gives no such figure.",
        "",
    ]
    for floor, title in ((FLOOR, f"With a floor, `explore={FLOOR}`"), (0.0, "Without a floor, `explore=0`")):
        parts += [f"## {title}", "", *summary(results, floor), "", *table(results, floor), ""]
    return "\n".join([*parts, *looked, ""])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="runs of each set, algorithm and design (500)")
    parser.add_argument("--only", action="append", metavar="SET", help="one set; may be given more than once")
    parser.add_argument("--output", type=Path, help="write the table there; COVERAGE.md unless --only or fewer runs")
    options = parser.parse_args(arguments)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    started = time.perf_counter()
    results: dict[tuple[str, str, float], Found] = {}
    for sets, algorithms in ((TWO_CLASSES, ALGORITHMS), (MORE_CLASSES, ALGORITHMS_FOR_MORE)):
        for dataset, order in sets.items():
            if options.only and dataset not in options.only:
                continue
            try:
                X, y = load(dataset, order)
            except DataMissingError as reason:
                print(f"{dataset} is skipped: {reason}", file=sys.stderr)
                continue
            for algorithm, parameters in algorithms.items():
                for floor in (0.0, FLOOR):
                    found = cover(X, y, algorithm, parameters, floor, options.runs)
                    results[dataset, algorithm, floor] = found
                    low = {
                        name: percent(found.coverage(name)) for name in found.inside if found.coverage(name) < TARGET
                    }
                    print(
                        f"{dataset:16} {algorithm:13} floor {floor:<5} {time.perf_counter() - started:6.0f} s  {low}",
                        flush=True,
                    )
    looked = [
        "## Looked at forty times",
        "",
        f"PAA-I with `explore={FLOOR}`, the accuracy interval looked at 40 times in a run: share of the runs, in per "
        "cent, "
        "in which it was ever wrong, and the width at the end.",
        "",
        "| set | ever wrong | ever wrong, `anytime` | width | width, `anytime` |",
        "|---|--:|--:|--:|--:|",
    ]
    for dataset in ("a8a", "magic04", "spam_corpus", "w8a"):
        if (dataset, "PAA-I", FLOOR) in results:
            X, y = load(dataset, TWO_CLASSES[dataset])
            once, anytime, width, anytime_width = watched(X, y, max(options.runs // 5, 10))
            looked.append(f"| {dataset} | {percent(once)} | {percent(anytime)} | {width:.4f} | {anytime_width:.4f} |")
            print(looked[-1], flush=True)
    text = write(results, looked, options.runs, time.perf_counter() - started)
    output = options.output or (RESULTS if not options.only and options.runs >= 500 else None)
    if output:
        output.write_text(text, encoding="utf-8")
        print(f"Written to {output}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
