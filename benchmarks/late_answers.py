"""``python -m benchmarks.late_answers``: what it costs when answers come late, or never. Writes ``LATE_ANSWERS.md``.

Every event goes through ``ask``; an asked event's answer comes back by ticket after a delay in events, in the order of
the answers' arrival, and some never come. Checked on the way: nothing is learned twice, nothing that came is lost.
"""

import argparse
import heapq
import sys
from pathlib import Path

import numpy as np

import askance
from askance.budgets import Rate
from askance.errors import UnknownTicket
from benchmarks.measure import versions
from benchmarks.streams import sets_at_hand

SETS = ("elec2", "spam_corpus", "w8a", "magic04", "mushrooms")
OWN_ORDER = ("elec2", "spam_corpus")
ALGORITHMS = ("PAA-I", "SOAL-diag", "UOAL-entropy")
DELAYS = (("at once", 0, 0.0), ("100", 100, 0.0), ("10,000", 10_000, 0.0), ("random, mean 1,000", -1000, 0.0),
          ("at once, 30 % lost", 0, 0.3), ("10,000, 30 % lost", 10_000, 0.3))  # fmt: skip
RATE, SEEDS = 0.05, 3
RESULTS = Path(__file__).with_name("LATE_ANSWERS.md")


def play(name: str, X, y: np.ndarray, delay: int, lost: float, seed: int) -> tuple[float, int, int]:
    """Balanced accuracy over the stream, labels asked for, answers learned."""
    clf = askance.make(
        name,
        budget=Rate(RATE),
        classes=[-1, 1],
        n_features=X.shape[1],
        intercept=True,
        random_state=seed,
        max_pending=10**6,
    )
    rng = np.random.default_rng([seed, 1])  # not the numbers the classifier asks with
    waiting: list[tuple[int, int]] = []
    right = np.zeros((2, 2))
    came = 0
    for t in range(len(y)):
        row = slice(X.indptr[t], X.indptr[t + 1])
        decision = clf.ask((X.indices[row], X.data[row]))
        right[int(y[t] > 0), int(decision.label == y[t])] += 1
        if decision.asked and rng.random() >= lost:
            wait = delay if delay >= 0 else int(rng.exponential(-delay))
            heapq.heappush(waiting, (t + wait, decision.ticket))
        while waiting and waiting[0][0] <= t:
            _, ticket = heapq.heappop(waiting)
            clf.tell(ticket=ticket, y=int(y[ticket - 1]))
            clf.tell(ticket=ticket, y=int(y[ticket - 1]))  # once more: must change nothing
            came += 1
    check(clf, waiting, came)
    return float(np.mean(right[:, 1] / right.sum(axis=1))), clf.labels_asked_, came


def check(clf: askance.ActiveClassifier, waiting: list[tuple[int, int]], came: int) -> None:
    """What was asked is either learned, or waits, or is known to be lost."""
    if len(clf._engine.tickets.answered) != came or not {ticket for _, ticket in waiting} <= set(clf.pending):
        raise AssertionError("an answer was lost or learned twice")
    try:
        clf.tell(ticket=clf.events_seen_ + 1, y=1)
    except UnknownTicket:
        return
    raise AssertionError("a ticket that was never given out was accepted")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.late_answers", description=__doc__)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--most", type=int, default=30_000, help="events of each set")
    options = parser.parse_args(arguments)
    lines = [
        "# Late answers, and answers that never come",
        "",
        f"Written by `python -m benchmarks.late_answers` ({versions()}).",
        "",
        f"Balanced accuracy in percent over the first {options.most:,} events of each set (elec2 and spam_corpus in "
        f"their own order, the others shuffled), `budget=Rate({RATE})`, mean of {SEEDS} seeds. Every event goes "
        "through `ask`, every answer comes back by ticket, the given number of events later; each is told twice, which "
        "must change nothing. Nothing was lost and nothing was learned twice.",
        "",
        "| set | algorithm | " + " | ".join(title for title, _, _ in DELAYS) + " |",
        "|---|---|" + "--:|" * len(DELAYS),
    ]
    for name, X, y in sets_at_hand(SETS):
        if name not in OWN_ORDER:
            order = np.random.default_rng(0).permutation(len(y))
            X, y = X[order], y[order]
        X, y = X[: options.most], y[: options.most]
        for algorithm in ALGORITHMS:
            cells = []
            for _, delay, lost in DELAYS:
                found = [play(algorithm, X, y, delay, lost, seed)[0] for seed in range(SEEDS)]
                cells.append(f"{100 * np.mean(found):.1f}")
            lines.append(f"| {name} | {algorithm} | " + " | ".join(cells) + " |")
            print(lines[-1], file=sys.stderr, flush=True)
    options.output.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
