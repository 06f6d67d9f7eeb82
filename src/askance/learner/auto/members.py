"""The learners of a committee: Bayesian probit and adaptive regularisation, with a full covariance or its diagonal,
adaptive subgradients, and passive-aggressive.

A member is a row of numbers: its view of events, its rule, and the parameters that the rule's kernel reads. Its weights
and variances are two numbers per feature in the committee's table; where there are few features, its covariance is a
block of rows in the committee's matrix. With several classes it has one of each per class, told to know that class from
the rest.

The full form of the probit update (``update/probit.py`` has the diagonal one): with Sx = S x, v = x^T S x, alpha and
delta as there, and c = delta v,

    m += beta alpha Sx / (1 - c + beta c),        S -= Sx Sx^T beta delta / (1 - c + beta c),

which for weight beta = 1 is the exact moment match, and for any other the same message beta times over.

Adaptive subgradients (``update/adagrad.py``) keep the sum of squares q in place of a variance, and with
H = delta + sqrt(q) before and H' after this answer need nothing else:

    mirror      w += eta beta y x / H'            dual        w = (w H + eta beta y x) / H'
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from askance.learner.auto.views import RAW, STANDARD, UNIT
from askance.learner.covariance import PRODUCT, multiply, shrink
from askance.learner.sparse import WEIGHT, sign
from askance.learner.state import Score, State
from askance.learner.update.adaptive import learn_diagonal, learn_full
from askance.learner.update.passive_aggressive import learn_soft
from askance.learner.update.probit import hazard, learn_moments

PROBIT, ADAPTIVE, PASSIVE, MIRROR, DUAL = 0, 1, 2, 3, 4

VIEW, RULE, OWN = 0, 1, 2
ROW = 5
"""Of a member's numbers: the view, the rule, and from there on three parameters of the rule."""
SQUARES = 1  # the place of q among the numbers of a feature
BLOCK = 2  # numbers in state.extra for each full covariance


class Member(NamedTuple):
    """A learner of the committee."""

    name: str
    view: int
    rule: int
    own: tuple[float, float, float]
    """prior_variance and decay for probit; eta, gamma and decay for adaptive regularisation; eta and delta for adaptive
    subgradients; C for passive-aggressive."""

    @property
    def row(self) -> list[float]:
        return [float(self.view), float(self.rule), *self.own]

    @property
    def variance(self) -> float:
        """The variance of each weight before the first answer, or its sum of squares."""
        if self.rule in (MIRROR, DUAL):
            return 0.0
        return self.own[0] if self.rule == PROBIT else 1.0

    @property
    def has_covariance(self) -> bool:
        """Whether it keeps one at all; those that do come first in the line-up."""
        return self.rule in (PROBIT, ADAPTIVE)


LINE_UP = (
    Member("unit-probit-1", UNIT, PROBIT, (1.0, 1.0, 0.0)),
    Member("unit-probit-10", UNIT, PROBIT, (10.0, 1.0, 0.0)),
    Member("unit-probit-100", UNIT, PROBIT, (100.0, 1.0, 0.0)),
    Member("raw-probit-10", RAW, PROBIT, (10.0, 1.0, 0.0)),
    Member("standard-probit-1", STANDARD, PROBIT, (1.0, 1.0, 0.0)),
    Member("standard-probit-10", STANDARD, PROBIT, (10.0, 1.0, 0.0)),
    Member("standard-probit-100", STANDARD, PROBIT, (100.0, 1.0, 0.0)),
    Member("standard-adaptive-1", STANDARD, ADAPTIVE, (1.0, 1.0, 1.0)),
    Member("standard-mirror-0.1", STANDARD, MIRROR, (0.1, 0.1, 0.0)),
    Member("standard-dual-0.1", STANDARD, DUAL, (0.1, 0.1, 0.0)),
    Member("standard-dual-1", STANDARD, DUAL, (1.0, 0.1, 0.0)),
    Member("standard-passive-10", STANDARD, PASSIVE, (10.0, 0.0, 0.0)),
)
"""Probit has no step size; its prior variances are wide apart, as are the steps of the others. Mirror and dual are
adaptive subgradients, the best of all with very few answers. The passive-aggressive member never slows down: it is the
one for a world that changes all the time. The names end in prior_variance, eta or C."""


def own_state(state, member, vector, vectors, blocks):
    """One weight vector of one member, as the kernels of a rule know it; ``blocks`` is where covariances begin."""
    first = np.uint64(2 * member)
    features = state.table.shape[0]
    place = member * vectors + vector
    low, high, extra = place * features, (place + 1) * features, blocks + BLOCK * place
    if high > state.matrix.shape[0]:  # it has none
        low, high, extra = 0, 0, 0
    return State(
        state.table[:, first : first + np.uint64(2), vector : vector + 1],
        state.matrix[low:high],
        state.pending[low:high],
        state.extra[extra : extra + BLOCK],
        state.scores,
        state.variances,
        state.work,
    )


def learn_full_moments(parameters, own, event, answer, said, weight):
    label = sign(answer)
    variance = multiply(own, event)
    if variance > 0.0:
        spread = variance + 1.0
        ratio, excess, slack = hazard(label * said.margin / sqrt(spread))
        shift = label * ratio / sqrt(spread)  # alpha
        shrinkage = ratio * excess / spread  # delta
        kept = (1.0 + slack * variance) / spread  # 1 - c
        scale = weight / (kept + weight * shrinkage * variance)
        for k in range(own.table.shape[0]):
            own.table[k, WEIGHT, 0] += scale * shift * own.work[PRODUCT, k]
        if shrinkage > 0.0:
            shrink(own, 1.0 / (scale * shrinkage))


def learn_subgradient(parameters, own, event, answer, said, weight, averages):
    """Mirror descent, or dual averaging, whose sum of gradients is the weight times H before the step."""
    label = sign(answer)
    if label * said.margin < 1.0:
        for i in range(event.start, event.stop):
            column = event.columns[i]
            value = event.values[i]
            old_root = parameters[1] + sqrt(own.table[column, SQUARES, 0])
            own.table[column, SQUARES, 0] += weight * value * value
            ridged_root = parameters[1] + sqrt(own.table[column, SQUARES, 0])  # H
            pull = parameters[0] * weight * label * value
            if averages:
                own.table[column, WEIGHT, 0] = (own.table[column, WEIGHT, 0] * old_root + pull) / ridged_root
            else:
                own.table[column, WEIGHT, 0] += pull / ridged_root


def learn_member(row, own, event, answer, margin, weight):
    """Let one weight vector of a member learn: ``answer`` is 1 for its class, 0 for the rest."""
    said = Score(0, margin, 0.0)
    parameters = row[OWN:]
    if row[RULE] == PASSIVE:
        learn_soft(parameters, own, event, answer, said, min(1.0, weight))
    elif row[RULE] == MIRROR or row[RULE] == DUAL:
        learn_subgradient(parameters, own, event, answer, said, weight, row[RULE] == DUAL)
    elif own.matrix.size > 0:
        if row[RULE] == PROBIT:
            learn_full_moments(parameters, own, event, answer, said, weight)
        else:
            learn_full(parameters, own, event, answer, said, weight)
    elif row[RULE] == PROBIT:
        learn_moments(parameters, own, event, answer, said, weight)
    else:
        learn_diagonal(parameters, own, event, answer, said, weight)
