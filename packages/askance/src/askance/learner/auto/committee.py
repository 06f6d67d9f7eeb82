"""A committee of learners that share every label; those that did best so far decide.

Every member i predicts every event and learns from every answer. Its score is f_i (one per class, if there are more
than two), its margin m_i, and s_i the usual size of its margins. Before it learns answer y, it is judged:

    l_i = clip(1/2 - m_i(y) / (2 s_i), 0, 1)                m_i(y): the margin of the true class
    L_i <- (1 - 1/MEMORY) L_i + c_y l_i                     c_y: the weight of the class (see ``classes``)
    v_i = exp(-sharpness (L_i - min_j L_j)) / Z             Z: so that the votes sum to 1

l is a step function with a slope: a few dozen answers tell more by it than by mistakes alone. L forgets, so that it
follows a changing world. The committee's score is the mean of the members' scores in units of their usual size,
weighted by their votes:

    F = sum_i v_i f_i / s_i - theta                         theta: the threshold of two classes (see ``classes``)

At first all members vote alike, later mostly the best few. It seldom comes down to one, for members that do about
equally well keep votes of about the same size.
"""

from __future__ import annotations

import numpy as np

from askance.compile import no_inline
from askance.learner.auto.asking import find_stake, remember_asked
from askance.learner.auto.change import count_surprise, inflate_members, restart_members
from askance.learner.auto.classes import (
    MEMORY,
    class_weight,
    count_answer,
    count_chance,
    count_prediction,
    decision_threshold,
    usual_part,
)
from askance.learner.auto.event_signal import watch_event
from askance.learner.auto.fourier import curved_state, fill_curved_view, view_curves
from askance.learner.auto.layout import (
    covariances_at,
    n_classes,
    n_flat,
    n_members,
    view_head,
    view_member,
    view_rule,
    view_settings,
)
from askance.learner.auto.members import learn_member, own_state
from askance.learner.auto.report_counts import (
    count_bought,
    count_event,
    count_given,
    count_reason,
    is_correction,
    predicted_then,
)
from askance.learner.auto.views import fill_views, update_statistics, view_event
from askance.learner.sparse import best_except, dot, judge, side
from askance.learner.state import Score

USUAL = 2000.0  # events that s_i looks back on
SILENT = 1e-3  # of the leader's vote: a smaller one counts as 0
MOST_TIMES = 100.0  # one given label may be learned, whatever its weight


# --- predict ---------------------------------------------------------------------------------------------


@no_inline
def margin(parameters, state, event):
    """F for an event; changes nothing."""
    fill_all_views(parameters, state, event)
    score_members(parameters, state, event)
    return combine_votes(parameters, state)


@no_inline
def score(parameters, state, event):
    """F for an event of the stream, as ``score_any``. If it says that events have changed (see ``event_signal``), the
    members become unsure."""
    prediction = score_any(parameters, state, event)
    share = view_settings(parameters).event_reaction
    if share > 0.0 and watch_event(state, event):
        inflate_members(parameters, state, share)
    return prediction


@no_inline
def score_any(parameters, state, event):
    """F for an event of the stream, or for one that comes with its label. It also enters the statistics of the
    features, s_i and the shares of the classes. In place of a variance comes what is at stake (see ``asking``)."""
    update_statistics(state, event)
    fill_all_views(parameters, state, event)
    score_members(parameters, state, event)
    update_sizes(parameters, state)
    prediction = combine_votes(parameters, state)
    at_stake = find_stake(parameters, state, event, prediction.predicted)
    count_prediction(state, prediction.predicted)
    return Score(prediction.predicted, prediction.margin, at_stake)


def observe(state, event, prediction, chance, is_asked):
    """Count an event of the stream. One without features counts as not asked: nobody learns from it."""
    is_empty = event.stop == event.start
    count_chance(state, chance)
    if is_asked and not is_empty:
        remember_asked(state, event)
    count_event(state, prediction.predicted, 0.0 if is_empty else chance, is_asked and not is_empty)


