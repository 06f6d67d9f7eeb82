"""The results of the comparison, case by case: a case is a set and a share of the labels."""

from ast import literal_eval
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

Case = tuple[str, float]
Who = tuple[str, str, str]
"""A contestant: its name, its parameters as text, and the preparation of the data."""
PEERS = {"vowpal": "Vowpal Wabbit", "river": "river", "activeml": "scikit-activeml"}


class Results:
    """Balanced accuracy in points, by part, case and contestant: a mean over the orders; accuracy beside it."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.found: dict[str, dict[Case, dict[Who, dict[int, float]]]] = defaultdict(
            lambda: defaultdict(lambda: defaultdict(dict))
        )
        self.accuracies: dict[tuple[str, Case, Who, int], float] = {}
        self.labels: dict[Case, list[int]] = defaultdict(list)
        self.most_events = 0
        for row in rows:
            key = row["key"]
            if row["balanced"] is None:
                continue
            case = (key["set"], key["rate"])
            who = (key["who"], str(key.get("parameters", "")), key.get("preparation", ""))
            self.found[key["part"]][case][who][key["order"]] = 100.0 * row["balanced"]
            self.accuracies[key["part"], case, who, key["order"]] = 100.0 * row["accuracy"]
            self.most_events = max(self.most_events, key["n"])
            if key["part"] == "auto":
                self.labels[case].append(row["labels"])

    def of(self, part: str, case: Case, orders: set[int] | None = None) -> dict[Who, float]:
        """Everybody's mean, over the given orders where there are such."""
        return {
            who: float(np.mean([value for order, value in by_order.items() if orders is None or order in orders]))
            for who, by_order in self.found[part][case].items()
            if orders is None or (orders and orders <= set(by_order))
        }

    def auto(self, case: Case, orders: set[int] | None = None, part: str = "auto") -> float | None:
        return next(iter(self.of(part, case, orders).values()), None)

    def best(self, part: str, case: Case, orders: set[int] | None = None) -> tuple[float, Who] | None:
        """The best of a part, and who that is."""
        means = self.of(part, case, orders)
        if not means:
            return None
        who = max(means, key=lambda key: means[key])
        return means[who], who

    def accuracy(self, part: str, case: Case, who: Who, orders: set[int] | None = None) -> float:
        """The mean accuracy of somebody, over the given orders, or all that it played."""
        played = orders or set(self.found[part][case][who])
        return float(np.mean([self.accuracies[part, case, who, order] for order in sorted(played)]))

    def gain_over_random(self, case: Case) -> float | None:
        """How far ``auto`` is ahead of its own learners asking at random, over the orders that both played."""
        orders = self.orders("auto", case) & self.orders("random", case)
        asked, random = self.auto(case, orders), self.auto(case, orders, "random")
        return None if not orders or asked is None or random is None else asked - random

    def tuned(self, case: Case) -> tuple[float, Who] | None:
        """The best preset, at a point of the grid or at its defaults, over the orders that it and ``auto`` played."""
        orders = self.orders("auto", case) & self.orders("grid", case)
        found = [best for part in ("grid", "defaults") if (best := self.best(part, case, orders))] if orders else []
        return max(found, default=None)

    def orders(self, part: str, case: Case) -> set[int]:
        return {order for by_order in self.found[part][case].values() for order in by_order}


def shown(who: Who) -> str:
    """
    >>> shown(("CSPAA", "{'C': 0.1, 'rho': 3.0}", "l2"))
    'CSPAA, C 0.1, rho 3, l2'
    """
    name, parameters, preparation = who
    settings = literal_eval(parameters) if parameters else {}
    return ", ".join([name, *(f"{letter} {value:g}" for letter, value in settings.items()), preparation])


def labels_of(results: Results, case: Case) -> str:
    return f"{100 * case[1]:g} % ({np.mean(results.labels[case]):.0f})"


def gap_of(results: Results, case: Case) -> float | None:
    """How far ``auto`` is ahead of the best tuned preset, over the orders that both played."""
    tuned = results.tuned(case)
    own = results.auto(case, results.orders("auto", case) & results.orders("grid", case))
    return None if tuned is None or own is None else own - tuned[0]


def beside(results: Results, part: str, case: Case) -> list[tuple[float, float]]:
    """``auto`` and the best of a library, on the orders that this one played; nothing where there are none."""
    best = results.best(part, case)
    if best is None:
        return []
    value, who = best
    own = results.auto(case, set(results.found[part][case][who]))
    return [] if own is None else [(own, value)]


def with_accuracy(results: Results, part: str, case: Case, orders: set[int] | None = None) -> str:
    """The best of a part as ``balanced accuracy, accuracy``; nothing where there is none."""
    best = results.best(part, case, orders)
    if best is None:
        return ""
    value, who = best
    return f"{value:.1f}, {results.accuracy(part, case, who, orders):.1f}"


def table_of_cases(results: Results, groups: dict[str, list[Case]]) -> str:
    """For each case who was best, how good, and how far ``auto`` is ahead of it."""
    lines = [
        "| set | labels bought | auto | at random | gain | tuned | which | gap | " + " | ".join(PEERS.values()) + " |",
        "| --- | --: | --: | --: | --: | --: | --- | --: |" + " --: |" * len(PEERS),
    ]
    for case in (case for cases in groups.values() for case in sorted(cases)):
        cells = [case[0], labels_of(results, case), with_accuracy(results, "auto", case)]
        gain, tuned, gap = results.gain_over_random(case), results.tuned(case), gap_of(results, case)
        cells += ["", ""] if gain is None else [with_accuracy(results, "random", case), f"{gain:+.1f}"]
        cells += [f"{tuned[0]:.1f}", shown(tuned[1]), f"{gap:+.1f}"] if tuned and gap is not None else ["", "", ""]
        for part in PEERS:
            gaps = " ".join(f"({here - other:+.1f})" for here, other in beside(results, part, case))
            cells.append(f"{with_accuracy(results, part, case)} {gaps}".strip())
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def cases_behind(results: Results, cases: list[Case]) -> str:
    """The cases in which ``auto`` is behind a library, and how that was set."""
    lines = [
        "| set | labels bought | library | orders | its result | auto |",
        "| --- | --: | --- | --: | --: | --: |",
    ]
    for case in sorted(cases):
        for part in PEERS:
            for own, other in beside(results, part, case):
                if own > other:
                    continue
                _, who = results.best(part, case) or (0.0, ("", "", ""))
                orders = len(results.found[part][case][who])
                lines.append(
                    f"| {case[0]} | {labels_of(results, case)} | {shown(who)} | {orders} | {other:.1f} | {own:.1f} |"
                )
    return "\n".join(lines)
