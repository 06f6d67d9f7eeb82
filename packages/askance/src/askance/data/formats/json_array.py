"""A JSON file that is one array of objects, as lines of one object each.

The array is split where its commas stand, while it is read, so that a file of any size takes the memory of one piece.
What stands between the commas is for the reader of lines to judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from askance.data.formats.buffer import BYTE_ORDER_MARK
from askance.data.formats.source import Input
from askance.errors import InvalidInput

PIECE = 1 << 16
LOOK_AT = 1 << 16
LINES_LOOKED_AT = 20
_INSIDE_TEXT = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_MARK = re.compile(rb'"(?:[^"\\]++|\\.)*+(?P<end>")?|[\[\]{},]', re.DOTALL)
# A line end within an object becomes a tab: as good a blank between values, and as wrong within a text.
_NO_LINE_ENDS = bytes.maketrans(b"\r\n", b"\t\t")
OUTSIDE, BETWEEN = 0, 1  # depths: out of the array, and in it but in none of its objects


def objects_of_array(part: Input) -> Iterator[bytes] | None:
    """The objects of a file that is one array, one a line; None for any other file."""
    return _split(part) if begins_an_array(part.peek(LINES_LOOKED_AT, LOOK_AT)) else None


def begins_an_array(content: bytes) -> bool:
    """Whether a file is one array of objects, or of none; a line that is a list of something else is just a bad line.

    >>> begins_an_array(b'[{"size": 3}, {'), begins_an_array(b"[]"), begins_an_array(b"[1, 2]")
    (True, True, False)
    """
    content = content.removeprefix(BYTE_ORDER_MARK).strip()
    rest = content[1:].lstrip()
    return content.startswith(b"[") and (rest[:1] in (b"{", b"") or rest == b"]")


def _split(part: Input) -> Iterator[bytes]:
    depth, is_in_text, rest = OUTSIDE, False, b""
    while read := part.read(PIECE):
        piece = rest + read.translate(_NO_LINE_ENDS)
        found: list[bytes] = []
        start = at = 0
        if is_in_text:
            at = len(_INSIDE_TEXT.match(piece)[0])  # type: ignore[index]  # nothing at all matches, too
            is_in_text = piece[at : at + 1] != b'"'
            at += not is_in_text
        while not is_in_text and (mark := _MARK.search(piece, at)) is not None:
            at = mark.end()
            match mark[0][:1]:
                case b'"':
                    is_in_text = mark["end"] is None
                case b"[" | b"{":
                    depth += 1
                    if depth == BETWEEN:
                        start = at
                    elif depth == BETWEEN + 1:
                        found.append(piece[start : mark.start()].strip())
                        start = mark.start()
                case b"," if depth == BETWEEN:
                    found += piece[start : mark.start()].strip(), b"\n"
                    start = at
                case b"]" | b"}":
                    depth -= 1
                    if depth == BETWEEN:
                        found.append(piece[start:at])
                        start = at
                    elif depth == OUTSIDE:
                        yield b"".join([*found, piece[start : mark.start()].strip()])
                        _refuse_more(part, piece[at:])
                        return
        end = at if is_in_text else len(piece)  # of a text that goes on, a backslash at the end waits for what follows
        found.append(piece[start:end].strip() if depth == BETWEEN else piece[start:end])
        rest = piece[end:]
        yield b"".join(found)
    raise InvalidInput(f"{part.name!r} is cut off: its JSON array does not end.")


def _refuse_more(part: Input, rest: bytes) -> None:
    while not rest.strip() and (rest := part.read(PIECE)):
        pass
    if rest.strip():
        raise InvalidInput(
            f"{part.name!r} goes on after the end of its JSON array; one array, or one object per line, is needed."
        )
