"""Paper 4: Zhang, Zhao, Niu, Cao, Huang, Wu, Tan, *Online Adaptive Asymmetric Active Learning with Limited Budgets*,
IEEE TKDE (2019). Settings only.

Rows of length one, a budget of half the rows, delta_pos = 1000 and delta_neg = 10 are those of the authors' released
code. There an empty row becomes NaN: never asked, and always counted as a mistake; so it is counted here. The
learning rates are those that the supplement shows best (eta = 1, for OA3-diag and sum 0.1). The other parameters are
not printed. C = 1 of the first-order baselines is fitted to the print: PAA and CSOAL land on their numbers, OAAL does
not; tuned, they are better than printed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from askance.compare.candidate import Candidate, Value, imbalance, powers
from askance.compare.table import Table
from askance_papers.along_stream import development, empty_rows
from askance_papers.experiment import Claim, Experiment, Record, Setting, every

NINE = 9.0  # c_p / c_n = 0.9 / 0.1
DELTAS = powers(10, range(-5, 6))
SHOWN = {"sum": ("sum%", "sensitivity%", "specificity%"), "cost": ("cost", "sensitivity%", "specificity%")}


def empty_rows_are_mistakes(table: Table, record: Record, setting: Setting) -> Record:
    """Dividing an empty row by its length gives NaN, which the authors' code never asks and always finds wrong.

    Here such an event is predicted positive, sign(0) = +1. So only those of the positive class have to be counted
    anew: as missed instead of found.
    """
    positive = int(np.count_nonzero(empty_rows(table) & (table.y == table.positive)))
    share = positive / table.positives
    return record | {
        "sensitivity": record["sensitivity"] - share,
        "recall": record["recall"] - share,
        "sum": record["sum"] - setting.alpha_p * share,
        "cost": record["cost"] + setting.c_p * positive,
        "mistakes": record["mistakes"] + positive,
        "accuracy": record["accuracy"] - positive / table.n_events,
    }


def half(table: Table) -> float:
    """The budget of the authors' code."""
    return float(math.ceil(table.n_events / 2))


def oa3(name: str, rho: Value, eta: float, deltas: tuple[float, float] = (1000.0, 10.0)) -> Candidate:
    fixed: dict[str, Value] = {"eta": eta, "gamma": 1.0, "rho": rho, "delta_pos": deltas[0], "delta_neg": deltas[1]}
    if "SOA3" in name:
        fixed["sketch_size"] = 5
    return Candidate(name, fixed=fixed)


def first_order(rho: Value) -> tuple[Candidate, ...]:
    """PAA, OAAL and CSOAL, with delta chosen."""
    return (
        Candidate("PAA-I", {"delta": DELTAS}, {"C": 1.0}, label="PAA"),
        Candidate("OAAL", {"delta_pos": DELTAS[::2], "delta_neg": DELTAS[::2]}, {"C": 1.0}),
        Candidate("CSOAL", {"delta": DELTAS}, {"C": 1.0, "rho": rho}),
    )


def first_order_as_chosen(rho: Value) -> tuple[Candidate, ...]:
    """With the delta that Table 2 chooses by sum."""
    return (
        Candidate("PAA-I", fixed={"C": 1.0, "delta": 100.0}, label="PAA"),
        Candidate("OAAL", fixed={"C": 1.0, "delta_pos": 0.001, "delta_neg": 1000.0}),
        Candidate("CSOAL", fixed={"C": 1.0, "rho": rho, "delta": 1000.0}),
    )


def second_order(rho: Value) -> tuple[Candidate, ...]:
    return (
        Candidate("SOAL", fixed={"eta": 10.0, "gamma": 1.0, "delta": 10.0}),
        Candidate("SOAL-CS", fixed={"eta": 10.0, "gamma": 1.0, "rho": rho, "delta": 10.0}),
    )


def for_sum() -> tuple[Candidate, ...]:
    ours = oa3("OA3", imbalance, 1.0), oa3("OA3-diag", imbalance, 0.1), *sketched(imbalance, (1000.0, 10.0))
    return (*first_order(imbalance), *second_order(imbalance), *ours)


