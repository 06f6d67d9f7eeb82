"""What a stream came to so far, in constant memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from askance.learner.trace import Trace
from askance.metrics.counts import cross
from askance.metrics.probability import mean_surprise
from askance.metrics.summary import counted

MOST_BINS = 64


class Totals:
    """Counts of all events so far; the metrics are those of ``Trace.summary`` that counts can tell.

    Parameters
    ----------
    classes : array of labels
        The classes, sorted.
    positive : int, optional
        Which of them is the positive one; None where there is none.
    """

    def __init__(self, classes: np.ndarray, positive: int | None) -> None:
        self.classes = classes
        self.positive = positive
        self.matrix = np.zeros((len(classes), len(classes)), np.int64)
        self.labels = 0
        self.last_asked = 0
        """The number of the last event whose label was bought, from 1 in this stream."""
        self.audits = 0
        self.seconds = 0.0
        self._surprise: float | None = None
        self.course = Course()

    @property
    def events(self) -> int:
        """How many events were played."""
        return int(self.matrix.sum())

    @property
    def right(self) -> int:
        """How many of them were predicted right."""
        return int(self.matrix.trace())

    def add(self, trace: Trace) -> None:
        """Count the events of one more piece."""
        if trace.asked.any():
            self.last_asked = self.events + int(np.flatnonzero(trace.asked)[-1]) + 1
        self.matrix += cross(trace.truth_index.astype(np.int64), trace.predicted_index, len(self.classes))
        self.labels += int(trace.asked.sum())
        audit = getattr(trace, "audit", None)
        self.audits += 0 if audit is None else int(audit.sum())
        self.seconds += trace.seconds
        probability = trace.probability_positive
        if probability is not None and len(trace):
            lost = mean_surprise(trace.truth_index == 1, probability) * len(trace)
            self._surprise = lost + (self._surprise or 0.0)
        self.course.add(trace.truth_index == trace.predicted_index)

    def summary(self, alpha_p: float = 0.5, c_p: float = 0.9) -> dict[str, Any]:
        """The metrics, by name."""
        events = self.events
        found: dict[str, Any] = {
            "events": events,
            "labels": self.labels,
            "query_ratio": self.labels / events if events else 0.0,
            **counted(self.matrix, self.positive, alpha_p, c_p),
        }
        if self._surprise is not None:
            found["nlp"] = self._surprise / events
        found["majority"] = float(self.matrix.sum(axis=1).max() / events) if events else float("nan")
        found["seconds"] = self.seconds
        return found


class Course:
    """The share of right predictions over time, in at most 64 pieces of equal length, however long the stream.

    Examples
    --------
    >>> course = Course()
    >>> course.add(np.array([False, True, True, True]))
    >>> course.shares(2)
    [0.5, 1.0]
    """

    def __init__(self) -> None:
        self._size = 1  # events in a bin
        self._right = np.zeros(0, np.int64)
        self._events = 0

    def add(self, right: np.ndarray) -> None:
        """More events, in order: whether each was predicted right."""
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

    def shares(self, most: int) -> list[float]:
        """The share of right predictions in up to ``most`` pieces, in order."""
        sizes = np.full(len(self._right), self._size)
        if len(sizes):
            sizes[-1] = self._events - self._size * (len(sizes) - 1)
        groups = [part for part in np.array_split(np.arange(len(sizes)), max(1, min(most, len(sizes)))) if len(part)]
        return [float(self._right[part].sum() / sizes[part].sum()) for part in groups]
