"""Where a committee keeps its numbers in ``state.extra``, and where its members' begin."""

from __future__ import annotations

from askance.learner.octaves import OCTAVES

WATCHED, CENTRED, MODEST, LENGTH, PRESENT_USUALLY = 0, 1, 2, 3, 4
"""How many events were watched, whether there are few enough features to centre them, whether the constant is a small
one, the mean squared length of an event, and how many features it usually has."""
LEARNED, LEADER, SINCE = 5, 6, 7
"""Answers learned; who leads, and since which answer."""
PREDICTED_THEN = 8
"""One more than the class that was predicted when the event came that the next answer is about; 0: the one predicted
now."""
REASONS = 9
"""Of the answers learned, how many were bought in the cold start; then, of the others, how many about events that
members were at odds about, that were undecided, and that were clear; then how many were not bought but given."""
AT_FIRST, AT_ODDS, UNDECIDED, CLEAR, GIVEN = 0, 1, 2, 3, 4
CLASSES = 14
"""For each class the answers it had lately, then for each its share of the recent predictions, then for each the sum of
its answers' margins."""
PER_CLASS = 3
"""Numbers for each class. Then, for each predicted class and octave of the probability of asking, the events, and those
that were asked; for each true class, predicted class and octave, the bought answers, their odds, and the squares of
these (see ``evidence``); for each true class and predicted class, the given answers. Then for each member:"""
LOSS, SIZE, VOICE, PER_MEMBER = 0, 1, 2, 3
"""Its loss so far, the usual size of its margins, and its voice. Last come the numbers of the covariances."""


def events_at(classes, predicted, octave):
    """Where the events of a kind are counted; those asked are ``events_apart`` further on."""
    return CLASSES + PER_CLASS * classes + OCTAVES * predicted + octave


def events_apart(classes):
    return OCTAVES * classes


def answers_at(classes, truth, predicted, octave):
    """Where the answers of a kind are counted; their odds and squares are ``answers_apart`` further on each."""
    return events_at(classes, 2 * classes + classes * truth + predicted, octave)


def answers_apart(classes):
    return OCTAVES * classes * classes


def given_at(classes, truth, predicted):
    return answers_at(classes, 3 * classes, 0, 0) + classes * truth + predicted


def members_at(classes):
    """Where the members' numbers begin."""
    return given_at(classes, classes, 0)
