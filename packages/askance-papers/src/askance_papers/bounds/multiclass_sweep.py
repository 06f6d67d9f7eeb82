"""Paper 1's Theorem 5 and paper 2's Theorem 2 as experiments. Settings, and how they are played."""

from __future__ import annotations

from functools import partial
from typing import Any

from askance.compare.table import Table
from askance_papers.bounds import multiclass
from askance_papers.bounds.multiclass import FollowedMany, follow_many, solutions_for_many
from askance_papers.bounds.sweep import BoundCase, describe_theorem

SETS = ("satimage", "usps")
OF_MANY: dict[str, Any] = {"follow": follow_many, "solve": solutions_for_many}


def mistakes(played: FollowedMany) -> float:
    return float(played.wrong.sum())


def separable(table: Table) -> list[BoundCase]:
    return [
        BoundCase(
            f"MPAA, δ = {delta:g}", "MPAA", {"delta": delta}, mistakes, partial(multiclass.separable, delta=delta),
            **OF_MANY,
        )
        for delta in (1.0, 2.0)
    ]  # fmt: skip


def discriminative(table: Table) -> list[BoundCase]:
    return [
        BoundCase(
            f"{name}, b = {b:g}", name, {"eta": 1.0, "delta": 1.0, "b": b}, mistakes,
            partial(multiclass.discriminative, b=b, eta=1.0, is_mirror=name == "MD-AMD"), needs_path=True, **OF_MANY,
        )
        for name in ("MD-ADA", "MD-AMD")  # with rows of length 1 they are MD-ADA-I and MD-AMD-I, too
        for b in (2.0, 4.0)
    ]  # fmt: skip


EXPERIMENTS = (
    describe_theorem("paper1-theorem5", "mistakes of MPAA on a separable stream", separable, sets=("usps",)),
    describe_theorem("paper2-theorem2", "mistakes of MD-ADA and MD-AMD", discriminative, sets=SETS),
)
