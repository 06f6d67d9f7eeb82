"""Comparisons: algorithms x query ratios x permutations, with tuned parameters, statistics, plots and a report."""

from __future__ import annotations

from askance.compare.candidate import Candidate, default_candidate, imbalance, powers
from askance.compare.progress import SweepProgress
from askance.compare.results import Results, TunedSetting
from askance.compare.sweep import Sweep
from askance.compare.table import Table, load_table

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
