"""A curved view of an event: random Fourier features of the standardised one (see ``learner.fourier``), and where its
members keep their numbers.

A curved member has D + 1 weights, the last one for the constant, and a full covariance of them. They have nothing to do
with the number of the features, so they lie in ``state.extra``, a block for each of its weight vectors. The width of
the kernel is 1: the mean squared distance of two standardised events is 2.
"""

from __future__ import annotations

import numpy as np

from askance.learner.auto.layout import covariances_at, n_classes, n_flat, n_members
from askance.learner.auto.views import ALL, STANDARD, VALUES, WORK_ROWS
from askance.learner.covariance import COVARIANCE_SIZE
from askance.learner.fourier import fill_curves
from askance.learner.state import Event, State

CURVES = 128  # D of ``make("auto")``
CAPACITY = 16  # pending steps of a covariance (see ``covariance``)

CURVED_VALUES, PHASES, FREQUENCIES = WORK_ROWS, WORK_ROWS + 1, WORK_ROWS + 2
"""Rows of state.work: z and the constant; b_j; from here on w_jk / h, a row for each feature k."""


def block_size(curves):
    """The numbers of a block: the record of the covariance, the weights, the matrix and the pending steps."""
    return COVARIANCE_SIZE + (curves + 1) * (1 + (curves + 1) + CAPACITY)


def blocks_at(state):
    """Where the blocks begin in ``state.extra``: behind the records of the full covariances."""
    covariances = state.matrix.shape[0] // state.table.shape[0]
    return covariances_at(n_classes(state), n_members(state)) + COVARIANCE_SIZE * covariances


def fill_curved_view(state, curves):
    """Write the curved view of the event whose standardised one ``views.fill_views`` wrote."""
    work = state.work
    features = state.table.shape[0] - 1
    fill_curves(work[VALUES + STANDARD], work[PHASES], work[FREQUENCIES:], work[CURVED_VALUES], features, curves)


def view_curves(state, curves):
    """The event that ``fill_curved_view`` wrote."""
    return Event(state.work[ALL].view(np.uint32), state.work[CURVED_VALUES], np.uint64(0), np.uint64(curves + 1), False)


def curved_state(state, member, vector, curves):
    """One weight vector of a curved member as the state that a rule's kernels take."""
    width = curves + 1
    place = (member - n_flat(state)) * state.scores.size + vector
    record = blocks_at(state) + place * block_size(curves)
    weights = record + COVARIANCE_SIZE
    matrix = weights + width
    pending = matrix + width * width
    return State(
        # Sliced as ``own_state`` slices, which gives it the same type: the rules are compiled once for both.
        state.extra[weights:matrix].reshape((width, 1, 1))[:, np.uint64(0) : np.uint64(1), 0:1],
        state.extra[matrix:pending].reshape((width, width)),
        state.extra[pending : pending + width * CAPACITY].reshape((width, CAPACITY)),
        state.extra[record:weights],
        state.scores,
        state.variances,
        state.work,
    )
