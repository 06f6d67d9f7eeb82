"""Update rules: how to learn from an answer.

A family of rules is a file; its ``__all__`` names those that are public.
"""
# ruff: noqa: F403

from typing import TYPE_CHECKING

from askance.learner.rule import UpdateRule
from askance.learner.update.adagrad import *
from askance.learner.update.adaptive import *
from askance.learner.update.confidence_weighted import *
from askance.learner.update.fourier import *
from askance.learner.update.pairwise import *
from askance.learner.update.passive_aggressive import *
from askance.learner.update.perceptron import *
from askance.learner.update.probit import *
from askance.learner.update.second_order_perceptron import *
from askance.learner.update.sketch import *

RULES = sorted(
    name
    for name, rule in globals().items()
    if isinstance(rule, type) and issubclass(rule, UpdateRule) and rule is not UpdateRule
)
"""Their names."""

if not TYPE_CHECKING:  # a checker reads the imports
    __all__ = RULES
