"""What the fields of an event are: a number, a date, a category, text, or nothing to learn from.

A kind is given by the user or guessed from the first rows, and may become wider (``data.encoding.kind_evidence``):

    number      at least 95 in 100 values are numbers, the missing ones not counted; the others will be bad lines
    date        every value, of two or more, is an ISO date, with or without a time; its weekday and hour are learned
    text        it has a name such as ``text`` or ``subject``, or its values have four words or more on average
    category    any other words, and lists of words
    ignore      it is called ``id``, or it is empty in every one of the first rows; in CSV, also a column without a name
                that counts the rows

The kind ``time`` is never guessed: when the event came, for budgets by time; nothing is learned from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from askance.data.encoding.text import words
from askance.data.encoding.times import DateText, date_words
from askance.data.missing import USUAL, MissingValues
from askance.errors import InvalidParameter

NUMBER, CATEGORY, TEXT, DATE, IGNORE, TIME = "number", "category", "text", "date", "ignore", "time"
KINDS = (NUMBER, CATEGORY, TEXT, DATE, IGNORE, TIME)
HASHED = (CATEGORY, TEXT, DATE)  # kinds whose values become hashed columns
SAMPLE_ROWS = 1000  # rows by which kinds are guessed

LABEL_NAMES = ("label", "y", "class", "target")
TEXT_NAMES = {
    "text", "message", "body", "subject", "title", "comment", "review", "description", "content", "url", "headline",
    "sentence", "tweet",
}  # fmt: skip
IGNORED_NAMES = {"id"}
SHARE_OF_NUMBERS = 0.95  # among the values of a field of numbers; a stray word does not make it a category
WORDS_OF_TEXT = 4  # on average, from which a field without a telling name is text

FEWEST_DATES = 2  # after a single one, as in a live stream, any text may follow
NOT_FINITE = frozenset(("nan", "inf", "infinity"))
LARGEST = 1e150  # beyond it, sums of squares and products overflow: of a row, of a stream, in the weights
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ud800-\udfff\ufffd]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def number_in(text: str) -> float | None:
    """The finite number that is written in ``text``, or None.

    >>> number_in("-1.5e3"), number_in("1_000"), number_in("nan"), number_in("1e999")
    (-1500.0, None, None, None)
    """
    if _NUMBER.fullmatch(text) is None:
        return None
    value = float(text)
    return value if abs(value) <= LARGEST else None


def why_not_a_number(text: str) -> str:
    """The reason why ``number_in`` is None, for people."""
    shown = repr(text if len(text) <= 40 else text[:37] + "...")
    plain = text.strip().lower().lstrip("+-")
    if plain in NOT_FINITE:
        return f"{shown} is not finite; clip it or leave the line out."
    if _NUMBER.fullmatch(text) is not None:
        return f"{shown} is too large (beyond 1e150): sums of its squares overflow; scale the feature first."
    return f"{shown} is not a number."


def guess(name: str, values: Sequence[Any], missing: MissingValues = USUAL) -> str:
    """The kind of a field, by its name and some of its values.

    >>> guess("age", ["42", "", "17"]), guess("city", ["Oslo", "New York"]), guess("sent", ["2024-03-01"] * 2)
    ('number', 'category', 'date')
    """
    if last_name(name) in IGNORED_NAMES:
        return IGNORE
    present = [value for value in values if not missing.covers(value)]
    if not present:
        return IGNORE
    if sum(map(looks_like_a_number, present)) >= SHARE_OF_NUMBERS * len(present):
        return NUMBER
    is_told = all(isinstance(value, DateText) for value in present)
    if (is_told or len(present) >= FEWEST_DATES) and all(map(looks_like_a_date, present)):
        return DATE
    if last_name(name) in TEXT_NAMES:
        return TEXT
    texts = [value for value in present if isinstance(value, str)]
    is_text = texts and sum(len(words(text)) for text in texts) >= WORDS_OF_TEXT * len(present)
    return TEXT if is_text else CATEGORY


def looks_like_a_number(value: Any) -> bool:
    """Whether a value is a number, or would be one if it were finite."""
    if not isinstance(value, str):
        return not isinstance(value, list | tuple)
    plain = value.strip()
    return _NUMBER.fullmatch(plain) is not None or plain.lower().lstrip("+-") in NOT_FINITE


def looks_like_a_date(value: Any) -> bool:
    """Whether a value is an ISO date, with or without a time."""
    return isinstance(value, str) and date_words(value.strip()) is not None


def format_names(names: Iterable[str], most: int = 12) -> str:
    """Names for an error message: not too many, not too long, and nothing in them that no reader can see.

    >>> format_names(["size", "\\x1b[2J\ufffd\ufffd\ufffd"])
    'size, ?[2J?'
    """
    plain = (_UNSEEN.sub("?", name) for name in names)
    shown = [name if len(name) <= 30 else name[:27] + "..." for name in plain]
    return ", ".join(shown[:most]) + (", ..." if len(shown) > most else "")


def last_name(name: str) -> str:
    """The last part of a nested name, in lower case."""
    return name.rsplit(".", 1)[-1].strip().lower()


def find_label(names: Sequence[str]) -> str | None:
    """The field that is called as a label usually is."""
    lower = {name.strip().lower(): name for name in reversed(names)}
    return next((lower[usual] for usual in LABEL_NAMES if usual in lower), None)


def check_features(features: Mapping[str, str] | None, names: Iterable[str] | None = None) -> dict[str, str]:
    """The kinds that a user gave, as a dict; refuses kinds that do not exist, and fields where they are known."""
    given = dict(features or {})
    for name, kind in given.items():
        if kind not in KINDS:
            raise InvalidParameter(f"the kind of field {name!r} must be one of {', '.join(KINDS)}, got {kind!r}.")
    if names is not None and (unknown := [name for name in given if name not in set(names)]):
        raise InvalidParameter(
            f"there is no field {unknown[0]!r} to be a {given[unknown[0]]}; there are: {format_names(names)}."
        )
    return given
