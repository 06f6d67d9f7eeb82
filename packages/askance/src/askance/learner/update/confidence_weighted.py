"""Confidence-Weighted learning, diagonal.

Paper 1, §6.3.2, after Crammer, Dredze and Pereira, "Exact Convex Confidence-Weighted Learning", NIPS 2008
(the standard-deviation form). Each weight is a normal variable with mean mu_i and variance S_i; an update is the
smallest change after which the event is on its side with probability at least Phi(phi). With m = y p,
v = sum S_i x_i^2, psi = 1 + phi^2 / 2 and zeta = 1 + phi^2:

    alpha = max(0, (-m psi + sqrt(m^2 phi^4 / 4 + v phi^2 zeta)) / (v zeta))
    a = alpha v phi,   sqrt(u) = (-a + sqrt(a^2 + 4 v)) / 2
    mu += alpha y S x,   1 / S_i += alpha phi x_i^2 / sqrt(u)

Notes
-----
Both differences are computed without cancellation: sqrt(u) as 2 v / (a + sqrt(a^2 + 4 v)), and, for m > 0, alpha
as (phi sqrt(v) - m) (phi sqrt(v) + m) / (v (m psi + sqrt(...))), which is the same number.
Where labels contradict each other, the variances shrink exponentially. They stop at ``LEAST_VARIANCE``: zero would be
the end of learning.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, sqrt
from typing import ClassVar

from askance.learner.rule import Kernels, UpdateRule, positive, share
from askance.learner.sparse import (
    VARIANCE,
    WEIGHT,
    forget_variances,
    inflate_diagonal,
    linear_margin,
    margin_and_variance,
    sign,
    variance_of,
)
from askance.learner.state import State

__all__ = ["ConfidenceWeighted"]

LEAST_VARIANCE = 1e-290


def smallest_step(margin, variance, confidence):
    """alpha."""
    deviation = sqrt(variance)
    psi = 1.0 + 0.5 * confidence * confidence
    zeta = 1.0 + confidence * confidence
    root = hypot(0.5 * margin * confidence * confidence, deviation * confidence * sqrt(zeta))
    if margin <= 0.0:
        return (root - margin * psi) / variance / zeta
    shortfall = confidence * deviation - margin
    if shortfall <= 0.0:
        return 0.0
    return shortfall / variance * ((confidence * deviation + margin) / (margin * psi + root))


def learn_confidently(parameters, state, event, answer, prediction, weight):
    confidence = parameters[0]  # phi
    variance = variance_of(state.table, event)
    if variance <= 0.0:
        return
    step = weight * smallest_step(sign(answer) * prediction.margin, variance, confidence)
    if step > 0.0:
        a = step * variance * confidence
        root_u = 2.0 * variance / (a + hypot(a, 2.0 * sqrt(variance)))
        gain = step * confidence / root_u
        for i in range(event.start, event.stop):
            column = event.columns[i]
            value = event.values[i]
            old = state.table[column, VARIANCE, 0]
            state.table[column, WEIGHT, 0] += step * sign(answer) * old * value
            state.table[column, VARIANCE, 0] = max(LEAST_VARIANCE, old / (1.0 + gain * value * value * old))


def forget_confidence(parameters, state, event):
    forget_variances(state.table, event, parameters[1], 1.0)  # decay


@dataclass
class ConfidenceWeighted(UpdateRule):
    """The smallest change of the weights' distribution that puts the event on its side (CW-diag).

    Parameters
    ----------
    phi : float, default 1.0
        The confidence wanted, in standard deviations: the event must be on its side with
        probability Phi(phi).
    decay : float, default 1.0
        How much of what is known of a feature an answer keeps, in (0, 1]; below 1 the model follows a changing world.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.

    Examples
    --------
    >>> import askance
    >>> rule = ConfidenceWeighted(phi=1.0)
    >>> clf = askance.ActiveClassifier(update=rule, query=askance.queries.Always(), classes=[-1, 1])
    >>> clf.partial_fit([[1.0]], [1]).coef_.round(4)
    array([[0.7071]])
    """

    phi: float = positive(1.0)
    decay: float = share(1.0)
    weighted: bool = False

    binary: ClassVar = Kernels(linear_margin, learn_confidently, margin_and_variance, forget_confidence)

    def start_values(self) -> tuple[float, ...]:
        return (0.0, 1.0)

    def inflate_variances(self, state: State, share: float) -> None:
        inflate_diagonal(state.table, share, 1.0)
