"""Update rules, and what it takes to write one: ``UpdateRule``, ``Kernels`` and the parts kernels are made of."""

from askance.compile import no_inline
from askance.learner.diagonal import margin_and_variance
from askance.learner.prototypes import best_of
from askance.learner.rule import Kernels, UpdateRule, finite, positive, share, whole
from askance.learner.sparse import add, dot, linear_margin, side, sign, squared_norm
from askance.learner.state import Event, Score, State
from askance.learner.update import *  # noqa: F403
from askance.learner.update import RULES

__all__ = [
    *RULES,
    "Event",
    "Kernels",
    "Score",
    "State",
    "UpdateRule",
    "add",
    "best_of",
    "dot",
    "finite",
    "linear_margin",
    "margin_and_variance",
    "no_inline",
    "positive",
    "share",
    "side",
    "sign",
    "squared_norm",
    "whole",
]
