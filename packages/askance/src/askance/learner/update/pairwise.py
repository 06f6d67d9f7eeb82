"""Pairs of answers: learning to rank the second class above the first, for AUC rather than for mistakes.

Paper 3 leaves AUC as the objective to the future. AUC is the share of pairs, one event of each class, that the score
w.x ranks rightly, so an answer is compared with answers of the other class. Of each class a buffer keeps at most B of
them, as Zhao, Hoi, Jin and Yang do ("Online AUC Maximization", ICML 2011). For an answer (x, y) and the x_j of the
other class's buffer, j = 1 .. m:

    l_j = max(0, 1 - y (w.x - w.x_j)),          g = (1 / m) sum_j l_j (x - x_j)
    1 / S_i += g_i^2 / gamma,                   w_i += eta y S_i g_i             with the new S

which is OA3-diag's step along the gradient of the squared hinge loss of the pairs. (The hinge loss itself is not
consistent with AUC; its square is: Gao and Zhou, IJCAI 2015.) Then x goes into its own class's buffer: at once while
there is room, else in the place of a random one, with probability min(1, B h / W), where W is the sum of the weights h
of the class's answers so far. Every answer is thus as likely to be there as its weight says (Chao, Biometrika 1982),
and the mean over a buffer estimates that over the class.

Differences have no intercept, so the threshold b of the margin p = w.x - b lies between the classes:

    b = (mean of w.x_j over the first class's buffer + that over the second's) / 2

It costs nothing more than O(B nnz) an answer; a prediction costs O(nnz).

Notes
-----
Which answer leaves a buffer is drawn from the rule's own numbers, u <- 48271 u mod 2^31 - 1, which are part of the
state: a stream played in chunks, or event by event, keeps the same answers.
A buffer keeps the ``LONGEST`` largest features of an event; with longer events the threshold and the losses are those
of what is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from askance.errors import ModelFileError
from askance.learner.rule import Kernels, parameter, positive
from askance.learner.sparse import VARIANCE, WEIGHT, dot, margin_and_variance, side, sign
from askance.learner.state import Score, State, fresh_state
from askance.learner.update.adaptive import DiagonalCovariance

__all__ = ["PairwiseAdaptiveDiagonal"]

LONGEST = 1000  # so many features of an event are kept at most
DIRECTION = 0  # the row of ``state.work`` for g; it is zero between answers

THRESHOLD = 1  # the place of b in ``state.extra``
OWN_NUMBERS = 6  # those of ``Buffers`` before ``answers``
MULTIPLIER, MODULUS = 48271.0, 2147483647.0


# --- buffers ---------------------------------------------------------------------------------------------


class Buffers(NamedTuple):
    """What is in ``state.extra``."""

    drawn: np.ndarray
    """u, alone in its array."""
    threshold: np.ndarray
    """b, alone in its array."""
    totals: np.ndarray
    """W of either class."""
    filled: np.ndarray
    """How many answers either class's buffer has."""
    answers: np.ndarray
    """(2, B, 1 + 2 longest): of an answer the number of its features, their columns, and their values."""


def view_buffers(state, size):
    numbers = (state.extra.size - OWN_NUMBERS) // (2 * size)
    return Buffers(
        state.extra[0:1],
        state.extra[1:2],
        state.extra[2:4],
        state.extra[4:6],
        state.extra[OWN_NUMBERS:].reshape(2, size, numbers),
    )


def draw(drawn):
    """The rule's next random number, in (0, 1). The products are below 2^53 and so exact."""
    drawn[0] = (MULTIPLIER * drawn[0]) % MODULUS
    return drawn[0] / MODULUS


def score_kept(table, kept):
    """w.x_j of an answer in a buffer."""
    length = int(kept[0])
    longest = kept.size // 2
    total = 0.0
    for i in range(1, 1 + length):
        total += table[int(kept[i]), WEIGHT, 0] * kept[i + longest]
    return total


def mean_score(table, answers, filled):
    total = 0.0
    for slot in range(filled):
        total += score_kept(table, answers[slot])
    return total / filled


def least_kept(event, longest):
    """A bound: at most ``longest`` features are larger, by amount. Those of this size itself fill what room is left."""
    above = 0.0
    for i in range(event.start, event.stop):
        above = max(above, abs(event.values[i]))
    below = -1.0
    while True:
        between = 0.5 * (below + above)
        if between <= below or between >= above:
            return above
        larger = 0
        for i in range(event.start, event.stop):
            larger += abs(event.values[i]) > between
        if larger > longest:
            below = between
        else:
            above = between


def write(kept, event):
    """Put an event into a slot: all of it, or its largest features in the order of the columns."""
    longest = kept.size // 2
    bound, room = -1.0, longest
    if event.stop - event.start > longest:
        bound = least_kept(event, longest)
        for i in range(event.start, event.stop):
            room -= abs(event.values[i]) > bound
    place = 1
    for i in range(event.start, event.stop):
        value = event.values[i]
        if abs(value) > bound or (abs(value) == bound and room > 0):
            if abs(value) == bound:
                room -= 1
            kept[place] = event.columns[i]
            kept[place + longest] = value
            place += 1
    kept[0] = place - 1


def keep(buffers, event, answer, weight):
    """Put the answer into its class's buffer, or leave it out."""
    size = buffers.answers.shape[1]
    buffers.totals[answer] += weight
    slot = int(buffers.filled[answer])
    if slot < size:
        buffers.filled[answer] += 1.0
    else:
        if draw(buffers.drawn) * buffers.totals[answer] >= size * weight:
            return
        slot = int(draw(buffers.drawn) * size)
    write(buffers.answers[answer, slot], event)


# --- learning --------------------------------------------------------------------------------------------


