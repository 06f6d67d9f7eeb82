"""Answers that count more than once.

An answer bought with probability p stands for 1 / p events. A step multiplied by 1 / p would overshoot: for large
weights it leaves the loss it is to reduce far behind. What a weight h means instead is the rule's own update h times
over, each from where the last one ended, so that a rule which stops at zero loss stops (Karampatziakis and Langford,
"Online Importance Weight Aware Updates", UAI 2011, take the same limit for gradient steps). What is left of h after
the whole updates is one smaller update: for weights up to 1 a rule's kernel multiplies its step.

An event is asked with probability p and then learned at most 1 / p times: one update per event on average, no more than
a learner that is told every label makes.
"""

from __future__ import annotations

import numpy as np

from askance.learner.loop import margin, without_variance
from askance.learner.state import Event, Score, State

MOST_UPDATES = 1_000_000.0


def once(parameters: np.ndarray, state: State, event: Event, answer: int, said: Score, weight: float) -> None:
    """The slot for the rule's own kernel, which gets weights up to 1."""
    raise NotImplementedError


def rests() -> bool:
    """The slot for whether a rule that leaves all scores as they are leaves itself as it is."""
    raise NotImplementedError


def is_at_rest():
    return True


def never_rests():
    return False


def learn_repeatedly(parameters, state, event, answer, said, weight):
    """As many updates as the weight says, or until one of them changes nothing."""
    weight = min(weight, MOST_UPDATES)
    while weight > 0.0:
        before = state.scores[min(answer, state.scores.size - 1)]
        once(parameters, state, event, answer, said, min(1.0, weight))
        weight -= 1.0
        if weight > 0.0:
            again = margin(parameters, state, event)
            own = state.scores[min(answer, state.scores.size - 1)]
            if rests() and again.margin == said.margin and again.predicted == said.predicted and own == before:
                weight = 0.0
            said = without_variance(again)