@no_inline
def fill_all_views(parameters, state, event):
    """Write all views of an event into ``state.work``, the curved one if there are members for it."""
    fill_views(state, event)
    if n_members(state) > n_flat(state):
        fill_curved_view(state, int(view_settings(parameters).curves))


@no_inline
def score_members(parameters, state, event):
    """f_i = w_i.x_i for every member and class, into ``state.variances``; x_i is the event in the member's view."""
    vectors = state.scores.size
    members, flat = n_members(state), n_flat(state)
    covariances = covariances_at(n_classes(state), members)
    curves = int(view_settings(parameters).curves)
    for i in range(flat, members):
        curved = view_curves(state, curves)
        for vector in range(vectors):
            state.variances[i * vectors + vector] = dot(curved_state(state, i, vector, curves).table, curved)
    for i in range(flat):
        rule = view_rule(parameters, i)
        view = view_event(state, event, int(rule.view_number))
        for vector in range(vectors):
            own = own_state(state, i, vector, vectors, covariances)
            state.variances[i * vectors + vector] = dot(own.table, view)


def margin_of(state, member):
    """m_i = |f_i| for two classes, else the best score minus the second best."""
    vectors = state.scores.size
    scores = state.variances[member * vectors : (member + 1) * vectors]
    if vectors == 1:
        return abs(scores[0])
    best = best_except(scores, -1)
    return scores[best] - scores[best_except(scores, best)]


def update_sizes(parameters, state):
    """s_i += (m_i - s_i) / min(t, USUAL), for t events so far."""
    share = 1.0 / min(view_head(state).watched, USUAL)
    for i in range(n_members(state)):
        member = view_member(state, i)
        member.usual_size += share * (margin_of(state, i) - member.usual_size)


def combine_votes(parameters, state):
    """F = sum_i v_i f_i / s_i, for two classes minus theta. The scores stay in ``state.scores``, without theta.

    Where no event came since the member learned anything, s_i is still 0; then the event's own margin takes its place.
    """
    vectors = state.scores.size
    for vector in range(vectors):
        state.scores[vector] = 0.0
    for i in range(n_members(state)):
        member = view_member(state, i)
        size = member.usual_size if member.usual_size > 0.0 else margin_of(state, i)
        if member.vote > 0.0 and size > 0.0:
            share = member.vote / size
            for vector in range(vectors):
                state.scores[vector] += share * state.variances[i * vectors + vector]
    if vectors == 1:
        beyond = state.scores[0] - decision_threshold(parameters, state)
        return Score(side(beyond), beyond, 0.0)
    return judge(state.scores, 0.0)


def members_disagree(parameters, state, predicted):
    """Whether a member with v_i > 0 predicts another class than the committee would with theta = 0."""
    vectors = state.scores.size
    common = side(state.scores[0]) if vectors == 1 else predicted
    for i in range(n_members(state)):
        scores = state.variances[i * vectors : (i + 1) * vectors]
        own = side(scores[0]) if vectors == 1 else best_except(scores, -1)
        if own != common and view_member(state, i).vote > 0.0:
            return True
    return False


# --- learn -----------------------------------------------------------------------------------------------


@no_inline
def learn(parameters, state, event, answer, prediction, weight):
    """Learn a label that was bought with probability 1 / weight.

    The scores are those of the last prediction, which was of this event. If no event of the stream was watched yet, the
    label cannot have been bought: it counts as given."""
    head = view_head(state)
    if head.watched <= head.given:
        learn_given(parameters, state, event, answer, prediction, 1.0)
    else:
        is_alarm = False
        if not is_correction(state):
            count_reason(state, prediction, members_disagree(parameters, state, prediction.predicted))
            is_wrong = answer != prediction.predicted
            is_alarm = count_surprise(state, prediction.predicted, prediction.margin, is_wrong)
        count_bought(state, answer, predicted_then(state, prediction.predicted), weight, 1.0)
        importance = weight ** view_settings(parameters).importance
        usual = usual_part(parameters, state, weight)
        learn_answer(parameters, state, event, answer, importance, 1.0, usual)
        if is_alarm:
            restart_members(parameters, state, view_settings(parameters).reaction)


