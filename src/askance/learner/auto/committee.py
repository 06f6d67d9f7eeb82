"""Several learners at once that share every label; those that have done best so far speak.

Everybody predicts every event and learns from every answer. Before it learns, it is judged by what it said:

    loss = clip(1/2 - m / (2 s), 0, 1)            m: margin of the true class, s: the usual size of its margins

a step function with a slope, on which a few dozen answers tell more than on mistakes alone; times the weight of the
class under the objective; summed with a memory of ``MEMORY`` answers, so that it follows a changing world. The voice of
a member falls with what its sum exceeds the least by,

    voice = exp(-sharpness (loss - least loss)),

and the committee says the mean of the members' margins, each in units of its usual size, weighed by their voices: at
first a mean of all of them, soon the few best, in the end the leader.

What a class counts. Under ``balanced``, an event of class y counts 1 / (k share_y), at most ``LARGEST_WEIGHT``, where
share_y is in part that of the answers and in part that of the recent predictions. The predictions need no label, and
correct themselves: a class that is hardly predicted any more counts more. ``f1`` takes the root of that, ``cost`` the
cost ratio, ``accuracy`` 1. The weight scales a member's step as well as its loss.
"""

from __future__ import annotations

import numpy as np

from askance.learner.auto.members import ROW, VIEW, learn_member, own_state
from askance.learner.auto.views import WATCHED, see, seen_as, watch
from askance.learner.prototypes import best_except, judge
from askance.learner.sparse import dot, side
from askance.learner.state import Score

# parameters, before the members' rows
OBJECTIVE, RATIO, SHARPNESS, IMPORTANCE, BALANCING, PREDICTED_PART, HEAD = 0, 1, 2, 3, 4, 5, 6
ACCURACY, BALANCED, F1, COST = 0, 1, 2, 3

# state.extra, after views.WATCHED and views.CENTRED
LEARNED, LEADER, SINCE, AT_FIRST = 2, 3, 4, 5
"""Answers learned; who leads, and since which answer; answers before every class had one."""
WEIGHT, RIGHT, WEIGHT_SQUARED, RIGHT_SQUARED = 6, 7, 8, 9
"""Sums over the answers of their importance weights, those of right predictions, and the squares of both."""
CLASSES = 10
"""For each class the answers it had lately, then for each its share of the recent predictions. Then for each member:"""
PER_CLASS = 2
LOSS, SIZE, VOICE, PER_MEMBER = 0, 1, 2, 3
"""Its loss so far, the usual size of its margins, and its voice."""

MEMORY = 500.0  # answers that losses and shares of classes look back on
RECENT = 500.0  # events that the shares of the predictions look back on
USUAL = 2000.0  # events that the usual size of a margin looks back on
UNSEEN = 3.0  # answers of each class, taken as seen beforehand
LARGEST_WEIGHT = 10.0
SILENT = 1e-3  # below it a voice is not heard


def n_members(parameters):
    return (parameters.size - HEAD) // ROW


def n_classes(state):
    return max(2, state.scores.size)


def view_of(parameters, member):
    return int(parameters[HEAD + ROW * member + VIEW])


def place_of(state, member):
    """Where a member's numbers begin in state.extra; beyond the last one's, those of the covariances."""
    return CLASSES + PER_CLASS * n_classes(state) + PER_MEMBER * member


# --- predict ---------------------------------------------------------------------------------------------


def margin(parameters, state, event):
    """Predict, and change nothing."""
    see(state, event)
    score_members(parameters, state, event)
    return speak(parameters, state)


def score(parameters, state, event):
    """Predict an event of the stream, which is also one to learn the features and the shares of the classes from."""
    watch(state, event)
    see(state, event)
    score_members(parameters, state, event)
    note_sizes(parameters, state)
    said = speak(parameters, state)
    note_prediction(state, said.predicted)
    return said


def score_members(parameters, state, event):
    """Everybody's scores, into ``state.variances``, which is room for them."""
    vectors = state.scores.size
    members = n_members(parameters)
    blocks = place_of(state, members)
    for member in range(members):
        view = seen_as(state, event, view_of(parameters, member))
        for vector in range(vectors):
            own = own_state(state, member, vector, vectors, blocks)
            state.variances[member * vectors + vector] = dot(own.table, view)


def margin_of(state, member):
    """The size of a member's margin: of its one score, or of the best over the second."""
    vectors = state.scores.size
    scores = state.variances[member * vectors : (member + 1) * vectors]
    if vectors == 1:
        return abs(scores[0])
    best = best_except(scores, -1)
    return scores[best] - scores[best_except(scores, best)]


def note_sizes(parameters, state):
    share = 1.0 / min(state.extra[WATCHED], USUAL)
    for member in range(n_members(parameters)):
        place = place_of(state, member) + SIZE
        state.extra[place] += share * (margin_of(state, member) - state.extra[place])


