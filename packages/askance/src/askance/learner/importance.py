"""Importance weights: answers that are learned more than once.

An answer bought with probability p stands for h = 1 / p events. A step multiplied by h would overshoot the loss that it
is to reduce. Instead the rule's own update u is repeated h times, each from where the last one ended,

    w <- u(u(...u(w))),        floor(h) times with weight 1, then once with weight h - floor(h),

so that a rule that stops at zero loss stops (Karampatziakis and Langford, "Online Importance Weight Aware Updates", UAI
2011, take the same limit for gradient steps). With a weight up to 1 a rule's kernel multiplies its step.

An event is asked with probability p and then learned at most 1 / p times: one update per event on average, no more than
a learner makes that gets every label.
"""

from __future__ import annotations

import numpy as np

from askance.learner.loop import drop_variance, margin
from askance.learner.state import Event, Score, State

MOST_UPDATES = 1_000_000.0


def learn_once(
    parameters: np.ndarray, state: State, event: Event, answer: int, prediction: Score, weight: float
) -> None:
    """The slot for u, the rule's own kernel, which gets weights up to 1."""
    raise NotImplementedError


def is_idempotent() -> bool:
    """The slot for whether an update that changes no score changes nothing else either."""
    raise NotImplementedError


def always_idempotent():
    return True


def never_idempotent():
    return False


def learn_repeatedly(parameters, state, event, answer, prediction, weight):
    """Apply u ``weight`` times, or until it changes nothing."""
    weight = min(weight, MOST_UPDATES)
    while weight > 0.0:
        before = state.scores[min(answer, state.scores.size - 1)]
        learn_once(parameters, state, event, answer, prediction, min(1.0, weight))
        weight -= 1.0
        if weight > 0.0:
            again = margin(parameters, state, event)
            own = state.scores[min(answer, state.scores.size - 1)]
            if (
                is_idempotent()
                and again.margin == prediction.margin
                and again.predicted == prediction.predicted
                and own == before
            ):
                weight = 0.0
            prediction = drop_variance(again)
