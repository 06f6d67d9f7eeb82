"""Where the strings and the items of a JSON text are, found piece by piece.

A body may have ten megabytes, and a regular expression or a parser that goes over all of them in one call keeps every
other thread of the process waiting. What is here takes time in proportion to the text, whatever it says, in calls of a
millisecond at most.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

PIECE = 65_536
_QUOTE, _BACKSLASH, _BLANK = ord('"'), ord("\\"), ord(" ")
_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"[{")] = 1
_STEPS[list(b"]}")] = -1


class Unbalanced(ValueError):
    """An array that does not end where its text does; ``place`` is the byte where that shows."""

    def __init__(self, place: int) -> None:
        super().__init__(f"byte {place}")
        self.place = place


def blank_strings(content: bytes) -> bytes:
    """The text with a space for every byte inside a string; quotes and the rest stay where they are.

    >>> blank_strings(rb'{"a:": "b\\"c", "d": 1}')
    b'{"  ": "    ", " ": 1}'
    """
    return b"".join(part.tobytes() for part in _without_strings(content))


def _without_strings(content: bytes) -> Iterator[np.ndarray]:
    whole = np.frombuffer(content, np.uint8)
    is_inside, is_escaped = False, False
    for first in range(0, len(whole), PIECE):
        piece = whole[first : first + PIECE]
        quotes = piece == _QUOTE
        escaped, goes_on = _find_escaped(piece, is_escaped)
        quotes[escaped] = False
        inside = np.logical_xor.accumulate(quotes)
        if is_inside:
            inside = ~inside
        is_inside, is_escaped = bool(inside[-1]), goes_on
        yield np.where(inside & ~quotes, np.uint8(_BLANK), piece)


def _find_escaped(piece: np.ndarray, is_first: bool) -> tuple[np.ndarray, bool]:
    """The places of the bytes that a backslash stands before, and whether the next piece begins with one."""
    places = np.flatnonzero(piece == _BACKSLASH)
    before = [0] if is_first else []
    if not len(places):
        return np.array(before, np.intp), False
    begins = np.concatenate(([True], np.diff(places) != 1))
    starts = places[begins][np.cumsum(begins) - 1]
    offsets = places - starts
    if is_first and places[0] == 0:  # the backslash that stands first is escaped itself
        offsets[starts == 0] += 1
    after = places[offsets % 2 == 0] + 1
    goes_on = bool(after.size and after[-1] == len(piece))
    return np.concatenate((before, after[: len(after) - goes_on])).astype(np.intp), goes_on


def items_of(content: bytes, start: int) -> Iterator[tuple[int, int]]:
    """From where to where each item of the array that begins at ``start`` goes; an empty array has none.

    >>> text = b'[1, {"a": [2, 3]}, "x,y"]'
    >>> [text[first:last] for first, last in items_of(text, 0)]
    [b'1', b' {"a": [2, 3]}', b' "x,y"']
    """
    begin, depth, place = start + 1, 0, start
    for piece in _without_strings(content[start:]):
        depths = np.cumsum(_STEPS[piece], dtype=np.int32) + depth
        ends = depths == 0
        for mark in np.flatnonzero(((piece == ord(",")) & (depths == 1)) | ends).tolist():
            here = place + mark
            if ends[mark]:
                rest = content[here + 1 :].lstrip()
                if content[here : here + 1] != b"]" or rest:
                    raise Unbalanced(len(content) - len(rest) if rest else here)
                if begin != start + 1 or content[begin:here].strip():
                    yield begin, here
                return
            yield begin, here
            begin = here + 1
        depth, place = int(depths[-1]), place + len(piece)
    raise Unbalanced(len(content))
