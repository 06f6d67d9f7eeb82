"""``python -m benchmarks.estimates``: where the estimates of ``askance.quality`` are off. Writes ``ESTIMATES.md``.

Streams are made up, so that every label is known: ten numbers, a class that is one event in five, some noise. Each is
played with all answers at once, with a fixed budget that is soon exhausted, and with answers that come late.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import askance
from askance.budgets import Budget, Fixed, Rate
from askance.metrics import summarise
from askance.quality import Quality, estimate_columns
from benchmarks.measure import versions

EVENTS, LABELS, RATE, LATE = 1_500, 75, 0.05, 300
ALGORITHMS = (("PAA-I", {"delta": 0.1}), ("PAA-I", {"delta": 1.0}), ("SOAL-diag", {"explore": 0.02}))
METRICS = ("accuracy", "f1", "auc")
RESULTS = Path(__file__).with_name("ESTIMATES.md")


def stream(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, 77])  # not the numbers the classifier asks with
    direction = rng.standard_normal(10)
    X = rng.standard_normal((EVENTS, 10))
    distance = X @ direction / np.linalg.norm(direction) + 0.5 * rng.standard_normal(EVENTS)
    return X, np.where(distance > 1.0, 1, -1)


def play(
    name: str, parameters: dict, seed: int, delay: int, budget: Budget | None
) -> Iterator[tuple[str, Quality, dict]]:
    """The estimates of a run, and the truth about the same events."""
    X, y = stream(seed)
    clf = askance.make(
        name,
        classes=[-1, 1],
        budget=budget,
        intercept=True,
        random_state=seed,
        **parameters,
    )
    decisions = []
    answered = np.zeros(EVENTS, bool)
    for t in range(EVENTS):
        decisions.append(clf.ask(X[t]))
        due = t - delay
        if due >= 0 and decisions[due].asked:
            clf.tell(ticket=decisions[due].ticket, y=int(y[due]))
            answered[due] = True
    predicted = np.array([decision.label for decision in decisions])
    probability = np.array([decision.probability for decision in decisions])
    asked = np.array([decision.asked for decision in decisions])
    margin = np.array([decision.margin for decision in decisions])
    found = estimate_columns(predicted, probability, answered, y, classes=[-1, 1], asked=asked, score=margin)
    yield "all events", found, summarise(y, predicted, asked, classes=[-1, 1], margin=margin)
    if found.reachable is not None:
        part = probability > 0.0
        truth = summarise(y[part], predicted[part], asked[part], classes=[-1, 1], margin=margin[part])
        yield "those that could be asked", found.reachable, truth


SITUATIONS = (
    ("answers at once", 0, None),
    (f"a budget of {LABELS} labels", 0, Fixed(LABELS)),
    (f"answers {LATE} events late", LATE, None),
    (f"{RATE:.0%} of the labels, at once", 0, Rate(RATE)),
    (f"{RATE:.0%} of the labels, {LATE} events late", LATE, Rate(RATE)),
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.estimates", description=__doc__)
    parser.add_argument("--runs", type=int, default=300, help="streams of each algorithm and situation (300)")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    lines = [
        "# Where the estimates are off",
        "",
        f"Written by `python -m benchmarks.estimates` ({versions()}).",
        "",
        f"Estimate minus truth in {options.runs} generated streams of {EVENTS:,} events each: mean and "
        "its standard error. Then how often the 95% interval held the truth, in percent, and its mean width.",
        "",
        "| situation | algorithm | estimate of | " + " | ".join(f"{m} | held | width" for m in METRICS) + " |",
        "|---|---|---|" + "--:|" * 3 * len(METRICS),
    ]
    for situation, delay, budget in SITUATIONS:
        for name, parameters in ALGORITHMS:
            rows: dict[str, list] = defaultdict(list)
            for seed in range(options.runs):
                for scope, found, truth in play(name, parameters, seed, delay, budget):
                    rows[scope].append(
                        [
                            (found[m].value - truth[m], truth[m] in found[m], found[m].high - found[m].low)
                            for m in METRICS
                        ]
                    )
            for scope, runs in rows.items():
                cells = []
                for off, held, width in np.moveaxis(np.array(runs, float), 0, 2):
                    error = np.std(off) / len(off) ** 0.5
                    cells.append(
                        f"{np.mean(off):+.3f} ± {error:.3f} | {100 * np.mean(held):.0f} | {np.mean(width):.2f}"
                    )
                setting = ", ".join(f"{key}={value}" for key, value in parameters.items())
                lines.append(f"| {situation} | {name}, {setting} | {scope} | " + " | ".join(cells) + " |")
                print(lines[-1], file=sys.stderr, flush=True)
    options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
