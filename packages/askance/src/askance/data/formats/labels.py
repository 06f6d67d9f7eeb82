"""Labels as they are written, and what they are: whole numbers, numbers or text.

A stream has few different labels and many rows, so a label is looked up as bytes, compiled, and only a new one is ever
turned into a Python object. What kind of labels a stream has is settled by its first rows; a later label of
another kind is a bad line. Blanks around a label do not count, and a word that stands for a missing one, as
``askance.data.missing`` has them, is none unless it is given as a class.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from askance.compile import specialise
from askance.data.encoding.kinds import number_in
from askance.data.missing import USUAL, MissingValues
from askance.errors import InvalidInput, InvalidParameter

KINDS = ("int", "float", "text")
FULL = -1
MOST = 1_000_000  # different labels; more is no classification
EXACT = 2.0**53  # whole numbers below are different as float64 if they are written differently
BLANKS = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""What does not count around a label: the spaces of Unicode. A tab and the like are no blanks, but a mistake."""
FNV_START, FNV_PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)


class LabelTable(NamedTuple):
    """The different labels so far: ``pool[ends[k]:ends[k + 1]]`` are the bytes of label k."""

    pool: np.ndarray
    ends: np.ndarray
    slots: np.ndarray
    """Where to look for a label: its number, or -1. The length is a power of two, at least half of it free."""
    total: np.ndarray
    """One number: how many labels there are."""


def find_label(data: np.ndarray, start: int, stop: int, table: LabelTable) -> int:
    """The number of the label ``data[start:stop]``, a new one if need be; FULL if there is no room for it."""
    digest = FNV_START
    for i in range(start, stop):
        digest = (digest ^ np.uint64(data[i])) * FNV_PRIME
    mask = table.slots.size - 1
    slot = np.int64((digest ^ (digest >> np.uint64(32))) & np.uint64(mask))
    while table.slots[slot] >= 0:
        known = table.slots[slot]
        first = table.ends[known]
        if table.ends[known + 1] - first == stop - start:
            same = True
            for i in range(stop - start):
                same &= data[start + i] == table.pool[first + i]
            if same:
                return known
        slot = (slot + 1) & mask
    known = table.total[0]
    end = table.ends[known] + stop - start
    if 2 * (known + 1) > table.slots.size or end > table.pool.size:
        return FULL
    for i in range(stop - start):
        table.pool[table.ends[known] + i] = data[start + i]
    table.ends[known + 1] = end
    table.slots[slot] = known
    table.total[0] = known + 1
    return known


