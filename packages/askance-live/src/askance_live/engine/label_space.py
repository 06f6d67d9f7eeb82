"""What a label is in a stream: one class, or, in a stream of label sets, which of the classes an event has.

Either is one number wherever it is stored, compared or counted. A class is its place. Of a set, bit k says that the
event has label k, and bit 31 + k that this is known:

    number = sum over known labels k of  has(k) 2^k + 2^(31 + k)

so that an answer to a question about some labels leaves the others open, equal answers are equal numbers, and a store
needs no other columns. Clients have the names: a class as a text; a set as a list of the labels that an event has where
all are known, else as an object of true and false.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import msgspec

from askance_live.problems import Problem

MOST_LABELS = 31
"""Of a set: two bits each of a store's whole numbers, which have 64."""
SEPARATOR = ";"
SHOWN = 20

ShownLabel = str | list[str] | dict[str, bool]
"""A label as clients have it."""


class Doubt(NamedTuple):
    """The class that a sentence about a prediction names."""

    place: int
    chance: float
    sureness: float
    """The probability of what was predicted of it."""


def name_some(classes: Sequence[str]) -> str:
    """The first of the classes, for a sentence."""
    return ", ".join(classes[:SHOWN])


class OneClass(NamedTuple):
    """Each event has one class."""

    classes: list[str]
    place_of: dict[str, int]
    offered: list[str]
    """Those that can be chosen, for a sentence."""

    @property
    def are_sets(self) -> bool:
        return False

    def read(self, given: Any) -> int:
        place = self.place_of.get(given) if isinstance(given, str) else None
        if place is None:
            one = "one" if not isinstance(given, list) else "one alone"
            raise Problem(
                "unknown_label",
                f"'label' must be {one} of {name_some(self.offered)}; got {str(given)[:40]!r}.",
                field="label",
            )
        return place

    def add(self, known: int, more: int) -> int:
        """What is known of an event once ``more`` is said of it, which prevails."""
        return more

    def agree(self, one: int, other: int) -> bool:
        """Whether two labels of an event do not contradict one another."""
        return one == other

    def show(self, label: int) -> ShownLabel:
        return self.classes[label]

    def places(self, label: int) -> list[int]:
        return [label]

    def chance(self, label: int, chances: Sequence[float]) -> float:
        return chances[label]

    def margin(self, chances: Sequence[float]) -> float:
        best, second = sorted(chances)[-1:-3:-1]
        return best - second

    def doubtful(self, label: int, chances: Sequence[float]) -> Doubt:
        return Doubt(label, chances[label], chances[label])


