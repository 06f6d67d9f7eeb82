"""Numbers that are not written with a point: 3,14 and 1.234,50.

A comma that stands in every field for a decimal point is read as one. Where it may as well stand between thousands, and
where numbers have such separators, nothing is guessed: read as words they would be learned by heart, silently.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NoReturn

from askance.data.encoding.kinds import SHARE_OF_NUMBERS, looks_like_a_number
from askance.data.missing import USUAL, MissingValues
from askance.errors import InvalidInput

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
