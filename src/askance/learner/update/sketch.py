"""Asymmetric adaptive regularisation with a sketched covariance: SOA3 and, for sparse events, SSOA3.

Paper 4, Algorithms 4-7. In place of the d x d covariance of OA3 there is an Oja sketch of m directions, the
orthonormal rows of V, each with the energy e_i it has met:

    S = I - V^T diag(e_i / (1 + e_i)) V

With x^ = x / sqrt(gamma) and the sketch's own clock k, every asked event moves the sketch,

    k += 1,   z = V x^,   e_i += z_i^2,   V = orthonormalise(V + z x^T / k),

and one with hinge loss 1 - y p > 0 then moves the mean: mu += eta rho_y y S x, with the new S. (Here e_i is the
paper's k Lambda_ii, a plain running sum for its step sizes 1 / k, so that neither Lambda nor H is kept.)

Orthonormalising is O(m^2 d). SSOA3 writes V = F U and mu = mu_bar + U^T b, so that only the small F, b and the Gram
matrix K = U U^T are dense, and an event costs O(m nnz + m^3). With a = U x^ and step = a / k:

    K += a step^T + step a^T + ||x^||^2 step step^T,    mu_bar -= x^ (step.b),    U += step x^^T,
    F = Gram-Schmidt of the rows of F under <f, g> = f K g^T,
    and with loss:   mu_bar += eta rho_y y x,    b -= eta rho_y y F^T diag(e_i / (1 + e_i)) F U x.

Notes
-----
Algorithm 7 leaves mu_bar alone when the loss is zero, although U has moved, and so changes mu without saying so.
The correction mu_bar -= x^ (step.b) is made in that case too; with it SSOA3 decides as SOA3 does.

U is never renormalised in the paper, and K grows without bound. When it passes ``GRAM_LIMIT`` we fold: mu_bar += U^T b,
b = 0, U = F U, F = K = I. One event so long that it alone would pass the limit is folded before it, and orthonormalised
as SOA3 does.

V starts with random orthonormal rows, made from ``sketch_seed`` alone: unit vectors, the other obvious choice, may all
fall on features that never occur.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from askance.learner.compile import on_its_own
from askance.learner.rule import Kernels, UpdateRule, parameter, positive, whole
from askance.learner.sparse import WEIGHT, add, dot, linear_margin, side, sign, squared_norm
from askance.learner.state import Score, State, fresh_state

FIRST = 1  # number 0 of a feature is its weight; the sketch's rows follow
CLOCK, ENERGY = 0, 1  # in state.extra: k, then e_1 .. e_m; SSOA3 goes on with b, F and K
PROJECTION, TURNED, STEP = 0, 1, 2  # rows of state.work: a, z and a / k
GRAM_LIMIT = 1e4
LOST = 1e-3  # a row that keeps less than this of its length is orthogonalised again


def familiarity(state, direction):
    """e / (1 + e)."""
    energy = state.extra[ENERGY + direction]
    return energy / (1.0 + energy)


# --- the rows of V or U, which lie beside the weights in the table -----------------------------------------


def project(state, event):
    """Put the products of the sketch's rows with x into ``state.work[PROJECTION]``."""
    size = state.table.shape[1] - FIRST
    for direction in range(size):
        state.work[PROJECTION, direction] = 0.0
    for i in range(event.start, event.stop):
        column = event.columns[i]
        value = event.values[i]
        for direction in range(size):
            state.work[PROJECTION, direction] += state.table[column, FIRST + direction, 0] * value


def inner(table, one, other):
    total = 0.0
    for column in range(table.shape[0]):
        total += table[column, FIRST + one, 0] * table[column, FIRST + other, 0]
    return total


def remove_earlier(table, direction):
    """Take from a row its parts along the rows before it; return the length that is left."""
    for earlier in range(direction):
        along = inner(table, direction, earlier)
        for column in range(table.shape[0]):
            table[column, FIRST + direction, 0] -= along * table[column, FIRST + earlier, 0]
    return sqrt(inner(table, direction, direction))


