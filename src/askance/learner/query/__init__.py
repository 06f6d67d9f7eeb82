"""Query rules: the probability of asking."""

from askance.learner.query.discriminative import Discriminative, DiscriminativeUnscaled
from askance.learner.query.entropy import Entropy
from askance.learner.query.margin import (
    AsymmetricMargin,
    DecreasingMargin,
    FunctionValue,
    Margin,
    MistakeDrivenMargin,
    ShiftedMargin,
)
from askance.learner.query.simple import Always, Random
from askance.learner.query.variance import AsymmetricVariance, Variance

__all__ = [
    "Always",
    "AsymmetricMargin",
    "AsymmetricVariance",
    "DecreasingMargin",
    "Discriminative",
    "DiscriminativeUnscaled",
    "Entropy",
    "FunctionValue",
    "Margin",
    "MistakeDrivenMargin",
    "Random",
    "ShiftedMargin",
    "Variance",
]