def for_cost() -> tuple[Candidate, ...]:
    """The sketches with delta = 1, the best of 10^[-2:4] by cost: printed are 1151 and 1150."""
    ours = oa3("OA3", NINE, 1.0), oa3("OA3-diag", NINE, 1.0), *sketched(NINE, (1.0, 1.0))
    return (*first_order(NINE), *second_order(NINE), *ours)


def sketched(rho: Value, deltas: tuple[float, float]) -> tuple[Candidate, ...]:
    return oa3("SOA3", rho, 1.0, deltas), oa3("SSOA3", rho, 1.0, deltas)


def budgeted(
    dataset: str,
    name: str,
    candidates: Sequence[Candidate],
    metric: str = "sum",
    budget: float | Callable[[Table], float] = half,
    **options: object,
) -> Setting:
    settings: dict[str, object] = {"report": SHOWN[metric]} | options
    return Setting(
        dataset,
        tuple(candidates),
        {name: budget},
        kind="budget",
        prepare=("l2",),
        metric=metric,
        correct_counts=empty_rows_are_mistakes,
        **settings,  # type: ignore[arg-type]
    )


# --- high-dimensional sets -------------------------------------------------------------------------------


def cifar() -> tuple[Setting, ...]:
    """Automobiles against the rest; few permutations of the algorithms that keep a full matrix."""
    full = (
        oa3("OA3", imbalance, 1.0),
        Candidate("SOAL", fixed={"eta": 10.0, "gamma": 1.0, "delta": 10.0}),
        Candidate("SOAL-CS", fixed={"eta": 10.0, "gamma": 1.0, "rho": imbalance, "delta": 10.0}),
    )
    thin = (*first_order(imbalance), oa3("OA3-diag", imbalance, 1.0), *sketched(imbalance, (1000.0, 10.0)))
    return (
        budgeted("cifar10:1", "sum", thin, search_permutations=2, report=(*SHOWN["sum"], "seconds")),
        budgeted("cifar10:1", "sum", full, permutations=2, report=(*SHOWN["sum"], "seconds")),
    )


# --- properties ------------------------------------------------------------------------------------------

FAMILY = ("OA3", "OA3-diag", "SOA3", "SSOA3")
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
BUDGETS = (1000, 2000, 4000, 8000, 16000, 32000)


def varying_budgets(metric: str) -> tuple[Setting, ...]:
    candidates = for_sum() if metric == "sum" else for_cost()
    report = ("sum%",) if metric == "sum" else ("cost",)
    return tuple(
        budgeted("w8a", f"B = {budget}", candidates, metric, float(budget), report=report, permutations=10)
        for budget in BUDGETS
    )


def query_biases() -> Setting:
    values = powers(10, (-4, -2, 0, 1, 2, 3, 4))
    candidates = [
        Candidate(
            "OA3",
            fixed={"eta": 1.0, "gamma": 1.0, "rho": imbalance, "delta_pos": positive, "delta_neg": negative},
            label=f"δ+ {positive:g}, δ- {negative:g}",
        )
        for positive in values
        for negative in values
    ]
    return budgeted("w8a", "B = 32000", candidates, budget=32000.0, report=("sum%",), permutations=3)


def weighted(share: float) -> Callable[[Table], float]:
    def rho(table: Table) -> float:
        """rho = (alpha_p T_n) / (alpha_n T_p)."""
        return (1.0 - share) / share * table.imbalance

    return rho


def cost_weights() -> tuple[Setting, ...]:
    settings = []
    for share in SHARES:  # alpha_n
        rho = weighted(share)
        ours = (oa3(name, rho, 0.1 if name == "OA3-diag" else 1.0) for name in FAMILY)
        candidates = (*first_order(rho), *second_order(rho), *ours)
        settings.append(
            budgeted(
                "w8a", f"α_n = {share:g}", candidates, budget=32000.0, report=("sum%",), permutations=5,
                alpha_p=1.0 - share, x=share,
            )
        )  # fmt: skip
    return tuple(settings)


