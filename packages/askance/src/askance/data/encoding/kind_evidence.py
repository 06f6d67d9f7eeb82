"""How sure the kind of a field is, and when it gives way to a wider one.

A kind that the user gave, or that the file itself declares, is final. Any other rests on evidence. While fewer than 100
values of a field were seen, a value that its kind cannot take makes the kind wider at once, and nothing is lost. After
that it is settled: a type mismatch is refused, for one typing mistake must not turn a field of numbers into words.
Only when more than 5 in 100 of the last 200 values are mismatches is a settled field promoted, and learned from the
start.

    number, date    become a category, or text where the field or the value looks like it
    category        becomes text when its values, of which there are few yet, have four words or more on average
    ignore          of a field that was empty so far: becomes what its first value looks like

What is not finite, or too large to be learned from, is a number all the same: it is refused and no evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from askance.data.encoding.kinds import (
    CATEGORY,
    DATE,
    IGNORE,
    IGNORED_NAMES,
    NUMBER,
    TEXT,
    TEXT_NAMES,
    WORDS_OF_TEXT,
    DateText,
    guess,
    last_name,
    words,
)
from askance.data.missing import USUAL, MissingValues

VALUES_TO_SETTLE = 100  # values of a field after which its kind is settled
WINDOW = 200  # the last values of a settled field, among which type mismatches are counted
MAX_MISMATCHES = 10  # 5 in 100 of them; one more, and the kind gives way

PROMOTIONS = {
    NUMBER: (CATEGORY, TEXT),
    DATE: (CATEGORY, TEXT),
    CATEGORY: (TEXT,),
    IGNORE: (NUMBER, DATE, CATEGORY, TEXT),
}
"""What a kind may become."""


def guess_first(name: str, value: Any, missing: MissingValues = USUAL) -> str:
    """The kind of a field by its name and its first value. A text that has only digits is still a text, and one that
    looks like a date is none, unless the value's own type says so: after it, any text may follow.

    >>> guess_first("text", "483920"), guess_first("text", 483920), guess_first("size", "483920")
    ('text', 'number', 'number')
    """
    is_text = isinstance(value, str) and not isinstance(value, DateText)
    if is_text and not missing.covers(value) and last_name(name) in TEXT_NAMES:
        return TEXT
    return guess(name, [value], missing)


def promoted_kind(name: str, value: Any) -> str:
    """What a field of numbers or dates becomes for the sake of a value that is neither."""
    is_text = isinstance(value, str) and len(words(value)) >= WORDS_OF_TEXT
    return TEXT if is_text or last_name(name) in TEXT_NAMES else CATEGORY


class KindEvidence:
    """How many values of each field were seen while its kind was not settled.

    A field that is not in it has its kind for ever.

    Examples
    --------
    >>> evidence = KindEvidence()
    >>> evidence.begin("size")
    >>> evidence.is_settled("size")
    False
    >>> for _ in range(100):
    ...     evidence.count("size", 12)
    >>> evidence.is_settled("size")
    True
    """

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._words: dict[str, int] = {}
        self.unsettled: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._seen

    def begin(self, name: str) -> None:
        """Nothing is known of the kind that a field has from here on but its first value."""
        self._seen[name] = 0
        self._words.pop(name, None)
        self.unsettled.add(name)

    def settle(self, name: str) -> None:
        """The kind of a field was guessed from many values at once, such as the first rows of a file."""
        self._seen[name] = VALUES_TO_SETTLE
        self._words.pop(name, None)
        self.unsettled.discard(name)

    def finish(self, name: str) -> None:
        """A field has the widest kind there is."""
        self._seen.pop(name, None)
        self._words.pop(name, None)
        self.unsettled.discard(name)

    def is_settled(self, name: str) -> bool:
        """Whether there are enough values to hold on to the kind of a field."""
        return self._seen[name] >= VALUES_TO_SETTLE

    def reads_as_text(self, name: str, value: Any) -> bool:
        """Whether the values of a field of categories, this one included, have as many words as texts do."""
        if not isinstance(value, str):
            return False
        return self._words.get(name, 0) + len(words(value)) >= WORDS_OF_TEXT * (self._seen[name] + 1)

    def count(self, name: str, value: Any) -> None:
        """One more value of a field whose kind is not settled."""
        self.count_numbers(name, 1)
        if name in self.unsettled and isinstance(value, str):
            self._words[name] = self._words.get(name, 0) + len(words(value))

    def count_numbers(self, name: str, values: int) -> None:
        """So many more values, all of them numbers, of a field whose kind is not settled."""
        self._seen[name] += values
        if self._seen[name] >= VALUES_TO_SETTLE:
            self.settle(name)

    def reopen(self, name: str, values: Sequence[Any]) -> None:
        """The kind of a field was settled by these values, which may be too few to hold on to it."""
        if len(values) < VALUES_TO_SETTLE:
            self._seen[name] = len(values)
            self._words[name] = sum(len(words(value)) for value in values if isinstance(value, str))
            self.unsettled.add(name)

    def to_dict(self) -> dict[str, list[int]]:
        """All it knows, as JSON."""
        return {name: [seen, self._words.get(name, 0)] for name, seen in self._seen.items()}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> KindEvidence:
        """What ``to_dict`` gave; a ValueError if it is nothing of the kind."""
        new = cls()
        for name, (seen, n_words) in kept.items():
            if (
                not all(isinstance(number, int) and number >= 0 for number in (seen, n_words))
                or seen > VALUES_TO_SETTLE
            ):
                raise ValueError(f"the evidence for the field {name!r} is damaged")
            new._seen[name] = seen
            if n_words:
                new._words[name] = n_words
            if seen < VALUES_TO_SETTLE:
                new.unsettled.add(name)
        return new

    @classmethod
    def of_old(cls, kinds: Mapping[str, str], final: Iterable[str]) -> KindEvidence:
        """For fields that were saved before there was evidence: those of numbers and dates are settled."""
        new, final = cls(), set(final)
        for name, kind in kinds.items():
            if kind in (NUMBER, DATE) and name not in final:
                new.settle(name)
        return new


class TypeMismatches:
    """The type mismatches among the last values of settled fields.

    Only fields with a mismatch in the window are counted, so a stream without any takes no time.

    Examples
    --------
    >>> mismatches = TypeMismatches()
    >>> for _ in range(10):
    ...     mismatches.add(["size"])
    >>> mismatches.are_too_many("size")
    True
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._positions: dict[str, list[int]] = {}

    @property
    def names(self) -> Iterable[str]:
        """The fields that had a mismatch lately."""
        return self._counts.keys()

    def are_too_many(self, name: str) -> bool:
        """Whether a field has too many mismatches with one that comes now."""
        first = self._counts.get(name, 0) + 1 - WINDOW
        return sum(position > first for position in self._positions.get(name, ())) >= MAX_MISMATCHES

    def add(self, names: Iterable[str]) -> None:
        """Each of these fields has had a mismatch."""
        for name in names:
            self.take(name, 1)
            self._positions.setdefault(name, []).append(self._counts.setdefault(name, 1))

    def take(self, name: str, values: int) -> None:
        """A field has had so many values more, none of them a mismatch but perhaps the last."""
        if name not in self._counts:
            return
        self._counts[name] += values
        first = self._counts[name] - WINDOW
        self._positions[name] = [position for position in self._positions[name] if position > first]
        if not self._positions[name]:
            self.forget(name)

    def stay_few(self, name: str, ends: Sequence[int]) -> bool:
        """Whether mismatches that come after so many values each, counted from now on, leave the kind as it is."""
        now = self._counts.get(name, 0)
        positions = [*self._positions.get(name, ()), *(now + end for end in ends)]
        return all(
            positions[k] - positions[k - MAX_MISMATCHES] >= WINDOW
            for k in range(max(MAX_MISMATCHES, len(positions) - len(ends)), len(positions))
        )

    def take_many(self, name: str, values: int, ends: Sequence[int] = ()) -> None:
        """A field has had so many values more, those at ``ends``, counted from 1, mismatches."""
        done = 0
        for end in ends:
            self.take(name, end - done - 1)
            self.add([name])
            done = end
        self.take(name, values - done)

    def forget(self, name: str) -> None:
        """Forget the mismatches of a field."""
        self._counts.pop(name, None)
        self._positions.pop(name, None)

    def positions(self, name: str) -> list[int]:
        """How many values ago each mismatch of a field came, the oldest first; 0 for the very last value."""
        return [self._counts[name] - position for position in self._positions.get(name, ())]

    def to_dict(self) -> dict[str, list[int]]:
        """All it knows, as JSON: how many values ago the mismatches of each field came."""
        return {name: self.positions(name) for name in self._counts}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> TypeMismatches:
        """What ``to_dict`` gave; a ValueError if it is nothing of the kind."""
        new = cls()
        for name, ages in kept.items():
            if not ages or not all(isinstance(age, int) and 0 <= age < WINDOW for age in ages):
                raise ValueError(f"the type mismatches of the field {name!r} are damaged")
            new._counts[name] = WINDOW
            new._positions[name] = [WINDOW - age for age in sorted(ages, reverse=True)]
        return new


def may_be_promoted(name: str, kind: str) -> bool:
    """Whether a kind that was guessed rests on evidence."""
    return kind in PROMOTIONS and last_name(name) not in IGNORED_NAMES
