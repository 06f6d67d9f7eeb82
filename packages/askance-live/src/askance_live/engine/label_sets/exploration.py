"""Which labels of an event are asked about: as ``askance_live.engine.exploration``, for each label on its own.

cold start  until an event with the label was seen, or ``PATIENCE`` answers said no: a rare label is then left to
            the query rule and to the random sample, which find it in time
audit       then: with the probability that makes the sample the wanted share of all questions
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from askance.learner.trace import Decision
from askance_live.config import AskingSettings
from askance_live.engine.exploration import AUDIT, COLD_PATIENCE, COLD_START, LEAST_COLD, MEMORY, UNCERTAIN

PATIENCE = 20


class LabelSetExploration:
    """How much each label is explored; what was asked and learned so far is all that it goes by."""

    def __init__(self, settings: AskingSettings, n_labels: int) -> None:
        self.settings = settings
        self.cold_asked = [0] * n_labels
        self.answered = [0] * n_labels
        self.found = [0] * n_labels
        """How many answers said that an event has the label."""
        self.share = settings.rate
        """The recent mean of the probability of asking."""

    def is_cold(self, place: int) -> bool:
        """Whether nobody has said yet that an event has a label, and not many that none has."""
        return not self.found[place] and self.answered[place] < PATIENCE

    @property
    def levels(self) -> list[float]:
        """For each label, the least probability with which the next event is asked about it."""
        return [self._level(place) for place in range(len(self.found))]

    def _level(self, place: int) -> float:
        if self.is_cold(place):
            waiting = max(0, self.cold_asked[place] - self.answered[place])
            return max(LEAST_COLD, (1.0 + waiting / COLD_PATIENCE) ** -2)
        return min(1.0, self.settings.audit * self.share)

    def count_decisions(self, decisions: Sequence[Decision]) -> str:
        """Take the decisions on an event in; why it is asked about, if it is: the first reason that one label has."""
        whys = set()
        for place, decision in enumerate(decisions):
            is_cold = self.is_cold(place)
            if is_cold:
                self.cold_asked[place] += decision.asked
            elif decision.probability > 0.0:  # else the budget is spent
                self.share += (decision.probability - self.share) / (MEMORY * len(decisions))
            if decision.asked:
                whys.add(COLD_START if is_cold else AUDIT if decision.audit else UNCERTAIN)
        return next((why for why in (COLD_START, AUDIT, UNCERTAIN) if why in whys), "")

    def count_answer(self, place: int, has_label: bool) -> None:
        """An answer about a label was learned."""
        self.answered[place] += 1
        self.found[place] += has_label

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "settings": self.settings.document()}

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> LabelSetExploration:
        new = cls(AskingSettings.from_document(kept["settings"]), len(kept["found"]))
        for name, value in kept.items():
            if name != "settings":
                setattr(new, name, value)
        return new
