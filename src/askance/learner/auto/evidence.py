"""What a committee notes of events and answers for its report: how good it is, and what labels were spent on.

Every event is filed by what was predicted and by the octave of its probability of asking, every bought answer by the
same two and its class: these are the files from which ``askance.quality`` estimates, in the same whole numbers (see
``octaves``). An answer stands for (1 - p) / p events of its file that were not asked: its odds. One that comes late
is filed with its event, by what was predicted then.

A label that was given, not bought, came with a probability that nobody knows. It is no evidence of how good the
committee is on the events of the stream: it stands for none of them, and is counted apart.
"""

from __future__ import annotations

import numpy as np

from askance.learner.auto.layout import (
    AT_FIRST,
    AT_ODDS,
    CLASSES,
    CLEAR,
    GIVEN,
    LEARNED,
    PREDICTED_THEN,
    REASONS,
    UNDECIDED,
    answers_apart,
    answers_at,
    events_apart,
    events_at,
    given_at,
)
from askance.learner.octaves import RAREST, SQUARE_SHIFT, UNIT, octave_of

LARGEST_ODDS = 2.0 ** (RAREST + 1) - 1.0
SQUARES_PER_UNIT = 2.0**SQUARE_SHIFT

CLEARLY = 1.0  # a margin of the usual size
COLD = 20.0  # answers for each class, after which the cold start is over, whichever classes were seen


def note_event(state, classes, predicted, probability, is_asked):
    """An event of the stream, which was asked or not."""
    place = events_at(classes, predicted, octave_of(probability))
    state.extra[place] += 1.0
    if is_asked:
        state.extra[place + events_apart(classes)] += 1.0


def note_evidence(state, classes, answer, predicted, weight, sign):
    """An answer, bought with probability 1 / weight; ``sign`` -1 takes one back."""
    octave = octave_of(1.0 / weight)
    odds = np.rint(min(max(weight - 1.0, 0.0), LARGEST_ODDS) * 0.5**octave * UNIT)
    place = answers_at(classes, answer, predicted, octave)
    apart = answers_apart(classes)
    state.extra[place] += sign
    state.extra[place + apart] += sign * odds
    state.extra[place + 2 * apart] += sign * np.floor(odds * odds / SQUARES_PER_UNIT)


def predicted_then(state, predicted):
    """What was predicted when the event came, as far as that is known; it is known once."""
    then = abs(int(state.extra[PREDICTED_THEN]))
    state.extra[PREDICTED_THEN] = 0.0
    return then - 1 if then > 0 else predicted


def is_correction(state):
    """Whether the answer takes the place of another, which was bought: this one is no further label."""
    return state.extra[PREDICTED_THEN] < 0.0


def note_given(state, classes, answer, predicted):
    state.extra[given_at(classes, answer, predicted)] += 1.0
    state.extra[REASONS + GIVEN] += 1.0


def note_reason(state, classes, said, are_at_odds):
    """Why this label was worth buying; before the answer itself is counted."""
    missing = 0
    for k in range(classes):
        missing += state.extra[CLASSES + k] == 0.0
    reason = CLEAR
    if missing > 0 and state.extra[LEARNED] < COLD * classes:
        reason = AT_FIRST
    elif are_at_odds:
        reason = AT_ODDS
    elif abs(said.margin) < CLEARLY:
        reason = UNDECIDED
    state.extra[REASONS + reason] += 1.0
