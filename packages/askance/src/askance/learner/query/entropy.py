"""Ask in proportion to what the answer would tell.

Paper 5, Eq. 13: the entropy, in bits, of P' = epsilon + (1 - 2 epsilon) P, where P = Phi(p / sqrt(v + 1)) is the
model's probability of the second class and epsilon how far it may be off: even a sure model asks at times.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, log2, sqrt
from typing import ClassVar

from askance.learner.rule import QueryRule, SearchRange, parameter

__all__ = ["Entropy"]


def bits(share):
    """-share log2(share), 0 at 0."""
    return -share * log2(share) if share > 0.0 else 0.0


def by_entropy(parameters, margin, variance, squared_length, tally):
    tolerance = parameters[0]  # epsilon
    z = abs(margin) / sqrt(variance + 1.0)  # by symmetry; the unlikelier class is the one computed accurately
    unlikely = tolerance + (1.0 - 2.0 * tolerance) * (0.5 * erfc(z * sqrt(0.5)))
    return min(1.0, bits(unlikely) + bits(1.0 - unlikely))


@dataclass
class Entropy(QueryRule):
    """Ask with a probability equal to the entropy of the predicted label, in bits.

    Parameters
    ----------
    epsilon : float, default 0.01
        The tolerance, in [0, 0.5): 0 trusts the model's probabilities, larger asks more.
    """

    epsilon: float = parameter(0.01, "in [0, 0.5)", lambda value: 0.0 <= value < 0.5)

    probability: ClassVar = staticmethod(by_entropy)
    reads_variance: ClassVar = True
    search: ClassVar = SearchRange(lowest=1e-12, highest=0.499, start=0.01)
