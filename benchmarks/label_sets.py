"""``python -m benchmarks.label_sets``: do chosen questions about label sets tell more? Writes ``LABEL_SETS.md``.

Paper 2 leaves labels that are sets to the future. The messages of 20 Newsgroups have the parts of their group's name as
labels: one of comp.sys.mac.hardware has four. Every label is a question of its own, and one budget is for all.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import askance
from benchmarks.measure import versions
from benchmarks.streams import data_file

PAIRS = (("D-ADA", "R-ADA"), ("D-AMD", "R-AMD"), ("PAA-I", "RPA-I"), ("SOAL-diag", "SORL-diag"), ("auto",))
RATES = (0.01, 0.05, 0.2)
METRICS = ("micro_f1", "macro_f1", "hamming_loss", "subset_accuracy")
SEEDS = range(5)
RESULTS = Path(__file__).with_name("LABEL_SETS.md")


def measure(name: str, X: sp.csr_matrix, sets: list[list[str]], rate: float, is_random: bool) -> np.ndarray:
    """A row of metrics for each permutation, in percent."""
    rows = []
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(len(sets))
        every = {"rate": 1.0} if is_random else {}
        clf = askance.make_multilabel(
            name, budget=rate, normalize="l2", intercept=True, random_state=seed, **every,
            labels=sorted({label for each in sets for label in each}),
        )  # fmt: skip
        found = clf.run(X[order], [sets[t] for t in order]).summary()
        rows.append([100 * found[metric] for metric in METRICS])
    return np.array(rows)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.label_sets", description=__doc__)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    with np.load(data_file("news20_counts.npz")) as file:
        X = sp.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"])).astype(float)
        sets = [str(name).split(".") for name in file["groups"][file["y"]]]
    X.data = np.log1p(X.data)
    n_labels = len({label for each in sets for label in each})
    lines = [
        "# Label sets",
        "",
        f"Written by `python -m benchmarks.label_sets` ({versions()}).",
        "",
        f"{len(sets):,} messages of 20 Newsgroups; the parts of a group's name are its labels, {n_labels} in all. "
        "Every label of an event is a question, and the budget is a share of all questions. In percent, mean of "
        f"{len(SEEDS)} permutations, every event counted by the prediction made when it came; in brackets two standard "
        "errors of micro F1. Each rule stands beside itself with questions drawn at random; auto, which needs no "
        "setting, stands alone.",
        "",
        "| questions | algorithm | micro F1 | macro F1 | Hamming loss | subset accuracy |",
        "|--:|---|--:|--:|--:|--:|",
    ]
    for rate in RATES:
        for pair in PAIRS:
            for name in pair:
                found = measure(name, X, sets, rate, is_random=name != pair[0])
                error = 2 * found[:, 0].std(ddof=1) / np.sqrt(len(SEEDS))
                micro, *others = found.mean(axis=0)
                cells = [f"{micro:.1f} (± {error:.1f})", *(f"{value:.1f}" for value in others)]
                lines.append(f"| {rate:.0%} | {name} | {' | '.join(cells)} |")
                print(lines[-1], file=sys.stderr, flush=True)
    options.output.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
