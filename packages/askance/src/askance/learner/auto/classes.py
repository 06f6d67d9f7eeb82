"""The weight of a class under the objective, and the threshold between two classes.

With n_k recent answers and the share q_k of the recent predictions for each of K classes, and B = ``BEFOREHAND``
answers in advance, spread evenly and with margin 0:

    share_y = (1 - a) (n_y + B / K) / (B + sum_k n_k) + a q_y                  a: predicted_part

    c_y = 1                                     accuracy
    c_y = min(LARGEST_WEIGHT, 1 / (K share_y))  balanced
    c_y = the root of that                      f1
    c_y = K C_y / sum_k C_k                     cost: C_y, the mean cost of the mistakes that miss class y

    theta = (midway / 2) sum_k mu_k n'_k / (n'_k + B / 2)                      balanced and two classes, else 0
    mu_k = sum u m / sum u,     n'_k = (sum u)^2 / sum u^2                     over the answers of class k

The predictions need no label and correct themselves: a class that is hardly predicted any more counts more. The weight
c_y scales a member's loss as well as its step.

Weights do not help a class with three answers. So, for two classes and ``balanced``, the threshold theta lies half way
between the mean margins of the two classes' answers rather than at 0: where two normal densities of the same width and
height would meet. Among the answers there are more events of small margin than in the stream, the more so the rarer
labels are. So an answer whose event was asked with probability p counts in the mean with

    u = min(MOST_USUAL, P / p) ^ unbiasing,     P: the mean ask probability of recent events,

and n'_k is the number of answers of equal weight that would tell as much. All of it forgets: it looks back on
``MEMORY`` answers and ``RECENT`` events.
"""

from __future__ import annotations

from math import sqrt

from askance.learner.auto.layout import n_classes, view_counts, view_head, view_settings

OBJECTIVES = ("accuracy", "balanced", "f1", "cost")
ACCURACY, BALANCED, F1, COST = range(len(OBJECTIVES))

MEMORY = 500.0  # answers that L_i, n_k and M_k look back on
RECENT = 500.0  # events that q_k looks back on
BEFOREHAND = 20.0  # B: answers in advance, spread evenly over the classes
LARGEST_WEIGHT = 10.0
FARTHEST = 1.0  # usual sizes: a margin enters M_k clipped to this
MOST_USUAL = 5.0  # an answer stands for as many events as so many of the usual ones, at most
CHANCES = 2000.0  # events that P looks back on


def count_prediction(state, predicted):
    """q_k += ([k predicted] - q_k) / min(t + 1, RECENT), for t events so far."""
    counts = view_counts(state)
    share = 1.0 / min(view_head(state).watched + 1.0, RECENT)
    for k in range(counts.predicted.size):
        counts.predicted[k] *= 1.0 - share
    counts.predicted[predicted] += share


def count_chance(state, chance):
    """P += (p - P) / min(t, CHANCES) for an event that could be asked, t events so far."""
    if chance > 0.0:
        head = view_head(state)
        head.mean_chance += (chance - head.mean_chance) / min(head.watched, CHANCES)


def usual_part(parameters, state, weight):
    """u = min(MOST_USUAL, P / p) ^ unbiasing, for an answer of weight 1 / p."""
    return min(MOST_USUAL, weight * view_head(state).mean_chance) ** view_settings(parameters).unbiasing


def count_answer(state, answer, margin, weight, usual):
    """Count an answer y ``weight`` times; its margin m is measured from 0, not from theta, and u is ``usual``.

        n_k <- (1 - 1/MEMORY) n_k + weight [k = y],     M_k <- (1 - 1/MEMORY) M_k + weight u [k = y] clip(m, -1, 1)
        U_k <- (1 - 1/MEMORY) U_k + weight u [k = y],   Q_k <- (1 - 1/MEMORY) Q_k + weight u^2 [k = y]

    for every class k; [k = y] is 1 or 0."""
    counts = view_counts(state)
    for k in range(counts.answers.size):
        counts.answers[k] *= 1.0 - 1.0 / MEMORY
        counts.margins[k] *= 1.0 - 1.0 / MEMORY
        counts.weights[k] *= 1.0 - 1.0 / MEMORY
        counts.squares[k] *= 1.0 - 1.0 / MEMORY
    counts.answers[answer] += weight
    weight *= usual
    counts.weights[answer] += weight
    counts.squares[answer] += weight * usual
    counts.margins[answer] += weight * min(FARTHEST, max(-FARTHEST, margin))


def class_weight(parameters, state, answer):
    """c_y: how much an event of class y counts under the objective; about 1 on average.

    share_y = (1 - a) (n_y + B / K) / (B + sum_k n_k) + a q_y
    c_y = min(LARGEST_WEIGHT, 1 / (K share_y))     balanced, and its root for f1; the others: see above"""
    settings = view_settings(parameters)
    if settings.objective == ACCURACY:
        return 1.0
    counts, classes = view_counts(state), n_classes(state)
    if settings.objective == COST:
        return parameters[parameters.size - classes + answer]  # the last ones are c_1 ... c_K
    total = BEFOREHAND
    for k in range(classes):
        total += counts.answers[k]
    share = (counts.answers[answer] + BEFOREHAND / classes) / total
    share += settings.predicted_part * (counts.predicted[answer] - share)
    even = min(LARGEST_WEIGHT, 1.0 / (classes * share))
    return even if settings.objective == BALANCED else sqrt(even)


def decision_threshold(parameters, state):
    """theta = midway (mean_0 + mean_1) / 2: the margin at which two classes meet."""
    settings = view_settings(parameters)
    if settings.objective != BALANCED:
        return 0.0
    counts = view_counts(state)
    return settings.midway * 0.5 * (mean_margin(counts, 0) + mean_margin(counts, 1))


def mean_margin(counts, k):
    """mu_k n'_k / (n'_k + B / 2) = M_k / (U_k + B / 2 Q_k / U_k), with mu_k = M_k / U_k and n'_k = U_k^2 / Q_k."""
    weights = counts.weights[k]
    return counts.margins[k] / (weights + 0.5 * BEFOREHAND * (counts.squares[k] / weights)) if weights > 0.0 else 0.0
