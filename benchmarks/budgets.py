"""``python -m benchmarks.budgets``: does a rate hold? Every query rule on real sets, in their own and in random order.

Beside it scikit-activeml's stream strategies, which have budgets too. Writes ``BUDGETS.md``.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import askance
from askance.budgets import Rate
from benchmarks.measure import versions
from benchmarks.streams import DataMissingError, real_set

RATES = (0.005, 0.02, 0.1)
SETS = (
    "german", "basehock", "pcmac", "splice", "farm_ads", "spambase", "svmguide1", "mushrooms", "spam_corpus", "usps",
    "satimage", "magic04", "letter", "a8a", "elec2", "ijcnn1", "w8a", "mnist_test", "connect4", "codrna",
)  # fmt: skip
BINARY = {
    "always": "PA-I",
    "random": "RPA-I",
    "margin": "PAA-I",
    "decreasing margin": "CSPAA(a)",
    "mistake-driven margin": "SEL-ada",
    "asymmetric margin": "OAAL",
    "variance": "SOAL-diag",
    "asymmetric variance": "OA3-diag",
    "discriminative": "D-ADA",
    "discriminative, unscaled": "D-ADA-I",
    "function value": "UOAL-margin",
    "entropy": "UOAL-entropy",
}
MANY = {"margin": "MPAA-I", "random": "MRPA-I", "discriminative": "MD-ADA", "discriminative, unscaled": "MD-ADA-I"}
LABELS_PER_WINDOW = 200
RESULTS = Path(__file__).with_name("BUDGETS.md")


@dataclass(frozen=True)
class Spending:
    """How one stream spent its labels."""

    set: str
    order: str
    rule: str
    rate: float
    events: int
    spent: int
    over: int
    """Events at which more had been asked for than may be."""
    lowest: float
    highest: float
    """The labels in a window that should have 200, as a share of 200; nan where no window fits after the first."""

    @property
    def expected(self) -> float:
        return self.rate * self.events

    @property
    def total_holds(self) -> bool:
        room = 0.05 * self.expected if self.expected >= 400 else 2.0 * np.sqrt(self.expected * (1.0 - self.rate))
        return abs(self.spent - self.expected) <= room

    @property
    def windows_hold(self) -> bool:
        return not (self.lowest < 0.75 or self.highest > 1.25)


def spending(name: str, order: str, rule: str, rate: float, asked: np.ndarray, allowed: np.ndarray) -> Spending:
    n = len(asked)
    spent = np.cumsum(asked)
    window = int(LABELS_PER_WINDOW / rate)
    within = (spent[2 * window - 1 :] - spent[window - 1 : n - window]) / LABELS_PER_WINDOW
    lowest, highest = (within.min(), within.max()) if within.size else (np.nan, np.nan)
    return Spending(name, order, rule, rate, n, int(spent[-1]), int((spent > allowed).sum()), lowest, highest)


def streams(names: tuple[str, ...]) -> Iterator[tuple[str, str, sp.csr_matrix, np.ndarray]]:
    """Each set in its own order and in a random one; dense ones standardised."""
    for name in names:
        try:
            X, y = real_set(name)
        except DataMissingError:
            continue
        shuffled = np.random.default_rng(0).permutation(len(y))
        yield name, "own", X, y
        yield name, "random", X[shuffled], y[shuffled]


def ours(names: tuple[str, ...], say: Callable[[str], None]) -> list[Spending]:
    found = []
    for name, order, X, y in streams(names):
        say(f"{name}, {order} order")
        n = np.arange(1, len(y) + 1)
        for rule, preset in (BINARY if len(np.unique(y)) == 2 else MANY).items():
            for rate in RATES:
                clf = askance.make(preset, budget=Rate(rate), random_state=0, intercept=True)
                allowed = np.maximum(rate * n, 10 + 0.96 * rate * n)
                found.append(spending(name, order, rule, rate, clf.run(X, y).asked, allowed))
    return found


def theirs(names: tuple[str, ...], say: Callable[[str], None], most: int = 5000) -> list[Spending]:
    """scikit-activeml's strategies around a naive Bayes classifier, on the beginning of each stream."""
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.stream import RandomVariableUncertainty, Split, VariableUncertainty
    from sklearn.linear_model import SGDClassifier

    found = []
    strategies = (VariableUncertainty, RandomVariableUncertainty, Split)
    for name, order, X, y in streams(names):
        if X.shape[1] > 500 or len(np.unique(y)) > 2:
            continue
        rows, labels = X[:most].toarray(), y[:most]
        for strategy in strategies:
            for rate in RATES[1:]:
                say(f"scikit-activeml's {strategy.__name__}: {name}, {order} order")
                query = strategy(random_state=0, budget=rate)
                clf = SklearnClassifier(SGDClassifier(loss="log_loss", random_state=0), classes=np.unique(y))
                clf.partial_fit(rows[:2], np.unique(y))
                asked = np.zeros(len(labels), bool)
                for t in range(len(labels)):
                    x = rows[t : t + 1]
                    which, utilities = query.query(candidates=x, clf=clf, return_utilities=True)
                    query.update(
                        candidates=x, queried_indices=which, budget_manager_param_dict={"utilities": utilities}
                    )
                    if len(which):
                        asked[t] = True
                        clf.partial_fit(x, labels[t : t + 1])
                found.append(spending(name, order, strategy.__name__, rate, asked, np.full(len(asked), np.inf)))
    return found


