"""The counts and metrics of a stream so far, in constant memory."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from askance.evaluate.metrics.counts import cross
from askance.evaluate.metrics.register import METRICS, USUAL_WEIGHTS, Weights
from askance.evaluate.metrics.scores import area
from askance.evaluate.metrics.summary import metrics_from_matrix
from askance.learner.trace import Trace

MOST_BINS = 64
EXACT_EVENTS = 1 << 16  # up to so many events every score is kept
DROPPED_BITS = 14  # of a float32: scores whose ratio is nearer to 1 than 1/512 then count as equal
ALPHA_P, C_P = 0.5, 0.9  # the weight of sensitivity in ``sum``, and of a missed positive in ``cost``


class Totals:
    """Counts of all events so far, and those metrics of ``Trace.summary`` that follow from counts.

    Parameters
    ----------
    classes : array of labels
        The classes, sorted.
    positive : int, optional
        The index of the positive one; None if there is none.
    """

    def __init__(self, classes: np.ndarray, positive: int | None) -> None:
        self.classes = classes
        self.positive = positive
        self.matrix = np.zeros((len(classes), len(classes)), np.int64)
        self.labels = 0
        self.last_asked = 0
        """The number of the last event whose label was requested, from 1 in this stream."""
        self.audits = 0
        self.seconds = 0.0
        self._means: dict[str, float] = {}
        """By metric that is a mean over the events: its sum so far."""
        self.course = AccuracyCurve()
        self.ranking = RocAccumulator() if len(classes) == 2 and positive is not None else None

    @property
    def events(self) -> int:
        """How many events there were."""
        return int(self.matrix.sum())

    @property
    def right(self) -> int:
        """How many events were predicted right."""
        return int(self.matrix.trace())

    @property
    def accuracy(self) -> float:
        """The share of events that were predicted right."""
        return self.right / max(1, self.events)

    def add(self, trace: Trace) -> None:
        """Count the events of one more piece that have a label."""
        trace = trace.labeled
        self.seconds += trace.seconds
        if trace.asked.any():
            self.last_asked = self.events + int(np.flatnonzero(trace.asked)[-1]) + 1
        self.matrix += cross(trace.truth_index.astype(np.int64), trace.predicted_index, len(self.classes))
        self.labels += int(trace.asked.sum())
        self.audits += int(trace.audit.sum())
        probability = trace.probability_positive
        if probability is not None and len(trace):
            for name, metric in METRICS.items():
                if metric.of_probabilities is not None and metric.is_mean:
                    mean = metric.of_probabilities(trace.truth_index == 1, probability, Weights())
                    self._means[name] = mean * len(trace) + self._means.get(name, 0.0)
        if self.ranking is not None:
            score = trace.signed_margin if probability is None else _log_odds(probability)
            self.ranking.add(trace.truth_index == 1, score)
        self.course.add(trace.truth_index == trace.predicted_index)

    @property
    def positive_label(self) -> Any:
        """The label of the positive class; None if there is none."""
        return None if self.positive is None else self.classes.item(self.positive)

    def recalls(self) -> dict[Any, float]:
        """The share of right predictions among the events of each class that occurred."""
        events = self.matrix.sum(axis=1)
        return {
            label: float(self.matrix[index, index] / events[index])
            for index, label in enumerate(self.classes.tolist())
            if events[index]
        }

    def summary(self, weights: Weights = USUAL_WEIGHTS) -> dict[str, Any]:
        """The metrics, by name."""
        events = self.events
        found: dict[str, Any] = {
            "events": events,
            "labels": self.labels,
            "query_ratio": self.labels / events if events else 0.0,
            **metrics_from_matrix(self.matrix, self.positive, weights),
        }
        if self.ranking is not None:
            found["auc"] = self.ranking.area()
        found |= {name: total / events for name, total in self._means.items()}
        found["majority"] = float(self.matrix.sum(axis=1).max() / events) if events else float("nan")
        found["seconds"] = self.seconds
        return found

    def as_json(self, weights: Weights = USUAL_WEIGHTS) -> dict[str, Any]:
        """The classes, the metrics and the accuracy over time."""
        summary = self.summary(weights)
        summary["loop_seconds"] = summary.pop("seconds")
        return {
            "classes": self.classes.tolist(),
            "positive": self.positive_label,
            **({} if self.positive is None else {"alpha_p": weights.alpha_p, "c_p": weights.c_p}),
            **summary,
            "recalls": {str(label): share for label, share in self.recalls().items()},
            "audits": self.audits,
            "course": [part._asdict() for part in self.course.pieces(20)],
        }


def _log_odds(probability: np.ndarray) -> np.ndarray:
    """The log-odds of probabilities: they rank alike, and tell apart those that are nearly 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probability) - np.log1p(-probability))


