"""Adaptive subgradient methods: dual averaging and mirror descent.

Paper 2, Eq. 1 and 2, after Duchi, Hazan and Singer, JMLR 12 (2011). With the hinge loss' subgradient g = -y x
(where 1 - y p > 0, else nothing moves), the sums G += g and q_i += g_i^2, and H_i = delta + sqrt(q_i):

    DA    w_i = -eta G_i / H_i
    MD    w_i -= eta g_i / H_i

for the coordinates with x_i != 0; the others do not change. A feature seen often has a large H and small steps;
1 / H_i serves as its variance: v = sum x_i^2 / H_i.

Multi-class (paper 2, §4.2.1): the class y of the answer has g = -x, its rival r has g = +x, each with sums of its own,
and v = v_predicted + max over the other classes of v_i (Eq. 8).

Costs, which paper 2 leaves to the future. With C(y, r), what it costs to predict r for an event of class y, in units of
the cheapest mistake, the hinge loss of every rival weighs what the mistake costs, as in paper 4, Eq. 4:

    l = max over r != y of C(y, r) max(0, 1 - (s_y - s_r)),     g_y = -C(y, r) x,  g_r = +C(y, r) x

for the r of the maximum. For two classes with one vector g = -C(y, other) y x. If all mistakes cost the same, this is
the rule without costs. Queries are the same: to weigh what is at stake in them was as often worse as better.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from askance.learner.rule import Kernels, UpdateRule, positive, share
from askance.learner.sparse import WEIGHT, best_except, best_of, column_at, hinge_loss, judge, linear_margin, side, sign
from askance.learner.state import Score, State

__all__ = ["DualAveraging", "MirrorDescent"]

RECIPROCAL = 1  # 1 / H_i
SQUARES = 2  # q_i
SUM = 3  # G_i, dual averaging only
HAS_COSTS = 5  # among the parameters, of which C are the last, row by row


def rarity_and_length(parameters, state, event):
    """The margin w.x; sum x_i^2 / H_i, which is large for events with rare features; and ||x||^2."""
    table = state.table
    margin = 0.0
    rarity = 0.0
    squared_length = 0.0
    for i in range(event.start, event.stop):
        column = column_at(table, event, i)
        value = event.values[i]
        margin += table[column, WEIGHT, 0] * value
        square = value * value
        rarity += square * table[column, RECIPROCAL, 0]
        squared_length += square
    return Score(side(margin), margin, rarity), squared_length


def rarity_and_length_of_many(parameters, state, event):
    """The scores of all classes; Eq. 8's sum for the predicted class and the rarest of the others; and ||x||^2."""
    scores = state.scores
    rarities = state.variances
    squared_length = 0.0
    for vector in range(scores.size):
        scores[vector] = 0.0
        rarities[vector] = 0.0
    for i in range(event.start, event.stop):
        column = column_at(state.table, event, i)
        value = event.values[i]
        square = value * value
        squared_length += square
        for vector in range(scores.size):
            scores[vector] += state.table[column, WEIGHT, vector] * value
            rarities[vector] += square * state.table[column, RECIPROCAL, vector]
    predicted = best_except(scores, -1)
    rarity = rarities[predicted] + rarities[best_except(rarities, predicted)]
    return judge(scores, rarity), squared_length


def average(table, vector, event, label, ridge, rate, weight):
    """One dual-averaging step of one weight vector, for the subgradient g = -label x."""
    for i in range(event.start, event.stop):
        column = event.columns[i]
        gradient = -label * event.values[i]
        table[column, SUM, vector] += weight * gradient
        table[column, SQUARES, vector] += weight * gradient * gradient
        ridged_root = ridge + sqrt(table[column, SQUARES, vector])  # H_i
        table[column, RECIPROCAL, vector] = 1.0 / ridged_root
        table[column, WEIGHT, vector] = -rate * table[column, SUM, vector] / ridged_root