def costs_of_mistakes() -> tuple[Setting, ...]:
    """The same for cost: c_n, and rho = c_p / c_n."""
    settings = []
    for share in SHARES:  # c_n
        rho = (1.0 - share) / share
        candidates = (*first_order(rho), *second_order(rho), *(oa3(name, rho, 1.0) for name in FAMILY))
        settings.append(
            budgeted(
                "w8a", f"c_n = {share:g}", candidates, "cost", 32000.0, report=("cost",), permutations=5,
                c_p=1.0 - share, x=share,
            )
        )  # fmt: skip
    return tuple(settings)


def learning_rates(metric: str) -> tuple[Setting, ...]:
    """With the budgets of the 2018 supplement, from whose figures 5 and 6 the numbers are."""
    rho: Value = imbalance if metric == "sum" else NINE
    return tuple(
        budgeted(
            dataset, f"η = {eta:g}", [oa3(name, rho, eta) for name in FAMILY], metric, budget,
            report=("sum%",) if metric == "sum" else ("cost",), permutations=permutations, x=eta,
        )
        for dataset, budget, permutations in (("w8a", 32000.0, 5), ("german", 500.0, 20))
        for eta in powers(10, range(-4, 5))
    )  # fmt: skip


# --- what is shown ---------------------------------------------------------------------------------------

BASELINES = ("PAA", "OAAL", "CSOAL", "SOAL", "SOAL-CS")
ASYMMETRIC = (Claim("OA3 and its variants have a higher sum than all others", every(FAMILY, BASELINES), "sum%"),)
CHEAPER = (
    Claim(
        "OA3 and its variants have a lower cost than all others",
        every(FAMILY, BASELINES),
        "cost",
        lower_is_better=True,
    ),
)


def protocol(budget: str = "half the rows", rates: str = "1 (OA3-diag and sum: 0.1; SOAL, SOAL-CS: 10)") -> str:
    """How it is played, with this budget and these learning rates."""
    return (
        f"rows to length 1, no intercept; B = {budget}; delta_pos = 1000, delta_neg = 10, empty rows counted as "
        f"mistakes, as in the authors' code; gamma = 1; eta = {rates}; PAA, OAAL and CSOAL with C = 1, fitted to the "
        "print, and chosen delta; SOAL-CS is an inference, for the paper prints no update rule for it."
    )


PROTOCOL = protocol()
SKETCHES = "With eta = 0.1 the sketches are better than printed: sum 83.3, cost 1113."
TUNED = (
    "OAAL does not come out: 4 of its 6 numbers in Table 2 are outside. Its row of sum is near that of a perceptron "
    "which asks for everything until the budget is spent (74.1, 58.5 and 89.8; printed 73.9, 57.9 and 90.0), its row "
    "of cost near that of PA-I which does so (1328, 56.4 and 90.9; printed 1328, 56.9 and 90.8): its two halves seem "
    "to come from two programs, and in neither does the choice of what to ask matter. With C tuned as well, CSOAL "
    "reaches a sum of 82.1 and OAAL 79.5, far above the print."
)
W8A: Mapping[str, str] = {"w8a": f"{SKETCHES} {TUNED}"}

