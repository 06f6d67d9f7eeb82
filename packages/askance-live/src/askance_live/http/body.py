"""The body of a request: unpacked, and parsed with more care than JSON itself asks for.

Refused: more than so many bytes (also when a small gzip holds them), values nested too deep, a name twice in one
object, text that is not UTF-8, NUL characters, halves of surrogate pairs, NaN, infinities, and numbers beyond a double.

What a body says never decides how long one step takes: everything is linear in its bytes, and a large one is parsed
item by item, each of a bounded size, so that other threads get their turn.
"""

from __future__ import annotations

import gc
import re
import zlib
from collections.abc import Iterable, Iterator
from math import isinf
from typing import Any

import msgspec

from askance_live.http.json_structure import PIECE, Unbalanced, blank_strings, items_of
from askance_live.problems import Problem

SMALL = 16_384
"""Bytes that are parsed in a millisecond or so."""
AT_ONCE = 262_144
"""Bytes that are divided into items in a millisecond or so."""
SHORT_BYTES = 65_536
"""What the body of most requests may have: an answer with the longest comment takes a third of it."""
WRITTEN_LARGER = 4
"""By how much the text of an item may exceed the bytes an event may have: escapes take up to three times as many."""
MOST_CONTAINERS = 50_000
"""Objects and lists in one item; each is another thing for the garbage collector to look at."""
MOST_CONTAINERS_AT_ONCE = 100_000
LONGEST_NUMBER = 4000
NESTED = {dict, list}
SHOWN = 100  # characters of a name in a sentence

_BEFORE_COLON = re.compile(rb'"[ \t\r\n]+:')
_NAME = re.compile(rb'(?<!\\)"((?:[^"\\]|\\.){0,200}+)"[ \t\r\n]*+:', re.DOTALL)
_WIDE_NUMBER = re.compile(
    rb"(?<![0-9.])-?(?:[0-9]++(?:\.[0-9]++)?[eE][+-]?[0-9]++|[0-9]{301,}+)"  # others cannot be out of range
)
_CONSTANT = re.compile(rb"-?(?:NaN|Infinity)")
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*+\\u0000|\x00")
_ESCAPE = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_HIGH_HALF = re.compile(rb"\\u[dD][89abAB]")
_NAME_OR_BRACKET = re.compile(rb'[\[\]{}]|("[^"]*+")[ \t\r\n]*+:')  # in a text without its strings
_BYTE = re.compile(r"\(byte (\d+)\)")
_SPACE = re.compile(rb"[ \t\r\n\v\f]*+")


def unpack_body(content: bytes, encoding: str, most: int) -> bytes:
    """The body behind a Content-Encoding, at most so many bytes of it."""
    if encoding in ("", "identity"):
        return content
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise Problem(
            "unsupported_encoding", f"the content encoding {encoding[:SHOWN]!r} is not known here; use gzip or none."
        )
    inflate = zlib.decompressobj(31 if "gzip" in encoding else 15)
    try:
        found = inflate.decompress(content, most + 1)
        if len(found) <= most and not inflate.eof:
            raise zlib.error("it ends too early")
    except zlib.error as error:
        raise Problem("malformed", f"the body is no {encoding} data ({error}).") from None
    if len(found) > most:
        raise too_large(most)
    if inflate.unused_data:
        raise Problem("malformed", f"the body goes on after the end of its {encoding} data.")
    return found


def too_large(most: int, is_bulk: bool = True) -> Problem:
    """For a request that may have many items, or one that has none to spare."""
    way_out = "send it in pieces, or stop the service and take a file in with 'askance import'"
    return Problem(
        "body_too_large", f"the body has more than {most:,} bytes; {way_out if is_bulk else 'none is as long here'}."
    )


# --- several documents -----------------------------------------------------------------------------------


class BodyLimits:
    """How deep documents may be nested, how many there may be at a time, and of how many bytes each."""

    __slots__ = ("depth", "largest", "most")

    def __init__(self, depth: int, most: int, event_bytes: int) -> None:
        self.depth, self.most = depth, most
        self.largest = max(SHORT_BYTES, WRITTEN_LARGER * event_bytes)


def parse_documents(content: bytes, limits: BodyLimits) -> Any:
    """A document, or a list: the items of an array, or one document a line, a problem where a line cannot be read."""
    if len(content) > SMALL and _first(content) == b"[":
        return parse_items(content, limits)
    try:
        return parse_within(content, limits)
    except Problem:
        if not is_lines(content, limits):
            raise
    return parse_lines(content, limits)


def parse_items(content: bytes, limits: BodyLimits) -> list[Any]:
    """The items of an array, parsed one by one; one that is no JSON makes the whole none."""
    if len(content) <= AT_ONCE:
        try:
            found = _decode(content, limits.depth, 0, list[msgspec.Raw])
            if len(found) <= limits.most:
                budget = Containers()
                return [_parse_item(bytes(item), limits, 0, budget) for item in found]
        except Problem:
            pass  # below it is found in which byte
    budget = Containers()
    return [_parse_item(content[first:last], limits, first, budget) for first, last in _spans(content, limits)]


