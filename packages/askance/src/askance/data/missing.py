"""What stands for a value that is not there: the same words in features and in labels, in every format.

A missing number is as if it were not there, and so is a missing text; a missing category is a value of its own. A
missing label makes an event unlabeled: it is predicted, and nothing else. A word that is named as a class by
``classes=`` is a class, and one that the head of an ARFF file declares is a value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from askance.errors import InvalidParameter

WORDS = frozenset((
    "", "?", "NA", "N/A", "n/a", "#NA", "#N/A", "#N/A N/A", "<NA>", "null", "NULL", "Null", "None", "\\N",
    "nan", "NaN", "Nan", "NAN", "-nan", "-NaN", "-NAN", "1.#QNAN", "-1.#QNAN", "1.#IND", "-1.#IND", "NaT",
))  # fmt: skip
"""The words, as pandas, R, SQL, Weka, spreadsheets and Python write them. ``none`` and ``na`` are words like others."""

OF_PANDAS = ("NAType", "NaTType")


class MissingValues:
    """The words that stand for a missing value, and those that a user adds; also numbers, such as -999.

    A number that is added stands for a missing value however it is written: -999 is also -999.0.

    Parameters
    ----------
    na_values : str, number, or several of them, optional
        What counts as missing besides the usual words.

    Examples
    --------
    >>> missing = MissingValues(["unknown", -999])
    >>> [missing.covers(value) for value in ("unknown", "-999.0", -999, "NA", None, "Unknown", 999)]
    [True, True, True, True, True, False, False]
    """

    def __init__(self, na_values: Any = None) -> None:
        self.added: tuple[str, ...] = tuple(dict.fromkeys(_words(na_values)))
        self.words = WORDS | set(self.added)
        found = map(_number, self.added)
        self.numbers = frozenset(number for number in found if number is not None)

    def with_more(self, na_values: Any) -> MissingValues:
        """These, and some more."""
        return MissingValues([*self.added, *MissingValues(na_values).added])

    def covers(self, value: Any, classes: Collection[Any] = ()) -> bool:
        """Whether a value stands for one that is not there, and for none of the classes."""
        if isinstance(value, str):
            text = value.strip()
            is_one = text in self.words or (bool(self.numbers) and _number(text) in self.numbers)
            return is_one and value not in classes
        if isinstance(value, int | float):
            return value != value or (value in self.numbers and value not in classes)
        if value is None or value is np.ma.masked or type(value).__name__ in OF_PANDAS:
            return True
        if isinstance(value, bytes):
            return self.covers(value.decode("utf-8", "replace"), classes)
        if isinstance(value, np.integer | np.floating):
            return self.covers(value.item(), classes)
        return isinstance(value, np.datetime64 | np.timedelta64) and bool(value != value)

    def blank(self, numbers: np.ndarray) -> np.ndarray:
        """An array of float64, NaN also where a number stands for a missing one; the same array where none can."""
        for number in sorted(self.numbers):
            is_missing = numbers == number
            if is_missing.any():
                numbers = np.where(is_missing, np.nan, numbers)
        return numbers

    def blank_labels(self, labels: Any, classes: Any = None) -> Any:
        """Labels with None for those that the user declared missing; the same ones if none is."""
        if not self.added or labels is None:
            return labels
        named = () if classes is None else np.asarray(classes, object).tolist()
        values = labels.tolist() if np.ma.isMaskedArray(labels) else np.asarray(labels, object).tolist()
        if not any(self.covers(label, named) for label in values):
            return labels
        return [None if self.covers(label, named) else label for label in values]

    @cached_property
    def table(self) -> np.ndarray:
        """The words as bytes, one a row, filled up with zeros: for compiled parsers."""
        return self.table_without(())

    def table_without(self, values: Collection[str]) -> np.ndarray:
        """The same without the words that are values of a field."""
        written = sorted(word.encode() for word in self.words.difference(values) if word)
        longest = max(map(len, written))
        return np.array([list(word.ljust(longest, b"\0")) for word in written], np.uint8)


def _words(na_values: Any) -> Iterable[str]:
    """What a user adds, as text."""
    if na_values is None:
        return
    is_one = isinstance(na_values, str | int | float | np.number)
    several = [na_values] if is_one else na_values
    if isinstance(several, dict) or not hasattr(several, "__iter__"):
        raise InvalidParameter(
            f'na_values is a list of words and numbers that count as missing in every field, such as ["unknown", -999],'
            f" got {na_values!r}."
        )
    for value in several:
        if isinstance(value, bool | np.bool_) or not isinstance(value, str | int | float | np.number):
            raise InvalidParameter(f"na_values has words and numbers, got {value!r}.")
        text = str(value.item() if isinstance(value, np.number) else value).strip()
        if text not in WORDS:
            yield text


def _number(text: str) -> float | None:
    """The finite number that is written in a text."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) and "_" not in text else None


USUAL = MissingValues()
"""The usual words alone."""


def is_missing(value: Any, classes: Collection[Any] = ()) -> bool:
    """Whether a value stands for one that is not there by the usual words, and for none of the classes.

    >>> [is_missing(value) for value in (None, float("nan"), " N/A ", "none", 0)]
    [True, True, True, False, False]
    >>> is_missing("NA", classes=["DE", "NA"])
    False
    """
    return USUAL.covers(value, classes)
