"""What a class counts, and where the line between two classes is drawn.

Under ``balanced``, an event of class y counts 1 / (k share_y), at most ``LARGEST_WEIGHT``, where share_y is in part
that of the answers and in part that of the recent predictions. The predictions need no label, and correct themselves: a
class that is hardly predicted any more counts more. ``f1`` takes the root of that, ``cost`` the cost ratio,
``accuracy`` 1. The weight scales a member's step as well as its loss.

Weights do not help a class of which three answers are known. So, for two classes and ``balanced``, the line is drawn
half way between the mean margins of the two classes' answers, rather than at 0: where two bells of one width and height
would meet. Both the shares and the means begin with ``BEFOREHAND`` answers that say nothing, of equal shares and margin
0, and look back on ``MEMORY`` answers.
"""

from __future__ import annotations

from math import sqrt

from askance.learner.auto.layout import CLASSES, WATCHED

OBJECTIVE, RATIO, PREDICTED_PART, MIDWAY = 0, 1, 5, 6
"""The parameters that are read here."""
ACCURACY, BALANCED, F1, COST = 0, 1, 2, 3

MEMORY = 500.0  # answers that losses, shares and means look back on
RECENT = 500.0  # events that the shares of the predictions look back on
BEFOREHAND = 20.0  # answers, spread evenly over the classes
LARGEST_WEIGHT = 10.0
FARTHEST = 1.0  # usual sizes: what a margin counts for in a mean at most


def note_prediction(state, classes, predicted):
    share = 1.0 / min(state.extra[WATCHED] + 1.0, RECENT)
    for k in range(classes):
        state.extra[CLASSES + classes + k] *= 1.0 - share
    state.extra[CLASSES + classes + predicted] += share


def note_answer(state, classes, answer, margin, weight):
    """Count an answer, as so many; ``margin`` is measured from 0, not from the line."""
    for k in range(classes):
        state.extra[CLASSES + k] *= 1.0 - 1.0 / MEMORY
        state.extra[CLASSES + 2 * classes + k] *= 1.0 - 1.0 / MEMORY
    state.extra[CLASSES + answer] += weight
    state.extra[CLASSES + 2 * classes + answer] += weight * min(FARTHEST, max(-FARTHEST, margin))


def class_weight(parameters, state, classes, answer):
    """How much an event of this class counts under the objective; 1 on average."""
    objective = parameters[OBJECTIVE]
    if objective == ACCURACY:
        return 1.0
    if objective == COST:
        return (parameters[RATIO] if answer == 1 else 1.0) * 2.0 / (1.0 + parameters[RATIO])
    total = BEFOREHAND
    for k in range(classes):
        total += state.extra[CLASSES + k]
    share = (state.extra[CLASSES + answer] + BEFOREHAND / classes) / total
    share += parameters[PREDICTED_PART] * (state.extra[CLASSES + classes + answer] - share)
    even = min(LARGEST_WEIGHT, 1.0 / (classes * share))
    return even if objective == BALANCED else sqrt(even)


def line_between(parameters, state):
    """The margin at which two classes meet."""
    if parameters[OBJECTIVE] != BALANCED:
        return 0.0
    low = state.extra[CLASSES + 4] / (state.extra[CLASSES] + 0.5 * BEFOREHAND)
    high = state.extra[CLASSES + 5] / (state.extra[CLASSES + 1] + 0.5 * BEFOREHAND)
    return parameters[MIDWAY] * 0.5 * (low + high)
