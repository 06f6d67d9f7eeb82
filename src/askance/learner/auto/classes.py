"""The weight of a class under the objective, and the threshold between two classes.

With n_k recent answers and the share q_k of the recent predictions for each of K classes, M_k the sum of its answers'
margins, and B = ``BEFOREHAND`` answers in advance, spread evenly and with margin 0:

    share_y = (1 - a) (n_y + B / K) / (B + sum_k n_k) + a q_y                  a: predicted_part

    c_y = 1                                     accuracy
    c_y = min(LARGEST_WEIGHT, 1 / (K share_y))  balanced
    c_y = the root of that                      f1
    c_y = K C_y / sum_k C_k                     cost: C_y, the mean cost of the mistakes that miss class y

    theta = (midway / 2) sum_k M_k / (n_k + B / 2)                             balanced and two classes, else 0

The predictions need no label and correct themselves: a class that is hardly predicted any more counts more. The weight
c_y scales a member's loss as well as its step.

Weights do not help a class with three answers. So, for two classes and ``balanced``, the threshold theta lies half way
between the mean margins of the two classes' answers rather than at 0: where two normal densities of the same width and
height would meet. n, q and M forget: they look back on ``MEMORY`` answers and ``RECENT`` events.
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


def count_prediction(state, predicted):
    """q_k += ([k predicted] - q_k) / min(t + 1, RECENT), for t events so far."""
    counts = view_counts(state)
    share = 1.0 / min(view_head(state).watched + 1.0, RECENT)
    for k in range(counts.predicted.size):
        counts.predicted[k] *= 1.0 - share
    counts.predicted[predicted] += share


def count_answer(state, answer, margin, weight):
    """Count an answer y ``weight`` times; its margin m is measured from 0, not from theta.

        n_k <- (1 - 1/MEMORY) n_k + weight [k = y],     M_k <- (1 - 1/MEMORY) M_k + weight [k = y] clip(m, -1, 1)

    for every class k; [k = y] is 1 or 0."""
    counts = view_counts(state)
    for k in range(counts.answers.size):
        counts.answers[k] *= 1.0 - 1.0 / MEMORY
        counts.margins[k] *= 1.0 - 1.0 / MEMORY
    counts.answers[answer] += weight
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
    """theta = midway (M_0 / (n_0 + B / 2) + M_1 / (n_1 + B / 2)) / 2: the margin at which two classes meet."""
    settings = view_settings(parameters)
    if settings.objective != BALANCED:
        return 0.0
    counts = view_counts(state)
    low = counts.margins[0] / (counts.answers[0] + 0.5 * BEFOREHAND)
    high = counts.margins[1] / (counts.answers[1] + 0.5 * BEFOREHAND)
    return settings.midway * 0.5 * (low + high)
