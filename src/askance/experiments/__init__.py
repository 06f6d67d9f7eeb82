"""Comparisons: algorithms x query ratios x permutations, with tuned parameters, statistics, plots and a report."""

from __future__ import annotations

from typing import Any

from askance.deprecation import warn_renamed
from askance.experiments.candidate import Candidate, default_candidate, imbalance, powers
from askance.experiments.load import load_table
from askance.experiments.progress import SweepProgress
from askance.experiments.results import Results, TunedSetting
from askance.experiments.sweep import Sweep
from askance.experiments.table import Table

__all__ = [
    "Candidate",
    "Results",
    "Sweep",
    "SweepProgress",
    "Table",
    "TunedSetting",
    "default_candidate",
    "imbalance",
    "load_table",
    "powers",
]


def __getattr__(name: str) -> Any:
    if name == "Progress":
        warn_renamed("Progress", "SweepProgress")
        return SweepProgress
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
