"""Running standardisation: zero mean and unit variance by what was seen so far, in one pass.

After Welford, "Note on a method for calculating corrected sums of squares and products", Technometrics 4 (1962). The
n-th value x of a feature moves its mean m and its sum of squares s,

    m += (x - m) / n        s += (x - m_old) (x - m)

and becomes z = (x - m) / sqrt(s / n), with the statistics that include it. So nothing is looked at twice, the first
value becomes 0, and |z| < sqrt(n). A feature that has not varied yet is 0. A missing value changes nothing, and is 0 in
turn: it stands at the running mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

import numpy as np

from askance.compile import specialise
from askance.data.encoding.assemble import csr, rows_of, unit_rows
from askance.errors import InvalidInput


def standardise(
    features: np.ndarray, values: np.ndarray, counts: np.ndarray, means: np.ndarray, squares: np.ndarray
) -> None:
    """Replace each value by its standardised one, in order; ``features`` says whose value it is."""
    for i in range(values.size):
        values[i] = standardise_value(features[i], values[i], counts, means, squares)


def standardise_value(feature: int, value: float, counts: np.ndarray, means: np.ndarray, squares: np.ndarray) -> float:
    """Take one value of a feature in, and return it standardised."""
    counts[feature] += 1.0
    before = value - means[feature]
    means[feature] += before / counts[feature]
    after = value - means[feature]
    squares[feature] += before * after
    if squares[feature] > 0.0:
        return after / sqrt(squares[feature] / counts[feature])
    return 0.0


def standardise_as_next(
    features: np.ndarray, values: np.ndarray, counts: np.ndarray, means: np.ndarray, squares: np.ndarray
) -> None:
    """Replace each value by what it would become if it came next; the statistics stay as they are."""
    for i in range(values.size):
        feature = features[i]
        count = counts[feature] + 1.0
        before = values[i] - means[feature]
        after = values[i] - (means[feature] + before / count)
        square = squares[feature] + before * after
        values[i] = after / sqrt(square / count) if square > 0.0 else 0.0


def standardise_as_known(
    features: np.ndarray, values: np.ndarray, counts: np.ndarray, means: np.ndarray, squares: np.ndarray
) -> None:
    """Replace each value, which was taken in before, by what the statistics make of it as they stand."""
    for i in range(values.size):
        feature = features[i]
        if squares[feature] > 0.0:
            values[i] = (values[i] - means[feature]) / sqrt(squares[feature] / counts[feature])
        else:
            values[i] = 0.0


def standardise_rows(
    starts: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    counts: np.ndarray,
    means: np.ndarray,
    squares: np.ndarray,
    new_starts: np.ndarray,
    new_columns: np.ndarray,
    new_values: np.ndarray,
) -> None:
    """Sorted rows in which an absent value of a feature is a zero like any other; what is no feature stays as it is."""
    n_entries = 0
    new_starts[0] = 0
    for row in range(starts.size - 1):
        i = starts[row]
        for feature in range(counts.size):
            value = 0.0
            if i < starts[row + 1] and columns[i] == feature:
                value = values[i]
                i += 1
            value = standardise_value(feature, value, counts, means, squares)
            new_columns[n_entries] = feature
            new_values[n_entries] = value
            n_entries += value != 0.0
        while i < starts[row + 1]:
            new_columns[n_entries] = columns[i]
            new_values[n_entries] = values[i]
            n_entries += 1
            i += 1
        new_starts[row + 1] = n_entries


class RunningStandardisation:
    """The statistics of numbered features, updated by every value that is standardised.

    Examples
    --------
    >>> scaling = RunningStandardisation()
    >>> scaling.apply([0, 0, 0], [1.0, 3.0, 5.0]).round(3)
    array([0.   , 1.   , 1.225])
    >>> scaling = RunningStandardisation.from_dict(scaling.to_dict())
    >>> scaling.apply([0], [3.0])
    array([0.])
    """

    def __init__(self) -> None:
        self.counts = np.zeros(0)
        self.means = np.zeros(0)
        self.squares = np.zeros(0)

    def __len__(self) -> int:
        return len(self.counts)

    def widen(self, n_features: int) -> None:
        """Make room for more features."""
        more = np.zeros(max(0, n_features - len(self)))
        self.counts = np.append(self.counts, more)
        self.means = np.append(self.means, more)
        self.squares = np.append(self.squares, more)

    def apply(self, features: Any, values: Any) -> np.ndarray:
        """Values of features, in the order in which they came, standardised."""
        features = np.ascontiguousarray(features, np.int64)
        values = np.array(values, np.float64)
        if len(features):
            if int(features.max()) >= len(self):
                self.widen(int(features.max()) + 1)
            specialise(standardise)(features, values, self.counts, self.means, self.squares)
        return values

    def as_next(self, features: Any, values: Any) -> np.ndarray:
        """Values of features, each as ``apply`` would give it if it came next. Nothing is taken in."""
        return self._without_moving(standardise_as_next, features, values)

    def as_known(self, features: Any, values: Any) -> np.ndarray:
        """Values that were taken in before, by the statistics as they stand: right after ``apply``, the same bits."""
        return self._without_moving(standardise_as_known, features, values)

    def _without_moving(self, kernel: Callable[..., None], features: Any, values: Any) -> np.ndarray:
        features = np.ascontiguousarray(features, np.int64)
        values = np.array(values, np.float64)
        if len(features):
            beyond = np.zeros(max(0, int(features.max()) + 1 - len(self)))  # features that had no value yet
            known = self.counts, self.means, self.squares
            specialise(kernel)(features, values, *(np.append(array, beyond) for array in known))
        return values

    def apply_to_rows(
        self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sparse rows, standardised as if they were dense: an absent value is a zero, a column a feature."""
        n_rows = len(starts) - 1
        room = n_rows * len(self) + len(values) + 1  # the kernel writes before it knows
        new = np.empty(n_rows + 1, np.int32), np.empty(room, np.int32), np.empty(room)
        specialise(standardise_rows)(starts, columns, values, self.counts, self.means, self.squares, *new)
        return new[0], new[1][: new[0][-1]], new[2][: new[0][-1]]

    def to_dict(self) -> dict[str, np.ndarray]:
        """All it knows, as arrays."""
        return {"counts": self.counts.copy(), "means": self.means.copy(), "squares": self.squares.copy()}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> RunningStandardisation:
        """What ``to_dict`` gave, as arrays or as lists."""
        new = cls()
        try:
            arrays = [np.array(kept[name], np.float64) for name in ("counts", "means", "squares")]
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"this is no saved state of a running standardisation: {error}.") from None
        sound = len({array.shape for array in arrays}) == 1 and arrays[0].ndim == 1
        if not (sound and all(np.isfinite(array).all() for array in arrays)):
            raise InvalidInput("the saved state of a running standardisation is damaged.")
        new.counts, new.means, new.squares = arrays
        return new


