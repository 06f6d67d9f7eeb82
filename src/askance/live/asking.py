"""Which events are asked about: the query rule's choice, a random sample beside it, and the budget above both.

    cold start   until every class was seen: at random, less often the more of these questions wait for their answer
    audit        a random sample, so that the accuracy can be estimated although almost nothing is labeled: with the
                 probability that makes it the wanted share of all questions
    uncertain    the query rule's choice
    budget       questions per hour, per day and in all; the hours and days are those of the events' receipt

Both samples are random with a known probability, whatever the event contains; that probability is kept with the event.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from askance.live.config import Asking

COLD_START, AUDIT, UNCERTAIN, NOT_ASKED, BUDGET_SPENT = "cold_start", "audit", "uncertain", "", "budget"
COLD_PATIENCE = 10.0  # open questions of the cold start at which the probability has fallen to a quarter
LEAST_COLD = 0.001
MEMORY = 1_000  # events over which the share of questions is averaged
FIRST_RATE = 0.1
BLOCK = 4096  # random numbers drawn at once; which event gets which does not depend on it
HOUR, DAY = 3600.0, 86400.0


class Choice(NamedTuple):
    """Whether an event is asked about, and with which probabilities it might have been."""

    asked: bool
    why: str
    probability: float
    audit: bool
    audit_probability: float


class AskingRule:
    """Decides with one random number per event; what was asked and learned so far is all that it goes by."""

    def __init__(self, settings: Asking, n_classes: int, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        self.events = 0
        self.asked = 0
        self.audits = 0
        self.cold_asked = 0
        self.cold_answered = 0
        self.class_counts = [0] * n_classes
        self.rate = FIRST_RATE
        self.hour, self.hour_asked = -1, 0
        self.day, self.day_asked = -1, 0
        self._block = -1
        self._numbers: list[float] = []

    @property
    def is_cold(self) -> bool:
        """Whether a class was never seen."""
        return 0 in self.class_counts

    def decide(self, wanted: bool, wanted_probability: float, time: float) -> Choice:
        """The decision for the next event: the query rule's wish, its probability, and the event's time."""
        luck = self._number(self.events)
        self.events += 1
        if not self._allowed(time):
            return Choice(False, BUDGET_SPENT, 0.0, False, 0.0)
        if self.is_cold:
            waiting = max(0, self.cold_asked - self.cold_answered)
            chance = max(LEAST_COLD, (1.0 + waiting / COLD_PATIENCE) ** -2)
            choice = Choice(luck < chance, COLD_START if luck < chance else NOT_ASKED, chance, luck < chance, chance)
        else:
            share = self.settings.audit
            chance = min(1.0, share / (1.0 - share) * self.rate)
            audit = luck < chance
            self.rate += (wanted_probability - self.rate) / min(self.events, MEMORY)
            self.rate = min(max(self.rate, 0.001), 1.0)
            why = AUDIT if audit else UNCERTAIN if wanted else NOT_ASKED
            together = 1.0 - (1.0 - wanted_probability) * (1.0 - chance)
            choice = Choice(wanted or audit, why, together, audit, chance)
        if choice.asked:
            self.asked += 1
            self.audits += choice.audit
            self.cold_asked += choice.why == COLD_START
            self.hour_asked += 1
            self.day_asked += 1
        return choice

    def _allowed(self, time: float) -> bool:
        hour, day = int(time // HOUR), int(time // DAY)
        if hour > self.hour:
            self.hour, self.hour_asked = hour, 0
        if day > self.day:
            self.day, self.day_asked = day, 0
        limits = self.settings
        return not (
            (limits.per_hour is not None and self.hour_asked >= limits.per_hour)
            or (limits.per_day is not None and self.day_asked >= limits.per_day)
            or (limits.total is not None and self.asked >= limits.total)
        )

    def _number(self, event: int) -> float:
        """The random number of an event, by its number alone."""
        block, place = divmod(event, BLOCK)
        if block != self._block:
            self._numbers = np.random.default_rng([self.seed, 1, block]).random(BLOCK).tolist()
            self._block = block
        return self._numbers[place]

    def learned(self, label: int) -> None:
        """An answer was learned."""
        if self.is_cold:
            self.cold_answered += 1
        self.class_counts[label] += 1

    def to_dict(self) -> dict[str, Any]:
        kept = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return {**kept, "settings": self.settings.document()}

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> AskingRule:
        new = cls(Asking.from_document(kept["settings"]), len(kept["class_counts"]), kept["seed"])
        for name, value in kept.items():
            if name != "settings":
                setattr(new, name, value)
        return new
