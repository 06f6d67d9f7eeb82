"""How good the predictions are, by the answers there are, and whether that changes: the library's estimates, kept on.

Answers count with the probability they were asked with (``askance.quality``); a label of an event that was never asked
about counts for nothing here, since nobody knows how likely it was to come. All of it is a function of the log.
"""

from __future__ import annotations

from typing import Any

from askance.drift import DriftSignal
from askance.quality import Monitor
from askance.quality.result import Estimate, Quality

WINDOW = 2_000  # events of the recent quality
KEEP = 20_000  # asked events whose answers still count
MOST_POINTS = 200  # of the curve over labels
STEP = 5  # labels from one point to the next, at first


class Watch:
    """Every event as it comes, every answer as it is learned."""

    def __init__(self, classes: list[str]) -> None:
        self.classes = classes
        self.monitor = Monitor(classes, window=WINDOW, keep=KEEP)
        self.drift = DriftSignal(rate=1.0)  # the audits are the sample, as they are
        self.alarm: dict[str, float] | None = None
        """The last one: how many audits there were, and when the event came whose answer raised it."""
        self.labels = 0
        self.step = STEP
        self.curve: list[list[float]] = []
        """The recent accuracy as labels came in: labels, value, low, high."""

    def event(self, seq: int, predicted: int, chances: list[float], probability: float, asked: bool) -> None:
        """An event came."""
        positive = chances[1] if len(chances) == 2 else None
        self.monitor.event(self.classes[predicted], probability, asked, probability_positive=positive, ticket=seq)

    def answer(self, seq: int, label: int, predicted: int, weight: float, audit: bool, received: float) -> None:
        """An answer is learned."""
        if not self.monitor.answer(seq, self.classes[label], replace=True):
            return
        if self.drift.answer(label != predicted, 1.0 / weight, audit):
            self.alarm = {"sampled": self.drift.sampled, "received": received}
        self.labels += 1
        if self.labels % self.step == 0:
            self.curve.append([self.labels, *self.monitor.recent.accuracy])
        if len(self.curve) > MOST_POINTS:
            self.curve = self.curve[1::2]
            self.step *= 2

    def quality(self) -> tuple[Quality, Quality]:
        """Of all events, and of the last ones."""
        return self.monitor.overall, self.monitor.recent

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "monitor": self.monitor.to_dict(), "drift": self.drift.to_dict()}

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> Watch:
        new = cls(kept["classes"])
        for name in ("alarm", "labels", "step", "curve"):
            setattr(new, name, kept[name])
        new.monitor, new.drift = Monitor.from_dict(kept["monitor"]), DriftSignal.from_dict(kept["drift"])
        return new


def rounded(estimate: Estimate, labels: int) -> dict[str, Any]:
    """An estimate as the pages read it; nothing but None while there is no answer."""
    value, low, high = (round(number, 6) if labels else None for number in estimate)
    return {"n": labels, "estimate": value, "low": low, "high": high}
