"""The second-order perceptron, full and diagonal.

Papers 1 (SEL-2nd), 2 (SOP) and 3 (ASOP), after Cesa-Bianchi, Conconi and Gentile, SIAM J. Comput. 34 (2005).
With s the sum of y x and A = a I + the sum of x x^T, both over past mistakes, the margin counts the event itself in:

    p = s^T (A + x x^T)^-1 x,         diagonal:   p = sum_i s_i x_i / (A_i + x_i^2)
    on a mistake:   s += y x,   A += x x^T,         diagonal:   A_i += x_i^2

Notes
-----
Full: we keep S = A^-1 and w = S s. With v = x^T S x the margin is w.x / (1 + v), and a mistake moves w by
(y - w.x) / (1 + v) S x before S shrinks by S x x^T S / (1 + v). ``coef_`` is w; v is the variance query rules read.
Diagonal: what is kept per feature is s_i and A_i. The variance is sum_i x_i^2 / A_i, and ``coef_`` is s_i / A_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askance.learner.covariance import PRODUCT, multiply, quadratic_form, shrink, start_covariance
from askance.learner.rule import Kernels, UpdateRule, positive
from askance.learner.sparse import WEIGHT, column_at, dot, side, sign
from askance.learner.state import Score, State

__all__ = ["SecondOrderPerceptron", "SecondOrderPerceptronDiagonal"]

SQUARES = 1  # A_i, beside s_i in the place of the weight


def full_margin(parameters, state, event):
    along = dot(state.table, event)
    variance = quadratic_form(state, event)
    margin = along / (1.0 + variance)
    return Score(side(margin), margin, variance)


def learn_full(parameters, state, event, answer, prediction, weight):
    if prediction.predicted != answer:
        along = dot(state.table, event)
        variance = multiply(state, event)
        if variance > 0.0:
            step = weight * (sign(answer) - along) / (1.0 + weight * variance)
            for k in range(state.matrix.shape[0]):
                state.table[k, WEIGHT, 0] += step * state.work[PRODUCT, k]
            shrink(state, 1.0 / weight + variance)


def diagonal_margin(parameters, state, event):
    table = state.table
    margin = 0.0
    variance = 0.0
    for i in range(event.start, event.stop):
        column = column_at(table, event, i)
        value = event.values[i]
        square = value * value
        squares = table[column, SQUARES, 0]
        margin += table[column, WEIGHT, 0] * (value / (squares + square))
        variance += square / squares
    return Score(side(margin), margin, variance)


def learn_diagonal(parameters, state, event, answer, prediction, weight):
    if prediction.predicted != answer:
        for i in range(event.start, event.stop):
            column = event.columns[i]
            value = event.values[i]
            state.table[column, WEIGHT, 0] += weight * sign(answer) * value
            state.table[column, SQUARES, 0] += weight * value * value


@dataclass
class SecondOrderPerceptron(UpdateRule):
    """A perceptron in the geometry of its past mistakes. O(d^2) per event.

    Parameters
    ----------
    a : float, default 1.0
        The ridge: how much evidence it takes before a direction counts as familiar.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.

    Examples
    --------
    >>> import askance
    >>> rule = SecondOrderPerceptron(a=1.0)
    >>> clf = askance.ActiveClassifier(update=rule, query=askance.queries.Always(), classes=[-1, 1])
    >>> clf.partial_fit([[1.0, 0.0]], [-1]).decision_function([[1.0, 0.0]]).round(4)
    array([-0.3333])
    """

    a: float = positive(1.0)
    weighted: bool = False

    binary: ClassVar = Kernels(margin=full_margin, learn=learn_full, score=full_margin)
    is_local: ClassVar = False

    def start(self, n_features: int, n_classes: int) -> State:
        return start_covariance(type(self).__name__, n_features, 1.0 / self.a)


@dataclass
class SecondOrderPerceptronDiagonal(UpdateRule):
    """The second-order perceptron with the diagonal of A alone. O(nnz) per event.

    Parameters
    ----------
    a : float, default 1.0
        The ridge: how much evidence it takes before a feature counts as familiar.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.

    Examples
    --------
    >>> import askance
    >>> clf = askance.make("SOP-diag", a=1.0, classes=[-1, 1])
    >>> clf.partial_fit([[1.0, 0.0]], [-1]).decision_function([[1.0, 0.0]]).round(4)
    array([-0.3333])
    """

    a: float = positive(1.0)
    weighted: bool = False

    binary: ClassVar = Kernels(margin=diagonal_margin, learn=learn_diagonal, score=diagonal_margin)

    def start_values(self) -> tuple[float, ...]:
        return (0.0, self.a)

    def coefficients(self, state: State) -> np.ndarray:
        return np.ascontiguousarray((state.table[:, WEIGHT] / state.table[:, SQUARES]).T)
