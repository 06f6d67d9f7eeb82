"""Comparisons: algorithms x query ratios x permutations, with tuned parameters, statistics, plots and a report."""

from askance.experiments.candidate import Candidate, default_candidate, imbalance, powers
from askance.experiments.load import load_table
from askance.experiments.progress import Progress
from askance.experiments.results import Choice, Results
from askance.experiments.sweep import Sweep
from askance.experiments.table import Table

__all__ = [
    "Candidate",
    "Choice",
    "Progress",
    "Results",
    "Sweep",
    "Table",
    "default_candidate",
    "imbalance",
    "load_table",
    "powers",
]
