"""A curved view of an event: random Fourier features of the standardised one, and where its members keep their numbers.

After Rahimi and Recht, "Random features for large-scale kernel machines" (2007): for the standardised view x of an
event (see ``views``), whose numbers are (x_k - mu_k) / (sigma_k sqrt(d)),

    z_j = sqrt(2 / D) cos(w_j.x / h + b_j),     w_j normal,     b_j even in [0, 2 pi),     j = 1 ... D,

so that z.z' is about exp(-||x - x'||^2 / (2 h^2)). A linear rule on z is then a kernel rule on x. h, ``BANDWIDTH``,
needs no label and no search: standardised by the stream, two events have a mean squared distance of 2, whatever the
data.

A curved member has D + 1 weights, the last one for the constant 1 / sqrt(D), and a full covariance of them. They have
nothing to do with the number of the features, so they lie in ``state.extra``, a block for each of its weight vectors.
w_jk depends on j, k and D alone, so that a wider model sees known features as before.
"""

from __future__ import annotations

from math import cos, pi, sqrt

import numpy as np

from askance.learner.auto.layout import covariances_at, n_classes, n_flat, n_members
from askance.learner.auto.views import ALL, STANDARD, VALUES, WORK_ROWS
from askance.learner.covariance import COVARIANCE_SIZE
from askance.learner.state import Event, State

CURVES = 128  # D of ``make("auto")``
BANDWIDTH = 1.0  # h. Models are saved without their w_j, so this, SEED and the drawing must stay as they are
SEED = 20_070_101
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


def fill_curves(state, curves):
    """z_j = sqrt(2 / D) cos(w_j.x / h + b_j), and the constant; sums run in the order of the features."""
    standard = state.work[VALUES + STANDARD]
    values = state.work[CURVED_VALUES]
    phases = state.work[PHASES]
    for j in range(curves):
        values[j] = phases[j]
    for feature in range(state.table.shape[0] - 1):
        value = standard[feature]
        if value != 0.0:
            frequencies = state.work[FREQUENCIES + feature]
            for j in range(curves):
                values[j] += value * frequencies[j]
    scale = sqrt(2.0 / curves)
    for j in range(curves):
        values[j] = scale * cos(values[j])
    values[curves] = 1.0 / sqrt(curves)


def view_curves(state, curves):
    """The event that ``fill_curves`` wrote."""
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


def draw_frequencies(n_features: int, curves: int) -> tuple[np.ndarray, np.ndarray]:
    """w_jk / h, a row for each feature k, and b_j: the same for ever, from raw bits, which NumPy will not change.

    Two even numbers u, v make a normal one, sqrt(-2 log u) cos(2 pi v)."""

    def even(row: int, n: int) -> np.ndarray:
        raw = np.random.PCG64(np.random.SeedSequence([SEED, row])).random_raw(n)
        return ((raw >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53

    frequencies = np.zeros((n_features, curves))
    for feature in range(n_features):
        first, second = np.split(even(feature + 1, 2 * curves), 2)
        frequencies[feature] = np.sqrt(-2.0 * np.log(first)) * np.cos(2.0 * pi * second) / BANDWIDTH
    return frequencies, 2.0 * pi * even(0, curves)
