"""``python -m benchmarks.pairwise_auc``: does learning for AUC pay where a class is rare? Writes ``PAIRWISE_AUC.md``.

Paper 3 leaves AUC as the objective to the future. SOAL-AUC learns from pairs of answers, one of each class; here it
buys as many labels as SOAL-diag, OA3-diag and auto do, and the AUC of each model is that over events it never saw.
"""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

import askance
from askance.evaluate.metrics.scores import area
from benchmarks.measure import versions
from benchmarks.streams import DataMissingError, data_file

RATES = (0.01, 0.05, 0.2)
SEEDS = range(10)
TUNING = range(100, 102)
"""Permutations on which eta is chosen; none of them is among those that are reported."""
STEPS = (0.25, 1.0, 4.0)
HELD_OUT = 0.3
OURS = "SOAL-AUC"
RIVALS = ("SOAL-diag", "OA3-diag", "auto")
RESULTS = Path(__file__).with_name("PAIRWISE_AUC.md")


class Task(NamedTuple):
    """One class of a set against all others."""

    name: str
    positive: int


TASKS = (
    Task("w8a", 1), Task("ijcnn1", 1), Task("reuters_moneyfx", 1), Task("shuttle", 2),
    Task("letter", 3), Task("satimage", 3), Task("mnist_test", 8), Task("usps", 8),
)  # fmt: skip


def read(task: Task) -> tuple[np.ndarray | sp.csr_matrix, np.ndarray]:
    """The events, numbers standardised, and whether each is of the rare class."""
    with np.load(data_file(f"{task.name}.npz")) as file:
        if "indptr" in file:
            X = sp.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"])).astype(float)
        else:
            X = file["X"].astype(float)
            spread = X.std(axis=0)
            X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        return X, (file["y"] == task.positive).astype(int)


def held_out_auc(name: str, X, y: np.ndarray, rate: float, seed: int, most: int, **parameters: float) -> float:
    """The AUC over events that the model never saw, once it has bought its share of the others' labels."""
    order = np.random.default_rng(seed).permutation(len(y))[:most]
    cut = int(len(order) * (1.0 - HELD_OUT))
    seen, unseen = order[:cut], order[cut:]
    prepared = {} if name == "auto" else {"normalize": "l2", "intercept": True}
    clf = askance.make(name, budget=rate, classes=[0, 1], random_state=seed, **prepared, **parameters)
    clf.run(X[seen], y[seen])
    return float(area(y[unseen] == 1, clf.decision_function(X[unseen])))


def candidates(name: str, y: np.ndarray) -> list[dict[str, float]]:
    """The settings to choose from."""
    if name == "auto":
        return [{}]
    rare = {"rho": float((y == 0).sum() / (y == 1).sum())} if name == "OA3-diag" else {}
    return [{"eta": step, **rare} for step in STEPS]


def measure(name: str, X, y: np.ndarray, rate: float, most: int) -> np.ndarray:
    """The AUC of every permutation, with the eta that was best on others."""
    choices = candidates(name, y)
    means = [np.mean([held_out_auc(name, X, y, rate, seed, most, **c) for seed in TUNING]) for c in choices]
    best = choices[int(np.argmax(means))] if len(choices) > 1 else choices[0]
    return np.array([held_out_auc(name, X, y, rate, seed, most, **best) for seed in SEEDS])


def describe(ours: np.ndarray, theirs: np.ndarray) -> tuple[str, int]:
    """Their mean, what ours has more, with two standard errors; and which of them is better beyond these."""
    gain = 100 * (ours - theirs)
    error = 2 * gain.std(ddof=1) / np.sqrt(len(gain))
    sure = abs(gain.mean()) > error
    mark = "**" if sure else ""
    return f"{100 * theirs.mean():.1f} ({mark}{gain.mean():+.1f}{mark} ± {error:.1f})", int(sure * np.sign(gain.mean()))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairwise_auc", description=__doc__)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--most", type=int, default=20_000, help="events of each set, those held out included")
    options = parser.parse_args(arguments)
    rows: list[str] = []
    verdicts: dict[str, list[int]] = {rival: [] for rival in RIVALS}
    for task in TASKS:
        try:
            X, y = read(task)
        except DataMissingError as error:
            print(f"{task.name} is skipped: it {error}.", file=sys.stderr)
            continue
        for rate in RATES:
            ours = measure(OURS, X, y, rate, options.most)
            cells = []
            for rival in RIVALS:
                cell, verdict = describe(ours, measure(rival, X, y, rate, options.most))
                cells.append(cell)
                verdicts[rival].append(verdict)
            rare = f"{100 * y.mean():.1f} %"
            rows.append(f"| {task.name} | {rare} | {rate:.0%} | {100 * ours.mean():.1f} | {' | '.join(cells)} |")
            print(rows[-1], file=sys.stderr, flush=True)
    counts = "; ".join(
        f"{rival}: better in {each.count(1)}, worse in {each.count(-1)} of {len(each)}"
        for rival, each in verdicts.items()
    )
    lines = [
        "# AUC as the objective",
        "",
        f"Written by `python -m benchmarks.pairwise_auc` ({versions()}).",
        "",
        "SOAL-AUC learns to rank the rare class above the other, in pairs of answers (buffers of 100). AUC in percent "
        f"over events that were held out ({HELD_OUT:.0%} of at most {options.most:,}), mean of {len(SEEDS)} "
        f"permutations, labels bought at a rate. η is the best of {', '.join(map(str, STEPS))} on two other "
        "permutations, ρ of OA3-diag the ratio of the classes; auto has nothing to set. In brackets what SOAL-AUC has "
        "more, with two standard errors, bold where that is less.",
        "",
        f"SOAL-AUC beside {counts}.",
        "",
        f"| set | rare class | labels | {OURS} | {' | '.join(RIVALS)} |",
        "|---|--:|--:|--:|" + "--:|" * len(RIVALS),
        *rows,
    ]
    options.output.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
