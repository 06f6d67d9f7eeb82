"""The theorems of papers 1 to 4 as experiments. Settings, and how they are played."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from askance.compare.progress import SweepProgress
from askance.compare.table import Table
from askance.learner.query import ShiftedMargin
from askance_papers.bounds import multiclass, theorems
from askance_papers.bounds.followed import Followed, batch_solutions, follow
from askance_papers.bounds.multiclass import FollowedMany, follow_many, solutions_for_many
from askance_papers.bounds.theorems import count_rounds_to_spend, importance
from askance_papers.experiment import Claim, Experiment
from askance_papers.outcome import Cell
from askance_papers.reproduce import Context, prepare

SEEDS = 5
EVENTS = 2000  # the first so many of a permutation
C_P, C_N = 0.9, 0.1
Bound = Callable[[Followed, np.ndarray, int], float]
COUNTS_MISTAKES = ("mistakes", "weighted mistakes", "sum", "cost")
"""Metrics whose bounds are vacuous if they promise no fewer mistakes than there are events."""
ALL_WRONG = "all events wrong"
NOT_VACUOUS = "the bound is not vacuous: it promises fewer mistakes than there are events"


@dataclass(frozen=True)
class BoundCase:
    """An algorithm with its parameters, what is measured of it, and what a theorem says about that."""

    label: str
    algorithm: str
    parameters: dict[str, Any]
    measure: Callable[[Any], float]
    bound: Callable[[Any, np.ndarray, int], float]
    rho: float = 1.0
    """How the comparator weighs positives."""
    needs_path: bool = False
    """Whether the theorem speaks of the weights on the way."""
    follow: Callable[..., Any] = follow
    """Plays the stream."""
    solve: Callable[[Table, float], np.ndarray] = batch_solutions
    """Finds the comparators."""


BoundCases = Callable[[Table], list[BoundCase]]


def theorem(context: Context, cases: BoundCases, metric: str) -> list[Cell]:
    """Measured, promised for the best of the batch hinge solutions, and what it would be with a mistake at every event:
    a bound that promises no better is vacuous."""
    cells = []
    seeds = context.trials(SEEDS)
    for place, name in enumerate(context.datasets, 1):
        table = prepare(context.load(name), ("standard", "l2"))
        order = np.random.default_rng(0).permutation(table.n_events)[:EVENTS]
        table = dataclasses.replace(table, X=table.X[order], y=table.y[order])
        plays = context.plays(__name__, name, table.X, table.y)
        every = cases(table)
        for done, case in enumerate(every):
            comparators: list[np.ndarray] = []
            results = []
            for seed in range(seeds):
                share = (done + seed / seeds) / len(every)
                context.report(name, place, len(context.datasets), SweepProgress("playing", 0, 0, share, 1.0 - share))
                about = {"case": case.label, "seed": seed, "metric": metric}
                results.append(plays.once(about, partial(_play, table, case, seed, comparators)))
            cells += _cells(name, case.label, metric, results)
    return cells


def _play(table: Table, case: BoundCase, seed: int, comparators: list[np.ndarray]) -> dict[str, float]:
    if not comparators:
        comparators.append(case.solve(table, case.rho))
    played = case.follow(table, case.algorithm, seed, comparators[0], case.needs_path, **case.parameters)
    bounds = {f"bound {k}": case.bound(played, w, k) for k, w in enumerate(comparators[0])}
    numbers = {"measured": case.measure(played), ALL_WRONG: case.measure(played.all_wrong())}
    return numbers | {key: value for key, value in bounds.items() if np.isfinite(value)}


def _cells(dataset: str, label: str, metric: str, results: list[dict[str, float]]) -> list[Cell]:
    measured, trivial = (
        Cell(dataset, label, name, metric, tuple(result[name] for result in results))
        for name in ("measured", ALL_WRONG)
    )
    keys = [key for key in results[0] if key.startswith("bound")]
    if not keys:
        return [measured]
    best = (max if metric == "sum" else min)(keys, key=lambda key: np.mean([result[key] for result in results]))
    promised = Cell(dataset, label, "promised", metric, tuple(result[best] for result in results))
    if metric == "sum":
        return [measured, promised, trivial]
    times = Cell(dataset, label, "promised / measured", metric, (promised.mean / max(measured.mean, 1e-300),))
    if metric not in COUNTS_MISTAKES:
        return [measured, promised, times]
    return [measured, promised, trivial, times]


# --- paper 1 ---------------------------------------------------------------------------------------------


def mistakes(played: Followed) -> float:
    return float(played.wrong.sum())


def separable(table: Table) -> list[BoundCase]:
    return [
        BoundCase(f"PAA, δ = {delta:g}", "PAA", {"delta": delta}, mistakes, partial(theorems.separable, delta=delta))
        for delta in (1.0, 2.0, 4.0)
    ]


def shifted(table: Table) -> list[BoundCase]:
    return [
        BoundCase(
            f"PAA, shifted, δ = {delta:g}", "PAA", {"query": ShiftedMargin(delta)}, mistakes,
            partial(theorems.shifted, delta=delta),
        )
        for delta in (0.1, 1.0, 2.0)
    ]  # fmt: skip


def capped(table: Table) -> list[BoundCase]:
    return _of_c("PAA-I", theorems.capped)


def soft(table: Table) -> list[BoundCase]:
    return _of_c("PAA-II", theorems.soft)


def _of_c(name: str, bound: Callable[..., float]) -> list[BoundCase]:
    return [
        BoundCase(
            f"{name}, δ = {delta:g}, C = {C:g}", name, {"delta": delta, "C": C}, mistakes,
            partial(bound, delta=delta, C=C),
        )
        for delta in (1.0, 2.0)
        for C in (0.1, 1.0)
    ]  # fmt: skip


def cost_sensitive(table: Table, metric: str) -> list[BoundCase]:
    """Theorems 6 to 8, C = rho: weighted mistakes, sum and cost."""
    rho = C_P / C_N if metric == "cost" else max(1.0, table.imbalance)
    return [
        BoundCase(
            f"CSPAA, δ = {delta:g}", "CSPAA", {"delta": delta, "C": rho, "rho": rho},
            partial(weigh_mistakes, rho=rho, metric=metric),
            partial(_weighted_bound, of=partial(theorems.cost_sensitive, delta=delta, C=rho, rho=rho), metric=metric),
            rho,
        )
        for delta in (1.0, 2.0)
    ]  # fmt: skip


def weigh_mistakes(played: Followed, rho: float, metric: str, rounds: slice = slice(None)) -> float:
    """sum rho_t M_t, or the sum or cost that it stands for, of some rounds."""
    missed = float((importance(played, rho) * played.wrong)[rounds].sum())
    return in_terms_of(metric, played, missed)


def in_terms_of(metric: str, played: Followed, missed: float) -> float:
    """sum = 1 - alpha_n / T_n sum rho_t M_t with alpha_n = 1/2, cost = c_n sum rho_t M_t."""
    if metric == "sum":
        return 1.0 - 0.5 / max(1, int((played.y < 0).sum())) * missed
    return C_N * missed if metric == "cost" else missed


def _weighted_bound(played: Followed, w: np.ndarray, k: int, *, of: Bound, metric: str, largest: float = 1.0) -> float:
    return in_terms_of(metric, played, largest * of(played, w, k))


# --- papers 2 and 3 --------------------------------------------------------------------------------------


def discriminative(table: Table) -> list[BoundCase]:
    return [
        BoundCase(
            f"{name}, b = {b:g}", name, {"eta": eta, "delta": 1.0, "b": b}, mistakes,
            partial(
                theorems.discriminative, b=b, eta=eta, delta=1.0, is_mirror=name == "D-AMD", is_scaled=True
            ),
            needs_path=name == "D-AMD",
        )
        for name in ("D-ADA", "D-AMD")  # with rows of length 1 they are D-ADA-I and D-AMD-I, too
        for b, eta in ((2.0, 1.0), (4.0, 1.0))
    ]  # fmt: skip


def second_order(table: Table) -> list[BoundCase]:
    return [
        BoundCase(
            f"SOAL, δ = {delta:g}, η = {eta:g}", "SOAL", {"delta": delta, "eta": eta, "gamma": 1.0}, mistakes,
            partial(theorems.second_order, delta=delta, eta=eta, gamma=1.0), needs_path=True,
        )
        for delta in (1.0, 2.0)
        for eta in (0.1, 1.0)
    ]  # fmt: skip


def best_rates(table: Table) -> list[BoundCase]:
    """The eta that was played, and the one that Eq. 8 then asks for."""
    return [
        BoundCase(
            f"SOAL, δ = {delta:g}, η = {eta:g}", "SOAL", {"delta": delta, "eta": eta, "gamma": 1.0},
            partial(_rate_played, eta=eta), partial(theorems.best_rate, delta=delta, gamma=1.0), needs_path=True,
        )
        for delta in (1.0, 2.0)
        for eta in (0.1, 1.0, 10.0, 100.0, 1000.0)
    ]  # fmt: skip


def _rate_played(played: Followed, eta: float) -> float:
    return eta


# --- paper 4 ---------------------------------------------------------------------------------------------


def budgeted(table: Table, metric: str, is_after: bool) -> list[BoundCase]:
    """Theorems 1 to 3 within a budget of a tenth of the events, and 4 to 6 after it."""
    rho = C_P / C_N if metric == "cost" else max(1.0, table.imbalance)
    budget = max(1, table.n_events // 10)
    cases = []
    for deltas in ((1.0, 1.0), (10.0, 1.0)):
        parameters = {
            "eta": 1.0, "gamma": 1.0, "rho": rho, "delta_pos": deltas[0], "delta_neg": deltas[1], "budget": budget,
        }  # fmt: skip
        bound: Bound = partial(theorems.over_budget, rho=rho, budget=budget)
        if not is_after:
            bound = partial(theorems.within_budget, deltas=deltas, eta=1.0, gamma=1.0, rho=rho, budget=budget)
        if metric != "mistakes":
            bound = partial(_weighted_bound, of=bound, metric=metric, largest=rho)
        measure = partial(_measure_budgeted, rho=rho, metric=metric, budget=budget, is_after=is_after)
        cases.append(
            BoundCase(f"OA3, δ = {deltas[0]:g} and {deltas[1]:g}", "OA3", parameters, measure, bound, rho, not is_after)
        )
    return cases


def _measure_budgeted(played: Followed, rho: float, metric: str, budget: int, is_after: bool) -> float:
    until = count_rounds_to_spend(played, budget)
    rounds = slice(until, None) if is_after else slice(until)
    return float(played.wrong[rounds].sum()) if metric == "mistakes" else weigh_mistakes(played, rho, metric, rounds)


# --- what is shown ---------------------------------------------------------------------------------------

SETS = ("german", "spambase")
PROTOCOL = (
    f"columns standardised, rows to length 1; the first {EVENTS:,} events of one permutation, {SEEDS} plays that "
    "differ in their random numbers alone; the fixed classifier of the theorem is the best of the batch hinge "
    "solutions (linear SVM without intercept) with C in 10^[-2:2], and the one that separates the classes, where there "
    "is one"
)


def describe_theorem(
    key: str, title: str, cases: BoundCases, metric: str = "mistakes", sets: tuple[str, ...] = SETS,
    sentence: str = "the theorem holds", **more: Any,
) -> Experiment:  # fmt: skip
    is_lower = metric != "sum"
    claims = [Claim(sentence, (("measured", "promised"),), metric, lower_is_better=is_lower, ties_count=True)]
    if metric in COUNTS_MISTAKES:
        claims.append(Claim(NOT_VACUOUS, (("promised", ALL_WRONG),), metric, lower_is_better=is_lower))
    return Experiment(
        key,
        title,
        play=partial(theorem, cases=cases, metric=metric),
        datasets=sets,
        claims=tuple(claims),
        protocol=PROTOCOL,
        **more,
    )


def of_metric(cases: Callable[..., list[BoundCase]], metric: str, **more: Any) -> BoundCases:
    return lambda table: cases(table, metric, **more)


SETS_OF_MANY = ("satimage", "usps")
OF_MANY: dict[str, Any] = {"follow": follow_many, "solve": solutions_for_many}


def mistakes_of_many(played: FollowedMany) -> float:
    return float(played.wrong.sum())


def separable_many(table: Table) -> list[BoundCase]:
    return [
        BoundCase(
            f"MPAA, δ = {delta:g}", "MPAA", {"delta": delta}, mistakes_of_many,
            partial(multiclass.separable, delta=delta),
            **OF_MANY,
        )
        for delta in (1.0, 2.0)
    ]  # fmt: skip


def discriminative_many(table: Table) -> list[BoundCase]:
    return [
        BoundCase(
            f"{name}, b = {b:g}", name, {"eta": 1.0, "delta": 1.0, "b": b}, mistakes_of_many,
            partial(multiclass.discriminative, b=b, eta=1.0, is_mirror=name == "MD-AMD"), needs_path=True, **OF_MANY,
        )
        for name in ("MD-ADA", "MD-AMD")  # with rows of length 1 they are MD-ADA-I and MD-AMD-I, too
        for b in (2.0, 4.0)
    ]  # fmt: skip


EXPERIMENTS = (
    describe_theorem("paper1-theorem1", "mistakes of PAA on a separable stream", separable, sets=("mushrooms",)),
    describe_theorem("paper1-theorem2", "mistakes of PAA-I", capped),
    describe_theorem("paper1-theorem3", "mistakes of PAA-II", soft),
    describe_theorem("paper1-theorem4", "mistakes of PAA with a shifted margin", shifted, sets=("mushrooms",)),
    describe_theorem(
        "paper1-theorem6", "weighted mistakes of CSPAA", of_metric(cost_sensitive, "weighted mistakes"),
        "weighted mistakes",
    ),
    describe_theorem("paper1-theorem7", "sum of CSPAA", of_metric(cost_sensitive, "sum"), "sum"),
    describe_theorem("paper1-theorem8", "cost of CSPAA", of_metric(cost_sensitive, "cost"), "cost"),
    describe_theorem("paper2-theorem1", "mistakes of D-ADA and D-AMD", discriminative),
    describe_theorem("paper3-theorem1", "mistakes of SOAL", second_order),
    describe_theorem(
        "paper3-equation8", "the η that Eq. 8 needs, beside the one that was played", best_rates, "η",
        sentence="the η that was played is at most the one that Eq. 8 needs, which it should equal",
    ),
    *(
        describe_theorem(
            f"paper4-theorem{first + number}", f"{metric} of OA3 {when} the budget",
            of_metric(budgeted, metric, is_after=is_after), metric,
        )
        for first, when, is_after in ((1, "within", False), (4, "after", True))
        for number, metric in enumerate(("mistakes", "sum", "cost"))
    ),
    describe_theorem("paper1-theorem5", "mistakes of MPAA on a separable stream", separable_many, sets=("usps",)),
    describe_theorem("paper2-theorem2", "mistakes of MD-ADA and MD-AMD", discriminative_many, sets=SETS_OF_MANY),
)  # fmt: skip
