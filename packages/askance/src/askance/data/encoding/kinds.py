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
from datetime import UTC, date, datetime
from functools import lru_cache
from math import isfinite
from typing import Any, NoReturn

import numpy as np

from askance.data.missing import USUAL, MissingValues
from askance.errors import InvalidInput, InvalidParameter

# --- words of a text -------------------------------------------------------------------------------------

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """The words of a text, in order.

    >>> words("Ça va? It's 5 o'clock, Straße 7b!")
    ['ça', 'va', 'it', 's', '5', 'o', 'clock', 'straße', '7b']
    """
    return _WORD.findall(text.lower())


# --- dates and times -------------------------------------------------------------------------------------

_BEGINNING = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[Tt ]([0-9]{2}))?")
_END = re.compile(r":[0-5][0-9](?::[0-6][0-9](?:[.,][0-9]{1,9})?)? ?(?:[Zz]|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)?")
UP_TO_THE_HOUR = len("2026-05-01T10")
LONGEST_END = len(":03:00.123456789 +02:00")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HOURS = 24
MILLISECONDS = 1e11  # Unix seconds reach this in the year 5138; Unix milliseconds were there in 1973


class DateText(str):
    """The ISO text of a value whose type says that it is a date: of such a field, the first value decides the kind."""

    __slots__ = ()


def seconds_in(value: Any) -> float:
    """Unix seconds from a number of seconds or milliseconds, or from ISO 8601 text (UTC unless it says otherwise).

    A ValueError with the reason if it is no time.

    >>> seconds_in(1.5), seconds_in("1970-01-02"), seconds_in("1970-01-01T01:00:00+01:00"), seconds_in(1700000000000)
    (1.5, 86400.0, 0.0, 1700000000.0)
    """
    if isinstance(value, str):
        try:
            return seconds_in(float(value))
        except ValueError:
            pass
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            raise ValueError(
                f"{value[:40]!r} is no time; write seconds, or ISO 8601 such as 2026-05-01T10:03:00."
            ) from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if value is None:
        raise ValueError("the time is missing.")
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"{str(value)[:40]!r} is no time; write seconds, or ISO 8601 such as 2026-05-01T10:03:00.")
    return value / 1000.0 if abs(value) >= MILLISECONDS else float(value)


def date_words(text: str) -> tuple[str, ...] | None:
    """What recurs of an ISO date, or date and time: its weekday and, where it has a time, its hour, as it is written.

    The moment itself would only ever grow, and what is learned from a number that never comes again is of no use. None
    for a text that is no date.

    >>> date_words("2024-03-01"), date_words("2024-03-01T12:30:00Z"), date_words("2024-02-30")
    (('Friday',), ('Friday', '12 h'), None)
    """
    words = _words_at(text[:UP_TO_THE_HOUR])
    if words is None or len(words) == 1:
        return words
    end = text[UP_TO_THE_HOUR:]
    return words if len(end) <= LONGEST_END and _is_an_end(end) else None  # what is kept is short


@lru_cache(4096)  # events come in the order of time: an hour comes again and again, and so does a minute and second
def _words_at(beginning: str) -> tuple[str, ...] | None:
    """The weekday and the hour of a date, up to the hour; None for one that no calendar has."""
    found = _BEGINNING.fullmatch(beginning)
    if found is None:
        return None
    try:
        weekday = WEEKDAYS[date.fromisoformat(found[1]).weekday()]
    except ValueError:
        return None
    if found[2] is None:
        return (weekday,)
    return (weekday, f"{found[2]} h") if int(found[2]) < HOURS else None


@lru_cache(4096)
def _is_an_end(text: str) -> bool:
    """Whether this is what may follow the hour of a date."""
    return _END.fullmatch(text) is not None


def why_not_a_date(text: str) -> str:
    """The reason why ``date_words`` is None, for people."""
    return f"{text[:40]!r} is no date such as 2026-05-01 or 2026-05-01T10:03:00; the kind 'category' allows any value."


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
SHARE_OF_NUMBERS = 0.95  # among the values of a field of numbers; a single word does not make it a category
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
    are_typed = all(isinstance(value, DateText) for value in present)
    if (are_typed or len(present) >= FEWEST_DATES) and all(map(looks_like_a_date, present)):
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


# --- truth values ----------------------------------------------------------------------------------------
# They are the numbers 1 and 0. A field of which every value is such a word is one of numbers; in any other field they
# are words like others.

BOOLEANS = {"true": "1", "false": "0"}
"""The words, in lower case, and the numbers they stand for, as text."""


def number_for(word: str) -> str:
    """The number that a truth value stands for, as text; another word as it is.

    >>> number_for("True"), number_for("FALSE"), number_for("0.5")
    ('1', '0', '0.5')
    """
    return BOOLEANS.get(word.strip().lower(), word)


def are_booleans(values: Iterable[Any], missing: MissingValues = USUAL) -> bool:
    """Whether values, one at least, are all true or false, the missing ones not counted.

    >>> [are_booleans(values) for values in (["True", "", "false"], [True, None], ["true", "maybe"], [""])]
    [True, True, False, False]
    """
    has_one = False
    for value in values:
        if isinstance(value, bool | np.bool_) or (isinstance(value, str) and value.strip().lower() in BOOLEANS):
            has_one = True
        elif not missing.covers(value):
            return False
    return has_one


# --- numbers that are not written with a point -----------------------------------------------------------
# A comma that stands in every field for a decimal point is read as one. Where it may as well stand between thousands,
# and where numbers have such separators, nothing is guessed: read as words they would be learned by heart, silently.

DECIMAL_COMMA, THOUSANDS = "decimal comma", "thousands"

_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:([.,' \u00a0\u202f])[0-9]{3})(?:\1[0-9]{3})*(?:[.,][0-9]+)?")


def has_a_comma(text: str) -> bool:
    """Whether a text is a number with a decimal comma."""
    return _COMMA.fullmatch(text) is not None


def find_notation(texts: Sequence[str], missing: MissingValues = USUAL) -> tuple[str, str] | None:
    """How the numbers of a field are written, if not plainly, and an example; None also if they are no numbers.

    >>> find_notation(["3,14", "12,5", "7"])
    ('decimal comma', '3,14')
    >>> find_notation(["1.234,50", "12"])
    ('thousands', '1.234,50')
    >>> find_notation(["1,234", "5,678"])
    ('thousands', '1,234')
    >>> find_notation(["3.14", "x"])
    """
    present = [text for text in texts if not missing.covers(text)]
    odd = [text for text in present if not looks_like_a_number(text)]
    if not odd:
        return None
    commas = [text for text in odd if has_a_comma(text)]
    separated = [text for text in odd if _THOUSANDS.fullmatch(text)]
    enough = SHARE_OF_NUMBERS * len(present)
    has_points = any("." in text for text in present if looks_like_a_number(text))
    if len(commas) > len(separated) and not has_points and len(present) - len(odd) + len(commas) >= enough:
        return DECIMAL_COMMA, commas[0]
    if separated and len(present) - len(odd) + len(separated) >= enough:
        return THOUSANDS, separated[0]
    return None


def refuse_thousands(who_has: str, example: str, where: str) -> NoReturn:
    """Say that the numbers of a field can be read in two ways."""
    raise InvalidInput(
        f"{who_has} numbers such as {example!r} in {where}, which may have separators between thousands; write them "
        "plainly, as 1234.5, or declare the field a category."
    )
