"""Perceptrons: the oldest update, and its version with uneven margins.

Paper 1, §3.1 (after Cesa-Bianchi et al., JMLR 7, 2006) and §6.3.2 (Li et al., 2002), for the margin p = w.x:

    Perceptron    if sign(p) differs from y:   w += y x
    PAUM          if y p <= tau_y:             w += eta y x

Multi-class (paper 1, §4): if the prediction r differs from y, w^y += x and w^r -= x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askance.learner.rule import Kernels, UpdateRule, finite, positive
from askance.learner.sparse import add, best_of, linear_margin, move_apart, sign

__all__ = ["Perceptron", "UnevenMarginPerceptron"]


def learn_from_mistake(parameters, state, event, answer, prediction, weight):
    if prediction.predicted != answer:
        add(state.table, 0, event, weight * sign(answer))


def learn_from_mistake_of_many(parameters, state, event, answer, prediction, weight):
    if prediction.predicted != answer:
        move_apart(state.table, answer, prediction.predicted, event, weight)


def learn_below_uneven_margin(parameters, state, event, answer, prediction, weight):
    margin_positive = parameters[0]  # tau_pos
    margin_negative = parameters[1]  # tau_neg
    rate = parameters[2]  # eta
    wanted = margin_positive if answer == 1 else margin_negative
    if sign(answer) * prediction.margin <= wanted:
        add(state.table, 0, event, weight * rate * sign(answer))


@dataclass
class Perceptron(UpdateRule):
    """Add a wrongly predicted event to the weights of its class.

    Parameters
    ----------
    per_class : bool, default False
        Keep one weight vector per class even for two classes, as the multi-class algorithms do.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.

    Examples
    --------
    >>> import askance
    >>> clf = askance.ActiveClassifier(update=Perceptron(), query=askance.queries.Always(), classes=[-1, 1])
    >>> clf.partial_fit([[2.0, 0.0], [0.0, 1.0]], [-1, 1]).coef_
    array([[-2.,  0.]])
    """

    per_class: bool = False
    weighted: bool = False

    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_from_mistake)
    multiclass: ClassVar = Kernels(margin=best_of, learn=learn_from_mistake_of_many)


@dataclass
class UnevenMarginPerceptron(UpdateRule):
    """Learn until each class lies beyond a margin of its own (PAUM).

    Parameters
    ----------
    tau_pos, tau_neg : float, default 1.0
        The margins wanted for the second and the first class. A larger margin for the rarer class
        makes the model more willing to predict it.
    eta : float, default 1.0
        The step size.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.

    Examples
    --------
    >>> import askance
    >>> rule = UnevenMarginPerceptron(tau_pos=2.0, tau_neg=0.5)
    >>> clf = askance.ActiveClassifier(update=rule, query=askance.queries.Always(), classes=[-1, 1])
    >>> clf.partial_fit([[1.0], [1.0], [1.0]], [1, 1, 1]).coef_
    array([[3.]])
    """

    tau_pos: float = finite(1.0)
    tau_neg: float = finite(1.0)
    eta: float = positive(1.0)
    weighted: bool = False

    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_below_uneven_margin)