# --- rows of numbered features -------------------------------------------------------------------------
# Rows of LIBSVM files and CSR matrices. Whether they are sparse (words, indicators) or a table of numbers written down
# that way shows in the first of them. Up to 1000 features whose values differ are a table: each is standardised as it
# runs, an absent value being a zero like any other. If there are more, or if every value present is 1, each row is
# divided by its length instead. ``raw`` leaves everything as it is.

AS_IT_IS, TO_UNIT_LENGTH, STANDARDISED = "as it is", "to unit length", "standardised"
WIDEST_TABLE = 1000  # features


def choose_scaling(values: np.ndarray, width: int) -> str:
    """What to do to rows with so many features, by the values present in the first of them."""
    is_table = 0 < width <= WIDEST_TABLE and not (values == 1.0).all()
    return STANDARDISED if is_table else TO_UNIT_LENGTH


class SparseScaling:
    """What is done to the values of rows of numbered features."""

    def __init__(self, raw: bool, frozen: bool = False) -> None:
        self.how = AS_IT_IS if raw else ""
        self.frozen = frozen
        self.width = 0
        self._running = RunningStandardisation()

    @property
    def is_settled(self) -> bool:
        """Whether it is known what to do."""
        return self.how != ""

    def settle(self, values: np.ndarray, width: int) -> None:
        """Decide, by the values of the first rows, what to do."""
        if not self.is_settled:
            self.how = choose_scaling(values, width)
            if self.how == STANDARDISED:
                self._running.widen(width)

    def restart(self) -> None:
        """Forget the statistics, but not what is to be done."""
        features = len(self._running)
        self._running = RunningStandardisation()
        self._running.widen(features)
        self.width = 0

    @property
    def n_standardised(self) -> int:
        """How many features are standardised, each of which every row then has."""
        return len(self._running)

    def matrix(self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray, width: int) -> Any:
        """Sorted rows as a CSR matrix, scaled; as wide as the columns known so far. May overwrite the values."""
        self.prepare(starts, values)
        return self.finish(starts, columns, values, width)

    def prepare(self, starts: np.ndarray, values: np.ndarray) -> None:
        """Do to the values what needs no statistics."""
        if self.how == TO_UNIT_LENGTH:
            specialise(unit_rows)(starts, values)

    def finish(self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray, width: int) -> Any:
        """Do to rows that are prepared what is left, in the order of the stream."""
        self.width = max(self.width, width)
        if self.how == STANDARDISED:
            scale = self._rows_as_next if self.frozen else self._running.apply_to_rows
            starts, columns, values = scale(starts, columns, values)
            self.width = max(self.width, len(self._running))
        return csr(starts, columns, values, self.width)

    def _rows_as_next(
        self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sparse rows, each standardised as if it came next; the statistics stay as they are."""
        n_rows, n_features = len(starts) - 1, len(self._running)
        rows = np.repeat(np.arange(n_rows), np.diff(starts))
        is_feature = columns < n_features
        table = np.zeros((n_rows, n_features))
        table[rows[is_feature], columns[is_feature]] = values[is_feature]
        features = np.tile(np.arange(n_features), n_rows)
        table = self._running.as_next(features, table.ravel()).reshape(table.shape)
        at, feature = np.nonzero(table)
        return rows_of(
            np.append(at, rows[~is_feature]).astype(np.int32),
            np.append(feature, columns[~is_feature]).astype(np.int32),
            np.append(table[at, feature], values[~is_feature]),
            n_rows,
        )

    def to_dict(self) -> dict[str, Any]:
        """All it knows, for ``from_dict``."""
        return {"how": self.how, "width": self.width, "scaling": self._running.to_dict()}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any], frozen: bool = False) -> SparseScaling:
        """What ``to_dict`` gave, also after a way through JSON."""
        new = cls(raw=False, frozen=frozen)
        try:
            new.how, new.width = kept["how"], int(kept["width"])
            new._running = RunningStandardisation.from_dict(kept["scaling"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"this is no saved state of a sparse stream: {error!r}.") from None
        if new.how not in (AS_IT_IS, TO_UNIT_LENGTH, STANDARDISED):
            raise InvalidInput(f"the saved state of a sparse stream is damaged: {new.how!r}.")
        return new
