"""How good the predictions are, by the answers there are, and whether that changes: the library's estimates, kept on.

Answers count with the probability they were asked with (``askance.quality``); a label of an event that was never asked
about counts for nothing here, since nobody knows how likely it was to come. Events that came before the model had
learned anything are estimated apart, and spoken of only while no later one is answered: they say nothing of the model
there is now. All of it is a function of the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from askance.evaluate.drift import DriftSignal
from askance.evaluate.quality import Monitor
from askance.evaluate.quality.result import Quality

WINDOW = 2_000  # events of the recent quality
ENOUGH = 30  # answers, or audits, from which a verdict is given
FIRST_POINT = 10  # answers from which the curve is drawn
KEEP = 20_000  # asked events whose answers still count
MOST_POINTS = 200  # of the curve over labels
STEP = 5  # labels from one point to the next, at first


class QualityTracker:
    """Every event as it comes, every answer as it is learned."""

    def __init__(self, classes: list[str]) -> None:
        self.classes = classes
        self.monitor = Monitor(classes, window=WINDOW, max_pending=KEEP)
        self.early = Monitor(classes, window=WINDOW, max_pending=KEEP)
        """Of the events before the first answer was learned."""
        self.drift = DriftSignal(rate=1.0)  # the audits are the sample, as they are
        self.alarm: dict[str, float] | None = None
        """The last one: how many audits there were, and when the event came whose answer raised it."""
        self.labels = 0  # learned
        self.step = self.next = STEP
        self.curve: list[list[float]] = []
        """The accuracy of the last events as labels came in: labels, value, low, high."""

    @property
    def window(self) -> int:
        """How many events the recent quality is about."""
        return WINDOW

    def events(
        self,
        seq: int,
        predicted: Sequence[int],
        chances: Sequence[Sequence[float]],
        probabilities: Sequence[float],
        asked: Sequence[bool],
    ) -> None:
        """Events came, the first with this number: the place of each one's predicted class, the probabilities of all
        classes, the ask probability, and whether it is asked about."""
        monitor = self.monitor if self.labels else self.early
        positive = [chance[1] for chance in chances] if len(self.classes) == 2 else None
        labels = [self.classes[place] for place in predicted]
        monitor.add_events(labels, probabilities, asked, probabilities_positive=positive, first_ticket=seq)

    def answer(self, seq: int, label: int, predicted: int, weight: float, audit: bool, received: float) -> None:
        """An answer is learned."""
        self.labels += 1
        if not self.monitor.answer(seq, self.classes[label], replace=True):
            self.early.answer(seq, self.classes[label], replace=True)
            return
        if self.drift.answer(label != predicted, 1.0 / weight, audit):
            self.alarm = {"sampled": self.drift.sampled, "received": received}
        if self.labels >= self.next:
            self.next = self.labels + self.step
            shown = self.headline()
            if shown.labels >= FIRST_POINT:
                self.curve.append([self.labels, *shown.accuracy])
        if len(self.curve) > MOST_POINTS:
            self.curve = self.curve[1::2]
            self.step *= 2

    def quality(self) -> tuple[Quality, Quality]:
        """Of all events, and of the last ones."""
        overall = self.monitor.overall
        if not overall.labels:
            return self.early.overall, self.early.recent
        return overall, self.monitor.recent

    def headline(self) -> Quality:
        """What is said first of the model: by the last events, or by all since it began to learn, where too few of the
        last ones are answered yet."""
        recent = self.monitor.recent
        return recent if recent.labels >= ENOUGH else self.monitor.overall

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), **{name: getattr(self, name).to_dict() for name in ("monitor", "early", "drift")}}

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> QualityTracker:
        new = cls(kept["classes"])
        for name in ("alarm", "labels", "step", "next", "curve"):
            setattr(new, name, kept[name])
        new.monitor, new.early = Monitor.from_dict(kept["monitor"]), Monitor.from_dict(kept["early"])
        new.drift = DriftSignal.from_dict(kept["drift"])
        return new


def round_quality(quality: Quality) -> dict[str, Any]:
    """The accuracy as the pages read it; nothing but None while there is no answer."""
    value, low, high = (round(number, 6) if quality.labels else None for number in quality.accuracy)
    return {"n": quality.labels, "estimate": value, "low": low, "high": high}
