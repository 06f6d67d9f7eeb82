"""A full covariance matrix S under rank-one shrinking: what the full second-order rules share.

A step S -= (S x)(S x)^T / denominator costs d^2 numbers of memory traffic if it is carried out at once. It is not:
the vectors u = S x / sqrt(denominator) are collected as the columns of U, so that

    S = matrix - U U^T,

and a full U is subtracted in one matrix product, which is several times cheaper per step. A quadratic form x^T S x
reads one triangle of the matrix for a dense x and nnz^2 / 2 entries of it for a sparse one.
"""

from __future__ import annotations

import numpy as np

from askance.compile import no_inline
from askance.errors import InvalidInput
from askance.learner.sparse import squared_norm
from askance.learner.state import State, declare_record, fresh_state

COVARIANCE = declare_record(
    "n_pending",  # how many columns of U are in use
    "initial_variance",  # the variances before any step
)
"""What is in ``state.extra``."""
COVARIANCE_SIZE = COVARIANCE.itemsize // 8  # numbers
NOISE = 1e-15  # of the variance at first: below it, nothing but rounding is left of a direction's variance
SHORTENED, PRODUCT, DENSE = 0, 1, 2  # rows of state.work: U^T x, S x, and x itself with its zeros
MOST_FEATURES = 50_000  # 20 GB
ROWS_PER_PRODUCT = 64  # of the matrix, when U is subtracted: keeps the product in the cache


def view_covariance(state):
    return state.extra.view(COVARIANCE)[0]


def start_covariance(rule: str, n_features: int, variance: float) -> State:
    """Weights of zero, and S = variance times the identity."""
    if n_features > MOST_FEATURES:
        raise InvalidInput(
            f"{rule} keeps a matrix of {n_features:,} x {n_features:,} numbers, {8 * n_features**2 / 1e9:,.0f} GB; "
            "use its diagonal or sketched form for this many features."
        )
    capacity = 64 if n_features > 512 else 16  # small matrices gain less from waiting
    width = max(n_features, capacity)
    state = fresh_state(n_features, 1, (0.0,), extra=COVARIANCE_SIZE, matrix=True, pending=capacity, work=(3, width))
    np.fill_diagonal(state.matrix, variance)
    view_covariance(state).initial_variance = variance
    return state


@no_inline
def quadratic_form(state, event):
    """x^T S x."""
    shorten(state, event)
    total = 0.0
    if is_dense(state, event):
        total = dense_quadratic_form(state, event)
    else:
        for i in range(event.start, event.stop):
            row = event.columns[i]
            inner = 0.0
            for j in range(event.start, i):
                inner += state.matrix[row, event.columns[j]] * event.values[j]
            total += event.values[i] * (2.0 * inner + state.matrix[row, row] * event.values[i])
    for step in range(int(view_covariance(state).n_pending)):
        total -= state.work[SHORTENED, step] * state.work[SHORTENED, step]
    return max(total, 0.0)


@no_inline
def multiply(state, event):
    """Put S x into ``state.work[PRODUCT]``; return x^T S x, or 0 where only rounding is left of it.

    S never exceeds what it was at first, so x^T S x is at least ||S x||^2 over that; held to this, a step cannot take
    more from S than there is.
    """
    shorten(state, event)
    covariance = view_covariance(state)
    n_features = state.matrix.shape[0]
    steps = int(covariance.n_pending)
    for k in range(n_features):
        total = 0.0
        for step in range(steps):
            total -= state.pending[k, step] * state.work[SHORTENED, step]
        state.work[PRODUCT, k] = total
    if is_dense(state, event):
        add_dense_product(state, event)
    else:
        for i in range(event.start, event.stop):
            row = event.columns[i]
            value = event.values[i]
            for k in range(n_features):
                state.work[PRODUCT, k] += value * state.matrix[row, k]
    total = 0.0
    for i in range(event.start, event.stop):
        total += event.values[i] * state.work[PRODUCT, event.columns[i]]
    if total <= NOISE * covariance.initial_variance * squared_norm(event):
        return 0.0
    least = 0.0
    for k in range(n_features):
        least += state.work[PRODUCT, k] * state.work[PRODUCT, k]
    return max(total, least / covariance.initial_variance)


