"""Texts from others in a table that somebody may open in a spreadsheet, which would run what looks like a formula."""

from __future__ import annotations

import re
from typing import Any

_UNSEEN = (
    r"\s\x00-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\u0300-\u036f\ue000-\uf8ff\U000e0000-\U000e0fff"
)
"""Blanks, control characters, marks and what has no width or no meaning: some programs drop them before they look for a
formula."""
_SIGNS = r"=+\-@\u207a\u207b\u207c\u208a\u208b\u208c\u2212\ufb29\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20"
"""What a formula begins with, and every character that Unicode calls another form of it, such as the full-width one."""
_FORMULA = re.compile(rf"'*(?:[\t\r\n]|[{_UNSEEN}]*[{_SIGNS}])")
_HARMLESS = re.compile(r"[=+\-@]|[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
"""Numbers stay numbers, and a sign alone, such as the name of a class, does nothing."""


def safe(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: an apostrophe stands before what could be one.

    >>> [safe(cell) for cell in ("=1+1", "\\u00a0=1+1", "\\uff1d1+1", "-1.5", "+", "a=b", 3)]
    ["'=1+1", "'\\xa0=1+1", "'\uff1d1+1", '-1.5', '+', 'a=b', 3]
    """
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) and not _HARMLESS.fullmatch(cell) else cell


def unsafe(cell: str) -> str:
    """What a text was before ``safe``."""
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell) else cell