def descend(table, vector, event, label, ridge, rate, weight):
    """One mirror-descent step of one weight vector, for the subgradient g = -label x."""
    for i in range(event.start, event.stop):
        column = event.columns[i]
        gradient = -label * event.values[i]
        table[column, SQUARES, vector] += weight * gradient * gradient
        ridged_root = ridge + sqrt(table[column, SQUARES, vector])  # H_i
        table[column, RECIPROCAL, vector] = 1.0 / ridged_root
        table[column, WEIGHT, vector] -= weight * rate * gradient / ridged_root


def cost_of(parameters, n_classes, answer, predicted):
    """C(y, r); 1 if no costs were given."""
    if parameters[HAS_COSTS] == 0.0:
        return 1.0
    return parameters[parameters.size - n_classes * n_classes + answer * n_classes + predicted]


def costliest_rival(parameters, scores, answer):
    """The class r with the largest C(y, r) max(0, 1 - (s_y - s_r)), the lowest of several, and C(y, r); or y and 0 if
    all of these are 0."""
    rival = answer
    largest = 0.0
    cost = 0.0
    for vector in range(scores.size):
        if vector != answer:
            loss = cost_of(parameters, scores.size, answer, vector) * hinge_loss(scores, answer, vector)
            if loss > largest:
                rival, largest, cost = vector, loss, cost_of(parameters, scores.size, answer, vector)
    return rival, cost


def rival_and_cost(parameters, scores, answer):
    """The class to move away from, and C(y, r); the cost is 0 if nothing is to move."""
    if parameters[HAS_COSTS] == 1.0:
        return costliest_rival(parameters, scores, answer)
    rival = best_except(scores, answer)  # by its score: several losses may round to the same number
    return rival, 1.0 if hinge_loss(scores, answer, rival) > 0.0 else 0.0


def learn_averaging(parameters, state, event, answer, prediction, weight):
    rate = parameters[0]  # eta
    ridge = parameters[1]  # delta
    if sign(answer) * prediction.margin < 1.0:
        cost = cost_of(parameters, 2, answer, 1 - answer)
        average(state.table, 0, event, cost * sign(answer), ridge, rate, weight)


def learn_averaging_of_many(parameters, state, event, answer, prediction, weight):
    rate = parameters[0]  # eta
    ridge = parameters[1]  # delta
    rival, cost = rival_and_cost(parameters, state.scores, answer)
    if cost > 0.0:
        average(state.table, answer, event, cost, ridge, rate, weight)
        average(state.table, rival, event, -cost, ridge, rate, weight)


def learn_descending(parameters, state, event, answer, prediction, weight):
    rate = parameters[0]  # eta
    ridge = parameters[1]  # delta
    if sign(answer) * prediction.margin < 1.0:
        cost = cost_of(parameters, 2, answer, 1 - answer)
        descend(state.table, 0, event, cost * sign(answer), ridge, rate, weight)


def learn_descending_of_many(parameters, state, event, answer, prediction, weight):
    rate = parameters[0]  # eta
    ridge = parameters[1]  # delta
    rival, cost = rival_and_cost(parameters, state.scores, answer)
    if cost > 0.0:
        descend(state.table, answer, event, cost, ridge, rate, weight)
        descend(state.table, rival, event, -cost, ridge, rate, weight)


def forget_squares(parameters, state, event):
    """q fades, so that steps grow again."""
    ridge = parameters[1]  # delta
    memory = parameters[3]  # decay
    if memory < 1.0:
        table = state.table
        for i in range(event.start, event.stop):
            column = event.columns[i]
            for vector in range(table.shape[2]):
                table[column, SQUARES, vector] *= memory
                table[column, RECIPROCAL, vector] = 1.0 / (ridge + sqrt(table[column, SQUARES, vector]))


def forget_sums(parameters, state, event):
    """q and G fade, and with them the weights."""
    rate = parameters[0]  # eta
    memory = parameters[3]  # decay
    forget_squares(parameters, state, event)
    if memory < 1.0:
        table = state.table
        for i in range(event.start, event.stop):
            column = event.columns[i]
            for vector in range(table.shape[2]):
                table[column, SUM, vector] *= memory
                table[column, WEIGHT, vector] = -rate * table[column, SUM, vector] * table[column, RECIPROCAL, vector]