def check_items(content: bytes, limits: BodyLimits) -> Iterator[bytes]:
    """The texts of the items of an array, all of which are JSON; ``parse_line`` tells what else may be wrong."""
    spans = list(_spans(content, limits))
    for first, last in spans:
        if last - first <= limits.largest:
            _decode(content[first:last], limits.depth, first, msgspec.Raw)
    return (content[first:last] for first, last in spans)


def _decode(content: bytes, depth: int, start: int, kind: Any = Any) -> Any:
    """JSON as a value of this kind; ``msgspec.Raw`` only checks it. The problem names the byte of the whole body.

    No garbage is collected meanwhile: each collection would look through what was decoded so far, in one go with it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return msgspec.json.decode(content, type=kind)
    except RecursionError:
        raise too_deep(depth) from None
    except UnicodeDecodeError:
        raise _malformed_problem(content, _first_bad_byte(content), "the text is not UTF-8", start=start) from None
    except msgspec.DecodeError as error:
        raise _explain(content, str(error), start) from None
    finally:
        if was_enabled:
            gc.enable()


def _spans(content: bytes, limits: BodyLimits) -> Iterator[tuple[int, int]]:
    try:
        for number, span in enumerate(items_of(content, content.index(b"["))):
            if number == limits.most:
                raise too_many(limits.most)
            yield span
    except Unbalanced as error:
        if content[error.place : error.place + 1].strip():
            raise _goes_on(error.place) from None
        raise _malformed_problem(content, error.place, "this is no JSON: the array does not end") from None


def _parse_item(item: bytes, limits: BodyLimits, start: int, budget: Containers) -> Any:
    if len(item) > limits.largest:  # which says nothing of the others
        return _item_too_large(item, limits)
    return parse_within(item, limits, start, budget, limits.depth - 1)


def parse_lines(content: bytes, limits: BodyLimits) -> list[Any]:
    """Documents a line, each parsed or a problem."""
    values: list[Any] = []
    budget = Containers()
    for line in lines_of(content):
        if len(values) == limits.most:
            raise too_many(limits.most)
        values.append(parse_line(line, limits, budget))
    return values


def parse_line(line: bytes, limits: BodyLimits, budget: Containers | None = None) -> Any:
    """The document of a line, or the problem with it."""
    try:
        return parse_within(line, limits, 0, budget)
    except TooManyContainers:
        raise
    except Problem as problem:
        return problem.alone()


def lines_of(content: bytes) -> Iterator[bytes]:
    """The lines that are not blank."""
    place = 0
    while True:
        place = _skip_space(content, place)
        if place == len(content):
            return
        end = content.find(b"\n", place)
        end = len(content) if end < 0 else end
        yield content[place:end]
        place = end


def is_lines(content: bytes, limits: BodyLimits) -> bool:
    """Whether a body that is no JSON document is one object a line: its first line is whole, and others follow."""
    lines = lines_of(content)
    first, second = next(lines, b""), next(lines, None)
    if not first.startswith(b"{") or second is None or len(first) > limits.largest:
        return False
    try:
        msgspec.json.decode(first, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def too_many(most: int) -> Problem:
    return Problem("invalid", f"there are more than {most:,}; at most so many are taken at a time, send them in parts.")


def _first(content: bytes) -> bytes:
    place = _skip_space(content, 0)
    return content[place : place + 1]


def _skip_space(content: bytes, place: int) -> int:
    """Where the next byte stands that is no white space, found piece by piece; the end if there is none."""
    while blank := _SPACE.match(content, place, place + PIECE):
        if blank.end() < place + PIECE:
            return blank.end()
        place = blank.end()
    return place


class TooManyContainers(Problem):
    """A body of too many objects and lists."""

    def __init__(self, most: int) -> None:
        super().__init__(
            "invalid", f"there are more than {most:,} objects and lists in one body; send it in several requests."
        )


class Containers:
    """Counts the objects and lists of a body."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, number: int) -> None:
        self.count += number
        if self.count > MOST_CONTAINERS_AT_ONCE:
            raise TooManyContainers(MOST_CONTAINERS_AT_ONCE)


# --- one document ----------------------------------------------------------------------------------------


def parse_within(
    content: bytes, limits: BodyLimits, start: int = 0, budget: Containers | None = None, depth: int | None = None
) -> Any:
    """A document of bounded size."""
    if len(content) > limits.largest:
        raise _item_too_large(content, limits)
    if len(content) > SMALL and content.count(b"[") + content.count(b"{") > MOST_CONTAINERS:
        outside = blank_strings(content)
        if outside.count(b"[") + outside.count(b"{") > MOST_CONTAINERS:
            raise Problem("invalid", f"there are more than {MOST_CONTAINERS:,} objects and lists in one item.")
    return parse(content, limits.depth if depth is None else depth, start, budget)


