"""Have the events changed? A signal that needs no label.

The stream is cut into blocks of B events. Every feature of the latest stretch, one block or four, is compared with the
reference, all blocks before the latest four since the last alarm. With the mean mu and the standard deviation sigma of
the reference as it was when a block began, and

    z = clip((x - mu) / sigma, -FARTHEST, FARTHEST)

the mean of z over a stretch of n events is about 0 as long as nothing changes. It is an alarm if a mean t is further
from 0 than Bernstein's inequality allows,

    n t^2 / 2 > L (1 + FARTHEST |t| / 3),     L = log(2 d W N / B),

for d features, W = 2 stretches and a false alarm in N events at most; n is what the two samples are worth together,
n m / (n + m) for the m events of reference of the stretch's first block. The inequality holds for numbers of any
distribution, rare words among them. Of wide events, the columns from ``MOST_FEATURES`` on are added to those before,
with random signs.

What it cannot see: a change of the labels alone, with events as before. That is for the answers (see ``answers``).
``learner/auto/event_signal.py`` does the same within a compiled stream, an event at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from askance.errors import InvalidInput, InvalidParameter
from askance.evaluate.metrics.arrays import is_number

BLOCK = 250  # events
HORIZON = 1e7  # events
FARTHEST = 5.0  # standard deviations
MOST_FEATURES = 512  # a power of two
STRETCHES = (1, 4)  # blocks
LATEST = 4  # blocks that are not yet reference
LEAST_REFERENCE = 4  # blocks
FINEST = 1e-6  # of the size of a mean: standard deviations below are taken for this one, for they may be rounding
SMALLEST = 1e-150  # standard deviation of a feature that was always 0


class Block(NamedTuple):
    """What is kept of a block: the moments of each feature, and the mean of z; None before there was a reference."""

    mean: np.ndarray
    variance: np.ndarray
    shift: np.ndarray | None


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

    def __init__(self, block: int = BLOCK, horizon: float = HORIZON) -> None:
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
        self._latest: list[Block] = []

    def watch(self, X: Any) -> list[int]:
        """Take in events, rows of an array or of a sparse matrix; returns those that raised an alarm."""
        import scipy.sparse as sp

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

    def _take(self, rows: np.ndarray) -> bool:
        """Take in a full block; returns whether it raises an alarm."""
        shift = None
        if self._reference >= LEAST_REFERENCE:
            shift = standardise(rows, self._mean, self._variance).mean(axis=0)
        self._latest.append(Block(rows.mean(axis=0), rows.var(axis=0), shift))
        shifts = self._shifts(rows.shape[1])
        if shifts:
            self.changed = sorted(shifts, key=lambda shift: -abs(shift[1]))
            self._restart()
            return True
        if len(self._latest) == LATEST:
            self._add_to_reference(self._latest.pop(0))
        return False

    def _shifts(self, features: int) -> list[tuple[int, float]]:
        """The features whose means moved further than chance allows, each with its largest shift."""
        limit = np.log(2.0 * features * len(STRETCHES) * self.horizon / self.block)  # L
        found: dict[int, float] = {}
        for blocks in STRETCHES:
            shifts = [block.shift for block in self._latest[-blocks:] if block.shift is not None]
            if len(shifts) < blocks:
                continue
            events, known = self.block * blocks, self.block * (self._reference - (blocks - 1))
            worth = events * known / (events + known)  # n
            means = np.mean(shifts, axis=0)  # t
            is_far = 0.5 * worth * means**2 > limit * (1.0 + FARTHEST * np.abs(means) / 3.0)
            for feature in np.flatnonzero(is_far).tolist():
                found[feature] = max(found.get(feature, 0.0), float(means[feature]), key=abs)
        return list(found.items())

    def _add_to_reference(self, block: Block) -> None:
        """Merge the moments of a block into those of the reference (Chan, Golub and LeVeque 1979)."""
        mean, variance = block.mean, block.variance
        if self._reference == 0:
            self._mean, self._variance = mean, variance
        else:
            share = 1.0 / (self._reference + 1)
            step = mean - self._mean
            self._mean = self._mean + share * step
            self._variance = (1.0 - share) * self._variance + share * variance + share * (1.0 - share) * step**2
        self._reference += 1

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON, among them the events of a block that is not full."""
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
            "latest": [[None if numbers is None else numbers.tolist() for numbers in block] for block in self._latest],
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
        signal._latest = [
            Block(np.array(mean), np.array(variance), None if shift is None else np.array(shift))
            for mean, variance, shift in state["latest"]
        ]
        signal._waiting = [np.array(rows) for rows in state["waiting"]]
        return signal


def standardise(rows: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """z = (x - mu) / sigma, clipped; where nothing varied before, whatever differs is as far as can be."""
    std = np.maximum(np.maximum(np.sqrt(variance), FINEST * np.abs(mean)), SMALLEST)
    with np.errstate(over="ignore"):
        return np.clip((rows - mean) / std, -FARTHEST, FARTHEST)


def in_groups(rows: Any) -> np.ndarray:
    """The rows as a dense matrix; columns from ``MOST_FEATURES`` on are added to those before, with signs.

    Column k >= M = MOST_FEATURES = 2^b goes by the bits of h = 2654435761 k mod 2^32 (Fibonacci hashing): to column
    h / 2^(32 - b), with a minus if the next bit is 0."""
    import scipy.sparse as sp

    width = rows.shape[1]
    if width > MOST_FEATURES:
        columns = np.arange(width, dtype=np.uint64)
        bits = columns * np.uint64(2654435761) & np.uint64(0xFFFFFFFF)
        shift = np.uint64(33 - MOST_FEATURES.bit_length())  # 32 - b
        groups = np.where(columns < MOST_FEATURES, columns, bits >> shift)
        signs = np.where((columns < MOST_FEATURES) | (bits >> (shift - np.uint64(1)) & np.uint64(1) > 0), 1.0, -1.0)
        rows = rows @ sp.csr_matrix((signs, (np.arange(width), groups)), shape=(width, MOST_FEATURES))
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows)
