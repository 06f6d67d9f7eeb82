"""Several learners at once that share every label; those that have done best so far speak.

Everybody predicts every event and learns from every answer. Before it learns, it is judged by what it said:

    loss = clip(1/2 - m / (2 s), 0, 1)            m: margin of the true class, s: the usual size of its margins

a step function with a slope, on which a few dozen answers tell more than on mistakes alone; times the weight of the
class under the objective; summed with a memory of ``MEMORY`` answers, so that it follows a changing world. The voice of
a member falls with what its sum exceeds the least by,

    voice = exp(-sharpness (loss - least loss)),

and the committee says the mean of the members' margins, each in units of its usual size, weighed by their voices: at
first a mean of all of them, later mostly of the best few. It seldom comes down to one, for members that do about
equally well keep voices of about the same size. For two classes the line that separates them is then taken off (see
``classes``).
"""

from __future__ import annotations

import numpy as np

from askance.learner.auto.classes import MEMORY, class_weight, line_between, note_answer, note_prediction
from askance.learner.auto.evidence import (
    is_correction,
    note_event,
    note_evidence,
    note_given,
    note_reason,
    predicted_then,
)
from askance.learner.auto.layout import (
    GIVEN,
    LEADER,
    LEARNED,
    LOSS,
    PER_MEMBER,
    REASONS,
    SINCE,
    SIZE,
    VOICE,
    WATCHED,
    members_at,
)
from askance.learner.auto.members import ROW, VIEW, learn_member, own_state
from askance.learner.auto.views import see, seen_as, watch
from askance.learner.compile import on_its_own
from askance.learner.prototypes import best_except, judge
from askance.learner.sparse import dot, side
from askance.learner.state import Score

SHARPNESS, IMPORTANCE, BALANCING, HEAD = 2, 3, 4, 7
"""The parameters that are read here; the members' rows begin at the last."""

USUAL = 2000.0  # events that the usual size of a margin looks back on
SILENT = 1e-3  # below it, in parts of the leader's, a voice is not heard
MOST_TIMES = 100.0  # that one answer may be learned, whatever its weight


def n_members(parameters):
    return (parameters.size - HEAD) // ROW


def n_classes(state):
    return max(2, state.scores.size)


def view_of(parameters, member):
    return int(parameters[HEAD + ROW * member + VIEW])


def place_of(state, member):
    """Where a member's numbers begin in state.extra; beyond the last one's, those of the covariances."""
    return members_at(n_classes(state)) + PER_MEMBER * member


# --- predict ---------------------------------------------------------------------------------------------


@on_its_own
def margin(parameters, state, event):
    """Predict, and change nothing."""
    see(state, event)
    score_members(parameters, state, event)
    return speak(parameters, state)


@on_its_own
def score(parameters, state, event):
    """Predict an event of the stream, which is also one to learn the features and the shares of the classes from."""
    watch(state, event)
    see(state, event)
    score_members(parameters, state, event)
    note_sizes(parameters, state)
    said = speak(parameters, state)
    note_prediction(state, n_classes(state), said.predicted)
    return said


def note(state, event, said, chance, is_asked):
    """File an event of the stream for the report. Nothing can be learned of one without features: it is not asked."""
    is_empty = event.stop == event.start
    note_event(state, n_classes(state), said.predicted, 0.0 if is_empty else chance, is_asked and not is_empty)


@on_its_own
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
        beyond = state.scores[0] - line_between(parameters, state)
        return Score(side(beyond), beyond, 0.0)
    return judge(state.scores, 0.0)


def are_at_odds(parameters, state, predicted):
    """Whether somebody who is heard predicts another class than all together, the line between two left at 0."""
    vectors = state.scores.size
    common = side(state.scores[0]) if vectors == 1 else predicted
    for member in range(n_members(parameters)):
        scores = state.variances[member * vectors : (member + 1) * vectors]
        own = side(scores[0]) if vectors == 1 else best_except(scores, -1)
        if own != common and state.extra[place_of(state, member) + VOICE] > 0.0:
            return True
    return False


# --- learn -----------------------------------------------------------------------------------------------


@on_its_own
def learn(parameters, state, event, answer, said, weight):
    """Learn a label that was bought with probability 1 / weight.

    The scores are those of the last prediction, which was of this event. Before any event of the stream was watched,
    there is none that it could have been bought for: it counts as given."""
    if state.extra[WATCHED] <= state.extra[REASONS + GIVEN]:
        learn_given(parameters, state, event, answer, said, 1.0)
    else:
        classes = n_classes(state)
        if not is_correction(state):
            note_reason(state, classes, said, are_at_odds(parameters, state, said.predicted))
        note_evidence(state, classes, answer, predicted_then(state, said.predicted), weight, 1.0)
        learn_answer(parameters, state, event, answer, weight ** parameters[IMPORTANCE], 1.0)


@on_its_own
def learn_given(parameters, state, event, answer, said, weight):
    """Learn a label that was given, as ``weight`` of them, with its event, which counts as one of the stream."""
    said = score(parameters, state, event)
    note_given(state, n_classes(state), answer, said.predicted)
    learn_answer(parameters, state, event, answer, 1.0, min(weight, MOST_TIMES))


@on_its_own
def learn_answer(parameters, state, event, answer, importance, weight):
    """Judge everybody, let everybody learn: ``weight`` times over, each time from where the last one ended."""
    classes = n_classes(state)
    note_answer(state, classes, answer, state.scores[0], weight)
    emphasis = class_weight(parameters, state, classes, answer)
    judge_members(parameters, state, answer, emphasis * importance * weight)
    emphasis = emphasis ** parameters[BALANCING]
    learn_members(parameters, state, event, answer, emphasis * min(1.0, weight))
    while weight > 1.0:
        weight -= 1.0
        score_members(parameters, state, event)
        learn_members(parameters, state, event, answer, emphasis * min(1.0, weight))
    state.extra[LEARNED] += 1.0


@on_its_own
def learn_members(parameters, state, event, answer, weight):
    vectors = state.scores.size
    members = n_members(parameters)
    blocks = place_of(state, members)
    for member in range(members):
        row = parameters[HEAD + ROW * member : HEAD + ROW * (member + 1)]
        view = seen_as(state, event, view_of(parameters, member))
        for vector in range(vectors):
            own = own_state(state, member, vector, vectors, blocks)
            side_of_vector = answer if vectors == 1 else int(answer == vector)
            learn_member(row, own, view, side_of_vector, state.variances[member * vectors + vector], weight)


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
