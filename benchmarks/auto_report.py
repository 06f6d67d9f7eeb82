"""``benchmarks/AUTO.md`` from the results there are."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

Case = tuple[str, float]
PEERS = {"vowpal": "Vowpal Wabbit", "river": "river", "activeml": "scikit-activeml"}


class Results:
    """Balanced accuracy in points, by part, case and contestant: a mean over the orders."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.found: dict[str, dict[Case, dict[tuple[str, ...], dict[int, float]]]] = defaultdict(
            lambda: defaultdict(lambda: defaultdict(dict))
        )
        self.labels: dict[Case, list[int]] = defaultdict(list)
        for row in rows:
            key = row["key"]
            if row["balanced"] is None:
                continue
            case = (key["set"], key["rate"])
            who = (key["who"], str(key.get("parameters", "")), key.get("preparation", ""))
            self.found[key["part"]][case][who][key["order"]] = 100.0 * row["balanced"]
            if key["part"] == "auto":
                self.labels[case].append(row["labels"])

    def of(self, part: str, case: Case, orders: set[int] | None = None) -> dict[tuple[str, ...], float]:
        """Everybody's mean, over the given orders where there are such."""
        return {
            who: float(np.mean([value for order, value in by_order.items() if orders is None or order in orders]))
            for who, by_order in self.found[part][case].items()
            if orders is None or orders <= set(by_order)
        }

    def auto(self, case: Case, orders: set[int] | None = None) -> float | None:
        return next(iter(self.of("auto", case, orders).values()), None)

    def best(self, part: str, case: Case, orders: set[int] | None = None) -> tuple[float, str] | None:
        """The best of a part, and its name."""
        means = self.of(part, case, orders)
        if not means:
            return None
        who = max(means, key=lambda key: means[key])
        return means[who], who[0]

    def orders(self, part: str, case: Case) -> set[int]:
        return {order for by_order in self.found[part][case].values() for order in by_order}


def write(path: Path, rows: list[dict[str, Any]], sets: Iterable[str], rates: Iterable[float], n: int) -> None:
    """The whole document."""
    results = Results(rows)
    cases = [(name, rate) for rate in rates for name in sets if results.auto((name, rate)) is not None]
    if not cases:  # the other parts are read beside it
        return
    parts = [
        HEAD.format(n=n, orders=len(results.orders("auto", cases[0])), sets=len(dict.fromkeys(c[0] for c in cases))),
        "## In short\n\n" + summary(results, cases),
        "## Every case\n\n" + table(results, cases),
        "## Presets at their defaults\n\n" + defaults(results, cases),
        "## One ingredient less\n\n" + ablation(results, cases),
    ]
    path.write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")


HEAD = """
# make("auto") beside the others

Written by `python -m benchmarks.auto`. Balanced accuracy (the mean recall of the classes) over all events, each
predicted before it was asked, in points; {sets} real sets, the first {n:,} events of each of {orders} random orders
(streams with an order of their own: stretches of it). Everybody may ask for the same share of the events with the same
head start, `Rate(r, burst=40)`.

`auto` gets the data as they are and no parameter. The presets get an intercept and three preparations, as they are, to
unit length, and standardised with statistics of the whole set; "tuned" is the best of all families, grid points and
preparations by the very numbers shown, chosen for each case: what nobody can do without the labels.
Vowpal Wabbit (two classes only) and river get these preparations and are credited with the best, scikit-activeml (dense
sets only) the standardised one; they play the first order alone, and are compared with `auto` on that. Vowpal Wabbit
cannot be told how many labels to buy: of a scan over its mellowness and three losses, the best run with 80 to 115 % of
the labels counts; an empty cell says that there was none, and the case is left out.

The few constants of `auto` (its line-up, memories, and how classes are weighed) were chosen by some forty trials on the
fifteen sets of the quick run, mostly on their first two orders: on these sets the numbers flatter it. The other sets of
the full run had no part in that.
"""


def share(values: Iterable[bool]) -> str:
    found = list(values)
    return f"{sum(found)} of {len(found)}" + (f" ({100 * np.mean(found):.0f} %)" if found else "")


def summary(results: Results, cases: list[Case]) -> str:
    lines = [
        "| labels | cases | mean gap to tuned | within 2 points of tuned, or better | worst gap | mean, auto | "
        "mean, best default |",
        "| --- | --: | --: | --: | --- | --: | --: |",
    ]
    for rate in dict.fromkeys(case[1] for case in cases):
        gaps = {
            case[0]: results.auto(case) - tuned[0]
            for case in cases
            if case[1] == rate and (tuned := results.best("grid", case)) is not None
        }
        if gaps:
            worst = min(gaps, key=lambda name: gaps[name])
            own, other = means_of_defaults(results, [case for case in cases if case[1] == rate])
            lines.append(
                f"| {100 * rate:g} % | {len(gaps)} | {np.mean(list(gaps.values())):+.1f} | "
                f"{share(gap >= -2.0 for gap in gaps.values())} | {gaps[worst]:+.1f} ({worst}) | {own:.1f} | {other} |"
            )
    lines.append("")
    for part, name in PEERS.items():
        ahead = []
        for case in cases:
            other = results.best(part, case)
            orders = results.orders(part, case)
            mine = results.auto(case, orders) if other else None
            if other and mine is not None:
                ahead.append(mine > other[0])
        if ahead:
            lines.append(f"- ahead of {name} in {share(ahead)} of the cases")
    return "\n".join(lines)


