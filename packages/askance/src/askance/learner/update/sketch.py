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

Blocks. "One can update the sketch every m rounds to improve time complexity to O(md)" (the remark after Algorithm 5).
``AsymmetricAdaptiveBlockSketched`` adds up the turns z x^^T / k of so many answers, with V standing still, and then
orthonormalises V plus their sum; k and e_i run on with every answer.

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
from typing import ClassVar, NamedTuple

import numpy as np

from askance.compile import no_inline
from askance.learner.rule import Kernels, UpdateRule, parameter, positive, whole
from askance.learner.sparse import WEIGHT, add, dot, linear_margin, side, sign, squared_norm
from askance.learner.state import Score, State, fresh_state

__all__ = ["AsymmetricAdaptiveBlockSketched", "AsymmetricAdaptiveSketched", "AsymmetricAdaptiveSparseSketched"]

FIRST = 1  # number 0 of a feature is its weight; the sketch's rows follow
GRAM_LIMIT = 1e4
LOST = 1e-3  # a row that keeps less than this of its length is orthogonalised again


class Sketch(NamedTuple):
    """What a sketch of m directions keeps in ``state.extra``, beside the rows of V or U. SOA3 needs the first two."""

    clock: np.ndarray
    """k, alone in its array."""
    energy: np.ndarray
    """e_1 .. e_m."""
    offset: np.ndarray
    """b, of m numbers."""
    turn: np.ndarray
    """F, m x m."""
    gram: np.ndarray
    """K, m x m."""


def view_sketch(state):
    size = state.table.shape[1] - FIRST
    offset = 1 + size
    turn = offset + size
    gram = turn + size * size
    return Sketch(
        state.extra[:1],
        state.extra[1:offset],
        state.extra[offset:turn],
        state.extra[turn:gram].reshape(size, size),
        state.extra[gram : gram + size * size].reshape(size, size),
    )


def sketch_numbers(size: int) -> int:
    """How many numbers a sketch has: k, e, b, F and K."""
    return 1 + 2 * size + 2 * size * size


class Scratch(NamedTuple):
    """The rows of ``state.work``, a number for each direction."""

    projection: np.ndarray
    """a = U x, or z = V x."""
    turned: np.ndarray
    """z = F a."""
    step: np.ndarray
    """a / k."""


def view_scratch(state):
    return Scratch(state.work[0], state.work[1], state.work[2])


def familiarity(energy):
    """e / (1 + e)."""
    return energy / (1.0 + energy)


# --- the rows of V or U, which lie beside the weights in the table -----------------------------------------


def project(state, event):
    """Put the products of the sketch's rows with x into ``Scratch.projection``."""
    size = state.table.shape[1] - FIRST
    projection = view_scratch(state).projection
    for direction in range(size):
        projection[direction] = 0.0
    for i in range(event.start, event.stop):
        column = event.columns[i]
        value = event.values[i]
        for direction in range(size):
            projection[direction] += state.table[column, FIRST + direction, 0] * value


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


@no_inline
def turn_towards(state, event, regulariser, squared_length):
    """V = orthonormalise(V + z x^^T / k), for z in ``Scratch.turned``.

    The length of a row before orthonormalising does not matter, so rows that would become very long are scaled first.
    """
    size = state.table.shape[1] - FIRST
    root = sqrt(regulariser)
    clock = view_sketch(state).clock[0]
    turned = view_scratch(state).turned
    for direction in range(size):
        step = turned[direction] / clock
        scale = 1.0 / max(1.0, abs(step) * (sqrt(squared_length) / root))
        if scale < 1.0:
            for column in range(state.table.shape[0]):
                state.table[column, FIRST + direction, 0] *= scale
        for i in range(event.start, event.stop):
            state.table[event.columns[i], FIRST + direction, 0] += scale * step * (event.values[i] / root)
    orthonormalise(state.table)


@no_inline
def turn_in_blocks(state, event, regulariser, every):
    """Add z x^^T / k to ``state.pending``; with every so many answers V takes the sum and is orthonormalised."""
    size = state.pending.shape[1]
    waiting = state.extra.size - 1  # the last number counts the answers since then
    root = sqrt(regulariser)
    clock = view_sketch(state).clock[0]
    turned = view_scratch(state).turned
    for i in range(event.start, event.stop):
        column = event.columns[i]
        value = event.values[i] / root
        for direction in range(size):
            state.pending[column, direction] += (turned[direction] / clock) * value
    state.extra[waiting] += 1.0
    if state.extra[waiting] >= every:
        state.extra[waiting] = 0.0
        for column in range(state.table.shape[0]):
            for direction in range(size):
                state.table[column, FIRST + direction, 0] += state.pending[column, direction]
                state.pending[column, direction] = 0.0
        orthonormalise(state.table)


