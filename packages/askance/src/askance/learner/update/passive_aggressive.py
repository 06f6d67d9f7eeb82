"""Passive-Aggressive updates.

Paper 1, Eq. 1, after Crammer et al., "Online Passive-Aggressive Algorithms", JMLR 7 (2006).

With hinge loss l = max(0, 1 - y p) for the margin p = w.x, the weights move by tau y x:

    PA       tau = l / ||x||^2
    PA-I     tau = min(C, l / ||x||^2)
    PA-II    tau = l / (||x||^2 + 1 / (2 C))

C is the cap, or softness, of one step: small values suit noisy labels. Two cost-sensitive relatives of PA-I weigh
the second class by rho (rho_y = rho for it, 1 for the first):

    CSPAA    l = max(0, rho_y - y p)                            paper 1, Eq. 9 and 11
    CPA      l = |p| + sqrt(rho_y), on a wrong prediction only   paper 1, §6.3.2

Multi-class (paper 1, §4), with the best score s_r among the wrong classes: l = max(0, 1 - (s_y - s_r)),
w^y += tau x, w^r -= tau x, where 2 ||x||^2 stands in place of ||x||^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

from askance.learner.rule import Kernels, UpdateRule, positive
from askance.learner.sparse import add, best_except, best_of, hinge_loss, linear_margin, move_apart, sign, squared_norm

__all__ = [
    "CostSensitivePassiveAggressive",
    "PassiveAggressive",
    "PassiveAggressive1",
    "PassiveAggressive2",
    "PredictionBasedPassiveAggressive",
]

# --- how far to move -------------------------------------------------------------------------------------


def full_step(loss, squared_length, weight):
    return weight * loss / squared_length


def capped_step(loss, squared_length, cap, weight):
    return min(weight * cap, loss / squared_length)


def soft_step(loss, squared_length, cap, weight):
    return weight * loss / (squared_length + 1.0 / (2.0 * cap))


# --- two classes -----------------------------------------------------------------------------------------


def learn_full(parameters, state, event, answer, prediction, weight):
    loss = max(0.0, 1.0 - sign(answer) * prediction.margin)
    if loss > 0.0:
        add(state.table, 0, event, sign(answer) * full_step(loss, squared_norm(event), weight))


def learn_capped(parameters, state, event, answer, prediction, weight):
    cap = parameters[0]  # C
    loss = max(0.0, 1.0 - sign(answer) * prediction.margin)
    if loss > 0.0:
        add(state.table, 0, event, sign(answer) * capped_step(loss, squared_norm(event), cap, weight))


def learn_soft(parameters, state, event, answer, prediction, weight):
    cap = parameters[0]  # C
    loss = max(0.0, 1.0 - sign(answer) * prediction.margin)
    if loss > 0.0:
        add(state.table, 0, event, sign(answer) * soft_step(loss, squared_norm(event), cap, weight))


def learn_cost_sensitive(parameters, state, event, answer, prediction, weight):
    cap = parameters[0]  # C
    wanted = parameters[1] if answer == 1 else 1.0  # rho_y
    loss = max(0.0, wanted - sign(answer) * prediction.margin)
    if loss > 0.0:
        add(state.table, 0, event, sign(answer) * capped_step(loss, squared_norm(event), cap, weight))


def learn_prediction_based(parameters, state, event, answer, prediction, weight):
    cap = parameters[0]  # C
    cost = parameters[1] if answer == 1 else 1.0  # rho_y
    if prediction.predicted != answer:
        loss = abs(prediction.margin) + sqrt(cost)
        add(state.table, 0, event, sign(answer) * capped_step(loss, squared_norm(event), cap, weight))


# --- more classes ----------------------------------------------------------------------------------------


def learn_full_of_many(parameters, state, event, answer, prediction, weight):
    rival = best_except(state.scores, answer)
    loss = hinge_loss(state.scores, answer, rival)
    if loss > 0.0:
        move_apart(state.table, answer, rival, event, full_step(loss, 2.0 * squared_norm(event), weight))


def learn_capped_of_many(parameters, state, event, answer, prediction, weight):
    cap = parameters[0]  # C
    rival = best_except(state.scores, answer)
    loss = hinge_loss(state.scores, answer, rival)
    if loss > 0.0:
        move_apart(state.table, answer, rival, event, capped_step(loss, 2.0 * squared_norm(event), cap, weight))


def learn_soft_of_many(parameters, state, event, answer, prediction, weight):
    cap = parameters[0]  # C
    rival = best_except(state.scores, answer)
    loss = hinge_loss(state.scores, answer, rival)
    if loss > 0.0:
        move_apart(state.table, answer, rival, event, soft_step(loss, 2.0 * squared_norm(event), cap, weight))


# --- the rules -------------------------------------------------------------------------------------------


@dataclass
class PassiveAggressive(UpdateRule):
    """Move just far enough to reach margin one.

    Parameters
    ----------
    per_class : bool, default False
        Keep one weight vector per class even for two classes, as the multi-class algorithms do.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.

    Examples
    --------
    >>> import askance
    >>> clf = askance.ActiveClassifier(update=PassiveAggressive(), query=askance.queries.Always(), classes=[-1, 1])
    >>> clf.partial_fit([[2.0, 0.0]], [1]).decision_function([[2.0, 1.0]])
    array([1.])
    """

    per_class: bool = False
    weighted: bool = False

    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_full)
    multiclass: ClassVar = Kernels(margin=best_of, learn=learn_full_of_many)


@dataclass
class PassiveAggressive1(UpdateRule):
    """Move just far enough to reach margin one, but never further than ``C``.

    Parameters
    ----------
    C : float, default 1.0
        Largest step one answer may cause.
    per_class : bool, default False
        Keep one weight vector per class even for two classes, as the multi-class algorithms do.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.

    Examples
    --------
    >>> import askance
    >>> rule = PassiveAggressive1(C=0.25)
    >>> clf = askance.ActiveClassifier(update=rule, query=askance.queries.Always(), classes=[-1, 1])
    >>> clf.partial_fit([[2.0, 0.0]], [1]).decision_function([[1.0, 1.0]])
    array([0.5])
    """

    C: float = positive(1.0)
    per_class: bool = False
    weighted: bool = False

    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_capped)
    multiclass: ClassVar = Kernels(margin=best_of, learn=learn_capped_of_many)


@dataclass
class PassiveAggressive2(UpdateRule):
    """Move towards margin one, the less eagerly the smaller ``C``.

    Parameters
    ----------
    C : float, default 1.0
        Softness of a step.
    per_class : bool, default False
        Keep one weight vector per class even for two classes, as the multi-class algorithms do.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.

    Examples
    --------
    >>> import askance
    >>> rule = PassiveAggressive2(C=0.5)
    >>> clf = askance.ActiveClassifier(update=rule, query=askance.queries.Always(), classes=[-1, 1])
    >>> clf.partial_fit([[1.0, 0.0]], [1]).decision_function([[1.0, 1.0]])
    array([0.5])
    """

    C: float = positive(1.0)
    per_class: bool = False
    weighted: bool = False

    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_soft)
    multiclass: ClassVar = Kernels(margin=best_of, learn=learn_soft_of_many)


@dataclass
class CostSensitivePassiveAggressive(UpdateRule):
    """PA-I that wants margin ``rho`` of the second class and margin one of the first (CSPAA).

    Parameters
    ----------
    C : float, default 1.0
        Largest step one answer may cause. The paper's bounds assume C >= rho.
    rho : float, default 1.0
        Weight of the second class: (alpha_p T_n) / (alpha_n T_p) for the ``sum`` metric, c_p / c_n for ``cost``.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.

    Examples
    --------
    >>> import askance
    >>> rule = CostSensitivePassiveAggressive(C=9.0, rho=9.0)
    >>> clf = askance.ActiveClassifier(update=rule, query=askance.queries.Always(), classes=[0, 1])
    >>> clf.partial_fit([[1.0]], [1]).decision_function([[1.0]])
    array([9.])
    """

    C: float = positive(1.0)
    rho: float = positive(1.0)
    weighted: bool = False

    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_cost_sensitive)


@dataclass
class PredictionBasedPassiveAggressive(UpdateRule):
    """Cost-sensitive PA-I that learns from wrong predictions only (CPA).

    Parameters
    ----------
    C : float, default 1.0
        Largest step one answer may cause.
    rho : float, default 1.0
        Cost of a missed event of the second class, in units of one of the first.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.

    Examples
    --------
    >>> import askance
    >>> rule = PredictionBasedPassiveAggressive(C=1.0, rho=4.0)
    >>> clf = askance.ActiveClassifier(update=rule, query=askance.queries.Always(), classes=[-1, 1])
    >>> clf.partial_fit([[1.0]], [-1]).coef_
    array([[-1.]])
    """

    C: float = positive(1.0)
    rho: float = positive(1.0)
    weighted: bool = False

    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_prediction_based)
