"""Has the world changed? A test on every bought answer, and what a committee does when it says so.

Bought answers are no fair sample of the stream. But among events with the same prediction and about the same margin,
who was asked does not matter: the share of mistakes is what it is, until the world changes. So every answer is compared
with its like. Of n earlier answers in its cell (a predicted class, a bin of margins), k were mistakes:

    e = (k + 1) / (n + 2)                       the mistakes to expect,
    e' = e + SHIFT (1 - e)                      and after a change that turns this share of the right predictions wrong

    S <- max(0, S + log(e' / e))                for a mistake, if e < 1/2,
    S <- max(0, S + log(1 - SHIFT))             for a right prediction: (1 - e') / (1 - e) = 1 - SHIFT

This is Page's test (1954) with the likelihood ratio of the two worlds. S above ``ALARM`` raises an alarm. If nothing
changes, false ones come once in exp(ALARM) answers at most, on average (Lorden 1971), as far as e is right. Like the
committee's losses, n and k forget.

The answer that raises an alarm is the last one of the old world. After it, all members i move a share of the way back
to where they began, with weights of 0,

    S_i <- (1 - share) S_i + share S_i0,        w_i <- (1 - share) w_i,

and the test begins anew. Losses and votes stay: who did best before is likely to do so again. Given labels do not
count: whoever complains of mistakes gives nothing but mistakes.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from askance.compile import no_inline
from askance.learner.auto.classes import MEMORY
from askance.learner.auto.fourier import curved_state
from askance.learner.auto.layout import (
    MARGIN_BINS,
    covariances_at,
    n_classes,
    n_flat,
    n_members,
    view_head,
    view_rule,
    view_settings,
    view_trust,
)
from askance.learner.auto.members import initial_variance, own_state
from askance.learner.sparse import VARIANCE, WEIGHT

SHIFT = 0.5
ALARM = 10.0
BINS_PER_UNIT = 4.0  # of the usual size of a margin; the last bin has no end


def margin_bin(margin):
    """Bins a quarter of the usual size wide up to 1, then 1.5, 2 and 3."""
    if margin < 1.0:
        return int(BINS_PER_UNIT * margin)
    return 4 + (margin >= 1.5) + (margin >= 2.0) + (margin >= 3.0)


def count_surprise(state, predicted, margin, is_wrong):
    """Update S, n and k by an answer, and the number of alarms; returns whether this answer raises one."""
    head, trust = view_head(state), view_trust(state)
    cell = MARGIN_BINS * predicted + margin_bin(abs(margin))
    expected = (trust.mistakes[cell] + 1.0) / (trust.answers[cell] + 2.0)  # e
    if expected < 0.5:
        step = log((expected + SHIFT * (1.0 - expected)) / expected) if is_wrong else log(1.0 - SHIFT)
        head.surprise = max(0.0, head.surprise + step)
    trust.answers[cell] += 1.0 - trust.answers[cell] / MEMORY
    trust.mistakes[cell] += is_wrong - trust.mistakes[cell] / MEMORY
    if head.surprise <= ALARM:
        return False
    head.alarms += 1.0
    head.last_alarm = head.learned + 1.0
    head.surprise = 0.0
    for place in range(trust.answers.size):
        trust.answers[place] = 0.0
        trust.mistakes[place] = 0.0
    return True


@no_inline
def restart_members(parameters, state, share):
    """S_i <- (1 - share) S_i + share S_i0 and w_i <- (1 - share) w_i, for every weight vector of every member i."""
    inflate_members(parameters, state, share)
    vectors = state.scores.size
    flat = n_flat(state)
    curves = int(view_settings(parameters).curves)
    for vector in range(vectors):
        for i in range(flat):
            state.table[:, np.uint64(2 * i), vector] *= 1.0 - share
        for i in range(flat, n_members(state)):
            curved_state(state, i, vector, curves).table[:, WEIGHT, 0] *= 1.0 - share


@no_inline
def inflate_members(parameters, state, share):
    """S_i <- (1 - share) S_i + share S_i0, for every weight vector of every member i."""
    vectors = state.scores.size
    members, flat = n_members(state), n_flat(state)
    covariances = covariances_at(n_classes(state), members)
    curves = int(view_settings(parameters).curves)
    for i in range(members):
        at_first = initial_variance(view_rule(parameters, i))
        for vector in range(vectors):
            if i < flat:
                inflate(own_state(state, i, vector, vectors, covariances), at_first, share)
            else:
                inflate(curved_state(state, i, vector, curves), at_first, share)


@no_inline
def inflate(own, at_first, share):
    """S <- (1 - share) S + share S_0 for one weight vector, where S = matrix - U U^T, and for its diagonal."""
    if own.table.shape[1] > VARIANCE:  # a curved member has none in its table
        own.table[:, VARIANCE, 0] += share * (at_first - own.table[:, VARIANCE, 0])
    for row in range(own.matrix.shape[0]):
        own.matrix[row] *= 1.0 - share
        own.pending[row] *= sqrt(1.0 - share)
        own.matrix[row, row] += share * at_first