def orthonormalise(table):
    """Gram-Schmidt in the order of the rows. A row with nothing left becomes zero and stays so."""
    for direction in range(table.shape[1] - FIRST):
        length = remove_earlier(table, direction)
        if length < LOST:
            length = remove_earlier(table, direction)
        scale = 1.0 / length if length > 1e-14 else 0.0
        for column in range(table.shape[0]):
            table[column, FIRST + direction, 0] *= scale


@on_its_own
def turn_towards(state, event, regulariser, squared_length):
    """V = orthonormalise(V + z x^^T / k), for z in ``state.work[TURNED]``.

    The length of a row before orthonormalising does not matter, so rows that would become very long are scaled first.
    """
    size = state.table.shape[1] - FIRST
    root = sqrt(regulariser)
    for direction in range(size):
        step = state.work[TURNED, direction] / state.extra[CLOCK]
        scale = 1.0 / max(1.0, abs(step) * (sqrt(squared_length) / root))
        if scale < 1.0:
            for column in range(state.table.shape[0]):
                state.table[column, FIRST + direction, 0] *= scale
        for i in range(event.start, event.stop):
            state.table[event.columns[i], FIRST + direction, 0] += scale * step * (event.values[i] / root)
    orthonormalise(state.table)


# --- SOA3 ------------------------------------------------------------------------------------------------


def sketched_score(parameters, state, event):
    margin = dot(state.table, event)
    project(state, event)
    variance = squared_norm(event)
    for direction in range(state.table.shape[1] - FIRST):
        variance -= familiarity(state, direction) * state.work[PROJECTION, direction] ** 2
    return Score(side(margin), margin, max(variance, 0.0))


def learn_sketched(parameters, state, event, answer, said, weight):
    rate = parameters[0]  # eta
    regulariser = parameters[1]  # gamma
    importance = parameters[2] if answer == 1 else 1.0  # rho_y
    size = state.table.shape[1] - FIRST
    state.extra[CLOCK] += weight
    project(state, event)
    for direction in range(size):
        turned = state.work[PROJECTION, direction] / sqrt(regulariser)
        state.work[TURNED, direction] = weight * turned
        state.extra[ENERGY + direction] += weight * turned * turned
    turn_towards(state, event, regulariser, squared_norm(event))
    if sign(answer) * said.margin < 1.0:
        step = weight * rate * importance * sign(answer)
        project(state, event)
        add(state.table, 0, event, step)
        for direction in range(size):
            part = step * familiarity(state, direction) * state.work[PROJECTION, direction]
            for column in range(state.table.shape[0]):
                state.table[column, WEIGHT, 0] -= part * state.table[column, FIRST + direction, 0]


# --- SSOA3: V = F U, mu = mu_bar + U^T b ---------------------------------------------------------------------


def small_parts(state):
    """b, F and K, as views of ``state.extra``."""
    size = state.table.shape[1] - FIRST
    first = ENERGY + size
    offset = state.extra[first : first + size]
    turn = state.extra[first + size : first + size + size * size].reshape(size, size)
    gram = state.extra[first + size + size * size : first + size + 2 * size * size].reshape(size, size)
    return offset, turn, gram


def sparse_margin(parameters, state, event):
    along = dot(state.table, event)
    project(state, event)
    offset, _, _ = small_parts(state)
    for direction in range(offset.size):
        along += offset[direction] * state.work[PROJECTION, direction]
    return Score(side(along), along, 0.0)


def sparse_score(parameters, state, event):
    said = sparse_margin(parameters, state, event)
    turn_projection(state)
    variance = squared_norm(event)
    for direction in range(state.table.shape[1] - FIRST):
        variance -= familiarity(state, direction) * state.work[TURNED, direction] ** 2
    return Score(said.predicted, said.margin, max(variance, 0.0))


def turn_projection(state):
    """z = F a."""
    _, turn, _ = small_parts(state)
    for direction in range(turn.shape[0]):
        total = 0.0
        for other in range(direction + 1):  # F is lower triangular
            total += turn[direction, other] * state.work[PROJECTION, other]
        state.work[TURNED, direction] = total


