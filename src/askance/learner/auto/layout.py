"""Where a committee keeps its numbers in ``state.extra``, and where its members' begin."""

from __future__ import annotations

WATCHED, CENTRED, MODEST, LENGTH, PRESENT_USUALLY = 0, 1, 2, 3, 4
"""How many events were watched, whether there are few enough features to centre them, whether the constant is a small
one, the mean squared length of an event, and how many features it usually has."""
LEARNED, LEADER, SINCE = 5, 6, 7
"""Answers learned; who leads, and since which answer."""
REASONS = 8
"""Of the answers learned, how many came before every class had one; then, of the others, how many about events that
members were at odds about, that were undecided, and that were clear."""
AT_FIRST, AT_ODDS, UNDECIDED, CLEAR = 0, 1, 2, 3
CLASSES = 12
"""For each class the answers it had lately, then for each its share of the recent predictions, then for each the sum of
its answers' margins."""
PER_CLASS = 3
DEPTHS = 8
"""Then, for each predicted class and depth, the events; for each true class, predicted class and depth, the answers,
their odds, and the squares of these (see ``evidence``). Then for each member:"""
LOSS, SIZE, VOICE, PER_MEMBER = 0, 1, 2, 3
"""Its loss so far, the usual size of its margins, and its voice. Last come the numbers of the covariances."""


def answers_at(classes, truth, predicted, depth):
    """Where the answers of a kind are counted; their odds and squares are ``answers_apart`` further on each."""
    return CLASSES + PER_CLASS * classes + DEPTHS * (classes + classes * truth + predicted) + depth


def answers_apart(classes):
    return DEPTHS * classes * classes


def events_at(classes, predicted, depth):
    return CLASSES + PER_CLASS * classes + DEPTHS * predicted + depth


def members_at(classes):
    """Where the members' numbers begin."""
    return CLASSES + PER_CLASS * classes + DEPTHS * classes * (1 + 3 * classes)
