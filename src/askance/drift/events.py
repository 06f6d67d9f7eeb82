"""Have the events changed? A signal that needs no label.

The stream is cut into blocks of B events. Every feature of a recent stretch, one block or four, is compared with the
reference, all blocks before the last four since the last alarm. With the mean mu and the standard deviation sigma of
the reference, and

    z = clip((x - mu) / sigma, -FARTHEST, FARTHEST)

the mean of z over a stretch of n events is about 0 as long as nothing changes. It is an alarm if a mean is further from
0 than Bernstein's inequality allows,

    n t^2 / 2 > L (1 + FARTHEST t / 3),     L = log(2 d W N / B),

for d features, W = 2 stretches and a false alarm in N events at most; n is what the two samples are worth together,
n m / (n + m) for m events of reference. The inequality holds for numbers of any distribution, rare words among them.
Wide events are added up in ``MOST_FEATURES`` groups of columns with random signs first.

What it cannot see: a change of the labels alone, with events as before. That is for the answers (see ``answers``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from askance.errors import InvalidInput, InvalidParameter
from askance.metrics.arrays import is_number

FARTHEST = 5.0  # standard deviations
MOST_FEATURES = 512
STRETCHES = (1, 4)  # blocks
LEAST_REFERENCE = 4  # blocks


class EventSignal:
    """Raises an alarm when the features of the events change, without any label.

    Parameters
    ----------
    block : int, default 250
        Events in a block; the signal speaks at the end of each. Smaller blocks are faster, and see large changes only.
    horizon : float, default 1e7
        While nothing changes, at most one false alarm in so many events is to be expected.

    Attributes
    ----------
    events : int
        The events so far.
    alarms : list of int
        The event, counted from 0, after which each alarm was raised.
    changed : list of (int, float)
        The features that raised the last alarm, the clearest first, and by how many standard deviations their means
        moved. Of events with more than 512 columns, groups of columns.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(20_000, 5))
    >>> X[12_000:, 3] += 0.7
    >>> signal = EventSignal()
    >>> signal.watch(X)
    [12249]
    >>> feature, shift = signal.changed[0]
    >>> feature, round(shift, 1)
    (3, 0.8)
    """

    def __init__(self, block: int = 250, horizon: float = 1e7) -> None:
        if not is_number(block) or block != int(block) or not 10 <= block <= 100_000:
            raise InvalidParameter(f"block must be a whole number of events from 10 to 100,000, got {block!r}.")
        if not is_number(horizon) or not block < horizon < np.inf:
            raise InvalidParameter(f"horizon must be a number of events above block, got {horizon!r}.")
        self.block, self.horizon = int(block), float(horizon)
        self.events = 0
        self.alarms: list[int] = []
        self.changed: list[tuple[int, float]] = []
        self._width: int | None = None
        self._waiting: list[np.ndarray] = []  # the rows of a block that is not full
        self._restart()

    def _restart(self) -> None:
        """Begin a new reference."""
        self._reference = 0  # blocks in it
        self._mean, self._variance = np.zeros(0), np.zeros(0)
        self._recent: list[np.ndarray] = []  # the rows of the latest blocks

    def watch(self, X: Any) -> list[int]:
        """Take in events, rows of an array or of a sparse matrix; returns those that raised an alarm."""
        rows = X if sp.issparse(X) else np.asarray(X)
        if rows.ndim != 2 or (not sp.issparse(rows) and rows.dtype.kind not in "fiub"):
            raise InvalidInput(f"events are the rows of a matrix of numbers, got an array of shape {rows.shape}.")
        if self._width not in (None, rows.shape[1]):
            raise InvalidInput(f"X has {rows.shape[1]} features, but the events before had {self._width}.")
        rows = sp.csr_matrix(rows, dtype=np.float64) if sp.issparse(rows) else rows.astype(np.float64)
        values = rows.data if sp.issparse(rows) else rows
        if not np.isfinite(values).all():
            raise InvalidInput("X has NaN or infinite values; fill them in first.")
        self._width = rows.shape[1]
        found, first = [], 0
        while first < rows.shape[0]:
            last = first + self.block - self.events % self.block
            part = rows[first:last]  # up to the end of the block, or of X
            self._waiting.append(in_groups(part))
            self.events += part.shape[0]
            first = last
            if self.events % self.block == 0:
                block, self._waiting = np.concatenate(self._waiting), []
                if self._take(block):
                    found.append(self.events - 1)
        self.alarms += found
        return found

    def _take(self, block: np.ndarray) -> bool:
        """Take in a full block; returns whether it raises an alarm."""
        self._recent.append(block)
        if len(self._recent) > max(STRETCHES):
            self._add_to_reference(self._recent.pop(0))
        if self._reference < LEAST_REFERENCE:
            return False
        shifts = self._shifts()
        if not shifts:
            return False
        self.changed = sorted(shifts, key=lambda shift: -abs(shift[1]))
        self._restart()
        self._recent = [block]
        return True

    def _shifts(self) -> list[tuple[int, float]]:
        """The features whose means moved further than chance allows, each with its largest shift."""
        limit = np.log(2.0 * len(self._mean) * len(STRETCHES) * self.horizon / self.block)  # L
        found: dict[int, float] = {}
        for blocks in STRETCHES:
            rows = np.concatenate(self._recent[-blocks:])
            known = self.block * self._reference
            worth = len(rows) * known / (len(rows) + known)  # n
            means = standardise(rows, self._mean, self._variance).mean(axis=0)  # t
            is_far = 0.5 * worth * means**2 > limit * (1.0 + FARTHEST * np.abs(means) / 3.0)
            for feature in np.flatnonzero(is_far).tolist():
                found[feature] = max(found.get(feature, 0.0), float(means[feature]), key=abs)
        return list(found.items())

    def _add_to_reference(self, block: np.ndarray) -> None:
        """Merge the moments of a block into those of the reference (Chan, Golub and LeVeque 1979)."""
        mean, variance = block.mean(axis=0), block.var(axis=0)
        if self._reference == 0:
            self._mean, self._variance = mean, variance
        else:
            share = 1.0 / (self._reference + 1)
            step = mean - self._mean
            self._mean = self._mean + share * step
            self._variance = (1.0 - share) * self._variance + share * variance + share * (1.0 - share) * step**2
        self._reference += 1

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON, among them the latest events."""
        return {
            "block": self.block,
            "horizon": self.horizon,
            "events": self.events,
            "alarms": list(self.alarms),
            "changed": [list(shift) for shift in self.changed],
            "width": self._width,
            "reference": self._reference,
            "mean": self._mean.tolist(),
            "variance": self._variance.tolist(),
            "recent": [block.tolist() for block in self._recent],
            "waiting": [rows.tolist() for rows in self._waiting],
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> EventSignal:
        """The signal that ``to_dict`` described; it goes on as that one would have."""
        signal = cls(state["block"], state["horizon"])
        signal.events, signal.alarms, signal._width = state["events"], list(state["alarms"]), state["width"]
        signal.changed = [(feature, shift) for feature, shift in state["changed"]]
        signal._reference = state["reference"]
        signal._mean, signal._variance = np.array(state["mean"]), np.array(state["variance"])
        signal._recent = [np.array(block) for block in state["recent"]]
        signal._waiting = [np.array(rows) for rows in state["waiting"]]
        return signal


def standardise(rows: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """(x - mu) / sigma, clipped; where nothing varied before, whatever differs is as far as can be."""
    deviation = rows - mean
    std = np.sqrt(variance)
    constant = std <= 1e-12 * np.maximum(1.0, np.abs(mean))
    z = deviation / np.where(constant, 1.0, std)
    z[:, constant] = np.where(np.abs(deviation[:, constant]) > 1e-9, np.sign(deviation[:, constant]) * FARTHEST, 0.0)
    return np.clip(z, -FARTHEST, FARTHEST)


def in_groups(rows: Any) -> np.ndarray:
    """The rows as a dense matrix; more than ``MOST_FEATURES`` columns are added up, with signs, in so many groups."""
    width = rows.shape[1]
    if width > MOST_FEATURES:
        numbers = np.arange(width, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing
        groups = (numbers >> np.uint64(32)) % np.uint64(MOST_FEATURES)
        signs = np.where(numbers >> np.uint64(63), 1.0, -1.0)
        rows = rows @ sp.csr_matrix((signs, (np.arange(width), groups)), shape=(width, MOST_FEATURES))
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows)