def row(title: str, some: list[Spending], least: int) -> str:
    cells = [title]
    for rate in RATES:
        mine = [s for s in some if s.rate == rate]
        if not mine:
            cells += ["", "", ""]
            continue
        shares = [s.spent / s.expected for s in mine if s.expected >= least]
        cells.append(f"{sum(s.total_holds for s in mine)} of {len(mine)}")
        cells.append(f"{min(shares):.3f} to {max(shares):.3f}" if shares else "few labels")
        windows = [s for s in mine if not np.isnan(s.lowest)]
        cells.append(
            f"{min(s.lowest for s in windows):.2f} to {max(s.highest for s in windows):.2f}" if windows else ""
        )
    return "| " + " | ".join(cells) + " |"


def table(first: str, groups: dict[str, list[Spending]], least: int = 400) -> list[str]:
    rates = [f"{rate:.1%}" for rate in RATES]
    heads = [f"{rate}: held | spent | windows" for rate in rates]
    lines = ["| " + " | ".join([first, *heads]) + " |", "|---|" + "--:|--:|--:|" * len(RATES)]
    return lines + [row(title, some, least) for title, some in groups.items()]


def grouped(found: list[Spending], by: str) -> dict[str, list[Spending]]:
    groups: dict[str, list[Spending]] = {}
    for one in found:
        groups.setdefault(getattr(one, by), []).append(one)
    return groups


def report(mine: list[Spending], others: list[Spending]) -> str:
    held = sum(s.total_holds for s in mine)
    windows = [s for s in mine if not np.isnan(s.lowest)]
    lines = [
        "# Do rates hold?",
        "",
        f"Written by `python -m benchmarks.budgets` ({versions()}).",
        "",
        f"{len(grouped(mine, 'set'))} real sets, each in its own order and in a random one, numbers standardised, "
        f"with an intercept, {len(mine):,} streams played with `budget=Rate(r)`. *held*: the labels bought are "
        "within 5 % of r n, or, where fewer than 400 are expected, within two standard deviations of a coin. "
        "*spent*: the smallest and largest share of r n, where at least 400 labels are expected. *windows*: the least "
        "and the most labels in any 200 / r events after the first 200 / r, as a share of 200.",
        "",
        f"**The total held in {held:,} of {len(mine):,} streams, every window was within 25 % in "
        f"{sum(s.windows_hold for s in windows):,} of {len(windows):,}, and the ceiling "
        f"`max(r n, burst + 0.96 r n)` was exceeded at {sum(s.over for s in mine)} events.**",
        "",
        *table("query rule", grouped(mine, "rule")),
        "",
        *table("set", grouped(mine, "set")),
    ]
    if others:
        lines += [
            "",
            "## scikit-activeml beside it",
            "",
            "Its stream strategies with `budget=r`, around scikit-learn's `SGDClassifier`, on the first 5,000 events "
            "of the two-class sets with at most 500 features. The same measure of what holds; *spent* is shown from 50 "
            "labels on.",
            "",
            *table("strategy", grouped(others, "rule"), least=50),
        ]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.budgets", description=__doc__)
    parser.add_argument("--only", nargs="+", default=SETS, metavar="SET")
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)

    def say(message: str) -> None:
        print(message, file=sys.stderr, flush=True)

    mine = ours(tuple(options.only), say)
    others = theirs(tuple(options.only), say) if options.peers else []
    options.output.write_text(report(mine, others))
    for s in mine:
        if not s.total_holds or not s.windows_hold or s.over:
            print(f"missed: {s}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
