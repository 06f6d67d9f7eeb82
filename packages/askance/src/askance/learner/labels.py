"""Labels of any sortable kind, and the class indices that stand for them inside."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from askance.data.missing import is_missing
from askance.errors import InvalidInput

MISSING = -1  # in place of a class index
FEW = 8  # classes, up to which comparing with each in turn is the fastest way
HEAD = 1000


def distinct_labels(labels: Any, name: str) -> np.ndarray:
    """The labels there are, sorted."""
    check_kinds(labels, name)
    values = np.asarray(list(labels) if isinstance(labels, set | frozenset) else labels)
    if values.dtype.kind in "mM":
        raise InvalidInput(f"{name} has times as labels; turn them into strings, such as '2026-01-31'.")
    if values.ndim != 1:
        raise InvalidInput(f"{name} must be a flat list of labels, got shape {values.shape}.")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InvalidInput(f"{name} contains NaN or infinity, which cannot be a label.")
    if values.dtype.kind in "iu" and values.size:
        least, most = int(values.min()), int(values.max())
        if most - least < FEW:  # a comparison with each is far faster than a sort
            head = values[:HEAD]  # where most of them are found
            present = [n for n in range(least, most + 1) if (head == n).any() or (values == n).any()]
            return np.array(present, dtype=values.dtype)
    try:
        return np.unique(values)
    except TypeError:
        raise _mixed_labels_error(name) from None


def distinct_known_labels(labels: Any, name: str, classes: Collection[Any] = ()) -> np.ndarray:
    """The labels there are, sorted, without the words that stand for none unless named as classes."""
    found = distinct_labels(labels, name)
    known = [not is_missing(label, classes) for label in found.tolist()]
    return found if all(known) else found[known]


def check_kinds(labels: Any, name: str) -> None:
    """Refuse a list of strings and numbers before NumPy turns the numbers into strings."""
    if isinstance(labels, list | tuple | set | frozenset) and np.asarray(list(labels)).dtype.kind in "US":
        kinds = {isinstance(label, str | bytes) for label in labels if not is_missing(label)}
        if len(kinds) > 1:
            raise _mixed_labels_error(name)


def _mixed_labels_error(name: str) -> InvalidInput:
    return InvalidInput(
        f"{name} mixes labels that cannot be sorted together; use labels of one kind, such as all strings."
    )


def select_known(y: Any, classes: Any) -> tuple[Any, np.ndarray | None]:
    """The labels that are known, and which events have them; the labels as they are, and None, where all events do.

    Words in arrays of strings are left to ``encode``: that way, labels that are all known cost nothing.
    """
    if np.ma.isMaskedArray(y):
        labels, missing = np.ma.getdata(y), np.ma.getmaskarray(y).copy()
        if labels.ndim != 1:
            return y, None
        missing |= ~_find_known(labels, classes)
    else:
        try:
            labels = np.asarray(y)
        except ValueError:  # lists of different lengths: no labels
            return y, None
        if labels.dtype.kind in "US" and isinstance(y, list | tuple) and not all(isinstance(n, str | bytes) for n in y):
            labels = np.array(y, object)  # NumPy made strings of numbers
        if labels.ndim != 1 or labels.dtype.kind not in "fOmM":
            return y, None
        missing = ~_find_known(labels, classes)
    if not missing.any():
        return y, None
    present = labels[~missing]
    return (present.tolist() if present.dtype == object else present), ~missing


def _find_known(labels: np.ndarray, classes: Any) -> np.ndarray:
    """Which labels are not missing."""
    if labels.dtype.kind == "f":
        return ~np.isnan(labels)
    if labels.dtype.kind in "mM":
        return ~np.isnat(labels)
    if labels.dtype.kind != "O":
        return np.ones(len(labels), np.bool_)
    named = () if classes is None else np.asarray(classes, object).tolist()
    return np.array([not is_missing(label, named) for label in labels.tolist()], np.bool_)


def encode(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The index of each label among the sorted classes; MISSING for a word that stands for no label."""
    labels = np.asarray(labels)
    if len(classes) <= FEW:
        matches = [_where(labels, label) for label in classes]
        index = matches[-1] * np.int32(len(matches) - 1)
        for place, match in enumerate(matches[1:-1], 1):
            index += match * np.int32(place)
        if sum(map(np.count_nonzero, matches)) == len(labels):
            return index
        found = np.any(matches, axis=0)
    else:
        try:
            index = np.minimum(np.searchsorted(classes, labels), len(classes) - 1).astype(np.int32)
            found = classes[index] == labels
        except (TypeError, np.exceptions.DTypePromotionError):
            found, index = np.zeros(len(labels), np.bool_), np.zeros(len(labels), np.int32)
    for place in np.flatnonzero(~found).tolist():
        if not is_missing(labels[place]):
            raise _unknown(labels[place], classes, f"y[{place}]")
        index[place] = MISSING
    return index


def _where(labels: np.ndarray, label: Any) -> np.ndarray:
    """Which labels are this one; none where the two cannot be compared at all, such as numbers with strings."""
    same = labels == label
    return same if np.ndim(same) else np.zeros(len(labels), np.bool_)


def encode_one(label: Any, classes: np.ndarray) -> int:
    """The index of one label among the sorted classes."""
    if np.ndim(label) == 0:
        for place, known in enumerate(classes.tolist()):
            if type(known == label) in (bool, np.bool_) and known == label:
                return place
    if is_missing(label):
        raise InvalidInput(
            f"the label is {label!r}, which stands for a missing one; tell only answers that came, and forget a ticket "
            "whose answer will not come."
        )
    raise _unknown(label, classes, "the label")


def _unknown(label: Any, classes: np.ndarray, where: str) -> InvalidInput:
    shown = ", ".join(repr(known) for known in classes[:10].tolist()) + (", ..." if len(classes) > 10 else "")
    value = label.item() if isinstance(label, np.generic) else label
    return InvalidInput(f"{where} is {value!r}, which is not one of the classes {shown}.")