def fade_squares(table: np.ndarray, share: float, ridge: float) -> None:
    """Take this share from every q, so that steps grow again."""
    table[:, SQUARES] *= 1.0 - share
    table[:, RECIPROCAL] = 1.0 / (ridge + np.sqrt(table[:, SQUARES]))


@dataclass
class DualAveraging(UpdateRule):
    """Weigh the sum of all gradients feature by feature: rare features take large steps (DA).

    Parameters
    ----------
    eta : float, default 1.0
        The step size.
    delta : float, default 1.0
        The ridge added to H: how much evidence a feature needs before its step shrinks.
    per_class : bool, default False
        Keep one weight vector per class even for two classes, as the multi-class algorithms do.
    decay : float, default 1.0
        How much of what is known of a feature an answer keeps, in (0, 1]; below 1 the model follows a changing world.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.
    costs : optional
        What mistakes cost, by name or as rows of a matrix (see ``askance.evaluate.costs``); only their ratios matter.

    Examples
    --------
    >>> import askance
    >>> clf = askance.ActiveClassifier(update=DualAveraging(), query=askance.queries.Always(), classes=[-1, 1])
    >>> clf.partial_fit([[1.0, 0.0]], [1]).coef_
    array([[0.5, 0. ]])
    """

    eta: float = positive(1.0)
    delta: float = positive(1.0)
    per_class: bool = False
    decay: float = share(1.0)
    weighted: bool = False
    costs: Any = None

    binary: ClassVar = Kernels(linear_margin, learn_averaging, forget=forget_sums, score_and_length=rarity_and_length)
    multiclass: ClassVar = Kernels(
        best_of, learn_averaging_of_many, forget=forget_sums, score_and_length=rarity_and_length_of_many
    )

    def start_values(self) -> tuple[float, ...]:
        return (0.0, 1.0 / self.delta, 0.0, 0.0)

    def inflate_variances(self, state: State, share: float) -> None:
        fade_squares(state.table, share, self.delta)
        state.table[:, SUM] = -state.table[:, WEIGHT] / (self.eta * state.table[:, RECIPROCAL])  # the weights stay


@dataclass
class MirrorDescent(UpdateRule):
    """Step against the gradient, feature by feature: rare features take large steps (MD).

    Parameters
    ----------
    eta : float, default 1.0
        The step size.
    delta : float, default 1.0
        The ridge added to H: how much evidence a feature needs before its step shrinks.
    per_class : bool, default False
        Keep one weight vector per class even for two classes, as the multi-class algorithms do.
    decay : float, default 1.0
        How much of what is known of a feature an answer keeps, in (0, 1]; below 1 the model follows a changing world.
    weighted : bool, default False
        Count an answer with its importance weight, 1 / probability of asking.
    costs : optional
        What mistakes cost, by name or as rows of a matrix (see ``askance.evaluate.costs``); only their ratios matter.

    Examples
    --------
    >>> import askance
    >>> clf = askance.ActiveClassifier(update=MirrorDescent(), query=askance.queries.Always(), classes=[-1, 1])
    >>> clf.partial_fit([[1.0, 0.0], [1.0, 0.0]], [1, 1]).coef_.round(4)
    array([[0.9142, 0.    ]])
    """

    eta: float = positive(1.0)
    delta: float = positive(1.0)
    per_class: bool = False
    decay: float = share(1.0)
    weighted: bool = False
    costs: Any = None

    binary: ClassVar = Kernels(
        linear_margin, learn_descending, forget=forget_squares, score_and_length=rarity_and_length
    )
    multiclass: ClassVar = Kernels(
        best_of, learn_descending_of_many, forget=forget_squares, score_and_length=rarity_and_length_of_many
    )

    def start_values(self) -> tuple[float, ...]:
        return (0.0, 1.0 / self.delta, 0.0)

    def inflate_variances(self, state: State, share: float) -> None:
        fade_squares(state.table, share, self.delta)
