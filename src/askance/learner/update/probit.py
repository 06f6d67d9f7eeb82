"""Bayesian probit regression by moment matching, diagonal, with importance weights and forgetting.

Paper 5, §3. The weights are normal with means m_i and variances S_i (at first 0 and s_0), and
P(+1 | x) = Phi(p / sqrt(v + 1)) with p = m.x and v = sum S_i x_i^2. For z = y p / sqrt(v + 1) and
r = phi(z) / Phi(z), the first two moments of the posterior are

    m1 = m + alpha S x,           alpha = y r / sqrt(v + 1)
    S1 = S - delta (S x)^2,       delta = r (r + z) / (v + 1)                         (Eq. 7 and 8)

and with importance weight beta (§3.1) and memory factor lambda (§3.2), for the coordinates with x_i != 0,

    precision = beta / S1 + (lambda - beta) / S,     S_new = min(s_0, 1 / precision),
    m_new = (beta m1 / S1 + (lambda - beta) m / S) / precision.

Notes
-----
The paper prints 1 / sqrt(v + 1) in delta. The exact moment has 1 / (v + 1); the printed one gives negative variances.
The minimum with s_0 is ours: forgetting never makes a weight less certain than it was at the start.

With c = delta S x^2, which lies in [0, 1), the last three formulas are, without cancellation,

    S_new = S (1 - c) / (lambda (1 - c) + beta c),     m_new = m + beta alpha S x / (lambda (1 - c) + beta c).

r is accurate for every z: from erfc where that does not cancel, and from Laplace's continued fraction
-z + 1 / (-z + 2 / (-z + 3 / ...)) below z = -5, which gives the small numbers r + z and 1 - r (r + z) directly.
1 - c is put together from 1 - r (r + z) and the share of v that lies in other coordinates, so that it stays above 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, exp, pi, sqrt
from typing import ClassVar

from askance.learner.diagonal import VARIANCE, margin_and_variance, variance_of, widen_variances
from askance.learner.rule import Kernels, UpdateRule, positive, share
from askance.learner.sparse import WEIGHT, sign
from askance.learner.state import State

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


def learn_moments(parameters, state, event, answer, said, weight):
    prior_variance = parameters[0]
    memory = parameters[1]  # decay: the paper's gamma, our lambda
    label = sign(answer)
    variance = variance_of(state.table, event)
    spread = variance + 1.0
    ratio, excess, slack = hazard(label * said.margin / sqrt(spread))
    shift = label * ratio / sqrt(spread)  # alpha
    shrinkage = ratio * excess  # delta (v + 1)
    inverse = 1.0 / spread
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
        state.table[column, VARIANCE, 0] = min(prior_variance, old * (kept * scale))


@dataclass
class Probit(UpdateRule):
    """Bayesian probit: no step size, a probability for every prediction, answers weighed as they were sampled.

    Parameters
    ----------
    prior_variance : float, default 1.0
        The variance of each weight before the first answer.
    decay : float, default 1.0
        How much of the past an answer keeps, in (0, 1]; below 1 the model follows a changing world.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking (unbiased, UOAL),
        rather than with 1 (biased, BOAL).
    as_printed : bool, default False
        Take the weight in one step, as the paper does: with large weights it overshoots. Otherwise an answer of weight
        three is learned as three answers are.

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
    weighted: bool = False
    as_printed: bool = False

    probabilistic: ClassVar = True
    binary: ClassVar = Kernels(margin=margin_and_variance, learn=learn_moments, score=margin_and_variance)

    @property
    def weighs_itself(self) -> bool:
        return self.as_printed

    def start_values(self) -> tuple[float, ...]:
        return (0.0, self.prior_variance)

    def loosen(self, state: State, share: float) -> None:
        widen_variances(state.table, share, self.prior_variance)