# --- SOA3 ------------------------------------------------------------------------------------------------


def sketched_score(parameters, state, event):
    margin = dot(state.table, event)
    project(state, event)
    energy = view_sketch(state).energy
    projection = view_scratch(state).projection
    variance = squared_norm(event)
    for direction in range(energy.size):
        variance -= familiarity(energy[direction]) * projection[direction] ** 2
    return Score(side(margin), margin, max(variance, 0.0))


def learn_sketched(parameters, state, event, answer, prediction, weight):
    rate = parameters[0]  # eta
    regulariser = parameters[1]  # gamma
    importance = parameters[2] if answer == 1 else 1.0  # rho_y
    sketch = view_sketch(state)
    scratch = view_scratch(state)
    size = sketch.energy.size
    sketch.clock[0] += weight
    project(state, event)
    for direction in range(size):
        turned = scratch.projection[direction] / sqrt(regulariser)
        scratch.turned[direction] = weight * turned
        sketch.energy[direction] += weight * turned * turned
    if state.pending.shape[1] > 0:
        turn_in_blocks(state, event, regulariser, parameters[6])  # sketch_every
    else:
        turn_towards(state, event, regulariser, squared_norm(event))
    if sign(answer) * prediction.margin < 1.0:
        step = weight * rate * importance * sign(answer)
        project(state, event)
        add(state.table, 0, event, step)
        for direction in range(size):
            part = step * familiarity(sketch.energy[direction]) * scratch.projection[direction]
            for column in range(state.table.shape[0]):
                state.table[column, WEIGHT, 0] -= part * state.table[column, FIRST + direction, 0]


# --- SSOA3: V = F U, mu = mu_bar + U^T b ---------------------------------------------------------------------


def sparse_margin(parameters, state, event):
    along = dot(state.table, event)
    project(state, event)
    projection = view_scratch(state).projection
    offset = view_sketch(state).offset
    for direction in range(offset.size):
        along += offset[direction] * projection[direction]
    return Score(side(along), along, 0.0)


def sparse_score(parameters, state, event):
    prediction = sparse_margin(parameters, state, event)
    turn_projection(state)
    turned = view_scratch(state).turned
    energy = view_sketch(state).energy
    variance = squared_norm(event)
    for direction in range(energy.size):
        variance -= familiarity(energy[direction]) * turned[direction] ** 2
    return Score(prediction.predicted, prediction.margin, max(variance, 0.0))


def turn_projection(state):
    """z = F a, into ``Scratch.turned``."""
    turn = view_sketch(state).turn
    scratch = view_scratch(state)
    for direction in range(turn.shape[0]):
        total = 0.0
        for other in range(direction + 1):  # F is lower triangular
            total += turn[direction, other] * scratch.projection[other]
        scratch.turned[direction] = total


def learn_sparsely(parameters, state, event, answer, prediction, weight):
    rate = parameters[0]  # eta
    regulariser = parameters[1]  # gamma
    importance = parameters[2] if answer == 1 else 1.0  # rho_y
    root = sqrt(regulariser)
    squared_length = squared_norm(event) / regulariser
    sketch = view_sketch(state)
    scratch = view_scratch(state)
    size = sketch.energy.size
    sketch.clock[0] += weight
    is_long = weight * squared_length / sketch.clock[0] > sqrt(GRAM_LIMIT)
    if is_long:
        fold(state)
    project(state, event)
    turn_projection(state)
    for direction in range(size):
        scratch.projection[direction] /= root
        scratch.turned[direction] /= root
        scratch.step[direction] = weight * scratch.projection[direction] / sketch.clock[0]
        sketch.energy[direction] += weight * scratch.turned[direction] ** 2
        scratch.turned[direction] *= weight
    if is_long:  # just folded: U = V, b = 0
        turn_towards(state, event, regulariser, squared_norm(event))
    else:
        move_sparsely(state, event, root, squared_length)
    if sign(answer) * prediction.margin < 1.0:
        step = weight * rate * importance * sign(answer)
        project(state, event)
        turn_projection(state)
        add(state.table, 0, event, step)
        for direction in range(size):
            part = step * familiarity(sketch.energy[direction]) * scratch.turned[direction]
            for other in range(direction + 1):
                sketch.offset[other] -= part * sketch.turn[direction, other]
    if largest_entry(sketch.gram) > GRAM_LIMIT:
        fold(state)


