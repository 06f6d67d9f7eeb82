"""What looks wrong in the first events of a stream, each in one sentence.

Nothing is changed or refused here: amounts of money, percentages and dates that are learned as words, codes that are
learned as numbers, fields that look like keys, labels that look alike, and fields that nearly give the answer away.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from askance.data.encoding.embedding import EMBEDDING
from askance.data.encoding.kinds import CATEGORY, DATE, IGNORE, NUMBER, TEXT, TIME, last_name, number_in
from askance.data.missing import MissingValues
from askance.evaluate.metrics.format import in_percent

MOST_FIELDS = 200  # that are looked at
MOST_LABELS = 100  # different ones, of which each is compared with each other
FEWEST = 20  # values, below which there is no warning
ALIKE = 0.9  # the share of values that must look the same way
SOME = 0.01  # the share of values that must have a zero before them
KEY = 0.98  # the share of different values from which a field looks like a key
GIVEN_AWAY = 0.99  # the share of labels that one field predicts
LEFT = 0.2  # of those that are not the usual answer, the share it may leave open
FEWEST_RARE = 10  # answers other than the usual one, below which chance may predict them
RARE = 0.05  # a label this rare with another that looks like it may be a slip
PER_VALUE = 5  # events per value of a field, on average, by which it can predict the label

MONEY = re.compile(
    r"[-+(]?\s*(?:[$€£¥]|USD|EUR|GBP)\s*-?[0-9][0-9.,' ]*\)?|-?[0-9][0-9.,' ]*+\s*(?:[$€£¥]|USD|EUR|GBP)"
)
PERCENTAGE = re.compile(r"[-+]?[0-9]+(?:[.,][0-9]+)?\s*%")
ODD_DATE = re.compile(
    r"[0-9]{1,2}([/.-])[0-9]{1,2}\1(?:[0-9]{4}|[0-9]{2})(?:[ T].*)?|[0-9]{4}([/.])[0-9]{1,2}\2[0-9]{1,2}(?:[ T].*)?"
    r"|(?:[0-9]{1,2}[ -])?[A-Z][a-z]{2,8}[ -](?:[0-9]{1,2},? )?[0-9]{4}(?: .*)?"
)
LOOKS = (
    (MONEY, "amounts of money", "write plain numbers to learn how large they are"),
    (PERCENTAGE, "percentages", "write plain numbers to learn how large they are"),
    (ODD_DATE, "dates", "write them as 2024-03-01 to learn the weekday"),
)
CODE = re.compile(r"0[0-9]{2,}")  # two digits may be a month or an hour
KEY_NAMES = re.compile(r"(?:.*[_\s-])?(?:id|uuid|guid|key|hash)")


class FirstEvents(NamedTuple):
    """What the first events of a stream hold, as they came."""

    kinds: Mapping[str, str]
    """The fields, the label not among them."""
    values: Mapping[str, Sequence[Any]]
    labels: Sequence[Any]
    missing: MissingValues
    """What stands for a missing value of a field."""
    missing_labels: Callable[[Any], bool]
    """Whether a label is missing."""
    giving: Callable[[str, str], str]
    """How a user gives a field a kind."""


def find_warnings(events: FirstEvents) -> list[str]:
    """What a user should know of the data before trusting what is learned from them."""
    found = list(_labels_alike([label for label in events.labels if not events.missing_labels(label)]))
    for name, kind in events.kinds.items():
        values = events.values.get(name, [])
        present = [value for value in values if not events.missing.covers(value)]
        if len(present) < FEWEST or kind in (IGNORE, TIME):  # of which nothing is learned
            continue
        ignoring = events.giving(name, IGNORE)
        sentence = (
            _looks(name, kind, present)
            or _codes(name, kind, present, events.giving(name, CATEGORY))
            or _key(name, kind, present, ignoring)
            or _gives_away(name, kind, values, events.labels, events.missing, ignoring)
        )
        if sentence:
            found.append(sentence)
    return found


def _looks(name: str, kind: str, present: Sequence[Any]) -> str:
    """Words that stand for numbers or dates."""
    texts = [value.strip() for value in present if isinstance(value, str)]
    if kind not in (CATEGORY, TEXT) or len(texts) < len(present):
        return ""
    for look, what, advice in LOOKS:
        if sum(look.fullmatch(text) is not None for text in texts) >= ALIKE * len(texts):
            return f"The field {name!r} holds {what} such as {texts[0]!r}, which are learned as words; {advice}."
    return ""


def _codes(name: str, kind: str, present: Sequence[Any], naming: str) -> str:
    """Numbers that are written with zeros before them, as no quantity is: area codes, account numbers."""
    if kind != NUMBER:
        return ""
    codes = [value.strip() for value in present if isinstance(value, str) and CODE.fullmatch(value.strip())]
    if len(codes) < SOME * len(present):
        return ""
    return (
        f"The field {name!r} holds codes such as {codes[0]!r}, which are learned as numbers; {naming} keeps them apart."
    )


def _key(name: str, kind: str, present: Sequence[Any], ignoring: str) -> str:
    """A value of its own for nearly every event."""
    if kind not in (CATEGORY, NUMBER) or len({str(value) for value in present}) < KEY * len(present):
        return ""
    if kind == NUMBER:
        numbers = [number_in(str(value)) for value in present]
        are_whole = all(number is not None and number % 1 == 0 for number in numbers)
        counts_up = all(a is not None and b == a + 1 for a, b in pairwise(numbers))
        if not (are_whole and (counts_up or KEY_NAMES.fullmatch(last_name(name)))):
            return ""
    return (
        f"The field {name!r} has another value in nearly every event, as a key has, and teaches nothing; "
        f"{ignoring} leaves it out."
    )


def _gives_away(
    name: str, kind: str, values: Sequence[Any], labels: Sequence[Any], missing: MissingValues, ignoring: str
) -> str:
    """A field whose value, or size, alone predicts the label."""
    pairs = [
        (value, str(label))
        for value, label in zip(values, labels, strict=False)
        if not (missing.covers(value) or missing.covers(label))
    ]
    usual = max(Counter(label for _, label in pairs).values(), default=0)
    if kind in (TEXT, DATE, EMBEDDING) or len(pairs) < FEWEST or len(pairs) - usual < FEWEST_RARE:
        return ""
    predicted = max(_count_predicted_by_value(pairs), _count_predicted_by_size(pairs) if kind == NUMBER else 0)
    if predicted < GIVEN_AWAY * len(pairs) or len(pairs) - predicted > LEFT * (len(pairs) - usual):
        return ""
    return (
        f"The field {name!r} alone gives the answer away in {in_percent(predicted / len(pairs))}% of the first events; "
        f"if it is not known when an event comes, leave it out with {ignoring}."
    )


def _count_predicted_by_value(pairs: Sequence[tuple[Any, Any]]) -> int:
    """How many labels are the most frequent one of their value; 0 if there are too many values to say."""
    by_value: dict[str, Counter[Any]] = defaultdict(Counter)
    for value, label in pairs:
        by_value[str(value)][label] += 1
    if PER_VALUE * len(by_value) > len(pairs):
        return 0
    return sum(max(counts.values()) for counts in by_value.values())


def _count_predicted_by_size(pairs: Sequence[tuple[Any, Any]]) -> int:
    """How many labels, of two, the best threshold predicts."""
    sized = [(number_in(str(value)), label) for value, label in pairs]
    known = sorted(((size, str(label)) for size, label in sized if size is not None), key=lambda pair: pair[0])
    classes = sorted({label for _, label in known})
    if len(classes) != 2:
        return 0
    firsts = sum(label == classes[0] for _, label in known)
    seconds = len(known) - firsts
    lead = best = 0  # how many more of the first class than of the second are below the threshold
    for (size, label), (after, _) in pairwise([*known, (float("inf"), "")]):
        lead += 1 if label == classes[0] else -1
        if size != after:
            best = max(best, seconds + lead, firsts - lead)
    return best


def _labels_alike(labels: Sequence[Any]) -> Iterator[str]:
    """Labels that differ in case, in accents or by a slip of the fingers."""
    counts = Counter(label.strip() for label in labels if isinstance(label, str) and number_in(label.strip()) is None)
    if len(counts) > MOST_LABELS:
        return
    letters = {label: _letters(label) for label in counts}
    for one, other in combinations(counts, 2):
        often, seldom = sorted((one, other), key=counts.__getitem__, reverse=True)
        is_slip = counts[seldom] <= RARE * counts[often] and _is_a_slip(letters[often], letters[seldom])
        if letters[one] == letters[other] or is_slip:
            yield (
                f"The labels {often!r} and {seldom!r} look like one and count as two classes; if they are one, mend "
                "the data."
            )


def _letters(word: str) -> str:
    """A word without case and accents.

    >>> _letters("Naïve") == _letters("naive")
    True
    """
    signs = (part for sign in word.casefold() for part in unicodedata.normalize("NFKD", sign))
    return "".join(sign for sign in signs if not unicodedata.combining(sign))


def _is_a_slip(word: str, other: str) -> bool:
    """Whether one letter was left out, added, changed or exchanged with its neighbour; digits make a difference.

    >>> _is_a_slip("spam", "sapm"), _is_a_slip("spam", "spa"), _is_a_slip("group1", "group2"), _is_a_slip("a", "b")
    (True, True, False, False)
    """
    if min(len(word), len(other)) < 3 or any(letter.isdigit() for letter in word + other):
        return False
    start = next((k for k, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    rest, others = word[start:], other[start:]
    exchanged = rest[:2] == others[:2][::-1] and rest[2:] == others[2:]
    return exchanged or rest[1:] == others[1:] or rest[1:] == others or rest == others[1:]
