"""``python -m benchmarks.candidate_buffer``: is it worth looking at an event again? Writes ``CANDIDATE_BUFFER.md``.

Paper 5 leaves it to the future to keep recent unlabeled events as candidates, and says that unbiasedness is then not
straightforward. Here an event that was not asked when it came waits in a buffer of n events, and is looked at a second
time when it leaves. With p_1 and p_2, the ask probabilities at the two looks, each given all that happened before, the
weight of an answer is

    1 / (2 p_1)                 if it was asked at the first look
    1 / (2 (1 - p_1) p_2)       if it was asked at the second

For [not asked at first] / (1 - p_1) has the mean 1 whatever the first look saw, each look alone gives every event the
mean weight 1, and so does half of their sum. If p_1 is 0 or 1 only one of the looks can ask, and has the whole weight.
"""

import argparse
import sys
from collections import deque
from pathlib import Path
from typing import NamedTuple

import numpy as np

import askance
from askance.budgets import Budget, Rate
from benchmarks.measure import versions
from benchmarks.streams import sets_at_hand

SETS = ("elec2", "spam_corpus", "w8a", "reuters_moneyfx")
OWN_ORDER = ("elec2", "spam_corpus")
ALGORITHMS = ("PAA-I", "SOAL-diag", "UOAL-entropy")
RATES = (0.01, 0.05)
SIZES = (0, 20, 200)  # of the buffer; 0: there is none
SEEDS = 6
RESULTS = Path(__file__).with_name("CANDIDATE_BUFFER.md")


class Candidate(NamedTuple):
    """An event that waits for its second look."""

    number: int
    first_probability: float


class Played(NamedTuple):
    """What came of a stream."""

    balanced_accuracy: float
    labels: int
    mistakes: int
    estimated_mistakes: float
    """The sum of the weights of the asked events that were predicted wrongly when they came."""


def weight_of_first(probability: float) -> float:
    """1 / (2 p_1), or 1 if there is no second look."""
    return 1.0 if probability >= 1.0 else 0.5 / probability


def weight_of_second(first: float, probability: float) -> float:
    """1 / (2 (1 - p_1) p_2), or 1 / p_2 if the first look could not ask."""
    return 1.0 / probability if first == 0.0 else 0.5 / ((1.0 - first) * probability)


def play(name: str, X, y: np.ndarray, budget: Budget | None, size: int, seed: int, explore: float = 0.0) -> Played:
    """Play a stream with a buffer of candidates, or with ``size`` 0 without one.

    What is in the buffer at the end is looked at then: else the last events would have half their weight."""
    clf = askance.make(
        name, budget=budget, classes=[-1, 1], n_features=X.shape[1], intercept=True,
        normalize="l2", random_state=seed, max_pending=0, explore=explore,
    )  # fmt: skip
    candidates: deque[Candidate] = deque()
    right = np.zeros((2, 2))
    is_wrong = np.zeros(len(y), bool)
    estimated = 0.0

    def event(t: int):
        row = slice(X.indptr[t], X.indptr[t + 1])
        return X.indices[row], X.data[row]

    def learn(t: int, weight: float) -> None:
        nonlocal estimated
        estimated += weight * is_wrong[t]
        clf.tell(event(t), int(y[t]), weight)

    def look_again() -> None:
        number, first = candidates.popleft()
        again = clf.ask(event(number))
        if again.asked:
            learn(number, weight_of_second(first, again.probability))

    for t in range(len(y)):
        decision = clf.ask(event(t))
        is_wrong[t] = decision.label != y[t]
        right[int(y[t] > 0), int(not is_wrong[t])] += 1
        if decision.asked:
            learn(t, weight_of_first(decision.probability) if size else decision.weight)
        elif size:
            candidates.append(Candidate(t, decision.probability))
        if candidates and candidates[0].number <= t - size:
            look_again()
    while candidates:
        look_again()
    found = right[:, 1] / right.sum(axis=1)
    return Played(float(found.mean()), clf.labels_asked_, int(is_wrong.sum()), estimated)


def describe(without: list[Played], with_buffer: list[Played]) -> str:
    """The mean balanced accuracy, and its gain with two standard errors, run by run."""
    gain = 100 * np.subtract(*([run.balanced_accuracy for run in runs] for runs in (with_buffer, without)))
    error = 2 * gain.std(ddof=1) / np.sqrt(len(gain))
    mean = 100 * np.mean([run.balanced_accuracy for run in with_buffer])
    mark = "**" if abs(gain.mean()) > error else ""
    return f"{mean:.1f} ({mark}{gain.mean():+.1f}{mark} ± {error:.1f})"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.candidate_buffer", description=__doc__)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--most", type=int, default=5_000, help="events of each set")
    options = parser.parse_args(arguments)
    lines = [
        "# A buffer of candidates",
        "",
        f"Written by `python -m benchmarks.candidate_buffer` ({versions()}).",
        "",
        "Paper 5 asks whether it pays to keep recent unlabeled events and to look at them again. Here every event that "
        "was not asked is looked at a second time, n events later, by the same query rule and the model of that time. "
        f"Balanced accuracy in percent over {options.most:,} events of each set (elec2 and spam_corpus in their own "
        f"order, the others in another one each time), mean of {SEEDS} runs; in brackets the gain over no buffer with "
        "two standard errors, bold where it is larger. The labels are as many: a share of all looks is half as large.",
        "",
        "| set | algorithm | rate | no buffer | " + " | ".join(f"n = {size}" for size in SIZES[1:]) + " | labels |",
        "|---|---|--:|--:|" + "--:|" * (len(SIZES) - 1) + "--:|",
    ]
    for name, X, y in sets_at_hand(SETS):
        for algorithm in ALGORITHMS:
            for rate in RATES:
                runs: dict[int, list[Played]] = {size: [] for size in SIZES}
                for seed in range(SEEDS):
                    own = name in OWN_ORDER
                    order = np.arange(len(y)) if own else np.random.default_rng(seed).permutation(len(y))
                    order = order[: options.most]
                    for size in SIZES:
                        looks = 2 if size else 1  # at an event; a share is one of all looks
                        runs[size].append(play(algorithm, X[order], y[order], Rate(rate / looks), size, seed))
                plain = f"{100 * np.mean([run.balanced_accuracy for run in runs[0]]):.1f}"
                cells = [describe(runs[0], runs[size]) for size in SIZES[1:]]
                labels = ", ".join(f"{np.mean([run.labels for run in runs[size]]):.0f}" for size in SIZES)
                lines.append(f"| {name} | {algorithm} | {rate:.0%} | {plain} | {' | '.join(cells)} | {labels} |")
                print(lines[-1], file=sys.stderr, flush=True)
    options.output.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
