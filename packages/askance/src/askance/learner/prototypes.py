"""One weight vector per class: what the multi-class forms share (papers 1 §4 and 2 §4).

With the scores s_r = w^r.x, the prediction is the best score, the margin is the best minus the second best, and
ties go to the lowest class. An answer y moves two vectors: that of y, and that of its rival, the best of the rest.
"""

from __future__ import annotations

from askance.learner.sparse import WEIGHT, column_at
from askance.learner.state import Score


def fill_scores(state, event):
    """Put s_r = w^r.x for every class r into ``state.scores``."""
    scores = state.scores
    for vector in range(scores.size):
        scores[vector] = 0.0
    for i in range(event.start, event.stop):
        column = column_at(state.table, event, i)
        value = event.values[i]
        for vector in range(scores.size):
            scores[vector] += state.table[column, WEIGHT, vector] * value


def best_except(scores, left_out):
    """The class with the highest score other than ``left_out``; the lowest such class if several have it."""
    best = 1 if left_out == 0 else 0
    for vector in range(best + 1, scores.size):
        if vector != left_out and scores[vector] > scores[best]:
            best = vector
    return best


def judge(scores, variance):
    """The prediction and its margin, from the scores."""
    predicted = best_except(scores, -1)
    runner_up = best_except(scores, predicted)
    return Score(predicted, scores[predicted] - scores[runner_up], variance)


def best_of(parameters, state, event):
    """Predict the class with the highest score."""
    fill_scores(state, event)
    return judge(state.scores, 0.0)


def hinge_loss(scores, answer, rival):
    """max(0, 1 - (s_y - s_rival))."""
    return max(0.0, 1.0 - (scores[answer] - scores[rival]))


def move_apart(table, answer, rival, event, step):
    """w^answer += step x and w^rival -= step x."""
    for i in range(event.start, event.stop):
        column = event.columns[i]
        change = step * event.values[i]
        table[column, WEIGHT, answer] += change
        table[column, WEIGHT, rival] -= change
