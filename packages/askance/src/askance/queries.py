"""Query rules, and what it takes to write one: ``QueryRule`` and the declarations of its parameters."""

from askance.learner.query import *  # noqa: F403
from askance.learner.query import RULES
from askance.learner.rule import QueryRule, finite, positive, share, whole

__all__ = [*RULES, "QueryRule", "finite", "positive", "share", "whole"]
