"""From counts to estimates."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from askance.errors import InvalidParameter
from askance.evaluate.metrics.arrays import Numbers, is_number, share
from askance.evaluate.metrics.register import Metric, Weights, estimated
from askance.evaluate.metrics.scores import CALIBRATION_BINS
from askance.evaluate.metrics.summary import position_of
from askance.evaluate.quality import scored
from askance.evaluate.quality.anytime import ConfidenceSequence, rectangle
from askance.evaluate.quality.bins import (
    ASK_BINS,
    BINS_PER_EXPONENT,
    BINS_PER_SIDE,
    LOWEST_TOP,
    NEVER,
    SCORE_BINS,
    Integers,
    score_bin,
    score_bins,
    top_exponent,
)
from askance.evaluate.quality.classes import ConfusionMatrix, estimate_classes
from askance.evaluate.quality.mistakes import (
    UNKNOWN,
    Mistakes,
    accuracy,
    formulas,
    macro_precision,
    one_against_rest,
    without_events,
)
from askance.evaluate.quality.result import Estimate, Quality
from askance.evaluate.quality.strata import StratumCounts
from askance.evaluate.quality.unanswered import normal_quantile

PROBABILITY_UNIT = 1 << 30


@dataclass(frozen=True)
class EstimateSettings:
    """What the estimates are for: classes, positive class, the weights of ``sum`` and ``cost``, and the confidence."""

    classes: np.ndarray
    positive: int | None
    alpha_p: float
    c_p: float
    level: float

    @classmethod
    def of(cls, classes: Any, positive: Any, alpha_p: float, c_p: float, level: float) -> EstimateSettings:
        classes = np.asarray(classes)
        if classes.ndim != 1 or len(classes) < 2:
            raise InvalidParameter(f"classes must be a list of two or more labels, got {classes.tolist()!r}.")
        if not is_number(level) or not 0.5 <= level < 1.0:
            raise InvalidParameter(f"level must be in [0.5, 1), such as 0.95, got {level!r}.")
        return cls(classes, position_of(positive, classes), share("alpha_p", alpha_p), share("c_p", c_p), level)

    @property
    def weights(self) -> Weights:
        return Weights(self.alpha_p, self.c_p)

    @property
    def score_bins(self) -> int:
        """How many score bins there are. With three classes or more there is one: scores do not order the events."""
        return SCORE_BINS if len(self.classes) == 2 else 1


class Ledger:
    """All counts of one stretch of a stream: by prediction and score, and by probability."""

    def __init__(self, settings: EstimateSettings) -> None:
        self.settings = settings
        classes = len(settings.classes)
        self.counts = StratumCounts(classes, classes * settings.score_bins)
        self.by_probability = StratumCounts(classes, CALIBRATION_BINS if classes == 2 else 1)
        self.expected = np.zeros(CALIBRATION_BINS, np.int64)
        self.top = LOWEST_TOP  # the largest exponent of the scores so far
        self.scored = 0  # events with a score
        self.probable = 0  # events with a probability of the positive class

    def place(self, predicted_class: int, key: int) -> int:
        """The place in the counts of an event with this prediction and score key. Moves the bins down for a score with
        an exponent above ``top``."""
        if self.settings.score_bins == 1:
            return predicted_class
        exponent = abs(key) // BINS_PER_EXPONENT
        if exponent > self.top:
            self.raise_top(exponent)
        return predicted_class * SCORE_BINS + score_bin(key, self.top)

    def add_events(self, rows: Integers) -> None:
        """Count several events by their ``EventNumbers`` (see ``recent``), a row each, none of them answered yet."""
        place, key, ask_bin, _, chance_bin, chance_units, scored, asked, _ = rows.T
        is_asked = asked.astype(np.bool_)
        if self.settings.score_bins > 1:
            self.raise_top(max(self.top, top_exponent(key)))
            place = place * SCORE_BINS + score_bins(key, self.top)
        self.counts.add_events(place, ask_bin, is_asked)
        self.scored += int(scored.sum())
        if len(rows) and chance_bin[0] >= 0:  # then all of them have one
            self.by_probability.add_events(chance_bin, ask_bin, is_asked)
            np.add.at(self.expected, chance_bin, chance_units)
            self.probable += len(rows)

    def raise_top(self, exponent: int) -> None:
        """Move the bins down to make room for larger scores; the smallest ones then share the bin of zero."""
        if exponent == self.top:
            return
        steps = np.arange(SCORE_BINS) - BINS_PER_SIDE
        lower = np.maximum(np.abs(steps) - (exponent - self.top) * BINS_PER_EXPONENT, 0)
        moved = BINS_PER_SIDE + np.where(steps > 0, lower, -lower)
        for name in StratumCounts.NAMES:
            cells = getattr(self.counts, name)
            bins = np.moveaxis(cells.reshape(-1, SCORE_BINS, ASK_BINS), 1, 0)
            fresh = np.zeros_like(bins)
            np.add.at(fresh, moved, bins)
            cells[...] = np.moveaxis(fresh, 0, 1).reshape(cells.shape)
        self.top = exponent

    def quality(self, sequence: ConfidenceSequence | None = None) -> Quality:
        """The estimates from the answers so far; with a confidence ``sequence``, their intervals hold at all times."""
        events, labels = int(self.counts.events.sum()), self.counts.answered.sum(axis=(1, 2)).tolist()
        unreachable = int((self.counts.events - self.counts.answered.sum(axis=0))[:, NEVER].sum())
        found = self.estimates() if sequence is None else self.at_all_times(sequence)
        reachable = self.reachable().quality() if sequence is None and 0 < unreachable < events else None
        if reachable is not None:  # of the others nothing is known: the values are about these, the limits about all
            for name, told in reachable.items():
                found[name] = found[name]._replace(value=min(max(told.value, found[name].low), found[name].high))
        return Quality(
            found,
            events,
            sum(labels),
            unreachable,
            self.settings.level,
            sequence is not None,
            self.shares(),
            dict(zip(self.settings.classes.tolist(), labels, strict=True)),
            reachable,
        )

    def reachable(self) -> Ledger:
        """The counts without the events that could not be asked. Their probabilities cannot be taken out of the sums,
        so that there is no calibration error."""
        rest = Ledger(self.settings)
        rest.counts, rest.top = copy(self.counts), self.top
        rest.counts.events = self.counts.events.copy()
        rest.counts.events[:, NEVER] = self.counts.answered[:, :, NEVER].sum(axis=0)
        rest.scored = int(rest.counts.events.sum()) if self.scored == self.counts.events.sum() else 0
        return rest

    def shares(self) -> dict[Any, float]:
        """The share of each class, R_k / sum R from the estimated confusion matrix; empty without answers."""
        if not self.counts.answered.any():
            return {}
        rows = ConfusionMatrix(self.plain).matrix.sum(axis=1)
        return dict(zip(self.settings.classes.tolist(), (rows / rows.sum()).tolist(), strict=True))

    @property
    def plain(self) -> StratumCounts:
        """The counts by predicted class, summed over the score bins."""
        if self.settings.score_bins == 1:
            return self.counts
        classes = len(self.settings.classes)
        plain = StratumCounts(classes, classes)
        shape = (classes, self.settings.score_bins, ASK_BINS)
        plain.events = self.counts.events.reshape(shape).sum(axis=1)
        plain.asked = self.counts.asked.reshape(shape).sum(axis=1)
        for name in ("answered", "unasked", "squares"):
            setattr(plain, name, getattr(self.counts, name).reshape(classes, *shape).sum(axis=2))
        return plain

    def estimates(self) -> dict[str, Estimate]:
        """The estimates that there are, in the order of tables."""
        settings, counts = self.settings, self.plain
        n_classes, events = len(settings.classes), int(counts.events.sum())
        classes = np.arange(n_classes)
        mistakes = Mistakes.of(counts, classes, classes[:, None] != classes[None, :], settings.level)
        found = {"accuracy": accuracy(mistakes)}  # it follows from the mistakes of all columns together
        if settings.positive is None:
            found["precision"] = macro_precision(mistakes)  # it follows from the mistakes of each column
        elif n_classes == 2 and settings.positive == 1:
            found |= one_against_rest(mistakes, self.of_one_class, settings.weights)
        else:
            is_positive = (classes == settings.positive).astype(np.int64)
            is_wrong = is_positive[:, None] != is_positive[None, :]
            against = Mistakes.of(counts, is_positive, is_wrong, settings.level)
            found |= one_against_rest(against, self.of_one_class, settings.weights)
        of_all = [
            metric
            for metric in estimated()
            if metric.name not in found and metric.is_there(settings.positive, settings.weights)
        ]
        found |= (
            estimate_classes(counts, of_all, settings.weights, settings.level)
            if events
            else {metric.name: without_events(metric) for metric in of_all}
        )
        if n_classes == 2 and events and self.scored == events:
            found["auc"] = scored.area(self.counts, mistakes, settings.level)
        if n_classes == 2 and events and self.probable == events:
            found["calibration_error"] = self.calibration(normal_quantile(settings.level))
        return {metric.name: found[metric.name] for metric in estimated() if metric.name in found}

    @property
    def of_one_class(self) -> list[Metric]:
        """The metrics of the positive class against the rest; all classes count in those of the whole matrix."""
        two = len(self.settings.classes) == 2
        return [metric for metric in estimated() if metric.of_class and (two or metric.of_matrix is None)]

    def calibration(self, z: float) -> Estimate:
        bins = np.arange(CALIBRATION_BINS)
        second = np.repeat(np.array([[False], [True]]), CALIBRATION_BINS, axis=1)
        positives = Mistakes.of(self.by_probability, bins, second, self.settings.level)
        expected: Numbers = self.expected / PROBABILITY_UNIT
        return scored.calibration(positives, expected, z)

    def at_all_times(self, sequence: ConfidenceSequence) -> dict[str, Estimate]:
        """Accuracy and, for two classes, all metrics that count mistakes, with limits that hold at all times. Area and
        calibration have no such limits."""
        settings = self.settings
        alpha = 1.0 - settings.level
        once = self.estimates()
        events = float(self.counts.events.sum())
        if not events:
            return {"accuracy": UNKNOWN}
        fewest, most = sequence.mistakes(slice(None), alpha)
        intervals = {"accuracy": (1.0 - most / events, 1.0 - fewest / events)}
        if len(settings.classes) == 2:
            predicted = sequence.events if settings.positive == 1 else sequence.events[::-1]
            flip = slice(None) if settings.positive == 1 else slice(None, None, -1)
            found = formulas(self.of_one_class, predicted[0], predicted[1], settings.weights)
            for name, formula in found.items():
                intervals[name] = rectangle(lambda wrong, formula=formula: formula(wrong[..., flip]), sequence, alpha)
        return {
            name: Estimate(min(max(once[name].value, low), high), low, high) for name, (low, high) in intervals.items()
        }
