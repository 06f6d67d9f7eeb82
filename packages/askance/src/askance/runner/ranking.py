"""The area under the ROC curve of a stream in constant memory."""

from __future__ import annotations

import numpy as np

from askance.evaluate.metrics.scores import area

EXACT_EVENTS = 1 << 16  # up to so many events every score is kept
DROPPED_BITS = 14  # of a float32: scores whose ratio is nearer to 1 than 1/512 then count as equal


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
