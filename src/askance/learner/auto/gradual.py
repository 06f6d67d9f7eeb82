"""A fixed number of labels for a stream of unknown length: many at the beginning, ever fewer, never quite spent.

After t events at most

    1 + head + (n - head) t / (t + 4 n),        head = min(40, n / 2),

labels were asked for, and never more than n: half of what the head leaves is spent after 4 n events, nine tenths after
36 n. The query rule's scale is steered as for any other pace (see ``pacing``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from askance.learner.budget import Fixed, Paced, Pacing, Rate
from askance.learner.compile import on_its_own
from askance.learner.pacing import (
    LEAD,
    MOST_AT_ONCE,
    adjust,
    after_events,
    haste,
    keep_for_a_while,
    resume,
    settle,
    suspend,
)

HEAD = 40.0  # labels to begin with
SMALL_HEAD = 20.0  # where a rate was promised: of 64 labels or more, it is within two standard deviations of a coin
SPREAD = 4.0  # events for each label until half of the others are spent


@on_its_own
def by_decline(parameters, account, sums, tally, time):
    """The pace of the next few events."""
    adjust(account, sums, tally)
    most = parameters[0]
    head = min(HEAD, 0.5 * most)
    horizon = SPREAD * most + 1.0
    allowed = min(most, 1.0 + head + (most - head) * tally.seen / (tally.seen + horizon))
    income = (most - head) * horizon / ((tally.seen + horizon) * (tally.seen + horizon))
    lead = min(LEAD, 0.25 * most + 1.0)
    settle(account, income * haste((allowed - tally.asked) / lead), np.floor(allowed))
    return keep_for_a_while(account, tally, income, MOST_AT_ONCE)


@dataclass
class Gradual(Paced, Fixed):
    """At most ``n`` labels in all, spread over a stream of unknown length: ever fewer, never quite spent.

    Parameters
    ----------
    n : int
        The number of labels.
    """

    kernels: ClassVar = Pacing(resume, suspend, after_events, by_decline)


def spread(budget: Any) -> Any:
    """The budget, spread over the stream with some of it at the beginning, wherever the user left that open.

    >>> spread(0.02), spread(500), spread(Rate(0.02))
    (Rate(r=0.02, burst=40.0), Gradual(n=500), Rate(r=0.02, burst=20.0))
    """
    if isinstance(budget, float | np.floating) and 0.0 < budget < 1.0:
        return Rate(float(budget), burst=HEAD)
    if type(budget) is Rate and budget.burst == Rate.burst:
        return Rate(budget.r, burst=SMALL_HEAD)
    if isinstance(budget, int | np.integer) and not isinstance(budget, bool):
        return Gradual(int(budget))
    if type(budget) is Fixed:
        return Gradual(budget.n)
    return budget