@no_inline
def shrink(state, denominator):
    """S -= (S x)(S x)^T / denominator, for the S x that ``multiply`` left."""
    covariance = view_covariance(state)
    step = int(covariance.n_pending)
    scale = 1.0 / np.sqrt(denominator)
    for k in range(state.matrix.shape[0]):
        state.pending[k, step] = scale * state.work[PRODUCT, k]
    covariance.n_pending += 1.0
    if step + 1 == state.pending.shape[1]:
        subtract_pending(state)


@no_inline
def subtract_pending(state):
    """Carry out the steps that were put off."""
    n_features = state.matrix.shape[0]
    for first in range(0, n_features, ROWS_PER_PRODUCT):
        last = min(first + ROWS_PER_PRODUCT, n_features)
        product = np.dot(state.pending[first:last], state.pending.T)
        for row in range(first, last):
            for k in range(n_features):
                state.matrix[row, k] -= product[row - first, k]
    view_covariance(state).n_pending = 0.0


def inflate_covariance(state: State, share: float) -> None:
    """Take S this share of the way back to what it was at first."""
    covariance = view_covariance(state)
    steps = int(covariance.n_pending)
    state.matrix[...] -= state.pending[:, :steps] @ state.pending[:, :steps].T
    covariance.n_pending = 0.0
    state.matrix[...] *= 1.0 - share
    state.matrix[np.diag_indices_from(state.matrix)] += share * covariance.initial_variance


def shorten(state, event):
    """Put U^T x into ``state.work[SHORTENED]``."""
    steps = int(view_covariance(state).n_pending)
    for step in range(steps):
        state.work[SHORTENED, step] = 0.0
    for i in range(event.start, event.stop):
        row = event.columns[i]
        value = event.values[i]
        for step in range(steps):
            state.work[SHORTENED, step] += value * state.pending[row, step]


# --- events with most of their features ------------------------------------------------------------------


def is_dense(state, event):
    return 4 * (event.stop - event.start) > state.matrix.shape[0]


def scatter(state, event):
    """Put x with its zeros into ``state.work[DENSE]``."""
    for k in range(state.matrix.shape[0]):
        state.work[DENSE, k] = 0.0
    for i in range(event.start, event.stop):
        state.work[DENSE, event.columns[i]] = event.values[i]


def dense_quadratic_form(state, event):
    """x^T matrix x from the lower triangle: with t_j = sum over i > j of x_i m_ij, it is sum_j x_j (m_jj x_j + 2 t_j).

    Four rows at a time, and element by element along them: nothing is summed across a row, so the compiler can use
    its vector registers without changing a bit of the result.
    """
    scatter(state, event)
    matrix = state.matrix
    x = state.work[DENSE]
    below = state.work[PRODUCT]
    n_features = matrix.shape[0]
    for k in range(n_features):
        below[k] = 0.0
    first = 0
    while first + 4 <= n_features:
        a, b, c, d = x[first], x[first + 1], x[first + 2], x[first + 3]
        row_a, row_b, row_c, row_d = matrix[first], matrix[first + 1], matrix[first + 2], matrix[first + 3]
        for k in range(first):
            below[k] += a * row_a[k] + b * row_b[k] + c * row_c[k] + d * row_d[k]
        below[first] += b * row_b[first] + c * row_c[first] + d * row_d[first]
        below[first + 1] += c * row_c[first + 1] + d * row_d[first + 1]
        below[first + 2] += d * row_d[first + 2]
        first += 4
    for row in range(first, n_features):
        for k in range(row):
            below[k] += x[row] * matrix[row, k]
    total = 0.0
    for k in range(n_features):
        total += x[k] * (matrix[k, k] * x[k] + 2.0 * below[k])
    return total


def add_dense_product(state, event):
    """Add matrix x to ``state.work[PRODUCT]``, four rows at a time."""
    scatter(state, event)
    matrix = state.matrix
    x = state.work[DENSE]
    product = state.work[PRODUCT]
    n_features = matrix.shape[0]
    first = 0
    while first + 4 <= n_features:
        a, b, c, d = x[first], x[first + 1], x[first + 2], x[first + 3]
        row_a, row_b, row_c, row_d = matrix[first], matrix[first + 1], matrix[first + 2], matrix[first + 3]
        for k in range(n_features):
            product[k] += a * row_a[k] + b * row_b[k] + c * row_c[k] + d * row_d[k]
        first += 4
    for row in range(first, n_features):
        for k in range(n_features):
            product[k] += x[row] * matrix[row, k]
