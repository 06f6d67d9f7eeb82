"""A classifier that needs a budget and nothing else: several learners at once, the best of which speak."""

from askance.learner.auto.gradual import Gradual
from askance.learner.auto.query import Doubt
from askance.learner.auto.rule import Committee

__all__ = ["Committee", "Doubt", "Gradual"]
