"""Lines of Vowpal Wabbit's text format, into hashed features and back.

A line is

    [label [importance]] [tag]|namespace[:weight] feature[:value] ... |namespace ...

The tag touches the first bar or begins with ``'``. A feature without a value has 1; the weight of a namespace is a
factor of its features' values. ``name:word`` is an indicator of the word, ``:value`` a feature without a name. Columns
are those that ``vw -b hash_bits`` has:

    column = murmur3(feature, seed=murmur3(namespace)) mod 2^hash_bits

where a name of digits alone stands for its number, added to the seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from askance.data.encoding.encoder import Cells
from askance.data.encoding.hashing import Hasher, hash_of
from askance.data.encoding.kinds import LARGEST, TEXT, number_in, why_not_a_number
from askance.data.encoding.rows import RowFeatures, flatten
from askance.data.encoding.text import words
from askance.data.formats.buffer import format_token
from askance.errors import InvalidInput

MOST_KNOWN = 1 << 19  # names whose columns are remembered
WORD = 1 << 32
DIGITS = 32  # the last ones of a number, which alone decide what is left of it modulo 2^32
NO_BAR = "there is no | before the features."
SPECIAL = str.maketrans(dict.fromkeys(":| \t\r\n\v\f", "_"))


class LineError(ValueError):
    """What is wrong with a line, and at which of its columns, counted from 1."""

    def __init__(self, reason: str, column: int | None = None) -> None:
        super().__init__(reason)
        self.column = column


class Head(NamedTuple):
    """What stands before the features."""

    label: str | None
    importance: float
    tag: str


class Features(NamedTuple):
    """The features of a line, in its order."""

    columns: list[int]
    values: list[float]
    namespaces: list[int]
    """The number of each one's namespace in the line, from 0."""
    numbers: list[int]
    """The columns whose value is written and is not 1."""


def split_line(line: bytes) -> tuple[bytes, bytes]:
    """What stands before the first bar, and what after it."""
    head, bar, rest = line.partition(b"|")
    if not bar:
        raise LineError(NO_BAR)
    return head, rest


def read_head(head: bytes, *, third_is_tag: bool = False) -> Head:
    """Label, importance and tag of a line; with ``third_is_tag``, a third word is the tag, however it is written.

    >>> read_head(b"1 2.5 'mail7"), read_head(b"-1 "), read_head(b"mail8")
    (Head(label='1', importance=2.5, tag='mail7'), Head(label='-1', importance=1.0, tag=''), \
Head(label=None, importance=1.0, tag='mail8'))
    """
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LineError("it is not UTF-8 text.", error.start + 1) from None
    _, _, after_tab = text.partition("\t")  # before which Vowpal Wabbit reads nothing
    found = (after_tab if after_tab.strip() else text).split()
    tag = ""
    if found and (found[-1].startswith("'") or not text[-1].isspace() or (third_is_tag and len(found) == 3)):
        tag = found.pop().removeprefix("'")
    if len(found) > 3:
        raise LineError(f"{len(found)} words stand before the features, but a line has a label, an importance, a tag.")
    if len(found) == 3:
        if number_in(found[2]) is not None:
            raise LineError(f"the initial prediction {found[2]!r} is not supported; write a tag as '{found[2]}.")
        tag = found.pop()
    if found and ":" in found[0]:
        raise LineError(f"the label {found[0][:40]!r} has costs or actions; a label here is one class.")
    importance = 1.0
    if len(found) > 1:
        number = number_in(found[1])
        if number is None or number < 0.0:
            raise LineError(f"the importance {found[1][:40]!r} is not a number of 0 or more.")
        importance = number
    return Head(found[0] if found else None, importance, tag)


