"""What is at stake with an event: the number c with which the query rule weighs its margin.

    p = 1 / (1 + (|m| / (delta c^a))^b)                      (see ``query``)

    c = c_p ^ rare_side                                       two classes, p the predicted one
    c = (c_a + c_b) / 2                                       more, a and b those with the highest scores
    c <- c / (1 + variety k)                                  k of the last LATELY asked events are nearly equal to it

c_k is the weight of class k (see ``classes``). It costs little to ask too often for the rarer class where it is
predicted, and its answers are the ones that are scarce.

**Nearly equal events.** Of an asked event three sums are kept, u_j = sum_k g_jk z_k, where z is the standardised event
and g_jk is a fixed number in [-1/2, 1/2). Two events are nearly equal if none of their sums differs by more than
``NEARLY``: always, if they are equal and the statistics hardly moved since; nearly never, if their features differ and
there are more than two or three. Copies of an event teach less than the first of them; in a stream with many of them
they would get most labels wherever the committee is in doubt about them.
"""

from __future__ import annotations

from math import floor, sqrt

from askance.compile import no_inline
from askance.learner.auto.classes import class_weight
from askance.learner.auto.layout import LATELY, SUMS, view_counts, view_head, view_settings
from askance.learner.auto.views import STANDARD, view_event
from askance.learner.sparse import best_except

NEARLY = 0.005
FACTORS = (sqrt(2.0), sqrt(5.0), sqrt(11.0))
"""Multiples of an irrational number, without their whole part, are spread evenly: they give g_jk."""


def find_stake(parameters, state, event, predicted):
    """c of an event whose scores are in ``state.scores`` and whose views are in ``state.work``."""
    variety = view_settings(parameters).variety
    stake = weigh_classes(parameters, state, predicted)
    return stake / (1.0 + variety * count_alike(state, event)) if variety > 0.0 else stake


def weigh_classes(parameters, state, predicted):
    """c_p ^ rare_side for two classes, else (c_a + c_b) / 2 for the two classes a, b with the highest scores: how much
    it counts to tell them apart. Before b has an answer, it counts as a: it may not exist."""
    if state.scores.size == 1:
        power = view_settings(parameters).rare_side
        return class_weight(parameters, state, predicted) ** power if power > 0.0 else 1.0
    best = best_except(state.scores, -1)
    second = best_except(state.scores, best)
    first_weight = class_weight(parameters, state, best)
    if view_counts(state).answers[second] == 0.0:
        return first_weight
    return 0.5 * (first_weight + class_weight(parameters, state, second))


@no_inline
def sum_up(state, event):
    """u_j = sum_k (frac(k FACTORS_j) - 1/2) z_k for the event whose views are in ``state.work``; columns k count from
    1, the constant is the last of them."""
    view = view_event(state, event, STANDARD)
    first, second, third = 0.0, 0.0, 0.0
    for i in range(view.start, view.stop):
        number = 1.0 + view.columns[i]
        value = view.values[i]
        first += (number * FACTORS[0] - floor(number * FACTORS[0]) - 0.5) * value
        second += (number * FACTORS[1] - floor(number * FACTORS[1]) - 0.5) * value
        third += (number * FACTORS[2] - floor(number * FACTORS[2]) - 0.5) * value
    return first, second, third


def remember_asked(state, event):
    """Keep u of an asked event in the place of the oldest."""
    head = view_head(state)
    place = SUMS * (int(head.remembered) % LATELY)
    head.asked_lately[place], head.asked_lately[place + 1], head.asked_lately[place + 2] = sum_up(state, event)
    head.remembered += 1.0


def count_alike(state, event):
    """k: how many of the last LATELY asked events are nearly equal to this one."""
    head = view_head(state)
    first, second, third = sum_up(state, event)
    alike = 0
    for place in range(0, SUMS * int(min(head.remembered, LATELY)), SUMS):
        far = max(abs(head.asked_lately[place] - first), abs(head.asked_lately[place + 1] - second))
        alike += max(far, abs(head.asked_lately[place + 2] - third)) <= NEARLY
    return alike
