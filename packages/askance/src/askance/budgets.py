"""Budgets: how many labels may be bought."""

from askance.learner.budget import *  # noqa: F403
from askance.learner.budget import __all__ as __all__
