"""No near-duplicates in a row: whoever has just judged an event is shown another one before its twin.

Two events are alike if they share most of their words, by Jaccard's measure of the words in their values:

    alike(a, b) = |a and b| / |a or b| >= 0.8

The twin is not lost. It comes when others have been between, or when there is nothing else.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from typing import TypeVar

ALIKE = 0.8
BETWEEN = 3  # questions between twins, where there are as many others
AHEAD = 20  # open questions that are looked at beyond those that are wanted
PREFIX = 2_000  # characters of an event that are compared
_NAME = re.compile(r'"(?:[^"\\]|\\.)*"\s*:')
_WORD = re.compile(r"\w+")

Words = frozenset[str]
Item = TypeVar("Item")


def words_of(fields: str) -> Words:
    """The words of an event's values, by the beginning of its JSON; the names of fields are the same in all.

    >>> sorted(words_of('{"text": "You won, you!", "size": 1.5}'))
    ['1', '5', 'won', 'you']
    """
    return frozenset(_WORD.findall(_NAME.sub(" ", fields[:PREFIX].lower())))


def are_alike(one: Words, other: Words) -> bool:
    """Whether two events share most of their words.

    >>> are_alike(frozenset("abcde"), frozenset("abcd")), are_alike(frozenset("abcd"), frozenset("abcx"))
    (True, False)
    """
    return len(one & other) >= ALIKE * len(one | other)


def choose(waiting: Sequence[tuple[Item, Words]], before: Iterable[Words], n: int) -> list[Item]:
    """The first ``n`` that wait, but none that is like one of the last before it as long as there is another."""
    rest, last = list(waiting), deque(before, maxlen=BETWEEN)
    chosen: list[Item] = []
    while rest and len(chosen) < n:
        place = next((k for k, (_, words) in enumerate(rest) if not any(are_alike(words, old) for old in last)), 0)
        item, words = rest.pop(place)
        chosen.append(item)
        last.append(words)
    return chosen
