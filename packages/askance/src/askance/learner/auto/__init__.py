"""A classifier that needs a budget and nothing else: a committee of learners, of which the best so far decide."""

from askance.learner.auto.decaying_rate import DecayingRate
from askance.learner.auto.query import InverseSquareMargin
from askance.learner.auto.rule import Committee

__all__ = ["Committee", "DecayingRate", "InverseSquareMargin"]
