"""What a committee notes of events and answers for its report: how good it is, and what labels were spent on.

Events are filed by what was predicted and by depth, the octave of the odds of asking under ``Doubt``: 0 for margins
up to delta, then one more for each doubling of the squared margin. Within a file the probabilities of asking differ
little. An answer stands for (1 - p) / p events of its file that have none: its odds. These are the files from which
``askance.quality`` estimates.
"""

from __future__ import annotations

from math import frexp

from askance.learner.auto.layout import (
    AT_FIRST,
    AT_ODDS,
    CLASSES,
    CLEAR,
    DEPTHS,
    REASONS,
    UNDECIDED,
    answers_apart,
    answers_at,
    events_at,
)

SHALLOW = 0.2  # the margin up to which the depth is 0: the delta of ``Doubt``
CLEARLY = 1.0  # a margin of the usual size


def depth_of(margin):
    """How deep on one side an event lies.

    >>> [depth_of(margin) for margin in (0.0, -0.2, 0.3, 0.5, 1.0, -1e9)]
    [0, 0, 1, 2, 4, 7]
    """
    squared = (margin / SHALLOW) * (margin / SHALLOW)
    if squared < 1.0:
        return 0
    return min(DEPTHS - 1, frexp(min(squared, 1e9))[1] - 1)


def note_event(state, classes, said):
    state.extra[events_at(classes, said.predicted, depth_of(said.margin))] += 1.0


def note_evidence(state, classes, answer, said, weight):
    """An answer, bought with probability 1 / weight."""
    odds = max(0.0, weight - 1.0)
    place = answers_at(classes, answer, said.predicted, depth_of(said.margin))
    apart = answers_apart(classes)
    state.extra[place] += 1.0
    state.extra[place + apart] += odds
    state.extra[place + 2 * apart] += odds * odds


def note_reason(state, classes, said, are_at_odds):
    """Why this label was worth buying; before the answer itself is counted."""
    missing = 0
    for k in range(classes):
        missing += state.extra[CLASSES + k] == 0.0
    reason = CLEAR
    if missing > 0:
        reason = AT_FIRST
    elif are_at_odds:
        reason = AT_ODDS
    elif abs(said.margin) < CLEARLY:
        reason = UNDECIDED
    state.extra[REASONS + reason] += 1.0
