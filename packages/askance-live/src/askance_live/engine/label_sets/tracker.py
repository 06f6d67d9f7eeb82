"""How good predicted label sets are: the estimates of ``QualityTracker``, with a question in the place of an event.

Over all questions the accuracy is 1 - Hamming loss, and precision, recall and F1 of "yes" are the micro-averaged ones,
each with its interval. For each label the answers are summed up, each with its weight 1 / (ask probability):

    F1(label) = 2 tp / (2 tp + fp + fn)

and macro F1 is their mean, over the labels that an answer or a prediction has shown. Of how many events the whole set
is right is not estimated: but for the first events, few are asked about all of their labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from askance.evaluate.drift import DriftSignal
from askance.evaluate.quality import Monitor
from askance_live.engine.quality_tracker import KEEP, WINDOW, QualityTracker

NO, YES = "no", "yes"
MOST_RECENT = 20_000  # questions
OUTCOMES = ("right_no", "right_yes", "wrong_yes", "missed")


class AnsweredLabel(NamedTuple):
    """What was said of a label of an event, and what had been predicted of it."""

    place: int
    has_label: bool
    predicted: bool
    weight: float
    audit: bool


class LabelSetTracker(QualityTracker):
    """Every question as it comes, every answer as it is learned."""

    def __init__(self, classes: list[str]) -> None:
        super().__init__([NO, YES])
        self.names = list(classes)
        self.monitor, self.early = (Monitor(self.classes, window=self._most_recent, max_pending=KEEP) for _ in range(2))
        self.outcomes = {name: [0.0] * len(classes) for name in OUTCOMES}
        """By label: the weights of answers that said what was predicted, or something else."""

    @property
    def _most_recent(self) -> int:
        return min(MOST_RECENT, WINDOW * len(self.names))

    @property
    def window(self) -> int:
        return self._most_recent // len(self.names)

    def event_of_labels(
        self, seq: int, predicted: Sequence[bool], chances: Sequence[float], asking: Sequence[tuple[float, bool]]
    ) -> None:
        """An event came, with so many questions."""
        probabilities, asked = [probability for probability, _ in asking], [is_asked for _, is_asked in asking]
        pairs = [(1.0 - chance, chance) for chance in chances]
        self.events(self._ticket(seq, 0), [int(is_there) for is_there in predicted], pairs, probabilities, asked)

    def answer_of_labels(self, seq: int, answers: Sequence[AnsweredLabel], received: float) -> None:
        """Answers about an event are learned."""
        for place, has_label, predicted, weight, audit in answers:
            ticket = self._ticket(seq, place)
            before = self.monitor.answer_to(ticket)
            self.answer(ticket, int(has_label), int(predicted), weight, audit, received)
            if self.monitor.answer_to(ticket) is None:
                continue  # of before the model began to learn, or not asked about
            if before is not None:
                self.outcomes[_outcome(before == YES, predicted)][place] -= weight
            self.outcomes[_outcome(has_label, predicted)][place] += weight

    def _ticket(self, seq: int, place: int) -> int:
        return seq * len(self.names) + place

    def by_label(self) -> dict[str, dict[str, float | None]]:
        """Precision, recall and F1 of each label; None where nothing was shown that they could be of."""
        found = {}
        for place, name in enumerate(self.names):
            right, wrong, missed = (self.outcomes[kind][place] for kind in ("right_yes", "wrong_yes", "missed"))
            found[name] = {
                "precision": _share(right, right + wrong),
                "recall": _share(right, right + missed),
                "f1": _share(2.0 * right, 2.0 * right + wrong + missed),
            }
        return found

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> LabelSetTracker:
        new = cls(kept["names"])
        for name in ("alarm", "labels", "step", "next", "curve", "outcomes"):
            setattr(new, name, kept[name])
        new.monitor, new.early = Monitor.from_dict(kept["monitor"]), Monitor.from_dict(kept["early"])
        new.drift = DriftSignal.from_dict(kept["drift"])
        return new


def _outcome(has_label: bool, predicted: bool) -> str:
    if has_label == predicted:
        return "right_yes" if has_label else "right_no"
    return "wrong_yes" if predicted else "missed"


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 6) if whole > 1e-9 else None
