"""Adaptive regularisation, symmetric (SOAL) and asymmetric (OA3), full and diagonal.

Paper 3, Eq. 1-5, and paper 4, Algorithm 2. The weights have mean mu and covariance S, which starts as the identity.
On an answer with hinge loss 1 - y p > 0, for v = x^T S x:

    S -= S x x^T S / (gamma + v),     then     mu += eta rho_y y S x     with the new S,

where rho_y = 1 in SOAL, and in OA3 rho for the second class and 1 for the first: rare positives take larger steps.

SOAL-CS, with which paper 4 compares, is an inference: the paper prints no update for it, and w8a's printed numbers
speak for this one. It has the cost in the margin instead: an answer is learned if rho_y - y p > 0, with SOAL's step.

Paper 3 also prints the step along the old S (Eq. 2), mu += eta y S x before S shrinks, which is AROW's direction, and
goes on with the one above (Eq. 3) as the more accurate. ``old_covariance=True`` is Eq. 2.

Diagonal. SOAL keeps the diagonal of the step above, with one denominator for all coordinates; OA3 that of the
inverse, a denominator for each:

    SOAL-diag    S_i -= (S_i x_i)^2 / (gamma + sum_j S_j x_j^2)        paper 3, Eq. 4
    OA3-diag     1 / S_i += x_i^2 / gamma                              as the authors' code does

Forgetting (ours, diagonal only): before an answer is learned, the variances of its features are divided by ``decay``,
up to the 1 they started with, as ``Probit``'s ``local_decay`` does. A full covariance has no such bound that could be
kept in O(d^2), and directions without events would grow without end; so it does not forget.

Notes
-----
Paper 3 moves along the new S, where AROW moves along the old one; so S shrinks first. Since
S_new x = gamma / (gamma + v) S x, the mean needs no second product with the matrix.
Before 0.2 the preset SOAL-CS was ``AsymmetricAdaptive`` asked by ``Variance``, with the cost in the step as in OA3.
That is no paper's algorithm, but a good one: on w8a its sum is 82.8.
SOAL-diag's difference is computed as S_i (gamma + v - S_i x_i^2) / (gamma + v), which cannot become negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askance.learner.covariance import PRODUCT, inflate_covariance, multiply, quadratic_form, shrink, start_covariance
from askance.learner.rule import Kernels, UpdateRule, positive, share
from askance.learner.sparse import (
    VARIANCE,
    WEIGHT,
    dot,
    forget_variances,
    inflate_diagonal,
    linear_margin,
    margin_and_variance,
    side,
    sign,
    variance_of,
)
from askance.learner.state import Score, State

__all__ = [
    "AdaptiveRegularization",
    "AdaptiveRegularizationDiagonal",
    "AsymmetricAdaptive",
    "AsymmetricAdaptiveDiagonal",
    "CostSensitiveAdaptive",
]

# --- full ------------------------------------------------------------------------------------------------


def margin_and_full_variance(parameters, state, event):
    margin = dot(state.table, event)
    return Score(side(margin), margin, quadratic_form(state, event))


def adapt_full(state, event, step, regulariser, weight, along_old):
    """S shrinks, and mu += step S x, along the new S or the old one; an event of half the weight has twice the gamma
    and half the step."""
    regulariser /= weight
    variance = multiply(state, event)
    if variance > 0.0:
        step *= weight * (1.0 if along_old else regulariser / (regulariser + variance))
        for k in range(state.matrix.shape[0]):
            state.table[k, WEIGHT, 0] += step * state.work[PRODUCT, k]
        shrink(state, regulariser + variance)


def learn_full(parameters, state, event, answer, prediction, weight):
    rate = parameters[0]  # eta
    regulariser = parameters[1]  # gamma
    if sign(answer) * prediction.margin < 1.0:
        adapt_full(state, event, rate * sign(answer), regulariser, weight, False)


def learn_full_along_old(parameters, state, event, answer, prediction, weight):
    rate = parameters[0]  # eta
    regulariser = parameters[1]  # gamma
    if sign(answer) * prediction.margin < 1.0:
        adapt_full(state, event, rate * sign(answer), regulariser, weight, True)


def learn_full_cost_sensitive(parameters, state, event, answer, prediction, weight):
    rate = parameters[0]  # eta
    regulariser = parameters[1]  # gamma
    wanted = parameters[2] if answer == 1 else 1.0  # rho_y
    if sign(answer) * prediction.margin < wanted:
        adapt_full(state, event, rate * sign(answer), regulariser, weight, False)


def learn_full_asymmetric(parameters, state, event, answer, prediction, weight):
    rate = parameters[0]  # eta
    regulariser = parameters[1]  # gamma
    importance = parameters[2] if answer == 1 else 1.0  # rho_y
    if sign(answer) * prediction.margin < 1.0:
        adapt_full(state, event, rate * importance * sign(answer), regulariser, weight, False)


# --- diagonal --------------------------------------------------------------------------------------------


def adapt_diagonal(state, event, step, regulariser, weight, along_old):
    """As ``adapt_full``, of the diagonal alone."""
    regulariser /= weight
    variance = variance_of(state.table, event)
    step *= weight
    for i in range(event.start, event.stop):
        column = event.columns[i]
        value = event.values[i]
        old = state.table[column, VARIANCE, 0]
        others = max(0.0, variance - old * (value * value))
        new = old * ((regulariser + others) / (regulariser + variance))
        state.table[column, VARIANCE, 0] = new
        state.table[column, WEIGHT, 0] += step * (old if along_old else new) * value


def learn_diagonal(parameters, state, event, answer, prediction, weight):
    rate = parameters[0]  # eta
    regulariser = parameters[1]  # gamma
    if sign(answer) * prediction.margin < 1.0:
        adapt_diagonal(state, event, rate * sign(answer), regulariser, weight, False)


def learn_diagonal_along_old(parameters, state, event, answer, prediction, weight):
    rate = parameters[0]  # eta
    regulariser = parameters[1]  # gamma
    if sign(answer) * prediction.margin < 1.0:
        adapt_diagonal(state, event, rate * sign(answer), regulariser, weight, True)


def learn_diagonal_asymmetric(parameters, state, event, answer, prediction, weight):
    rate = parameters[0]  # eta
    regulariser = parameters[1] / weight  # gamma
    importance = parameters[2] if answer == 1 else 1.0  # rho_y
    if sign(answer) * prediction.margin < 1.0:
        step = weight * rate * importance * sign(answer)
        for i in range(event.start, event.stop):
            column = event.columns[i]
            value = event.values[i]
            old = state.table[column, VARIANCE, 0]
            new = old / (1.0 + old * (value * value) / regulariser)
            state.table[column, VARIANCE, 0] = new
            state.table[column, WEIGHT, 0] += step * new * value


def forget_diagonal(parameters, state, event):
    forget_variances(state.table, event, parameters[2], 1.0)  # decay


def forget_asymmetric(parameters, state, event):
    forget_variances(state.table, event, parameters[3], 1.0)  # decay


# --- the rules -------------------------------------------------------------------------------------------


class FullCovariance(UpdateRule):
    """A rule whose state is a mean and a full covariance matrix that starts as the identity."""

    is_local: ClassVar = False

    def start(self, n_features: int, n_classes: int) -> State:
        return start_covariance(type(self).__name__, n_features, 1.0)

    def inflate_variances(self, state: State, share: float) -> None:
        inflate_covariance(state, share)


class DiagonalCovariance(UpdateRule):
    """A rule whose state is a mean and a variance per feature that starts at one."""

    def start_values(self) -> tuple[float, ...]:
        return (0.0, 1.0)

    def inflate_variances(self, state: State, share: float) -> None:
        inflate_diagonal(state.table, share, 1.0)


@dataclass
class AdaptiveRegularization(FullCovariance):
    """Mean and full covariance of the weights; familiar directions move less (SOAL). O(d^2) per answer.

    Parameters
    ----------
    eta : float, default 1.0
        The step size of the mean.
    gamma : float, default 1.0
        The regulariser of the covariance: the smaller, the faster the variances shrink.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.
    old_covariance : bool, default False
        Move the mean along the covariance as it was before the answer (Eq. 2 of paper 3).

    Examples
    --------
    >>> import askance
    >>> clf = askance.make("SOL", classes=[-1, 1])
    >>> clf.partial_fit([[1.0, 1.0]], [1]).coef_.round(4)
    array([[0.3333, 0.3333]])
    """

    eta: float = positive(1.0)
    gamma: float = positive(1.0)
    weighted: bool = False
    old_covariance: bool = False

    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_full, score=margin_and_full_variance)

    def kernels(self, n_classes: int) -> Kernels:
        kernels = super().kernels(n_classes)
        return kernels._replace(learn=learn_full_along_old) if self.old_covariance else kernels


@dataclass
class AdaptiveRegularizationDiagonal(DiagonalCovariance):
    """Mean and variance of each weight; familiar features move less (SOAL-diag). O(nnz) per event.

    Parameters
    ----------
    eta : float, default 1.0
        The step size of the mean.
    gamma : float, default 1.0
        The regulariser of the variances: the smaller, the faster they shrink.
    decay : float, default 1.0
        How much of what is known of a feature an answer keeps, in (0, 1]; below 1 the model follows a changing world.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.
    old_covariance : bool, default False
        Move the mean along the variances as they were before the answer (Eq. 2 of paper 3).

    Examples
    --------
    >>> import askance
    >>> clf = askance.make("SOL-diag", classes=[-1, 1])
    >>> clf.partial_fit([[1.0, 1.0]], [1]).coef_.round(4)
    array([[0.6667, 0.6667]])
    """

    eta: float = positive(1.0)
    gamma: float = positive(1.0)
    decay: float = share(1.0)
    weighted: bool = False
    old_covariance: bool = False

    binary: ClassVar = Kernels(linear_margin, learn_diagonal, margin_and_variance, forget_diagonal)

    def kernels(self, n_classes: int) -> Kernels:
        kernels = super().kernels(n_classes)
        return kernels._replace(learn=learn_diagonal_along_old) if self.old_covariance else kernels


@dataclass
class CostSensitiveAdaptive(FullCovariance):
    """Adaptive regularisation with a wider margin for the second class (SOAL-CS). O(d^2) per answer.

    An inference: paper 4 compares with SOAL-CS and prints no update for it.

    Parameters
    ----------
    eta : float, default 1.0
        The step size of the mean.
    gamma : float, default 1.0
        The regulariser of the covariance.
    rho : float, default 1.0
        The margin wanted of the second class; 1 is that of the first.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.

    Examples
    --------
    >>> import askance
    >>> clf = askance.make("SOAL-CS", rho=3.0, eta=4.5, classes=[-1, 1])
    >>> clf.partial_fit([[1.0, 1.0], [1.0, 0.0]], [1, 1]).coef_.round(4)  # 1.5, and below 3: learned as well
    array([[3.3, 0.6]])
    """

    eta: float = positive(1.0)
    gamma: float = positive(1.0)
    rho: float = positive(1.0)
    weighted: bool = False

    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_full_cost_sensitive, score=margin_and_full_variance)


@dataclass
class AsymmetricAdaptive(FullCovariance):
    """Adaptive regularisation with larger steps for the second class (OA3). O(d^2) per answer.

    Parameters
    ----------
    eta : float, default 1.0
        The step size of the mean.
    gamma : float, default 1.0
        The regulariser of the covariance.
    rho : float, default 1.0
        Weight of the second class: (alpha_p T_n) / (alpha_n T_p) for the ``sum`` metric, c_p / c_n for ``cost``.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.

    Examples
    --------
    >>> import askance
    >>> clf = askance.make("OA3", rho=3.0, classes=[-1, 1])
    >>> clf.partial_fit([[1.0, 1.0]], [1]).coef_.round(4)
    array([[1., 1.]])
    """

    eta: float = positive(1.0)
    gamma: float = positive(1.0)
    rho: float = positive(1.0)
    weighted: bool = False

    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_full_asymmetric, score=margin_and_full_variance)


@dataclass
class AsymmetricAdaptiveDiagonal(DiagonalCovariance):
    """Asymmetric adaptive regularisation, a variance per weight (OA3-diag). O(nnz) per event.

    Parameters
    ----------
    eta : float, default 1.0
        The step size of the mean.
    gamma : float, default 1.0
        The regulariser of the variances.
    rho : float, default 1.0
        Weight of the second class: (alpha_p T_n) / (alpha_n T_p) for the ``sum`` metric, c_p / c_n for ``cost``.
    decay : float, default 1.0
        How much of what is known of a feature an answer keeps, in (0, 1]; below 1 the model follows a changing world.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.

    Examples
    --------
    >>> import askance
    >>> clf = askance.make("OA3-diag", rho=3.0, classes=[-1, 1])
    >>> clf.partial_fit([[1.0, 1.0]], [1]).coef_
    array([[1.5, 1.5]])
    """

    eta: float = positive(1.0)
    gamma: float = positive(1.0)
    rho: float = positive(1.0)
    decay: float = share(1.0)
    weighted: bool = False

    binary: ClassVar = Kernels(linear_margin, learn_diagonal_asymmetric, margin_and_variance, forget_asymmetric)