class Labels:
    """The labels of a stream.

    Parameters
    ----------
    kind : "int", "float" or "text", optional
        What they are; settled by ``settle`` unless given.
    classes : sequence, optional
        Labels that are classes even if they are words that stand for a missing one.
    is_lenient : bool, default False
        Whether a label of another kind is as good as missing, rather than wrong.
    missing : MissingValues, optional
        What stands for a missing label; the usual words unless given.
    separator : str, optional
        What stands between the labels of a set; lists of labels are then written so, as text, and an object of true and
        false by label is a set of which only those labels are known.

    Examples
    --------
    >>> labels = Labels()
    >>> labels.settle(["+1", "-1", "-1"])
    >>> labels.values(["-1", " 1", "?"])
    array([-1, 1, None], dtype=object)
    """

    table: LabelTable
    wrong: dict[int, str]
    """Labels found by the compiled parser that are not of the stream's kind, with the reasons."""
    wider: str | None = None
    """The kind that the last label would need that was not of the stream's kind; None as long as all were."""
    _known: list[Any]
    _values: dict[int | float, Any]

    def __init__(
        self,
        kind: str | None = None,
        classes: Iterable[Any] | None = None,
        is_lenient: bool = False,
        missing: MissingValues = USUAL,
        separator: str | None = None,
    ) -> None:
        self.separator = separator
        self.missing = missing
        self.is_lenient = is_lenient
        self.classes = frozenset(map(str, classes or ()))
        if kind is not None and kind not in KINDS:
            raise InvalidParameter(f"labels must be one of {', '.join(map(repr, KINDS))}, got {kind!r}.")
        self.kind = kind
        self.forget()

    def is_missing(self, label: Any) -> bool:
        """Whether it stands for a missing label; what cannot be printed does not."""
        if isinstance(label, str) and not label.strip(BLANKS).isprintable():
            return False
        return self.missing.covers(label, self.classes)

    def settle(self, sample: Iterable[str | None]) -> None:
        """Decide, by some of them, what the labels are, unless that is known."""
        if self.kind is None:
            present = [text for text in sample if text is not None and not self.is_missing(text)]
            numbers = [number_in(text.strip()) for text in present]
            if not numbers or any(number is None or abs(number) >= EXACT for number in numbers):
                self.kind = "text"
            else:
                self.kind = "int" if all(number.is_integer() for number in numbers if number is not None) else "float"

    def value(self, text: str) -> Any:
        """What a label stands for; if it is not of the stream's kind, a ValueError with the reason, or None."""
        try:
            return self._value(text)
        except ValueError:
            if self.is_lenient:
                return None
            raise

    def _value(self, text: str) -> Any:
        text = text.strip(BLANKS)
        if not text.isprintable():
            raise ValueError(f"the label {text[:40]!r} contains characters that cannot be printed.")
        if self.kind == "text":
            return text
        number = number_in(text)
        if number is None or abs(number) >= EXACT or (self.kind == "int" and not number.is_integer()):
            self.wider = "text" if number is None or abs(number) >= EXACT else "float"
            what = "a whole number" if self.kind == "int" else "a number"
            raise ValueError(
                f"the label {text[:40]!r} is not {what} as the labels before it are; name all classes if it is one."
            )
        return int(number) if self.kind == "int" else number

    def settle_by_values(self, sample: Iterable[Any]) -> None:
        """Decide as ``settle`` does, by Python objects: text if one is a string, or all are true or false."""
        if self.kind is None:
            present = [label for label in sample if not self.is_missing(label)]
            if any(isinstance(label, str) for label in present) or (
                present and all(isinstance(label, bool) for label in present)
            ):
                self.kind = "text"
            else:
                small = (label for label in present if isinstance(label, int | float) and abs(label) < EXACT)
                self.settle(repr(float(label)) for label in small)

    def of(self, label: Any) -> Any:
        """What a Python object stands for as a label; None for a missing one.

        True and false are the texts ``true`` and ``false``, but 1 and 0 where labels are numbers.
        """
        if self.separator is not None and isinstance(label, list | tuple | Mapping):
            try:
                return self._known_part(label) if isinstance(label, Mapping) else self._join(label, self.separator)
            except ValueError:
                if self.is_lenient:
                    return None
                raise
        if self.is_missing(label):
            return None
        if isinstance(label, str):
            return self.value(label)
        if not isinstance(label, int | float):
            if self.is_lenient:
                return None
            raise ValueError(f"a label is text or a number, got {str(label)[:40]!r}.")
        if isinstance(label, bool) and self.kind == "text":
            return "true" if label else "false"
        if label not in self._values:  # to a dictionary 1, 1.0 and True are the same, and so they are as labels
            if len(self._values) >= MOST:
                self._values = {}
            is_whole = abs(label) < EXACT and label == int(label)
            self._values[label] = self.value(repr(int(label) if is_whole else label))
        return self._values[label]

    def _join(self, labels: Sequence[Any], separator: str) -> str:
        """A list of labels as text."""
        texts = [self._one_of_set(label) for label in labels]
        if any(separator in text for text in texts):
            raise ValueError(f"a label of {str(labels)[:40]} has the separator {separator!r} in it; take another one.")
        return separator.join(texts)

    def _one_of_set(self, label: Any) -> str:
        """A label in a list, as text. A word that stands for a missing value elsewhere is a label here."""
        if isinstance(label, str) and label.strip(BLANKS):
            return str(self._value(label))
        if isinstance(label, int | float) and not self.is_missing(label):
            return str(self.of(label))
        shown = json.dumps(label, default=str)[:40]
        raise ValueError(
            f"a list of labels has {shown} where a text or a number belongs; leave it out, or write null in place "
            "of the list if the labels are not known."
        )

    def _known_part(self, answers: Mapping[Any, Any]) -> dict[str, bool | None] | None:
        """What is known of a set: whether the event has a label, by its name; None if nothing is known."""
        for label, answer in answers.items():
            if answer is not None and not isinstance(answer, bool):
                raise ValueError(
                    f"the label {str(label)[:40]!r} of a partly known set is {str(answer)[:40]!r} where true, false or "
                    "null belongs; write a list of the labels that the event has, if all are known."
                )
        return {self._value(str(label)): answer for label, answer in answers.items()} or None

    def values(self, texts: Sequence[str | None]) -> np.ndarray:
        """The labels as an array; None where one is missing."""
        return as_array([None if self.is_missing(text) else self.value(str(text)) for text in texts], self.kind)

    def number_of(self, text: bytes) -> int:
        """The number of a label, a new one if need be."""
        data = np.frombuffer(text, np.uint8)
        while (number := specialise(find_label)(data, 0, len(data), self.table)) == FULL:
            self.make_room()
        return int(number)

    def make_room(self) -> None:
        """Twice the room for different labels."""
        old = self.table
        if old.total[0] >= MOST:
            raise InvalidInput(f"there are more than {MOST:,} different labels; is it the right column?")
        find = specialise(find_label)
        new = _room(2 * old.slots.size, 2 * old.pool.size)
        for known in range(int(old.total[0])):
            text = old.pool[old.ends[known] : old.ends[known + 1]]
            assert find(text, 0, len(text), new) == known
        self.table = new

    def forget(self) -> None:
        """Forget the labels found so far; their kind stays."""
        self.table = _room(64, 1024)
        self._known = []
        self._values = {}
        self.wrong = {}

    def list_labels(self) -> list[str]:
        """The different labels that the compiled parser found, as text."""
        pool, ends = self.table.pool, self.table.ends
        count = int(self.table.total[0])
        return [pool[ends[k] : ends[k + 1]].tobytes().decode("utf-8", "replace") for k in range(count)]

    def understand(self, declared: Sequence[str] | None = None) -> None:
        """Turn the labels that the compiled parser found since the last time into values; only those, if declared."""
        pool, ends = self.table.pool, self.table.ends
        for known in range(len(self._known), int(self.table.total[0])):
            text = pool[ends[known] : ends[known + 1]].tobytes()
            value = None
            try:
                written = text.decode("utf-8")
                value = None if self.is_missing(written) else self.value(written)
                if declared is not None and value is not None and written.strip() not in declared:
                    self.wrong[known] = f"the label {written[:40]!r} is not one of the declared ones."
            except UnicodeDecodeError:
                self.wrong[known] = f"the label {text[:40]!r} is not UTF-8 text."
            except ValueError as error:
                self.wrong[known] = str(error)
            self._known.append(value)

    def decode(self, found: np.ndarray) -> np.ndarray:
        """The labels that numbers stand for."""
        if not len(found):
            return as_array([], self.kind)
        if None in self._known:
            return as_array([self._known[number] for number in found.tolist()], self.kind)
        return as_array(self._known, self.kind)[found]


