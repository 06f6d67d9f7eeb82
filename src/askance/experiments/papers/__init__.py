"""The tables and figures of the five papers, played again and set beside what is printed there.

One folder per paper: ``sweep.py`` has the settings and nothing else, ``expected.csv`` the printed numbers. What is
common to all is here: what an experiment is, how it is run, compared, shown and drawn.
"""

from askance.experiments.papers.catalogue import experiments, find
from askance.experiments.papers.experiment import Claim, Experiment, Setting
from askance.experiments.papers.outcome import Cell, Outcome
from askance.experiments.papers.run import run

__all__ = ["Cell", "Claim", "Experiment", "Outcome", "Setting", "experiments", "find", "run"]
