"""A fixed number of labels for a stream of unknown length: many at the beginning, ever fewer, never quite spent.

After t events at most

    A = min(n, 1 + n_0 + (n - n_0) t / (t + T)),        n_0 = min(40, n / 2),        T = 4 n + 1,

labels were asked. Half of the labels beyond the head n_0 are spent after 4 n events, nine tenths after 36 n. With
a labels asked so far, the wanted share of the events is (see ``pacing``, which steers the scale by it)

    w = r min(16, ((A - a) / L)^2),        r = dA / dt = (n - n_0) T / (t + T)^2,        L = min(10, n / 4 + 1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from askance.compile import no_inline
from askance.learner.budget import Both, Fixed, Pacing, Rate
from askance.learner.budget_state import view_constraint, view_steering
from askance.learner.pacing import (
    LEAD,
    MOST_AT_ONCE,
    adjust,
    due_after_events,
    resume,
    schedule_update,
    set_pace,
    suspend,
    urgency,
)

HEAD = 40.0  # n_0: labels to begin with
SMALL_HEAD = 20.0  # the burst of a Rate: with 64 labels or more, within two standard deviations of asking at random
SPREAD = 4.0  # T / n: events for each label until half of the labels beyond the head are spent


@no_inline
def pace_by_decay(parameters, budget_state, sums, tally, time):
    """Update the pace: w and the ceiling floor(A) by the formulas above."""
    steering = view_steering(budget_state)
    adjust(steering, sums, tally)
    most = view_constraint(parameters, 0).limit  # n
    head = min(HEAD, 0.5 * most)
    horizon = SPREAD * most + 1.0
    allowed = min(most, 1.0 + head + (most - head) * tally.seen / (tally.seen + horizon))
    income = (most - head) * horizon / ((tally.seen + horizon) * (tally.seen + horizon))
    lead = min(LEAD, 0.25 * most + 1.0)
    set_pace(steering, income * urgency((allowed - tally.asked) / lead), np.floor(allowed))
    return schedule_update(steering, tally, income, MOST_AT_ONCE)


@dataclass
class DecayingRate(Fixed):
    """At most ``n`` labels in all, spread over a stream of unknown length: ever fewer, never quite spent.

    Parameters
    ----------
    n : int
        The number of labels.
    """

    kernels: ClassVar = Pacing(resume, suspend, due_after_events, pace_by_decay)
    sets_pace: ClassVar = True


def resolve_budget(budget: Any) -> Any:
    """The budget to use: if the user left the spreading open, one that begins with a burst of labels.

    >>> resolve_budget(0.02), resolve_budget(500), resolve_budget(Rate(0.02))
    (Rate(r=0.02, burst=40.0, front_load=False), DecayingRate(n=500), Rate(r=0.02, burst=20.0, front_load=False))
    """
    if isinstance(budget, float | np.floating) and 0.0 < budget < 1.0:
        return Rate(float(budget), burst=HEAD)
    if type(budget) is Rate and budget.burst == Rate.burst:
        return replace(budget, burst=SMALL_HEAD)
    if isinstance(budget, int | np.integer) and not isinstance(budget, bool) and budget >= 0:
        return DecayingRate(int(budget))
    if type(budget) is Fixed:
        return DecayingRate(budget.n)
    if type(budget) is Both and any(
        part.reads_prediction and not part.constraints() for part in (budget.first, budget.second)
    ):
        return Both(resolve_budget(budget.first), resolve_budget(budget.second))
    return budget