EXPERIMENTS = (
    Experiment(
        "paper4-table2",
        "sum and cost under a fixed budget",
        (
            budgeted("w8a", "sum", for_sum(), report=(*SHOWN["sum"], "seconds")),
            budgeted("w8a", "cost", for_cost(), "cost", report=(*SHOWN["cost"], "seconds")),
        ),
        claims=(*ASYMMETRIC, *CHEAPER),
        protocol=PROTOCOL,
        absent="protein, Sensorless and KDDCUP08 are not played: only a part of the first can be had here, and "
        "which class is positive is not printed",
        remarks=W8A,
    ),
    Experiment(
        "paper4-table3",
        "sum on a high-dimensional set: CIFAR-10",
        cifar(),
        claims=(
            Claim("OA3 beats its approximations", tuple(("OA3", name) for name in FAMILY[1:]), "sum%"),
            Claim("the sketches beat the diagonal", (("SOA3", "OA3-diag"), ("SSOA3", "OA3-diag")), "sum%"),
            Claim(
                "OA3 and its variants beat all others",
                every(FAMILY, BASELINES),
                "sum%",
            ),
            Claim("its approximations are faster than OA3", every(FAMILY[1:], FAMILY[:1]), "seconds", True),
            Claim("first-order algorithms are faster than OA3", every(BASELINES[:3], FAMILY[:1]), "seconds", True),
        ),
        protocol=protocol(rates="1 (SOAL, SOAL-CS: 10)")
        + " Class 1 (automobiles) against the rest: the paper takes some class at random; 2 permutations of the "
        "algorithms with a full matrix.",
        absent="IAD cannot be had here; the paper's 20 % of CIFAR-10 are a random draw, ours the first 10,000 images",
        remarks={
            "cifar10:1": "The positive class is not printed, so only the order counts, and of times, of which the "
            "class decides little, the ratios: the printed ones are of another machine."
        },
    ),
    Experiment(
        "paper4-fig1",
        "development of sum under a fixed budget",
        play=lambda context: development(context, "sum%", (*first_order_as_chosen(imbalance), *for_sum()[3:]), half),
        datasets=("w8a",),
        protocol=PROTOCOL,
        x_axis="events",
    ),
    Experiment(
        "paper4-fig2",
        "development of cost under a fixed budget",
        play=lambda context: development(context, "cost", (*first_order_as_chosen(NINE), *for_cost()[3:]), half),
        datasets=("w8a",),
        protocol=PROTOCOL,
        x_axis="events",
    ),
    Experiment(
        "paper4-fig3",
        "sum over budgets",
        varying_budgets("sum"),
        claims=ASYMMETRIC,
        protocol=protocol("1,000 to 32,000") + " 10 permutations.",
        x_axis="budget",
        remarks=W8A,
    ),
    Experiment(
        "paper4-fig4",
        "cost over budgets",
        varying_budgets("cost"),
        claims=CHEAPER,
        protocol=protocol("1,000 to 32,000") + " 10 permutations.",
        x_axis="budget",
        remarks=W8A,
    ),
    Experiment(
        "paper4-fig5",
        "sum of OA3 over the two query biases",
        (query_biases(),),
        protocol=protocol("32,000").replace("delta_pos = 1000, delta_neg = 10, ", "") + " 3 permutations.",
        x_axis="δ+ and δ-",
    ),
    Experiment(
        "paper4-fig6",
        "sum over the weight of specificity",
        cost_weights(),
        claims=ASYMMETRIC,
        protocol=protocol("32,000") + " 5 permutations.",
        x_axis="α_n",
    ),
    Experiment(
        "paper4-fig6-cost",
        "cost over the cost of a false alarm",
        costs_of_mistakes(),
        claims=CHEAPER,
        protocol=protocol("32,000") + " 5 permutations.",
        numbers="none: the supplement says in a figure that OA3 and OA3-diag stay ahead",
        x_axis="c_n",
    ),
    Experiment(
        "paper4-fig7",
        "sum over the learning rate",
        learning_rates("sum"),
        protocol=protocol("32,000 of w8a, 500 of german", "10^[-4:4]") + " 5 permutations of w8a, 20 of german.",
        numbers="read off figure 5 of the supplement of 2018, to about half a point: OA3 and OA3-diag at three rates",
        x_axis="η",
    ),
    Experiment(
        "paper4-fig7-cost",
        "cost over the learning rate",
        learning_rates("cost"),
        protocol=protocol("32,000 of w8a, 500 of german", "10^[-4:4]") + " 5 permutations of w8a, 20 of german.",
        numbers="read off figure 6 of the supplement of 2018, to about a hundredth: OA3 and OA3-diag at three rates",
        x_axis="η",
    ),
)