def learn_sparsely(parameters, state, event, answer, said, weight):
    rate = parameters[0]  # eta
    regulariser = parameters[1]  # gamma
    importance = parameters[2] if answer == 1 else 1.0  # rho_y
    root = sqrt(regulariser)
    squared_length = squared_norm(event) / regulariser
    state.extra[CLOCK] += weight
    is_long = weight * squared_length / state.extra[CLOCK] > sqrt(GRAM_LIMIT)
    if is_long:
        fold(state)
    offset, turn, gram = small_parts(state)
    size = offset.size
    project(state, event)
    turn_projection(state)
    for direction in range(size):
        state.work[PROJECTION, direction] /= root
        state.work[TURNED, direction] /= root
        state.work[STEP, direction] = weight * state.work[PROJECTION, direction] / state.extra[CLOCK]
        state.extra[ENERGY + direction] += weight * state.work[TURNED, direction] ** 2
        state.work[TURNED, direction] *= weight
    if is_long:  # just folded: U = V, b = 0
        turn_towards(state, event, regulariser, squared_norm(event))
    else:
        move_sparsely(state, event, root, squared_length)
    if sign(answer) * said.margin < 1.0:
        step = weight * rate * importance * sign(answer)
        project(state, event)
        turn_projection(state)
        add(state.table, 0, event, step)
        for direction in range(size):
            part = step * familiarity(state, direction) * state.work[TURNED, direction]
            for other in range(direction + 1):
                offset[other] -= part * turn[direction, other]
    if largest_entry(gram) > GRAM_LIMIT:
        fold(state)


@on_its_own
def move_sparsely(state, event, root, squared_length):
    """U and K take the step, mu_bar makes up for it, and F makes F U orthonormal again."""
    offset, turn, gram = small_parts(state)
    size = offset.size
    along = 0.0
    for direction in range(size):
        along += state.work[STEP, direction] * offset[direction]
        for other in range(size):
            gram[direction, other] += (
                state.work[PROJECTION, direction] * state.work[STEP, other]
                + state.work[STEP, direction] * state.work[PROJECTION, other]
                + squared_length * state.work[STEP, direction] * state.work[STEP, other]
            )
    for i in range(event.start, event.stop):
        column = event.columns[i]
        value = event.values[i] / root
        state.table[column, WEIGHT, 0] -= along * value
        for direction in range(size):
            state.table[column, FIRST + direction, 0] += state.work[STEP, direction] * value
    orthonormalise_turn(turn, gram)


def largest_entry(gram):
    largest = 0.0
    for direction in range(gram.shape[0]):
        largest = max(largest, gram[direction, direction])  # of a Gram matrix: on its diagonal
    return largest


def gram_inner(gram, one, other):
    total = 0.0
    for i in range(gram.shape[0]):
        for j in range(gram.shape[0]):
            total += one[i] * gram[i, j] * other[j]
    return total


def orthonormalise_turn(turn, gram):
    """Gram-Schmidt of the rows of F under <f, g> = f K g^T."""
    for direction in range(turn.shape[0]):
        for earlier in range(direction):
            along = gram_inner(gram, turn[direction], turn[earlier])
            for k in range(turn.shape[0]):
                turn[direction, k] -= along * turn[earlier, k]
        square = gram_inner(gram, turn[direction], turn[direction])
        scale = 1.0 / sqrt(square) if square > 0.0 else 0.0
        for k in range(turn.shape[0]):
            turn[direction, k] *= scale


@on_its_own
def fold(state):
    """mu_bar += U^T b, b = 0, U = F U orthonormalised, F = K = I: the same model, well conditioned again."""
    offset, turn, gram = small_parts(state)
    size = offset.size
    for column in range(state.table.shape[0]):
        total = 0.0
        for direction in range(size):
            total += offset[direction] * state.table[column, FIRST + direction, 0]
        state.table[column, WEIGHT, 0] += total
        for direction in range(size - 1, -1, -1):  # F is lower triangular: the last row first, in place
            total = 0.0
            for other in range(direction + 1):
                total += turn[direction, other] * state.table[column, FIRST + other, 0]
            state.table[column, FIRST + direction, 0] = total
    orthonormalise(state.table)
    for direction in range(size):
        offset[direction] = 0.0
        for other in range(size):
            turn[direction, other] = 1.0 if direction == other else 0.0
            gram[direction, other] = 1.0 if direction == other else 0.0