@no_inline
def move_sparsely(state, event, root, squared_length):
    """U and K take the step, mu_bar makes up for it, and F makes F U orthonormal again."""
    sketch = view_sketch(state)
    projection, _, step = view_scratch(state)
    size = step.size
    along = 0.0
    for direction in range(size):
        along += step[direction] * sketch.offset[direction]
        for other in range(size):
            sketch.gram[direction, other] += (
                projection[direction] * step[other]
                + step[direction] * projection[other]
                + squared_length * step[direction] * step[other]
            )
    for i in range(event.start, event.stop):
        column = event.columns[i]
        value = event.values[i] / root
        state.table[column, WEIGHT, 0] -= along * value
        for direction in range(size):
            state.table[column, FIRST + direction, 0] += step[direction] * value
    orthonormalise_turn(sketch.turn, sketch.gram)


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


@no_inline
def fold(state):
    """mu_bar += U^T b, b = 0, U = F U orthonormalised, F = K = I: the same model, well conditioned again."""
    _, _, offset, turn, gram = view_sketch(state)
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

    is_idempotent: ClassVar = False  # the sketch takes in every answer, whatever its loss
    binary: ClassVar = Kernels(margin=linear_margin, learn=learn_sketched, score=sketched_score)
    is_local: ClassVar = False

    def start(self, n_features: int, n_classes: int) -> State:
        size = int(self.sketch_size)
        scratch = (len(Scratch._fields), size)
        state = fresh_state(n_features, 1, (0.0,) * (FIRST + size), extra=sketch_numbers(size), work=scratch)
        rows = np.random.default_rng(int(self.sketch_seed)).standard_normal((size, n_features))
        rows[n_features:] = 0.0  # there are no more directions than features; the rest of the sketch stays empty
        for direction in range(min(size, n_features)):
            for _ in range(2):  # twice is enough for full accuracy
                rows[direction] -= (rows[:direction] @ rows[direction]) @ rows[:direction]
            rows[direction] /= np.linalg.norm(rows[direction])
        state.table[:, FIRST:, 0] = rows.T
        sketch = view_sketch(state)
        np.fill_diagonal(sketch.turn, 1.0)
        np.fill_diagonal(sketch.gram, 1.0)
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
class AsymmetricAdaptiveBlockSketched(AsymmetricAdaptiveSketched):
    """SOA3 whose sketch turns every so many answers: O(m d) per answer if that is m or more, rather than O(m^2 d).

    Parameters
    ----------
    eta, gamma, rho, sketch_size, sketch_seed, weighted
        As for ``AsymmetricAdaptiveSketched``.
    sketch_every : int, default 5
        After how many answers the directions are turned and orthonormalised.

    Examples
    --------
    >>> import askance
    >>> rule = AsymmetricAdaptiveBlockSketched(sketch_size=2, sketch_every=2)
    >>> clf = askance.ActiveClassifier(update=rule, query=askance.queries.AsymmetricVariance(), classes=[-1, 1])
    >>> clf.partial_fit([[3.0, 4.0]], [1]).coef_.round(4)
    array([[-0.1976,  0.4902]])
    """

    sketch_every: int = whole(5, least=1)

    def start(self, n_features: int, n_classes: int) -> State:
        return self._with_blocks(super().start(n_features, n_classes))

    def widen(self, state: State, kept: np.ndarray, n_features: int, n_classes: int) -> State:
        wider = super().widen(state, kept, n_features, n_classes)
        wider = wider._replace(pending=np.zeros((n_features, state.pending.shape[1])))
        wider.pending[kept] = state.pending
        return wider

    @staticmethod
    def _with_blocks(state: State) -> State:
        size = state.table.shape[1] - FIRST
        return state._replace(
            pending=np.zeros((len(state.table), size)), extra=np.concatenate([state.extra, np.zeros(1)])
        )


@dataclass
class AsymmetricAdaptiveSparseSketched(AsymmetricAdaptiveSketched):
    """SOA3 for sparse events, with the same decisions, in O(m nnz + m^3) per answer (SSOA3).

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
    is_local: ClassVar = True  # but for the fold, once in a long while

    def coefficients(self, state: State) -> np.ndarray:
        offset = view_sketch(state).offset
        return (state.table[:, WEIGHT, 0] + state.table[:, FIRST:, 0] @ offset)[np.newaxis]
