"""Bayesian probit regression by moment matching, with importance weights and forgetting.

Paper 5, §3; first with a variance per feature. The weights are normal with means m_i and variances S_i (at first 0 and
s_0), and
P(+1 | x) = Phi(p / sqrt(v + 1)) with p = m.x and v = sum S_i x_i^2. For z = y p / sqrt(v + 1) and
r = phi(z) / Phi(z), the first two moments of the posterior are

    m1 = m + alpha S x,           alpha = y r / sqrt(v + 1)
    S1 = S - delta (S x)^2,       delta = r (r + z) / (v + 1)                         (Eq. 7 and 8)

and with importance weight beta (§3.1) and memory factor gamma (§3.2, ``decay``), which raises the whole prior to the
power gamma, for every coordinate, also where x_i = 0 and so S1 = S,

    precision = beta / S1 + (gamma - beta) / S,     S_new = min(s_max, 1 / precision),
    m_new = (beta m1 / S1 + (gamma - beta) m / S) / precision.

The paper has no s_max. Here it is ``max_variance_ratio`` s_0, by default 10^12 s_0, which keeps the numbers finite.

Forgetting where x_i = 0 is S_i / gamma, with m_i unchanged. It is done when the feature is next read: beside S_i stands
the number of answers after which it was written, its stamp, and with k answers since then it is read as
min(s_max, S_i / gamma^k). So an event costs O(nnz), whatever the number of features.

``local_decay``, lambda, is ours and older: only the answer's own features forget, which keep gamma lambda in place of
gamma. Rare features are then remembered for longer than frequent ones. Where gamma = 1, s_max is s_0.

Full covariance (``ProbitFull``; the paper gives it and goes on with the diagonal). With Sx = S x, v = x^T S x and
c = delta v, Eq. 7, 8, 11 and 12 are

    m += beta alpha Sx / (1 - c + beta c),        S -= Sx Sx^T beta delta / (1 - c + beta c).

It does not forget: directions without events would grow without end, and to bound them costs more than O(d^2).

Notes
-----
The paper prints 1 / sqrt(v + 1) in delta. The exact moment has 1 / (v + 1); the printed one gives negative variances.
With ``max_variance_ratio=1`` forgetting never makes a weight less certain than it was at the start. So it was before
the parameter was there, and models from that time keep it (``fill_in_earlier``).
An answer whose event has no features is not learned, and makes nothing forgotten.
If gamma is changed as the stream goes, a feature that is read next takes its new value for all answers since its stamp.

With c = delta S x^2, which lies in [0, 1), the last three formulas are, without cancellation,

    S_new = S (1 - c) / (gamma (1 - c) + beta c),     m_new = m + beta alpha S x / (gamma (1 - c) + beta c).

r is accurate for every z: from erfc where that does not cancel, and from Laplace's continued fraction
-z + 1 / (-z + 2 / (-z + 3 / ...)) below z = -5, which gives the small numbers r + z and 1 - r (r + z) directly.
1 - c is put together from 1 - r (r + z) and the share of v that lies in other coordinates, so that it stays above 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, exp, pi, sqrt
from typing import Any, ClassVar

import numpy as np

from askance.learner.covariance import PRODUCT, inflate_covariance, multiply, shrink, start_covariance
from askance.learner.rule import Kernels, UpdateRule, parameter, positive, share
from askance.learner.sparse import (
    VARIANCE,
    WEIGHT,
    column_at,
    inflate_diagonal,
    margin_and_variance,
    side,
    sign,
    variance_of,
)
from askance.learner.state import Event, Score, State, fresh_state
from askance.learner.update.adaptive import margin_and_full_variance

__all__ = ["Probit", "ProbitFull"]

ROOT_HALF = sqrt(0.5)
ROOT_TWO_OVER_PI = sqrt(2.0 / pi)
FAR = -5.0  # below this z the continued fraction serves ...
TERMS = 60  # ... and this many of its terms are exact to the last digit


def hazard(z):
    """r = phi(z) / Phi(z), then r + z, then 1 - r (r + z)."""
    if z > FAR:
        ratio = ROOT_TWO_OVER_PI * exp(-0.5 * z * z) / erfc(-z * ROOT_HALF)
        return ratio, ratio + z, 1.0 - ratio * (ratio + z)
    deeper = -z
    for term in range(TERMS, 2, -1):
        deeper = -z + term / deeper
    excess = 1.0 / (-z + 2.0 / deeper)
    return -z + excess, excess, excess * (2.0 / deeper - excess)


def learn_moments(parameters, state, event, answer, prediction, weight):
    largest_variance = parameters[0]  # s_max
    memory = parameters[1]  # gamma lambda
    label = sign(answer)
    variance = variance_of(state.table, event)
    total_variance = variance + 1.0
    ratio, excess, slack = hazard(label * prediction.margin / sqrt(total_variance))
    shift = label * ratio / sqrt(total_variance)  # alpha
    shrinkage = ratio * excess  # delta (v + 1)
    inverse = 1.0 / total_variance
    for i in range(event.start, event.stop):
        column = event.columns[i]
        value = event.values[i]
        old = state.table[column, VARIANCE, 0]
        own = old * (value * value)
        others = max(0.0, variance - own)
        lost = shrinkage * (own * inverse)  # c
        kept = (1.0 + others + slack * own) * inverse  # 1 - c
        scale = 1.0 / (memory * kept + weight * lost)
        state.table[column, WEIGHT, 0] += weight * shift * (old * value) * scale
        state.table[column, VARIANCE, 0] = min(largest_variance, old * (kept * scale))


# --- full ------------------------------------------------------------------------------------------------


def learn_full_moments(parameters, state, event, answer, prediction, weight):
    """m += beta alpha Sx / (1 - c + beta c),     S -= Sx Sx^T beta delta / (1 - c + beta c)."""
    label = sign(answer)
    variance = multiply(state, event)
    if variance > 0.0:
        total_variance = variance + 1.0
        ratio, excess, slack = hazard(label * prediction.margin / sqrt(total_variance))
        shift = label * ratio / sqrt(total_variance)  # alpha
        shrinkage = ratio * excess / total_variance  # delta
        kept = (1.0 + slack * variance) / total_variance  # 1 - c
        scale = weight / (kept + weight * shrinkage * variance)
        for k in range(state.table.shape[0]):
            state.table[k, WEIGHT, 0] += scale * shift * state.work[PRODUCT, k]
        if shrinkage > 0.0:
            shrink(state, 1.0 / (scale * shrinkage))


# --- a memory factor for the whole prior -----------------------------------------------------------------

STAMP = 2  # its place among the numbers of a feature, after weight and variance
CLOCK = 0  # in state.extra: how many answers there were


def fade(variance, answers, memory, largest_variance):
    """min(s_max, S / gamma^k), also where gamma^k is no longer distinguished from 0."""
    kept = memory**answers
    return variance / kept if variance < largest_variance * kept else largest_variance


def margin_and_faded_variance(parameters, state, event):
    largest_variance = parameters[0]  # s_max
    memory = parameters[2]  # gamma
    table = state.table
    margin = 0.0
    variance = 0.0
    for i in range(event.start, event.stop):
        column = column_at(table, event, i)
        value = event.values[i]
        margin += table[column, WEIGHT, 0] * value
        since = state.extra[CLOCK] - table[column, STAMP, 0]
        variance += fade(table[column, VARIANCE, 0], since, memory, largest_variance) * (value * value)
    return Score(side(margin), margin, variance)


def fade_variances(parameters, state, event):
    """Write down what the event's features have forgotten since they were last written."""
    largest_variance = parameters[0]  # s_max
    memory = parameters[2]  # gamma
    table = state.table
    for i in range(event.start, event.stop):
        column = event.columns[i]
        since = state.extra[CLOCK] - table[column, STAMP, 0]
        table[column, VARIANCE, 0] = fade(table[column, VARIANCE, 0], since, memory, largest_variance)
        table[column, STAMP, 0] = state.extra[CLOCK]


