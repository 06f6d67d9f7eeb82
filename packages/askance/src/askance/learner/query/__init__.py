"""Query rules: the probability of asking.

A family of rules is a file; its ``__all__`` names those that are public.
"""
# ruff: noqa: F403

from typing import TYPE_CHECKING

from askance.learner.query.discriminative import *
from askance.learner.query.entropy import *
from askance.learner.query.margin import *
from askance.learner.query.simple import *
from askance.learner.query.variance import *
from askance.learner.rule import QueryRule

RULES = sorted(
    name
    for name, rule in globals().items()
    if isinstance(rule, type) and issubclass(rule, QueryRule) and rule is not QueryRule
)
"""Their names."""

if not TYPE_CHECKING:  # a checker reads the imports
    __all__ = RULES
