"""Update rules: how to learn from an answer."""

from askance.learner.update.adagrad import DualAveraging, MirrorDescent
from askance.learner.update.adaptive import (
    AdaptiveRegularization,
    AdaptiveRegularizationDiagonal,
    AsymmetricAdaptive,
    AsymmetricAdaptiveDiagonal,
    CostSensitiveAdaptive,
)
from askance.learner.update.confidence_weighted import ConfidenceWeighted
from askance.learner.update.passive_aggressive import (
    CostSensitivePassiveAggressive,
    PassiveAggressive,
    PassiveAggressive1,
    PassiveAggressive2,
    PredictionBasedPassiveAggressive,
)
from askance.learner.update.perceptron import Perceptron, UnevenMarginPerceptron
from askance.learner.update.probit import Probit, ProbitFull
from askance.learner.update.second_order_perceptron import SecondOrderPerceptron, SecondOrderPerceptronDiagonal
from askance.learner.update.sketch import (
    AsymmetricAdaptiveBlockSketched,
    AsymmetricAdaptiveSketched,
    AsymmetricAdaptiveSparseSketched,
)

__all__ = [
    "AdaptiveRegularization",
    "AdaptiveRegularizationDiagonal",
    "AsymmetricAdaptive",
    "AsymmetricAdaptiveBlockSketched",
    "AsymmetricAdaptiveDiagonal",
    "AsymmetricAdaptiveSketched",
    "AsymmetricAdaptiveSparseSketched",
    "ConfidenceWeighted",
    "CostSensitiveAdaptive",
    "CostSensitivePassiveAggressive",
    "DualAveraging",
    "MirrorDescent",
    "PassiveAggressive",
    "PassiveAggressive1",
    "PassiveAggressive2",
    "Perceptron",
    "PredictionBasedPassiveAggressive",
    "Probit",
    "ProbitFull",
    "SecondOrderPerceptron",
    "SecondOrderPerceptronDiagonal",
    "UnevenMarginPerceptron",
]