DTYPES: dict[str | None, Any] = {"int": np.int64, "float": np.float64, "text": np.str_, None: np.str_}


def as_array(values: list[Any], kind: str | None) -> np.ndarray:
    """Labels of one kind as an array; an object array where some are missing, or known in part."""
    if None in values or any(value.__class__ is dict for value in values):
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    return np.array(values, dtype=DTYPES[kind])


def _room(labels: int, size: int) -> LabelTable:
    return LabelTable(
        np.empty(size, np.uint8),
        np.zeros(labels // 2 + 2, np.int64),
        np.full(labels, -1, np.int32),
        np.zeros(1, np.int64),
    )


MOST_QUANTITIES = 50  # different numbers with decimals that may be classes
MOST_OF_THEIR_OWN = 100  # different labels from which on half of the events having their own is suspicious


def refuse_quantities(distinct: np.ndarray, n_events: int, name: str) -> None:
    """Say that the different labels of some events are no classes, but a measured quantity or a key.

    >>> refuse_quantities(np.array(["ham", "spam"]), 5000, "mail.csv")
    >>> refuse_quantities(np.arange(99) / 4, 5000, "prices.csv")
    Traceback (most recent call last):
    ...
    askance.errors.InvalidInput: the labels of 'prices.csv' are 99 different numbers, such as 0.25, which look like a \
quantity rather than classes; is it the right field?
    """
    if distinct.dtype.kind == "f" and len(distinct) > MOST_QUANTITIES:
        uneven = distinct[distinct != np.floor(distinct)]
        if len(uneven):
            raise InvalidInput(
                f"the labels of {name!r} are {len(distinct):,} different numbers, such as {uneven[0]:.6g}, which look "
                "like a quantity rather than classes; is it the right field?"
            )
    if len(distinct) > max(MOST_OF_THEIR_OWN, n_events // 2):
        raise InvalidInput(
            f"{n_events:,} events of {name!r} have {len(distinct):,} different labels, such as "
            f"{str(distinct[0])[:40]!r}, so that most events would be a class of their own; is it the right field?"
        )
