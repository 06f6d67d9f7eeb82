"""The body of a request: read within limits, unpacked, and parsed with more care than JSON itself asks for.

Refused: more than so many bytes (also when a small gzip holds them), values nested too deep, a name twice in one
object, text that is not UTF-8, NUL characters, halves of surrogate pairs, NaN, infinities, and numbers beyond a double.
"""

from __future__ import annotations

import json
import re
import zlib
from math import isinf
from typing import Any

import msgspec

from askance.live.problems import Problem

_BEFORE_COLON = re.compile(rb'"[ \t\r\n]+:')
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NAME = re.compile(rb'"((?:[^"\\]|\\.){0,200})"[ \t\r\n]*:', re.DOTALL)
_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_BYTE = re.compile(r"\(byte (\d+)\)")
_NUL = re.compile(rb"\\u0000|\x00")
LONGEST_NUMBER = 4000


def unpacked(content: bytes, encoding: str, most: int) -> bytes:
    """The body behind a Content-Encoding, at most so many bytes of it."""
    if encoding in ("", "identity"):
        return content
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise Problem("unsupported_encoding", f"the content encoding {encoding!r} is not known here; use gzip or none.")
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


def too_large(most: int) -> Problem:
    return Problem(
        "body_too_large",
        f"the body has more than {most:,} bytes; send it in pieces, or stop the service and take a file in with "
        "'askance import'.",
    )


def parse(content: bytes, depth: int) -> Any:
    """A JSON document."""
    if b"\\u0000" in content or b"\x00" in content:
        found = _NUL.search(content)
        raise _malformed(content, found.start() if found else 0, "NUL characters cannot be stored", "invalid")
    try:
        value = msgspec.json.decode(content)
    except RecursionError:
        raise too_deep(depth) from None
    except UnicodeDecodeError:
        raise _malformed(content, _first_bad_byte(content), "the text is not UTF-8") from None
    except msgspec.DecodeError as error:
        raise _explained(content, str(error)) from None
    names = _count_names(value, depth)
    suspicious = content.count(b'":') != names or _BEFORE_COLON.search(content)
    if suspicious and _STRING.sub(b"", content).count(b":") != names:
        raise _twice(content)
    return value


def is_lines(content: bytes) -> bool:
    """Whether a body that is no JSON document is one object a line: its first line is whole, and others follow."""
    first, _, rest = content.strip().partition(b"\n")
    if not first.startswith(b"{") or not rest:
        return False
    try:
        msgspec.json.decode(first)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def parse_lines(content: bytes, depth: int, most: int) -> list[Any]:
    """Documents a line, each parsed or a problem."""
    lines = [line for line in content.split(b"\n") if line.strip()]
    if len(lines) > most:
        raise Problem("invalid", f"there are {len(lines):,} lines; at most {most:,} at a time.")
    values: list[Any] = []
    for line in lines:
        try:
            values.append(parse(line, depth))
        except Problem as problem:
            values.append(problem)
    return values


def _count_names(value: Any, depth: int) -> int:
    """How many names the objects in a value have together; refuses what is nested too deep."""
    count = 0
    level = [value]
    for _ in range(depth):
        inner: list[Any] = []
        for item in level:
            if item.__class__ is dict:
                count += len(item)
                inner += [part for part in item.values() if part.__class__ in (dict, list)]
            elif item.__class__ is list:
                inner += [part for part in item if part.__class__ in (dict, list)]
        if not inner:
            return count
        level = inner
    raise too_deep(depth)


def too_deep(depth: int) -> Problem:
    return Problem("too_deep", f"the body is nested more than {depth} levels deep.")


def _explained(content: bytes, reason: str) -> Problem:
    """What is wrong with a body that cannot be decoded, and in which field."""
    for found in _NUMBER.finditer(content):
        text = found.group()
        if len(text) > LONGEST_NUMBER or ((len(text) > 300 or b"e" in text.lower()) and isinf(float(text))):
            return _malformed(content, found.start(), "the number is out of range", "invalid")
    try:
        json.loads(content, parse_constant=_refuse)
    except _Constant as error:
        place = content.find(str(error).encode())
        return _malformed(content, place, f"{error} is not a number that can be used")
    except json.JSONDecodeError as error:
        place = len(error.doc[: error.pos].encode("utf-8", "surrogatepass"))
        if error.msg == "Extra data":
            return Problem(
                "malformed",
                f"the body goes on after the end of its JSON (byte {place:,}); several objects are sent as an array, "
                "or one a line.",
            )
        return _malformed(content, place, f"this is no JSON: {error.msg[:1].lower()}{error.msg[1:]}")
    except (ValueError, RecursionError):
        pass
    else:  # what only the stricter reader refuses
        half = re.search(rb"\\u[dD][89a-fA-F]", content)
        if half:
            return _malformed(content, half.start(), "half of a surrogate pair is no character", "invalid")
    byte = _BYTE.search(reason)
    return _malformed(content, int(byte[1]) if byte else len(content), "this is no JSON")


class _Constant(ValueError):
    """NaN or an infinity."""


def _refuse(name: str) -> Any:
    raise _Constant(name)


def _malformed(content: bytes, place: int, reason: str, code: str = "malformed") -> Problem:
    names = _NAME.findall(content, max(0, place - 2000), max(place, 0))
    field = names[-1].decode("utf-8", "replace") if names else None
    where = f" in the field {field!r}" if field else ""
    return Problem(code, f"{reason}{where} (byte {max(place, 0):,}).", field=field)


def _first_bad_byte(content: bytes) -> int:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _twice(content: bytes) -> Problem:
    def check(pairs: list[tuple[str, Any]]) -> Any:
        names = [name for name, _ in pairs]
        for place, name in enumerate(names):
            if name in names[:place]:
                raise Problem("invalid", f"the name {name!r} occurs twice in one object.", field=name)
        return dict(pairs)

    json.loads(content, object_pairs_hook=check)
    return Problem("invalid", "a name occurs twice in one object.")
