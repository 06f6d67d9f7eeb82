"""Query rules, and what it takes to write one: ``QueryRule`` and the declarations of its parameters."""

from askance.learner.query import *  # noqa: F403
from askance.learner.query import __all__ as _rules
from askance.learner.rule import QueryRule, finite, positive, share, whole

__all__ = [*_rules, "QueryRule", "finite", "positive", "share", "whole"]
