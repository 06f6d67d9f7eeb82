"""Which events are asked about: the classifier decides, within its budget; here is what it is told.

    budget      a share of the events, and so many questions an hour, a day and in all (``askance.budgets``); hours and
                days are those of the events' receipt
    explore     the least probability of any event: what is asked because of it is a random sample of the stream

    cold start  until every class of the beginning was seen: explored much, less the more of these questions wait for
                their answer
    audit       then: with the probability that makes the sample the wanted share of all questions
    uncertain   whatever the query rule chose beyond that, once every class was seen

Every event keeps the probability with which it could be asked, and the part of it that was exploration.
"""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np

from askance.budgets import Budget, Rate, Unlimited
from askance.learner.auto.decaying_rate import HEAD
from askance.learner.group import Exploring
from askance_live.config import AskingSettings

if TYPE_CHECKING:
    from askance_live.exchange.received import Recorded

COLD_START, AUDIT, UNCERTAIN = "cold_start", "audit", "uncertain"
COLD_PATIENCE = 10.0  # open questions of the cold start at which the probability has fallen to a quarter
LEAST_COLD = 0.001
MEMORY = 1_000  # events over which the share of questions is averaged


def cold_levels() -> np.ndarray:
    """The least probability of the cold start by the number of open questions, until it falls no more."""
    levels: list[float] = []
    while not levels or levels[-1] > LEAST_COLD:
        levels.append(max(LEAST_COLD, (1.0 + len(levels) / COLD_PATIENCE) ** -2))
    return np.array(levels)


COLD_LEVELS, NO_LEVELS = cold_levels(), np.empty(0)


def budget_of(settings: AskingSettings) -> Budget:
    """The budget that the settings ask for."""
    parts = settings.budgets()
    if settings.rate >= 1.0:  # all of the events is no limit: the query rule alone decides
        del parts["rate"]
    elif settings.rate > 0.0:
        parts["rate"] = Rate(settings.rate, burst=HEAD)
    if "total" in parts:  # last, as in the models of earlier versions
        parts["total"] = parts.pop("total")
    return reduce(and_, parts.values()) if parts else Unlimited()


class Exploration:
    """How much is explored; what was asked and learned so far is all that it goes by."""

    def __init__(self, settings: AskingSettings, n_classes: int) -> None:
        self.settings = settings
        self.cold_asked = 0
        self.cold_answered = 0
        self.class_counts = [0] * n_classes
        self.share = settings.rate
        """The recent mean of the probability of asking."""

    @property
    def is_cold(self) -> bool:
        """Whether a class was never seen."""
        return 0 in self.class_counts

    def as_arrays(self) -> Exploring:
        """How much the next events are explored, for the classifier to go by and to move on."""
        return Exploring(
            COLD_LEVELS if self.is_cold else NO_LEVELS, np.array([self.cold_asked - self.cold_answered]),
            np.array([self.share]), self.settings.audit, float(MEMORY),
        )  # fmt: skip

    def follow(self, moved: Exploring) -> None:
        """Take in what was decided since ``as_arrays``: no answer came in between."""
        self.cold_asked = moved.waiting.item() + self.cold_answered
        self.share = moved.mean.item()

    def count_recorded(self, recorded: Recorded) -> None:
        """Take in what was decided when an event of the log came, instead of what is decided on it now."""
        if self.is_cold:
            self.cold_asked += recorded.asked
        elif recorded.probability > 0.0:  # else the budget was spent
            self.share += (recorded.probability - self.share) / MEMORY

    def why(self, is_audit: bool) -> str:
        """Why an event is asked about."""
        return COLD_START if self.is_cold else AUDIT if is_audit else UNCERTAIN

    def count_answer(self, place: int | None) -> None:
        """An answer was learned; the place of its class among those of the beginning, if it is one."""
        if self.is_cold:
            self.cold_answered += 1
        if place is not None:
            self.class_counts[place] += 1

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "settings": self.settings.document()}

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> Exploration:
        new = cls(AskingSettings.from_document(kept["settings"]), len(kept["class_counts"]))
        for name, value in kept.items():
            if name != "settings":
                setattr(new, name, value)
        return new
