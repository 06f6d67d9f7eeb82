"""What the metrics accept: columns with one entry per event, all of the same length."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askance.errors import InvalidInput, InvalidParameter

Labels = NDArray[Any]
Flags = NDArray[np.bool_]
Numbers = NDArray[np.float64]


def column(name: str, values: ArrayLike, length: int | None = None) -> NDArray[Any]:
    """``values`` as a one-dimensional array, of ``length`` entries if that is given."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise InvalidInput(f"{name} must be one-dimensional, one entry per event, got an array of shape {array.shape}.")
    if length is not None and len(array) != length:
        raise InvalidInput(f"{name} has {len(array)} entries, but there are {length} events in truth.")
    return array


def numbers(name: str, values: ArrayLike, length: int) -> Numbers:
    """A column of numbers, none of them NaN."""
    array = column(name, values, length).astype(np.float64, copy=False)
    if np.isnan(array).any():
        raise InvalidInput(f"{name} is NaN at event {int(np.isnan(array).argmax())}; it must be a number.")
    return array


def is_label(labels: Labels, label: Any) -> Flags:
    """Where ``labels`` are ``label``; nowhere, if their types cannot be compared."""
    return np.broadcast_to(np.asarray(labels == label, dtype=np.bool_), labels.shape)


def as_flags(flags: NDArray[Any]) -> int:
    """How many are true, as a plain int."""
    return int(np.count_nonzero(flags))


def divide(part: Any, whole: Any) -> Any:
    """part / whole of numbers, or of arrays entry by entry, where 0 / 0 is 0.

    >>> divide(1, 4), divide(0, 0), divide(np.array([1, 0]), np.array([2, 0]))
    (0.25, 0.0, array([0.5, 0. ]))
    """
    if np.ndim(part) == np.ndim(whole) == 0:
        return float(part / whole) if whole > 0.0 else 0.0
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=np.asarray(whole) > 0.0)


def is_number(value: Any) -> bool:
    """Whether a parameter is one number; True and False are none."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def share(name: str, value: float) -> float:
    """A weight between 0 and 1 whose rest, 1 - value, belongs to the other class."""
    if not is_number(value) or not 0.0 <= value <= 1.0:
        raise InvalidParameter(
            f"{name} must be in [0, 1], got {value!r}: it is the share of the positive class, "
            f"and the negative class gets the rest."
        )
    return float(value)
