"""A fixed number of labels for a stream of unknown length: many at the beginning, ever fewer, never quite spent.

After t events at most

    1 + head + (n - head) t / (t + 4 n),        head = min(40, n / 2),

labels were asked for, and never more than n: half of what the head leaves is spent after 4 n events, nine tenths after
36 n. The query rule's scale is steered as for any other pace (see ``pacing``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askance.learner import pacing
from askance.learner.budget import Fixed, Pacing
from askance.learner.compile import on_its_own
from askance.learner.pacing import (
    CEILING,
    LEAD,
    LEAST_WANTED,
    MEAN,
    MOST_AT_ONCE,
    MOST_HASTE,
    NEXT,
    ROOM,
    THINNED,
    WANTED,
    adjust,
    resume,
)

HEAD = 40.0  # labels to begin with
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
    ratio = max(0.0, allowed - tally.asked) / lead
    wanted = max(LEAST_WANTED, min(1.0, income * min(MOST_HASTE, ratio * ratio)))
    account[WANTED] = wanted
    account[CEILING] = np.floor(allowed)
    account[THINNED] = ROOM * wanted / account[MEAN] if ROOM * wanted < account[MEAN] else 1.0
    account[NEXT] = tally.seen + min(MOST_AT_ONCE, max(1.0, np.floor(1.0 / max(income, wanted))))
    pace, _ = resume(parameters, account)
    return pace


@dataclass
class Gradual(Fixed):
    """At most ``n`` labels in all, spread over a stream of unknown length: ever fewer, never quite spent.

    Parameters
    ----------
    n : int
        The number of labels.
    """

    kernels: ClassVar = Pacing(resume, pacing.suspend, by_decline, pacing.scaled)

    def account(self, old: np.ndarray | None = None, before: list[list[float]] | None = None) -> np.ndarray:
        account = pacing.fresh_account(0)
        if old is not None and before is not None:
            pacing.carry_over(account, [], old, before)
        return account

    def terms(self) -> list[list[float]]:
        return self.promises()
