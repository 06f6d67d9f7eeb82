"""From what was filed to the estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from askance.errors import InvalidParameter
from askance.learner.octaves import NEVER, OCTAVES
from askance.metrics.arrays import is_number, share
from askance.metrics.probability import CALIBRATION_BINS
from askance.metrics.summary import position_of
from askance.quality import scored
from askance.quality.anytime import Walk, rectangle
from askance.quality.bins import BINS_PER_OCTAVE, BINS_PER_SIDE, LOWEST_TOP, SCORE_BINS, score_bin
from askance.quality.classes import Cells, averages
from askance.quality.counted import UNKNOWN, Mistakes, accuracy, formulas, macro_precision, one_against_rest
from askance.quality.limits import normal_quantile
from askance.quality.result import Estimate, Quality
from askance.quality.standing import Numbers
from askance.quality.tally import Tally

PROBABILITY_UNIT = 1 << 30


@dataclass(frozen=True)
class Settings:
    """What the estimates are about."""

    classes: np.ndarray
    positive: int | None
    alpha_p: float
    c_p: float
    level: float

    @classmethod
    def of(cls, classes: Any, positive: Any, alpha_p: float, c_p: float, level: float) -> Settings:
        classes = np.asarray(classes)
        if classes.ndim != 1 or len(classes) < 2:
            raise InvalidParameter(f"classes must be a list of two or more labels, got {classes.tolist()!r}.")
        if not is_number(level) or not 0.5 <= level < 1.0:
            raise InvalidParameter(f"level must be in [0.5, 1), such as 0.95, got {level!r}.")
        return cls(classes, position_of(positive, classes), share("alpha_p", alpha_p), share("c_p", c_p), level)

    @property
    def score_bins(self) -> int:
        """Scores are filed for two classes only: with more there is no order to put the events in."""
        return SCORE_BINS if len(self.classes) == 2 else 1


class Ledger:
    """All counts of one stretch of a stream: by prediction and score, and by probability."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        classes = len(settings.classes)
        self.tally = Tally(classes, classes * settings.score_bins)
        self.by_probability = Tally(classes, CALIBRATION_BINS if classes == 2 else 1)
        self.expected = np.zeros(CALIBRATION_BINS, np.int64)
        self.top = LOWEST_TOP  # the largest octave of the scores so far
        self.scored = 0  # events that came with a score, and with a probability
        self.probable = 0

    def place(self, said: int, key: int) -> int:
        """Where an event with this prediction and the key of its score is filed; the bins move down if they must."""
        if self.settings.score_bins == 1:
            return said
        octave = abs(key) // BINS_PER_OCTAVE
        if octave > self.top:
            self.raise_top(octave)
        return said * SCORE_BINS + score_bin(key, self.top)

    def raise_top(self, octave: int) -> None:
        """Make room for larger scores; the smallest ones then share the bin of zero."""
        steps = np.arange(SCORE_BINS) - BINS_PER_SIDE
        lower = np.maximum(np.abs(steps) - (octave - self.top) * BINS_PER_OCTAVE, 0)
        moved = BINS_PER_SIDE + np.where(steps > 0, lower, -lower)
        for name in Tally.NAMES:
            cells = getattr(self.tally, name)
            bins = np.moveaxis(cells.reshape(-1, SCORE_BINS, OCTAVES), 1, 0)
            fresh = np.zeros_like(bins)
            np.add.at(fresh, moved, bins)
            cells[...] = np.moveaxis(fresh, 0, 1).reshape(cells.shape)
        self.top = octave

    def quality(self, walk: Walk | None = None) -> Quality:
        """Estimates from the answers filed so far; with the running sums of a ``walk``, valid at all times."""
        events, labels = int(self.tally.events.sum()), int(self.tally.answered.sum())
        unreachable = int((self.tally.events - self.tally.answered.sum(axis=0))[:, NEVER].sum())
        found = self.estimates() if walk is None else self.at_all_times(walk)
        return Quality(found, events, labels, unreachable, self.settings.level, walk is not None, self.shares())

    def shares(self) -> dict[Any, float]:
        """The share of each class, by the confusion matrix that the answers give; nothing without answers."""
        if not self.tally.answered.any():
            return {}
        rows = Cells(self.plain).matrix.sum(axis=1)
        return dict(zip(self.settings.classes.tolist(), (rows / rows.sum()).tolist(), strict=True))

    @property
    def plain(self) -> Tally:
        """The tally by predicted class, whatever the score."""
        if self.settings.score_bins == 1:
            return self.tally
        classes = len(self.settings.classes)
        plain = Tally(classes, classes)
        shape = (classes, self.settings.score_bins, OCTAVES)
        plain.events = self.tally.events.reshape(shape).sum(axis=1)
        plain.asked = self.tally.asked.reshape(shape).sum(axis=1)
        for name in ("answered", "odds", "squares"):
            setattr(plain, name, getattr(self.tally, name).reshape(classes, *shape).sum(axis=2))
        return plain

    def estimates(self) -> dict[str, Estimate]:
        settings, tally = self.settings, self.plain
        classes = np.arange(len(settings.classes))
        mistakes = Mistakes.of(tally, classes, classes[:, None] != classes[None, :], settings.level)
        found = {"accuracy": accuracy(mistakes)}
        if settings.positive is None:
            found |= (
                averages(tally, settings.level)
                if tally.events.any()
                else dict.fromkeys(("balanced_accuracy", "recall", "f1"), UNKNOWN)
            )
            found["precision"] = macro_precision(mistakes)
            return found
        is_positive = (classes == settings.positive).astype(np.int64)
        against = (
            mistakes
            if len(classes) == 2 and settings.positive == 1
            else Mistakes.of(tally, is_positive, is_positive[:, None] != is_positive[None, :], settings.level)
        )
        found |= one_against_rest(against, settings.alpha_p, settings.c_p)
        if len(classes) > 2:
            found["balanced_accuracy"] = averages(tally, settings.level)["balanced_accuracy"]
        events = int(tally.events.sum())
        if len(classes) == 2 and events and self.scored == events:
            found["auc"] = scored.area(self.tally, mistakes, settings.level)
        if len(classes) == 2 and events and self.probable == events:
            found["calibration_error"] = self.calibration(normal_quantile(settings.level))
        return found

    def calibration(self, z: float) -> Estimate:
        bins = np.arange(CALIBRATION_BINS)
        second = np.repeat(np.array([[False], [True]]), CALIBRATION_BINS, axis=1)
        positives = Mistakes.of(self.by_probability, bins, second, self.settings.level)
        expected: Numbers = self.expected / PROBABILITY_UNIT
        return scored.calibration(positives, expected, z)

    def at_all_times(self, walk: Walk) -> dict[str, Estimate]:
        """Accuracy, and for two classes all metrics that count mistakes; area and calibration have no such limits."""
        settings = self.settings
        alpha = 1.0 - settings.level
        once = self.estimates()
        events = float(self.tally.events.sum())
        if not events:
            return {"accuracy": UNKNOWN}
        fewest, most = walk.mistakes(slice(None), alpha)
        limits = {"accuracy": (1.0 - most / events, 1.0 - fewest / events)}
        if len(settings.classes) == 2:
            said = walk.events if settings.positive == 1 else walk.events[::-1]
            flip = slice(None) if settings.positive == 1 else slice(None, None, -1)
            for name, formula in formulas(said[0], said[1], settings.alpha_p, settings.c_p).items():
                limits[name] = rectangle(lambda wrong, formula=formula: formula(wrong[..., flip]), walk, alpha)
        return {
            name: Estimate(min(max(once[name].value, low), high), low, high) for name, (low, high) in limits.items()
        }