class Namespaces:
    """From the names of features to columns, as Vowpal Wabbit hashes them.

    Parameters
    ----------
    bits : int
        There are ``2**bits`` columns.

    Examples
    --------
    >>> Namespaces(18).read(b"f 13:0.5 prize |sender shop").columns
    [34888, 205568, 17688]
    """

    def __init__(self, bits: int) -> None:
        self.mask = int(Hasher(bits).mask)
        self._known: dict[tuple[int, bytes], int] = {}

    def hash(self, name: bytes, seed: int) -> int:
        """The 32-bit hash of a name."""
        key = seed, name
        found = self._known.get(key)
        if found is None:
            found = (int(name[-DIGITS:]) + seed) % WORD if name.isdigit() else hash_of(name, seed)
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[key] = found
        return found

    def read(self, rest: bytes) -> Features:
        """The features that stand after the first bar."""
        features = Features([], [], [], [])
        for place, section in enumerate(rest.split(b"|")):
            tokens = section.split()
            seed, weight = 0, 1.0
            if section[:1].strip():  # the name of a namespace touches the bar
                name, colon, written = tokens[0].partition(b":")
                if not name:
                    raise LineError(f"the namespace {format_token(tokens[0])} has no name.")
                seed = self.hash(name, 0)
                weight = _number(tokens[0], written) if colon else 1.0
                del tokens[0]
            self._add(features, tokens, place, seed, weight)
        return features

    def _add(self, features: Features, tokens: list[bytes], place: int, seed: int, weight: float) -> None:
        without_name = 0
        for token in tokens:
            name, colon, written = token.partition(b":")
            value = weight
            column = self.hash(name, seed) if name else seed
            if colon:
                number = _as_float(token, written)
                if number is None:  # a word, whose indicator no weight changes
                    column, value = self.hash(written, column), 1.0
                else:
                    value = number * weight
                    if not name:
                        column = seed + without_name
                        without_name += 1
                    if value != value:  # missing
                        continue
                    if abs(value) > LARGEST:
                        raise LineError(
                            f"the value of {format_token(token)} is too large (beyond 1e150): "
                            "sums of its squares overflow."
                        )
                    if number != 1.0:
                        features.numbers.append(column & self.mask)
            if value != 0.0:
                features.columns.append(column & self.mask)
                features.values.append(value)
                features.namespaces.append(place)


def _as_float(token: bytes, written: bytes) -> float | None:
    """The value after the colon; NaN if it is missing, None if it is a word."""
    try:
        value = float(written)
    except ValueError:
        if not written:
            raise LineError(f"there is no value after the colon of {format_token(token)}.") from None
        return None
    if b"_" in written:  # which Python reads in numbers
        return None
    if abs(value) == float("inf"):
        raise LineError("the value " + why_not_a_number(written.decode()))
    return value


def _number(token: bytes, written: bytes) -> float:
    number = number_in(written.decode("utf-8", "replace"))
    if number is None:
        raise LineError(f"the weight of the namespace {format_token(token)} is not a number.")
    return number


# --- out -------------------------------------------------------------------------------------------------


def plain_name(name: Any) -> str:
    """A name with ``_`` in place of what a line cannot have in names: bars, colons and blanks.

    >>> plain_name("to: me")
    'to__me'
    """
    return str(name).translate(SPECIAL)


def write_head(label: Any = None, importance: float | None = None, tag: Any = None) -> str:
    """Label, importance and tag, as they stand before the first bar."""
    if label is None and importance not in (None, 1.0):
        raise InvalidInput("an importance stands after a label, which is missing.")
    parts = [] if label is None else [plain_name(label)]
    if importance not in (None, 1.0):
        parts.append(repr(float(importance or 0.0)))
    if tag is not None and tag != "":
        return " ".join([*parts, "'" + plain_name(tag)])
    return " ".join(parts) + (" " if parts else "")


def write_numbered(columns: Iterable[int], values: Iterable[float], namespace: str = "") -> str:
    """Features that have numbers for names.

    >>> write_numbered([0, 7], [1.0, 2.5])
    '| 0 7:2.5'
    """
    pairs = (_with_value(str(column), value) for column, value in zip(columns, values, strict=True))
    return " ".join([f"|{plain_name(namespace)}", *pairs])


def _with_value(name: str, value: float) -> str:
    return name if value == 1.0 else f"{name}:{value!r}"


def write_fields(features: RowFeatures, row: Mapping[str, Any]) -> str:
    """Named fields as their kinds say: numbers in the namespace without a name, every other field in one of its own.

    >>> features = RowFeatures({"size": "number", "text": "text"})
    >>> write_fields(features, {"size": 1200, "text": "Win a prize", "sender": "a shop"})
    '| size:1200.0 |text win a prize |sender a_shop'
    """
    cells = Cells()
    flat = flatten(row)
    features.add(cells, flat)
    plan = features.plan_transform(flat)
    found = [" ".join(["|", *(_with_value(_not_digits(name), value) for name, value in plan.numbers)])]
    for name, kind, value in plan.others:
        if kind == TEXT:
            inside = words(features.text_of(name, value))
        else:
            several = value if isinstance(value, list | tuple) else (value,)
            inside = [features.category_of(name, one) or "missing" for one in several]
        if inside:
            found.append(" ".join([f"|{_not_digits(name)}", *map(_not_digits, inside)]))
    return " ".join(found[1:] if found[0] == "|" and len(found) > 1 else found)


def _not_digits(name: str) -> str:
    """A plain name; one of digits alone, which would be the number of a column, has ``_`` before it."""
    plain = plain_name(name)
    return f"_{plain}" if plain.isdigit() else plain