def move(state, column, step, regulariser):
    """One feature's part of the step along g; what is done is zero again."""
    gradient = state.work[DIRECTION, column]
    if gradient != 0.0:
        state.work[DIRECTION, column] = 0.0
        old = state.table[column, VARIANCE, 0]
        new = old / (1.0 + old * (gradient * gradient) / regulariser)
        state.table[column, VARIANCE, 0] = new
        state.table[column, WEIGHT, 0] += step * new * gradient


def learn_pairs(parameters, state, event, answer, prediction, weight):
    rate = parameters[0]  # eta
    regulariser = parameters[1] / weight  # gamma
    buffers = view_buffers(state, int(parameters[2]))  # B
    others = buffers.answers[1 - answer]
    filled = int(buffers.filled[1 - answer])
    direction = state.work[DIRECTION]
    longest = others.shape[1] // 2
    score = dot(state.table, event)
    total = 0.0
    for slot in range(filled):
        kept = others[slot]
        share = max(0.0, 1.0 - sign(answer) * (score - score_kept(state.table, kept))) / filled
        total += share
        for i in range(1, 1 + int(kept[0])):
            direction[int(kept[i])] -= share * kept[i + longest]
    if total > 0.0:
        step = rate * weight * sign(answer)
        for i in range(event.start, event.stop):
            direction[event.columns[i]] += total * event.values[i]
        for i in range(event.start, event.stop):
            move(state, event.columns[i], step, regulariser)
        for slot in range(filled):
            for i in range(1, 1 + int(others[slot, 0])):
                move(state, int(others[slot, i]), step, regulariser)
    keep(buffers, event, answer, weight)
    if filled > 0:
        own = mean_score(state.table, buffers.answers[answer], int(buffers.filled[answer]))
        buffers.threshold[0] = 0.5 * (own + mean_score(state.table, others, filled))


def ranked_margin(parameters, state, event):
    """w.x - b."""
    margin = dot(state.table, event) - state.extra[THRESHOLD]
    return Score(side(margin), margin, 0.0)


def ranked_margin_and_variance(parameters, state, event):
    found = margin_and_variance(parameters, state, event)
    margin = found.margin - state.extra[THRESHOLD]
    return Score(side(margin), margin, found.variance)


# --- the rule --------------------------------------------------------------------------------------------


@dataclass
class PairwiseAdaptiveDiagonal(DiagonalCovariance):
    """Rank the second class above the first: answers are learned in pairs (SOAL-AUC). O(B nnz) per answer.

    Parameters
    ----------
    eta : float, default 1.0
        The step size of the mean.
    gamma : float, default 1.0
        The regulariser of the variances: the smaller, the faster they shrink.
    buffer_size : int, default 100
        How many answers of each class are kept to be compared with later ones, from 1 to 10,000.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.

    Examples
    --------
    >>> import askance
    >>> clf = askance.make("SOAL-AUC", classes=["common", "rare"])
    >>> clf.partial_fit([[1.0, 0.0], [1.0, 1.0]], ["common", "rare"]).coef_
    array([[0. , 0.5]])
    >>> clf.decision_function([[1.0, 0.0], [1.0, 1.0]])
    array([-0.25,  0.25])
    """

    eta: float = positive(1.0)
    gamma: float = positive(1.0)
    buffer_size: int = parameter(100, "a whole number from 1 to 10,000", lambda b: b.is_integer() and 1 <= b <= 10_000)
    weighted: bool = False

    binary: ClassVar = Kernels(margin=ranked_margin, learn=learn_pairs, score=ranked_margin_and_variance)
    is_local: ClassVar = False  # it moves the weights of the answers in the buffer, too
    is_idempotent: ClassVar = False

    @property
    def takes_weights(self) -> bool:
        return True

    @property
    def moves_threshold(self) -> bool:
        return True

    def start(self, n_features: int, n_classes: int) -> State:
        numbers = 1 + 2 * min(LONGEST, n_features)
        state = fresh_state(
            n_features, 1, self.start_values(), extra=OWN_NUMBERS + 2 * int(self.buffer_size) * numbers,
            work=(1, n_features),
        )  # fmt: skip
        view_buffers(state, int(self.buffer_size)).drawn[0] = 1.0
        return state

    def widen(self, state: State, kept: np.ndarray, n_features: int, n_classes: int) -> State:
        wider = self.start(n_features, n_classes)
        wider.table[kept] = state.table
        wider.extra[:OWN_NUMBERS] = state.extra[:OWN_NUMBERS]
        old, new = (view_buffers(each, int(self.buffer_size)).answers for each in (state, wider))
        for place in np.ndindex(old.shape[:2]):
            length = int(old[place][0])
            _, columns, values = np.split(old[place], [1, 1 + old.shape[2] // 2])
            into = 1 + new.shape[2] // 2
            new[place][0] = length
            new[place][1 : 1 + length] = kept[columns[:length].astype(np.intp)]
            new[place][into : into + length] = values[:length]
        return wider

    def check_state(self, state: State) -> None:
        buffers = view_buffers(state, int(self.buffer_size))
        longest = buffers.answers.shape[2] // 2
        places = [
            (buffers.filled, self.buffer_size),
            (buffers.answers[..., 0], longest),
            (buffers.answers[..., 1 : 1 + longest], len(state.table) - 1),
            (buffers.drawn, MODULUS - 1.0),
        ]
        for numbers, most in places:
            if not ((numbers >= 0) & (numbers <= most) & (numbers == np.floor(numbers))).all():
                raise ModelFileError("the array extra has a place in its buffers that does not exist.")

    def threshold(self, state: State) -> float:
        return float(state.extra[THRESHOLD])

    def layout(self, n_classes: int) -> tuple[object, ...]:
        return (*super().layout(n_classes), self.buffer_size)