def _item_too_large(content: bytes, limits: BodyLimits) -> Problem:
    return Problem(
        "event_too_large",
        f"an item has {len(content):,} bytes as it is written; at most {limits.largest:,} are taken.",
    )


def parse(content: bytes, depth: int, start: int = 0, budget: Containers | None = None) -> Any:
    """A JSON document, which begins at the byte ``start`` of its body."""
    if b"\\u0000" in content or b"\x00" in content:
        found = _NUL.search(content)
        if found:
            raise _malformed_problem(content, found.end() - 1, "NUL characters cannot be stored", "invalid", start)
    value = _decode(content, depth, start)
    names = _count_names(value, depth, budget)
    if content.count(b":") == names:  # each has its own, so that none occurs twice
        return value
    suspicious = content.count(b'":') != names or _BEFORE_COLON.search(content)
    if suspicious:
        outside = blank_strings(content)
        if outside.count(b":") != names:
            raise _twice(content, outside)
    return value


def _count_names(value: Any, depth: int, budget: Containers | None) -> int:
    """How many names the objects in a value have together; refuses what is nested too deep."""
    count = 0
    level = [value]
    for _ in range(depth):
        inner: list[Any] = []
        parts: Iterable[Any]
        for item in level:
            if item.__class__ is dict:
                count += len(item)
                parts = item.values()
            elif item.__class__ is list:
                parts = item
            else:
                continue
            if not NESTED.isdisjoint(map(type, parts)):
                inner += [part for part in parts if part.__class__ in NESTED]
        if budget is not None:
            budget.add(len(level))
        if not inner:
            return count
        level = inner
    raise too_deep(depth)


def too_deep(depth: int) -> Problem:
    return Problem("too_deep", f"the body is nested more than {depth} levels deep.")


# --- what is wrong with a document -----------------------------------------------------------------------


def _explain(content: bytes, reason: str, start: int) -> Problem:
    """What is wrong with a body that cannot be decoded, and in which field."""
    if "out of range" in reason:
        place = _out_of_range(blank_strings(content))
        return _malformed_problem(content, place, "the number is out of range", "invalid", start)
    byte = _BYTE.search(reason)
    place = int(byte[1]) if byte else len(content)
    if "trailing characters" in reason:
        return _goes_on(start + place - 1)
    if "surrogate" in reason or (not byte and _ends_in_half_of_a_pair(content)):
        return _malformed_problem(content, place, "half of a surrogate pair is no character", "invalid", start)
    constant = _CONSTANT.match(content, place - (content[place - 1 : place] == b"-"))
    if constant and "invalid character" in reason:
        name = constant[0].decode()
        return _malformed_problem(content, constant.start(), f"{name} is not a number that can be used", start=start)
    detail = reason.removeprefix("JSON is malformed: ").split(" (byte")[0]
    return _malformed_problem(content, place, f"this is no JSON: {detail[:1].lower()}{detail[1:]}", start=start)


def _out_of_range(outside: bytes) -> int:
    """Where a number is that no double can hold, in a text without its strings."""
    for first in range(0, len(outside), PIECE):
        for found in _WIDE_NUMBER.finditer(outside, first, first + PIECE + LONGEST_NUMBER + 1):
            if len(found[0]) > LONGEST_NUMBER or isinf(float(found[0])):
                return found.start()
    return len(outside)


def _ends_in_half_of_a_pair(content: bytes) -> bool:
    """Whether the last escape is the first half of a surrogate pair, without room for the second."""
    if not _HIGH_HALF.search(content, max(0, len(content) - 12)):
        return False
    escapes = list(_ESCAPE.finditer(content))
    return bool(escapes) and _HIGH_HALF.match(escapes[-1][0]) is not None


def _malformed_problem(content: bytes, place: int, reason: str, code: str = "malformed", start: int = 0) -> Problem:
    names = _NAME.findall(content, max(0, place - 2000), max(place, 0))
    field = names[-1].decode("utf-8", "replace") if names else None
    where = f" in the field {field!r}" if field else ""
    return Problem(code, f"{reason}{where} (byte {start + max(place, 0):,}).", field=field)


def _goes_on(place: int) -> Problem:
    return Problem(
        "malformed",
        f"the body goes on after the end of its JSON (byte {place:,}); several objects are sent as an array, "
        "or one a line.",
    )


def _first_bad_byte(content: bytes) -> int:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _twice(content: bytes, outside: bytes) -> Problem:
    """Which name occurs twice; ``outside`` is the text without its strings."""
    levels: list[set[str] | None] = []
    for found in _NAME_OR_BRACKET.finditer(outside):
        mark = found[0][:1]
        if mark in b"[{":
            levels.append(set() if mark == b"{" else None)
        elif mark in b"]}":
            levels.pop()
        elif (names := levels[-1]) is not None:
            name = msgspec.json.decode(content[found.start() : found.end(1)], type=str)
            if name in names:
                return Problem("invalid", f"the name {name[:SHOWN]!r} occurs twice in one object.", field=name[:SHOWN])
            names.add(name)
    return Problem("invalid", "a name occurs twice in one object.")