def learn_and_stamp(parameters, state, event, answer, prediction, weight):
    """The event's features forget and learn at once, as ``learn_moments`` does; the others will, by their stamps."""
    learn_moments(parameters, state, event, answer, prediction, weight)
    state.extra[CLOCK] += 1.0
    for i in range(event.start, event.stop):
        state.table[event.columns[i], STAMP, 0] = state.extra[CLOCK]


# --- the rules -------------------------------------------------------------------------------------------

GUARD = 1e12


def fill_in_earlier(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a ``Probit`` that was saved before some of them were there, so that it goes on as it did.

    First ``decay`` was what ``local_decay`` is now; then no variance grew beyond the prior's.

    >>> fill_in_earlier({"decay": 0.9})
    {'decay': 1.0, 'local_decay': 0.9, 'max_variance_ratio': 1.0}
    """
    if "local_decay" not in parameters:
        parameters = {**parameters, "decay": 1.0, "local_decay": parameters["decay"]}
    return parameters if "max_variance_ratio" in parameters else {**parameters, "max_variance_ratio": 1.0}


@dataclass
class Probit(UpdateRule):
    """Bayesian probit: no step size, a probability for every prediction, answers weighed as they were sampled.

    Parameters
    ----------
    prior_variance : float, default 1.0
        The variance of each weight before the first answer.
    decay : float, default 1.0
        The paper's memory factor gamma: how much of all that is known an answer keeps, in (0, 1]; below 1 the model
        follows a changing world. Once learning has begun it can be changed, but not from or to 1.
    local_decay : float, default 1.0
        How much of what is known of its own features an answer keeps, in (0, 1]: what ``decay`` is in the other rules.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking (unbiased, UOAL),
        rather than with 1 (biased, BOAL).
    as_printed : bool, default False
        Take the weight in one step, as the paper does: with large weights it overshoots. Otherwise an answer of weight
        three is learned as three answers are.
    max_variance_ratio : float, default 1e12
        The largest variance to which ``decay`` raises a weight's, as a multiple of ``prior_variance``, from 1 to 1e12.
        The paper has no limit, and the default keeps numbers finite; with 1 no weight becomes less certain than it was
        at first. ``local_decay`` without ``decay`` stops at ``prior_variance``.

    Examples
    --------
    >>> import askance
    >>> clf = askance.ActiveClassifier(update=Probit(), query=askance.queries.Always(), classes=["ham", "spam"])
    >>> clf.partial_fit([[1.0, 0.0]], ["spam"]).predict_proba([[1.0, 0.0], [0.0, 1.0]]).round(4)
    array([[0.3318, 0.6682],
           [0.5   , 0.5   ]])
    """

    prior_variance: float = positive(1.0)
    decay: float = share(1.0)
    local_decay: float = share(1.0)
    weighted: bool = False
    as_printed: bool = False
    max_variance_ratio: float = parameter(GUARD, "a number from 1 to 1e12", lambda value: 1.0 <= value <= GUARD)

    probabilistic: ClassVar = True
    binary: ClassVar = Kernels(margin=margin_and_variance, learn=learn_moments, score=margin_and_variance)
    fading: ClassVar = Kernels(margin_and_faded_variance, learn_and_stamp, margin_and_faded_variance, fade_variances)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(fill_in_earlier(state))

    @property
    def takes_weights(self) -> bool:
        return self.as_printed

    @property
    def is_fading(self) -> bool:
        """Whether features forget with answers that do not have them, so that each needs a stamp."""
        return self.decay < 1.0

    def kernels(self, n_classes: int) -> Kernels:
        kernels = super().kernels(n_classes)
        return self.fading if self.is_fading else kernels

    def parameters(self) -> np.ndarray:
        """s_max, gamma lambda and gamma."""
        largest_variance = self.prior_variance * (self.max_variance_ratio if self.is_fading else 1.0)
        return np.array([largest_variance, self.decay * self.local_decay, self.decay], dtype=float)

    def start_values(self) -> tuple[float, ...]:
        return (0.0, self.prior_variance, 0.0) if self.is_fading else (0.0, self.prior_variance)

    def start(self, n_features: int, n_classes: int) -> State:
        return fresh_state(n_features, 1, self.start_values(), extra=1 if self.is_fading else 0)

    def layout(self, n_classes: int) -> tuple[object, ...]:
        return (*super().layout(n_classes), self.is_fading)

    def inflate_variances(self, state: State, share: float) -> None:
        if self.is_fading:
            every = np.arange(len(state.table))
            fade_variances(self.parameters(), state, Event(every, every, 0, len(every)))
        inflate_diagonal(state.table, share, np.maximum(self.prior_variance, state.table[:, VARIANCE]))


@dataclass
class ProbitFull(UpdateRule):
    """Bayesian probit with a full covariance: what is learned of a feature says something of its neighbours. O(d^2).

    Parameters
    ----------
    prior_variance : float, default 1.0
        The variance of each weight before the first answer.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.
    as_printed : bool, default False
        Take the weight in one step, as the paper does: with large weights it overshoots. Otherwise an answer of weight
        three is learned as three answers are.

    Examples
    --------
    >>> import askance
    >>> clf = askance.ActiveClassifier(update=ProbitFull(), query=askance.queries.Always(), classes=["ham", "spam"])
    >>> clf.partial_fit([[1.0, 1.0]], ["spam"]).predict_proba([[1.0, 1.0], [1.0, -1.0]]).round(4)
    array([[0.2649, 0.7351],
           [0.5   , 0.5   ]])
    """

    prior_variance: float = positive(1.0)
    weighted: bool = False
    as_printed: bool = False

    probabilistic: ClassVar = True
    binary: ClassVar = Kernels(
        margin=margin_and_full_variance, learn=learn_full_moments, score=margin_and_full_variance
    )
    is_local: ClassVar = False

    @property
    def takes_weights(self) -> bool:
        return self.as_printed

    def start(self, n_features: int, n_classes: int) -> State:
        return start_covariance(type(self).__name__, n_features, self.prior_variance)

    def inflate_variances(self, state: State, share: float) -> None:
        inflate_covariance(state, share)
