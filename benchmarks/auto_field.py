"""Who plays in the comparison: ``make("auto")``, its ablations, and every family of presets over a grid."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

import askance
from askance.learner.auto import InverseSquareMargin
from askance.learner.auto.members import DUAL, NOVELTY, PASSIVE, PROBIT, Member
from askance.learner.auto.views import RAW, STANDARD, UNIT
from benchmarks.auto_data import Played, judge, stream, whole

BURST = 40.0  # labels ahead of the rate at the beginning, for everybody
EVENLY = 1e6  # a delta so large that every event is asked alike

BINARY: dict[str, dict[str, list[float]]] = {
    "PEA": {"delta": [1.0]},
    "PAA": {"delta": [1.0]},
    "PAA-I": {"C": [0.03, 0.3, 3.0]},
    "PAA-II": {"C": [0.03, 0.3, 3.0]},
    "CSPAA": {"C": [0.1, 1.0], "rho": [3.0, 10.0]},
    "OAAL": {"C": [0.3], "delta_pos": [1.0, 10.0]},
    "SOAL-diag": {"eta": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]},
    "OA3-diag": {"eta": [0.3, 3.0], "rho": [3.0, 10.0], "delta_pos": [1.0, 10.0]},
    "D-ADA": {"eta": [0.1, 1.0, 10.0]},
    "D-AMD": {"eta": [0.1, 1.0, 10.0]},
    "SOP-diag": {"a": [1.0]},
    "UOAL-entropy": {"prior_variance": [1.0, 10.0]},
    "BOAL-entropy": {"prior_variance": [1.0, 10.0, 100.0]},
    "BOAL-margin": {"prior_variance": [1.0, 100.0], "decay": [1.0, 0.99]},
}
FULL = {
    "SOAL": {"eta": [0.1, 1.0, 10.0]},
    "OA3": {"eta": [0.3, 3.0], "rho": [3.0, 10.0], "delta_pos": [1.0, 10.0]},
    "SEL-2nd": {"a": [1.0]},
}
MANY = {
    "MPEA": {"delta": [1.0]},
    "MPAA": {"delta": [1.0]},
    "MPAA-I": {"C": [0.01, 0.1, 1.0]},
    "MPAA-II": {"C": [0.1, 1.0]},
    "MD-ADA": {"eta": [0.1, 1.0, 10.0]},
    "MD-AMD": {"eta": [0.1, 1.0, 10.0]},
}
FULL_UP_TO = 130  # columns, beyond which a full matrix is left out of the grid

SUBGRADIENT = (DUAL, NOVELTY)
QUERY = tuple(InverseSquareMargin().get_params())
"""The options that are those of the query rule."""


def without(leaves_out: Callable[[Member], bool]) -> dict[str, Any]:
    """Options of ``make("auto")`` for a committee that some members have left."""
    return {"members": ",".join(one.name for one in askance.make("auto").update.roster if not leaves_out(one))}


AT_RANDOM: dict[str, Any] = {"delta": EVENLY, "class_power": 0.0}
"""Options of the committee that asks for every event with the same probability."""

ABLATIONS: dict[str, dict[str, Any]] = {
    "auto": {},
    "half the head start (burst 20)": {"burst": 20.0},
    "constant as large as the event": {"modest": False},
    "line between two classes at 0": {"midway": 0.0},
    "classes alike in learning": {"balancing": 0.0},
    "shares of the classes from answers alone": {"predicted_part": 0.0},
    "leader alone": {"sharpness": 50.0},
    "all alike": {"sharpness": 0.0},
    "choice weighed by 1 / probability": {"importance": 1.0},
    "diagonals only": {"full": False},
    "no unit length": without(lambda member: member.view == UNIT),
    "no raw view": without(lambda member: member.view == RAW),
    "not standardised": without(lambda member: member.view == STANDARD),
    "no probit": without(lambda member: member.rule == PROBIT),
    "no adaptive subgradients": without(lambda member: member.rule in SUBGRADIENT),
    "no member for novelty": {"novelty": False},
    "no passive-aggressive": without(lambda member: member.rule == PASSIVE),
    "one learner (standard-probit-10)": {"members": "standard-probit-10"},
    "nothing asked at random": {"audits": 0.0},
    "no curves": {"curves": 0},
    "odds by the square of the margin": {"power": 2.0},
    "classes alike in asking": {"class_power": 0.0, "rare_side": 0.0},
    "threshold of the asked events": {"unbiasing": 0.0},
    "equal events asked as others": {"variety": 0.0},
    "asks evenly": AT_RANDOM,
}


def families(name: str) -> dict[str, dict[str, list[float]]]:
    """The families that can play this set."""
    X, y = whole(name)
    if len(np.unique(y)) > 2:
        return MANY
    return BINARY | (FULL if X.shape[1] <= FULL_UP_TO else {})


def settings(name: str) -> list[tuple[str, dict[str, float]]]:
    """Every point of the grid."""
    return [
        (preset, dict(zip(grid, values, strict=True)))
        for preset, grid in families(name).items()
        for values in product(*grid.values())
    ]


def play_preset(
    name: str, preset: str, parameters: dict[str, float], preparation: str, rate: float, order: int, n: int
) -> Played:
    """One preset on one order of a set."""
    events = stream(name, preparation, order, n)
    budget = askance.budgets.Rate(rate, burst=BURST, front_load=True)  # as ``auto`` has it
    clf = askance.make(
        preset, **parameters, budget=budget, classes=np.unique(whole(name)[1]), intercept=True, random_state=order
    )
    trace = clf.run(events.X, events.y)
    return judge(events.y, trace.predicted, int(trace.asked.sum()))


def play_auto(name: str, options: dict[str, Any], rate: float, order: int, n: int) -> Played:
    """The same for ``make("auto")``, which gets the data as they are; with options, something is left out or other."""
    options = dict(options)
    events = stream(name, options.pop("preparation", "raw"), order, n)
    budget = askance.budgets.Rate(rate, burst=options.pop("burst", BURST))
    clf = askance.make("auto", budget=budget, classes=np.unique(whole(name)[1]), random_state=order)
    clf.set_params(**{f"{'query' if key in QUERY else 'update'}__{key}": value for key, value in options.items()})
    trace = clf.run(events.X, events.y)
    return judge(events.y, trace.predicted, int(trace.asked.sum()))
