"""Words of a text: runs of letters, digits and underscores, in any script, in lower case."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """The words of a text, in order.

    >>> words("Ça va? It's 5 o'clock, Straße 7b!")
    ['ça', 'va', 'it', 's', '5', 'o', 'clock', 'straße', '7b']
    """
    return _WORD.findall(text.lower())