def note_prediction(state, predicted):
    classes = n_classes(state)
    share = 1.0 / min(state.extra[WATCHED] + 1.0, RECENT)
    for k in range(classes):
        state.extra[CLASSES + classes + k] *= 1.0 - share
    state.extra[CLASSES + classes + predicted] += share


def speak(parameters, state):
    """What the committee says: the mean of the margins, in units of their usual sizes, weighed by the voices."""
    vectors = state.scores.size
    for vector in range(vectors):
        state.scores[vector] = 0.0
    for member in range(n_members(parameters)):
        place = place_of(state, member)
        voice = state.extra[place + VOICE]
        if voice > 0.0 and state.extra[place + SIZE] > 0.0:
            voice /= state.extra[place + SIZE]
            for vector in range(vectors):
                state.scores[vector] += voice * state.variances[member * vectors + vector]
    if vectors == 1:
        return Score(side(state.scores[0]), state.scores[0], 0.0)
    return judge(state.scores, 0.0)


# --- learn -----------------------------------------------------------------------------------------------


def learn(parameters, state, event, answer, said, weight):
    """Judge everybody, let everybody learn. The scores are those of the last prediction, which was of this event."""
    vectors = state.scores.size
    members = n_members(parameters)
    blocks = place_of(state, members)
    note_answer(state, answer, said.predicted, weight)
    emphasis = class_weight(parameters, state, answer)
    judge_members(parameters, state, answer, emphasis * weight ** parameters[IMPORTANCE])
    emphasis = emphasis ** parameters[BALANCING]
    for member in range(members):
        row = parameters[HEAD + ROW * member : HEAD + ROW * (member + 1)]
        view = seen_as(state, event, view_of(parameters, member))
        for vector in range(vectors):
            own = own_state(state, member, vector, vectors, blocks)
            side_of_vector = answer if vectors == 1 else int(answer == vector)
            learn_member(row, own, view, side_of_vector, state.variances[member * vectors + vector], emphasis)
    if state.extra[WATCHED] <= state.extra[LEARNED]:  # the answer came without a question: the event is new
        watch(state, event)
        note_sizes(parameters, state)
    state.extra[LEARNED] += 1.0


def note_answer(state, answer, predicted, weight):
    classes = n_classes(state)
    missing = 0
    for k in range(classes):
        missing += state.extra[CLASSES + k] == 0.0
        state.extra[CLASSES + k] *= 1.0 - 1.0 / MEMORY
    state.extra[CLASSES + answer] += 1.0
    if missing > 0:
        state.extra[AT_FIRST] += 1.0
    state.extra[WEIGHT] += weight
    state.extra[WEIGHT_SQUARED] += weight * weight
    if predicted == answer:
        state.extra[RIGHT] += weight
        state.extra[RIGHT_SQUARED] += weight * weight


def class_weight(parameters, state, answer):
    """How much an event of this class counts under the objective; 1 on average."""
    objective = parameters[OBJECTIVE]
    if objective == ACCURACY:
        return 1.0
    if objective == COST:
        return (parameters[RATIO] if answer == 1 else 1.0) * 2.0 / (1.0 + parameters[RATIO])
    classes = n_classes(state)
    total = 0.0
    for k in range(classes):
        total += state.extra[CLASSES + k] + UNSEEN
    share = (state.extra[CLASSES + answer] + UNSEEN) / total
    share += parameters[PREDICTED_PART] * (state.extra[CLASSES + classes + answer] - share)
    even = min(LARGEST_WEIGHT, 1.0 / (classes * share))
    return even if objective == BALANCED else np.sqrt(even)


def judge_members(parameters, state, answer, weight):
    """Add to everybody's loss, find the leader, and set the voices."""
    members = n_members(parameters)
    least = np.inf
    leader = 0
    for member in range(members):
        place = place_of(state, member)
        size = state.extra[place + SIZE]
        loss = 0.5
        if size > 0.0:
            loss = min(1.0, max(0.0, 0.5 - 0.5 * lead_of(state, member, answer) / size))
        state.extra[place + LOSS] = (1.0 - 1.0 / MEMORY) * state.extra[place + LOSS] + weight * loss
        if state.extra[place + LOSS] < least:
            least = state.extra[place + LOSS]
            leader = member
    if leader != state.extra[LEADER] or state.extra[LEARNED] == 0.0:
        state.extra[LEADER] = leader
        state.extra[SINCE] = state.extra[LEARNED] + 1.0
    total = 0.0
    for member in range(members):
        place = place_of(state, member)
        voice = np.exp(-parameters[SHARPNESS] * (state.extra[place + LOSS] - least))
        state.extra[place + VOICE] = voice if voice >= SILENT else 0.0
        total += state.extra[place + VOICE]
    for member in range(members):
        state.extra[place_of(state, member) + VOICE] /= total


def lead_of(state, member, answer):
    """How far the answer's score lies above all others': negative for a mistake."""
    vectors = state.scores.size
    scores = state.variances[member * vectors : (member + 1) * vectors]
    if vectors == 1:
        return scores[0] if answer == 1 else -scores[0]
    return scores[answer] - scores[best_except(scores, answer)]
