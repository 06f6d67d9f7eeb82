"""Which open question comes next: none that is nearly the same as the last, or, on wish, those of one topic together.

Two events are alike if they share most of their words, by Jaccard's measure of the words in their values:

    alike(a, b) = |a and b| / |a or b| >= 0.8

A near-duplicate is not lost. It comes when others have been between, or when there is nothing else. With topics it is
the other way round: each question is the one that shares the most words with the one before.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from typing import TypeVar

ALIKE = 0.8
RELATED = 0.15  # the share of words in common from which two questions are of one topic
BETWEEN = 3  # questions between near-duplicates, where there are as many others
AHEAD = 20  # open questions that are looked at beyond those that are wanted
TOPIC_AHEAD = 200  # the same, for those of one topic
PREFIX = 2_000  # characters of an event that are compared
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?+(\s*+:)?+')  # with the colon after it, if it is the name of a field
_WORD = re.compile(r"\w+")

Words = frozenset[str]
Item = TypeVar("Item")


def words_of(fields: str) -> Words:
    """The words of an event's values, by the beginning of its JSON; the names of fields are the same in all.

    >>> sorted(words_of('{"text": "You won, you!", "size": 1.5}'))
    ['1', '5', 'won', 'you']
    """
    values = _STRING.sub(lambda found: found[0] if found[1] is None else " ", fields[:PREFIX].lower())
    return frozenset(_WORD.findall(values))


def are_alike(one: Words, other: Words) -> bool:
    """Whether two events share most of their words.

    >>> are_alike(frozenset("abcde"), frozenset("abcd")), are_alike(frozenset("abcd"), frozenset("abcx"))
    (True, False)
    """
    both = len(one & other)
    return both >= ALIKE * (len(one) + len(other) - both)


def _share(one: Words, other: Words) -> float:
    """Which part of the words of two events both have."""
    both = len(one & other)
    return both / max(len(one) + len(other) - both, 1)


def choose_varied(waiting: Sequence[tuple[Item, Words]], before: Iterable[Words], n: int) -> list[Item]:
    """The first ``n`` that wait, but none that is like one of the last before it as long as there is another."""
    rest, last = list(waiting), deque(before, maxlen=BETWEEN)
    chosen: list[Item] = []
    while rest and len(chosen) < n:
        place = next((k for k, (_, words) in enumerate(rest) if not any(are_alike(words, old) for old in last)), 0)
        item, words = rest.pop(place)
        chosen.append(item)
        last.append(words)
    return chosen


def choose_by_topic(waiting: Sequence[tuple[Item, Words]], before: Iterable[Words], n: int) -> list[Item]:
    """``n`` that wait, each the one most like the one before it, the first of those alike; where nothing is like it, a
    new topic begins with the first that waits."""
    rest = list(waiting)
    last = next(iter(deque(before, maxlen=1)), frozenset[str]())
    chosen: list[Item] = []
    while rest and len(chosen) < n:
        shares = [_share(words, last) for _, words in rest]
        place = shares.index(max(shares)) if max(shares) >= RELATED else 0
        item, last = rest.pop(place)
        chosen.append(item)
    return chosen
