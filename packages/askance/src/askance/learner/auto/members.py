"""The members of a committee: Bayesian probit and adaptive regularisation, with a full covariance or its diagonal,
adaptive subgradients, and passive-aggressive.

A member is a row of numbers: its view of events, its rule, and the parameters of the rule's kernel. Its weights and
variances are two numbers per feature in the committee's table. With few features, its covariance is a block of rows in
the committee's matrix. With three classes or more it has one of each per class, and learns each class against the rest.

Adaptive subgradients (``update/adagrad.py``) keep the sum of squares q in place of a variance. If y p < 1, with
q' = q + beta x^2, H = delta + sqrt(q) and H' = delta + sqrt(q'), for each feature,

    mirror      w += eta beta y x / H'            dual        w = (w H + eta beta y x) / H'

beta is the weight of the answer's class (see ``classes``). The member that seeks novelty has beta = 1 and a delta close
to 0, so that w = eta S / sqrt(q) with S, the sum of y x. While hardly an answer is of the rare class, this measures
what is unusual. A feature that none of n answers had was a little below its mean in all of them, so that its weight is
sqrt(n) eta towards the rare class, however little that was. An event that has it is many deviations above the mean, the
more the rarer it is, and is predicted to be of the rare class.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from askance.learner.auto.layout import RULE
from askance.learner.auto.views import CURVED, RAW, STANDARD, UNIT
from askance.learner.covariance import COVARIANCE_SIZE
from askance.learner.sparse import WEIGHT, sign
from askance.learner.state import Score, State
from askance.learner.update.adaptive import learn_diagonal, learn_full
from askance.learner.update.passive_aggressive import learn_soft
from askance.learner.update.probit import learn_full_moments, learn_moments

PROBIT, ADAPTIVE, PASSIVE, MIRROR, DUAL, NOVELTY = 0, 1, 2, 3, 4, 5

SQUARES = 1  # where q is among the numbers of a feature


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
        """Its numbers among the committee's parameters, in the order of ``layout.RULE``."""
        return [float(self.view), float(self.rule), *self.own]

    @property
    def variance(self) -> float:
        """The variance of each weight before the first answer; for adaptive subgradients q, which is 0."""
        return float(initial_variance(np.array(self.row).view(RULE)[0]))

    @property
    def has_covariance(self) -> bool:
        """Whether its rule has a covariance. In ``MEMBERS`` these members come first."""
        return self.rule in (PROBIT, ADAPTIVE)


MEMBERS = (
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
"""The names end in prior_variance, eta or C. Probit has no step size; its prior variances are wide apart, as are the
steps of the others. Mirror and dual are adaptive subgradients, the best with very few answers. The steps of the
passive-aggressive member never become smaller: it is the one for a world that changes all the time."""


SEEKS_NOVELTY = Member("standard-novelty-1", STANDARD, NOVELTY, (1.0, 0.0003, 0.0))
"""Takes the place of ``standard-mirror-0.1`` in a committee with ``novelty``."""


CURVED_MEMBERS = (
    Member("curved-probit-10", CURVED, PROBIT, (10.0, 1.0, 0.0)),
    Member("curved-probit-100", CURVED, PROBIT, (100.0, 1.0, 0.0)),
)
"""They have the curved view, where features are few enough for it (see ``fourier``), and come after the others."""


def has_subgradients(rule):
    return rule.kind == MIRROR or rule.kind == DUAL or rule.kind == NOVELTY


def initial_variance(rule):
    """The variance of each weight before the first answer; for adaptive subgradients q, which is 0."""
    if has_subgradients(rule):
        return 0.0
    return rule.own[0] if rule.kind == PROBIT else 1.0


def own_state(state, member, vector, vectors, covariances):
    """One weight vector of one member as the state that a rule's kernels take. ``covariances`` is where the records of
    the covariances begin in ``state.extra``."""
    first = np.uint64(2 * member)
    features = state.table.shape[0]
    place = member * vectors + vector
    low, high, extra = place * features, (place + 1) * features, covariances + COVARIANCE_SIZE * place
    if high > state.matrix.shape[0]:  # it has none
        low, high, extra = 0, 0, 0
    return State(
        state.table[:, first : first + np.uint64(2), vector : vector + 1],
        state.matrix[low:high],
        state.pending[low:high],
        state.extra[extra : extra + COVARIANCE_SIZE],
        state.scores,
        state.variances,
        state.work,
    )


def learn_subgradient(parameters, own, event, answer, prediction, weight, averages):
    """Mirror descent, w += eta beta y x / H', or dual averaging, w = (w H + eta beta y x) / H'.

        H = delta + sqrt(q),     q' = q + beta x^2,     H' = delta + sqrt(q')

    The sum of gradients of dual averaging is w H, so it need not be kept."""
    rate = parameters[0]  # eta
    ridge = parameters[1]  # delta
    label = sign(answer)
    if label * prediction.margin < 1.0:
        for i in range(event.start, event.stop):
            column = event.columns[i]
            value = event.values[i]
            old_root = ridge + sqrt(own.table[column, SQUARES, 0])  # H
            own.table[column, SQUARES, 0] += weight * value * value
            ridged_root = ridge + sqrt(own.table[column, SQUARES, 0])  # H'
            pull = rate * weight * label * value
            if averages:
                own.table[column, WEIGHT, 0] = (own.table[column, WEIGHT, 0] * old_root + pull) / ridged_root
            else:
                own.table[column, WEIGHT, 0] += pull / ridged_root


def learn_member(rule, own, event, answer, margin, emphasis, times):
    """One update of one weight vector by the member's rule; ``answer`` is 1 for its class, 0 for the rest. The answer
    counts ``times`` times, and for all but novelty as much more as its class weighs, ``emphasis``."""
    prediction = Score(0, margin, 0.0)
    parameters = rule.own
    weight = times if rule.kind == NOVELTY else emphasis * times
    if rule.kind == PASSIVE:
        learn_soft(parameters, own, event, answer, prediction, min(1.0, weight))
    elif has_subgradients(rule):
        learn_subgradient(parameters, own, event, answer, prediction, weight, rule.kind != MIRROR)
    elif own.matrix.size > 0:
        if rule.kind == PROBIT:
            learn_full_moments(parameters, own, event, answer, prediction, weight)
        else:
            learn_full(parameters, own, event, answer, prediction, weight)
    elif rule.kind == PROBIT:
        learn_moments(parameters, own, event, answer, prediction, weight)
    else:
        learn_diagonal(parameters, own, event, answer, prediction, weight)
