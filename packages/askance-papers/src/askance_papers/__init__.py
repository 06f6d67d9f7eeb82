"""The tables and figures of the five papers, played again and set beside what is printed there.

One folder per paper: ``sweep.py`` has the settings and nothing else, ``expected.csv`` the printed numbers. What is
common to all is here: what an experiment is, how it is run, compared, shown and drawn.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from askance_papers.experiment import Claim, Experiment, Setting, experiments, find
    from askance_papers.outcome import Cell, Outcome
    from askance_papers.reproduce import run

__version__ = "0.3.0.dev0"

__all__ = ["Cell", "Claim", "Experiment", "Outcome", "Setting", "experiments", "find", "run"]

_LAZY_IMPORTS = {
    "Cell": "outcome",
    "Claim": "experiment",
    "Experiment": "experiment",
    "Outcome": "outcome",
    "Setting": "experiment",
    "experiments": "experiment",
    "find": "experiment",
    "run": "reproduce",
}

if not TYPE_CHECKING:  # a checker would take any misspelt name

    def __getattr__(name: str) -> Any:
        if name not in _LAZY_IMPORTS:
            raise AttributeError(f"module 'askance_papers' has no attribute {name!r}")
        value = globals()[name] = getattr(importlib.import_module(f"askance_papers.{_LAZY_IMPORTS[name]}"), name)
        return value