class LabelSets(NamedTuple):
    """Each event has some of the classes, or none."""

    classes: list[str]
    place_of: dict[str, int]
    separator: str = SEPARATOR

    @property
    def are_sets(self) -> bool:
        return True

    @property
    def everything(self) -> int:
        """All places, as bits."""
        return (1 << len(self.classes)) - 1

    def read(self, given: Any) -> int:
        """A list is the whole set, an object says it of some labels; a text is either as JSON, or a separated list."""
        return self.read_about(given, self.everything)

    def read_about(self, given: Any, about: int) -> int:
        """The same of an answer to a question about some labels: a list has those of them that the event has."""
        if isinstance(given, str):
            given = self._split(given)
        if isinstance(given, list):
            if strange := [label for label in given if not isinstance(label, str) or label not in self.place_of]:
                raise self._refuse(strange[0], about)
            given = {label: label in given for label in self._names(about)} | dict.fromkeys(given, True)
        if not isinstance(given, Mapping) or not given:
            raise self._refuse(given, about)
        number = 0
        for label, has in given.items():
            place = self.place_of.get(label)
            if place is None or not about >> place & 1 or not isinstance(has, bool):
                raise self._refuse(label, about)
            number |= has << place | 1 << MOST_LABELS + place
        return number

    def _names(self, about: int) -> list[str]:
        return [label for place, label in enumerate(self.classes) if about >> place & 1]

    def _split(self, text: str) -> Any:
        if text.lstrip()[:1] in ("[", "{"):
            try:
                return msgspec.json.decode(text)
            except msgspec.DecodeError:
                pass
        return [part.strip() for part in text.split(self.separator) if part.strip()]

    def _refuse(self, given: Any, about: int) -> Problem:
        names = name_some(self._names(about))
        return Problem(
            "unknown_label",
            f"'label' must be a list of the labels that the event has, out of {names}, or an object with true or false "
            f"for each; got {str(given)[:40]!r}.",
            field="label",
        )

    def add(self, known: int, more: int) -> int:
        """What is known of an event once ``more`` is said of it, which prevails; other labels stay as they are."""
        said = known_of(more)
        return more | known & ~(said | said << MOST_LABELS)

    def agree(self, one: int, other: int) -> bool:
        """Whether two labels of an event say the same of each label that both know."""
        both = known_of(one) & known_of(other)
        return one & both == other & both

    def show(self, label: int) -> ShownLabel:
        known = known_of(label)
        if known == self.everything:
            return [self.classes[place] for place in self.places(label)]
        return {name: bool(label >> self.place_of[name] & 1) for name in self._names(known)}

    def in_order(self, label: int, order: Sequence[str], only_yes: bool = False) -> list[str]:
        """The labels that are known, or those that an event has, in the order of the pages."""
        bits = label if only_yes else known_of(label)
        return [name for name in order if bits >> self.place_of[name] & 1]

    def places(self, label: int) -> list[int]:
        return [place for place in range(len(self.classes)) if label >> place & 1]

    def chance(self, label: int, chances: Sequence[float]) -> float:
        return prod(chance if label >> place & 1 else 1.0 - chance for place, chance in enumerate(chances))

    def margin(self, chances: Sequence[float]) -> float:
        return sum(abs(2.0 * chance - 1.0) for chance in chances) / len(chances)

    def doubtful(self, label: int, chances: Sequence[float]) -> Doubt:
        """The most doubtful of the labels that are known in ``label``."""
        known = known_of(label)
        places = [place for place in range(len(chances)) if known >> place & 1] or range(len(chances))
        place = min(places, key=lambda place: abs(2.0 * chances[place] - 1.0))
        return Doubt(place, chances[place], max(chances[place], 1.0 - chances[place]))


def known_of(label: int) -> int:
    """Which labels of a set are known, as bits by place."""
    return label >> MOST_LABELS


def is_set(label: int) -> bool:
    """Whether a number is that of a set rather than of a class."""
    return label >> MOST_LABELS > 0


def each_known(label: int) -> Iterator[tuple[int, bool]]:
    """The places of the labels of a set that are known, and whether the event has them."""
    known = known_of(label)
    return ((place, bool(label >> place & 1)) for place in range(known.bit_length()) if known >> place & 1)


def same_where_both_known(one: str, other: str) -> str:
    """As SQL: that two columns with sets say the same of each label that both know."""
    both = f"({one} >> {MOST_LABELS}) & ({other} >> {MOST_LABELS})"
    return f"({one} & {both}) = ({other} & {both})"


def pack(has: Mapping[int, bool]) -> int:
    """The number of a set, by the places of the labels that are known."""
    return sum(is_there << place | 1 << MOST_LABELS + place for place, is_there in has.items())


def likely(about: int, chances: Sequence[float]) -> int:
    """What is more probable than not of the labels that are known in ``about``."""
    return pack({place: chance >= 0.5 for place, chance in enumerate(chances) if known_of(about) >> place & 1})


LabelSpace = OneClass | LabelSets


def label_space(places: list[str], offered: list[str], are_sets: bool, separator: str) -> LabelSpace:
    """What labels are in a stream, by all of their places, and those that can be chosen."""
    place_of = {label: place for place, label in enumerate(places)}
    return LabelSets(places, place_of, separator) if are_sets else OneClass(places, place_of, offered)
