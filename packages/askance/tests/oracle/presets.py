"""The papers' names: an update, a query, and whatever parameters the two ask for by name."""

import inspect
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from . import queries as q
from . import updates as u
from .play import play, prepare

PASSIVE = {
    "PE": (u.Perceptron, q.always),
    "PA": (u.PassiveAggressive, q.always),
    "PA-I": (u.PassiveAggressive1, q.always),
    "PA-II": (u.PassiveAggressive2, q.always),
    "CW-diag": (u.ConfidenceWeighted, q.always),
    "PAUM": (u.UnevenMarginPerceptron, q.always),
    "CPA": (u.PredictionBasedPassiveAggressive, q.always),
}
PAPER_1 = {
    "RPE": (u.Perceptron, q.random),
    "RPA": (u.PassiveAggressive, q.random),
    "RPA-I": (u.PassiveAggressive1, q.random),
    "RPA-II": (u.PassiveAggressive2, q.random),
    "CSRND": (u.CostSensitivePassiveAggressive, q.random),
    "PEA": (u.Perceptron, q.margin),
    "SEL-ada": (u.Perceptron, q.mistake_driven_margin),
    "SEL-2nd": (u.SecondOrderPerceptron, q.margin),
    "SOP-diag": (u.SecondOrderPerceptronDiagonal, q.margin),
    "PAA": (u.PassiveAggressive, q.margin),
    "PAA-I": (u.PassiveAggressive1, q.margin),
    "PAA-II": (u.PassiveAggressive2, q.margin),
    "CSPAA": (u.CostSensitivePassiveAggressive, q.margin),
    "CSPAA(a)": (u.CostSensitivePassiveAggressive, q.decreasing_margin),
}
PAPER_1_MULTI_CLASS = {
    "MRPE": (u.MPerceptron, q.random),
    "MRPA": (u.MPassiveAggressive, q.random),
    "MRPA-I": (u.MPassiveAggressive1, q.random),
    "MRPA-II": (u.MPassiveAggressive2, q.random),
    "MPEA": (u.MPerceptron, q.margin),
    "MPAA": (u.MPassiveAggressive, q.margin),
    "MPAA-I": (u.MPassiveAggressive1, q.margin),
    "MPAA-II": (u.MPassiveAggressive2, q.margin),
}
PAPER_2 = {
    "DA": (u.DualAveraging, q.always),
    "MD": (u.MirrorDescent, q.always),
    "R-ADA": (u.DualAveraging, q.random),
    "M-ADA": (u.DualAveraging, q.function_value),
    "D-ADA": (u.DualAveraging, q.discriminative),
    "D-ADA-I": (u.DualAveraging, q.discriminative_unscaled),
    "R-AMD": (u.MirrorDescent, q.random),
    "M-AMD": (u.MirrorDescent, q.function_value),
    "D-AMD": (u.MirrorDescent, q.discriminative),
    "D-AMD-I": (u.MirrorDescent, q.discriminative_unscaled),
}
OF_ALL_CLASSES = {u.DualAveraging: u.MDualAveraging, u.MirrorDescent: u.MMirrorDescent}
PAPER_2_MULTI_CLASS = {"M" + name: (OF_ALL_CLASSES[rule], query) for name, (rule, query) in PAPER_2.items()}
PAPER_3 = {
    "SOL": (u.AdaptiveRegularization, q.always),
    "SORL": (u.AdaptiveRegularization, q.random),
    "SOAL-M": (u.AdaptiveRegularization, q.margin),
    "SOAL": (u.AdaptiveRegularization, q.variance),
    "SOL-diag": (u.AdaptiveRegularizationDiagonal, q.always),
    "SORL-diag": (u.AdaptiveRegularizationDiagonal, q.random),
    "SOAL-M-diag": (u.AdaptiveRegularizationDiagonal, q.margin),
    "SOAL-diag": (u.AdaptiveRegularizationDiagonal, q.variance),
    "SOAL-AUC": (u.PairwiseAdaptiveDiagonal, q.variance),
}
PAPER_4 = {
    "OAAL": (u.PassiveAggressive1, q.asymmetric_margin),
    "SOAL-CS": (u.CostSensitiveAdaptive, q.variance),
    "OA3": (u.AsymmetricAdaptive, q.asymmetric_variance),
    "OA3-diag": (u.AsymmetricAdaptiveDiagonal, q.asymmetric_variance),
    "SOA3": (u.AsymmetricAdaptiveSketched, q.asymmetric_variance),
    "SSOA3": (u.AsymmetricAdaptiveSparseSketched, q.asymmetric_variance),
}
PAPER_5 = {
    "UOAL-entropy": (u.Probit, q.entropy),
    "UOAL-margin": (u.Probit, q.function_value),
    "UOAL-random": (u.Probit, q.random),
    "BOAL-entropy": (u.ProbitBiased, q.entropy),
    "BOAL-margin": (u.ProbitBiased, q.function_value),
    "BOAL-random": (u.ProbitBiased, q.random),
}
MULTI_CLASS = PAPER_1_MULTI_CLASS | PAPER_2_MULTI_CLASS
PRESETS = PASSIVE | PAPER_1 | PAPER_2 | PAPER_3 | PAPER_4 | PAPER_5 | MULTI_CLASS


def _parameters(rule):
    return [name for name in inspect.signature(rule).parameters if name not in ("d", "classes", "event")]


def parameters_of(name):
    """The parameters of a preset, in no particular order."""
    rule, query = PRESETS[name]
    return sorted({*_parameters(rule), *_parameters(query)})


def build(rule, query, d, k, parameters):
    """Hand each of the two what it asks for; k is the number of classes."""
    known = {"classes": k, **parameters}
    wanted = [name for name in inspect.signature(rule).parameters if name != "d" and name in known]
    update = rule(d, **{name: known[name] for name in wanted})
    return update, partial(query, **{name: parameters[name] for name in _parameters(query)})


@threadpool_limits.wrap(limits=1)  # small matrices are many times slower on several threads
def run(name, X, y, seed, budget=None, normalize=None, intercept=False, classes=None, **parameters):
    """Play a stream with a named algorithm, or with an (update, query) pair."""
    rule, query = PRESETS[name] if isinstance(name, str) else name
    classes = np.unique(y) if classes is None else classes
    X = prepare(X, normalize, intercept)
    result = play(*build(rule, query, X.shape[1], len(classes), parameters), X, y, classes, seed, budget)
    if intercept:
        result.coef, result.intercept = result.coef[:, :-1], result.coef[:, -1] + result.intercept
    return result