@no_inline
def learn_given(parameters, state, event, answer, prediction, weight):
    """Learn a given label ``weight`` times. Its event counts as one of the stream."""
    prediction = score_any(parameters, state, event)
    count_given(state, answer, prediction.predicted)
    learn_answer(parameters, state, event, answer, 1.0, min(weight, MOST_TIMES), 1.0)


@no_inline
def learn_answer(parameters, state, event, answer, importance, weight, usual):
    """Judge all members, then let all of them learn ``weight`` times, each time from where the last one ended.

        L_i += c_y importance weight l_i,     the step of a member is multiplied by c_y ^ balancing

    after L_i has forgotten a little (see ``update_votes``). Its margin counts ``usual`` times in theta."""
    count_answer(state, answer, state.scores[0], weight, usual)
    emphasis = class_weight(parameters, state, answer)  # c_y
    update_votes(parameters, state, answer, emphasis * importance * weight)
    emphasis = emphasis ** view_settings(parameters).balancing
    learn_members(parameters, state, event, answer, emphasis, min(1.0, weight))
    while weight > 1.0:
        weight -= 1.0
        score_members(parameters, state, event)
        learn_members(parameters, state, event, answer, emphasis, min(1.0, weight))
    view_head(state).learned += 1.0


@no_inline
def learn_members(parameters, state, event, answer, emphasis, times):
    """One update of every member (see ``learn_member``). With more than two classes, each of its vectors learns its
    class against the rest."""
    vectors = state.scores.size
    members, flat = n_members(state), n_flat(state)
    covariances = covariances_at(n_classes(state), members)
    curves = int(view_settings(parameters).curves)
    for i in range(flat, members):
        rule = view_rule(parameters, i)
        curved = view_curves(state, curves)
        for vector in range(vectors):
            block = curved_state(state, i, vector, curves)
            side_of_vector = answer if vectors == 1 else int(answer == vector)
            learn_member(rule, block, curved, side_of_vector, state.variances[i * vectors + vector], emphasis, times)
    for i in range(flat):
        rule = view_rule(parameters, i)
        view = view_event(state, event, int(rule.view_number))
        for vector in range(vectors):
            own = own_state(state, i, vector, vectors, covariances)
            side_of_vector = answer if vectors == 1 else int(answer == vector)
            learn_member(rule, own, view, side_of_vector, state.variances[i * vectors + vector], emphasis, times)


def update_votes(parameters, state, answer, weight):
    """Update the losses, the leader and the votes.

        l_i = clip(1/2 - m_i(y) / (2 s_i), 0, 1),     L_i <- (1 - 1/MEMORY) L_i + weight l_i
        v_i = exp(-sharpness (L_i - min_j L_j)),      0 where that is below SILENT, then over their sum

    The leader is the member with the least L_i."""
    head, members = view_head(state), n_members(state)
    least = np.inf
    leader = 0
    for i in range(members):
        member = view_member(state, i)
        loss = 0.5
        if member.usual_size > 0.0:
            loss = min(1.0, max(0.0, 0.5 - 0.5 * true_margin(state, i, answer) / member.usual_size))
        member.loss = (1.0 - 1.0 / MEMORY) * member.loss + weight * loss
        if member.loss < least:
            least = member.loss
            leader = i
    if leader != head.leader or head.learned == 0.0:
        head.leader = leader
        head.leads_since = head.learned + 1.0
    sharpness = view_settings(parameters).sharpness
    total = 0.0
    for i in range(members):
        member = view_member(state, i)
        vote = np.exp(-sharpness * (member.loss - least))
        member.vote = vote if vote >= SILENT else 0.0
        total += member.vote
    for i in range(members):
        view_member(state, i).vote /= total


def true_margin(state, member, answer):
    """m_i(y): y f_i for two classes, else f_iy minus the best score among the other classes; negative for a mistake."""
    vectors = state.scores.size
    scores = state.variances[member * vectors : (member + 1) * vectors]
    if vectors == 1:
        return scores[0] if answer == 1 else -scores[0]
    return scores[answer] - scores[best_except(scores, answer)]