def table(results: Results, cases: list[Case]) -> str:
    lines = [
        "| set | labels | auto | tuned | which | gap | Vowpal Wabbit | river | scikit-activeml |",
        "| --- | --: | --: | --: | --- | --: | --: | --: | --: |",
    ]
    for case in sorted(cases):
        auto, tuned = results.auto(case), results.best("grid", case)
        others = [results.best(part, case) for part in PEERS]
        lines.append(
            f"| {case[0]} | {100 * case[1]:g} % ({np.mean(results.labels[case]):.0f}) | {auto:.1f} | "
            + (f"{tuned[0]:.1f} | {tuned[1]} | {auto - tuned[0]:+.1f} | " if tuned else "| | | ")
            + " | ".join(f"{other[0]:.1f}" if other else "" for other in others)
            + " |"
        )
    return "\n".join(lines)


def by_default(results: Results, cases: list[Case]) -> dict[tuple[str, str], list[float]]:
    """The means of presets at their defaults in one preparation, over the cases that all of them can play."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for case in cases:
        for (who, _, preparation), value in results.of("defaults", case).items():
            found[who, preparation].append(value)
    return found


def means_of_defaults(results: Results, cases: list[Case]) -> tuple[float, str]:
    """The mean of ``auto``, and that of the best preset at its defaults; for two classes, as few play more."""
    found = by_default(results, cases)
    most = max((len(values) for values in found.values()), default=0)
    means = {who: float(np.mean(values)) for who, values in found.items() if len(values) == most}
    if not means:
        return float("nan"), ""
    best = max(means, key=lambda who: means[who])
    played = [case for case in cases if (best[0], "", best[1]) in results.of("defaults", case)]
    own = float(np.mean([results.auto(case) for case in played]))
    return own, f"{means[best]:.1f} ({best[0]}, {best[1]}, {len(played)} sets of two classes)"


def defaults(results: Results, cases: list[Case]) -> str:
    lines = ["Mean over the sets that the preset can play, beside `auto` on the same sets; its best preparation.", ""]
    rates = list(dict.fromkeys(case[1] for case in cases))
    lines += ["| preset | " + " | ".join(f"{100 * rate:g} % | auto" for rate in rates) + " |"]
    lines += ["| --- |" + " --: | --: |" * len(rates)]
    names = dict.fromkeys(who[0] for case in cases for who in results.of("defaults", case))
    for name in names:
        cells = []
        for rate in rates:
            played = [c for c in cases if c[1] == rate and any(w[0] == name for w in results.of("defaults", c))]
            found = by_default(results, played)
            means = [float(np.mean(values)) for who, values in found.items() if who[0] == name]
            if means:
                cells += [f"{max(means):.1f}", f"{np.mean([results.auto(c) for c in played]):.1f}"]
            else:
                cells += ["", ""]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def ablation(results: Results, cases: list[Case]) -> str:
    rates = list(dict.fromkeys(case[1] for case in cases))
    names = dict.fromkeys(who[0] for case in cases for who in results.of("ablation", case))
    lines = [
        "Mean over the sets played so far, and what is lost or gained at worst and at best by leaving one thing out.",
        "",
        "| | " + " | ".join(f"{100 * rate:g} %" for rate in rates) + " | worst | best |",
        "| --- |" + " --: |" * len(rates) + " --- | --- |",
    ]
    for name in names:
        cells, changes = [], {}
        for rate in rates:
            values = []
            for case in cases:
                found = {who[0]: value for who, value in results.of("ablation", case).items()}
                if case[1] == rate and name in found and "auto" in found:
                    values.append(found[name])
                    changes[f"{case[0]}, {100 * rate:g} %"] = found[name] - found["auto"]
            cells.append(f"{np.mean(values):.1f}" if values else "")
        if name == "auto" or not changes:
            lines.append(f"| {name} | {' | '.join(cells)} | | |")
            continue
        low, high = min(changes, key=lambda c: changes[c]), max(changes, key=lambda c: changes[c])
        lines.append(f"| {name} | {' | '.join(cells)} | {changes[low]:+.1f} ({low}) | {changes[high]:+.1f} ({high}) |")
    return "\n".join(lines)