class CurvePart(NamedTuple):
    """Some events in a row."""

    first: int
    """The number of its first event in the stream, from 1."""
    last: int
    share: float
    """How many of its events were predicted right."""


class AccuracyCurve:
    """The share of right predictions over time, in at most 64 pieces of equal length, however long the stream.

    Only the last piece may be shorter or longer, by less than half.

    Examples
    --------
    >>> course = AccuracyCurve()
    >>> course.add(np.array([False, True, True, True]))
    >>> course.shares(2)
    [0.5, 1.0]
    """

    def __init__(self) -> None:
        self._size = 1  # events in a bin
        self._right = np.zeros(0, np.int64)
        self._events = 0

    def add(self, right: np.ndarray) -> None:
        """Add events in order: whether each was predicted right."""
        while self._events + len(right) > MOST_BINS * self._size:
            self._size *= 2
            pairs = np.append(self._right, np.zeros(len(self._right) % 2, np.int64))
            self._right = pairs[0::2] + pairs[1::2]
        places = (self._events + np.arange(len(right))) // self._size
        self._events += len(right)
        n_bins = -(-self._events // self._size)
        more = np.bincount(places, weights=right, minlength=n_bins).astype(np.int64)
        more[: len(self._right)] += self._right
        self._right = more

    def pieces(self, most: int) -> list[CurvePart]:
        """Up to ``most`` pieces, in order; a last one of less than half the length is joined to the one before."""
        bins = -(-len(self._right) // most)  # in a piece
        firsts = list(range(0, len(self._right), max(1, bins)))
        if len(firsts) > 1 and 2 * (self._events - firsts[-1] * self._size) < bins * self._size:
            firsts.pop()
        found = []
        for first, end in pairwise([*firsts, len(self._right)]):
            last_event = min(end * self._size, self._events)
            share = self._right[first:end].sum() / (last_event - first * self._size)
            found.append(CurvePart(first * self._size + 1, last_event, float(share)))
        return found

    def shares(self, most: int) -> list[float]:
        """The share of right predictions in up to ``most`` pieces, in order."""
        return [piece.share for piece in self.pieces(most)]


class RocAccumulator:
    """The ranking of events of two classes by score. Up to 65,536 events it is exact; beyond, nearly equal scores are
    ties.

    Examples
    --------
    >>> ranking = RocAccumulator()
    >>> ranking.add(np.array([False, True, False, True]), np.array([0.1, 0.4, 0.4, 0.9]))
    >>> ranking.area()
    0.875
    """

    def __init__(self) -> None:
        self._exact: list[tuple[np.ndarray, np.ndarray]] = []
        self._events = 0
        self._bins: np.ndarray | None = None  # negatives and positives by score, ascending

    def add(self, is_positive: np.ndarray, score: np.ndarray) -> None:
        """Add events."""
        self._events += len(score)
        if self._bins is None:
            self._exact.append((is_positive, score))
            if self._events <= EXACT_EVENTS:
                return
            self._bins = np.zeros((2, 1 << (32 - DROPPED_BITS)), np.int64)
            kept, self._exact = self._exact, []
            for flags, scores in kept:
                self._count(self._bins, flags, scores)
        else:
            self._count(self._bins, is_positive, score)

    @staticmethod
    def _count(bins: np.ndarray, is_positive: np.ndarray, score: np.ndarray) -> None:
        # The bits of a float, read as a whole number, are ordered as its size; adding 0.0 turns -0.0 into 0.0.
        with np.errstate(over="ignore", under="ignore"):
            bits = (score.astype(np.float32) + np.float32(0.0)).view(np.int32).astype(np.int64)
        order = np.where(bits >= 0, bits + (1 << 31), -1 - (bits & 0x7FFFFFFF) + (1 << 31)) >> DROPPED_BITS
        for row, flags in enumerate((~is_positive, is_positive)):
            bins[row] += np.bincount(order[flags], minlength=bins.shape[1])

    def area(self) -> float:
        """sum_b P_b (N_1 + ... + N_{b-1} + N_b / 2) / (P N): how often a positive event scores above a negative one, a
        tie counting half. NaN if a class is missing."""
        if self._bins is None:
            if not self._exact:
                return float("nan")
            return area(*(np.concatenate(parts) for parts in zip(*self._exact, strict=True)))
        negatives, positives = self._bins
        pairs = int(negatives.sum()) * int(positives.sum())
        below = np.cumsum(negatives) - negatives
        return float((positives * (below + negatives / 2.0)).sum() / pairs) if pairs else float("nan")