# --- the rules -------------------------------------------------------------------------------------------


@dataclass
class AsymmetricAdaptiveSketched(UpdateRule):
    """OA3 with a covariance sketched by a few directions (SOA3). O(m^2 d) per answer.

    Parameters
    ----------
    eta : float, default 1.0
        The step size of the mean.
    gamma : float, default 1.0
        The regulariser of the covariance.
    rho : float, default 1.0
        Weight of the second class: (alpha_p T_n) / (alpha_n T_p) for the ``sum`` metric, c_p / c_n for ``cost``.
    sketch_size : int, default 5
        The number of directions m, at most 1,000.
    sketch_seed : int, default 0
        Seed of the directions the sketch starts with.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.

    Examples
    --------
    >>> import askance
    >>> clf = askance.make("SOA3", sketch_size=2, classes=[-1, 1])
    >>> clf.partial_fit([[3.0, 4.0]], [1]).coef_.round(4)
    array([[1.2144, 2.6208]])
    """

    eta: float = positive(1.0)
    gamma: float = positive(1.0)
    rho: float = positive(1.0)
    sketch_size: int = parameter(5, "a whole number from 1 to 1,000", lambda m: m.is_integer() and 1.0 <= m <= 1000.0)
    sketch_seed: int = whole(0, least=0)
    weighted: bool = False

    rests: ClassVar = False  # the sketch takes in every answer, whatever its loss
    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_sketched, score=sketched_score)

    def start(self, n_features: int, n_classes: int) -> State:
        size = int(self.sketch_size)
        state = fresh_state(
            n_features, 1, (0.0,) * (FIRST + size), extra=ENERGY + 2 * size + 2 * size * size, work=(3, size)
        )
        rows = np.random.default_rng(int(self.sketch_seed)).standard_normal((size, n_features))
        rows[n_features:] = 0.0  # there are no more directions than features; the rest of the sketch stays empty
        for direction in range(min(size, n_features)):
            for _ in range(2):  # twice is enough for full accuracy
                rows[direction] -= (rows[:direction] @ rows[direction]) @ rows[:direction]
            rows[direction] /= np.linalg.norm(rows[direction])
        state.table[:, FIRST:, 0] = rows.T
        _, turn, gram = small_parts(state)
        np.fill_diagonal(turn, 1.0)
        np.fill_diagonal(gram, 1.0)
        return state

    def widen(self, state: State, kept: np.ndarray, n_features: int, n_classes: int) -> State:
        size = state.table.shape[1] - FIRST
        wider = fresh_state(n_features, 1, (0.0,) * (FIRST + size), extra=len(state.extra), work=state.work.shape)
        wider.table[kept] = state.table  # the sketch's rows are zero, and so still orthonormal, on what is new
        wider.extra[...] = state.extra
        return wider

    def layout(self, n_classes: int) -> tuple[object, ...]:
        return (*super().layout(n_classes), self.sketch_size)


@dataclass
class AsymmetricAdaptiveSparseSketched(AsymmetricAdaptiveSketched):
    """The same algorithm and the same decisions, in O(m nnz + m^3) per answer (SSOA3).

    Parameters
    ----------
    eta, gamma, rho, sketch_size, sketch_seed, weighted
        As for ``AsymmetricAdaptiveSketched``.

    Examples
    --------
    >>> import askance
    >>> clf = askance.make("SSOA3", sketch_size=2, classes=[-1, 1])
    >>> clf.partial_fit([[3.0, 4.0]], [1]).coef_.round(4)
    array([[1.2144, 2.6208]])
    """

    binary: ClassVar = Kernels(margin=sparse_margin, learn=learn_sparsely, score=sparse_score)

    def coefficients(self, state: State) -> np.ndarray:
        offset, _, _ = small_parts(state)
        return (state.table[:, WEIGHT, 0] + state.table[:, FIRST:, 0] @ offset)[np.newaxis]
