"""The library's advice, which is for programs, in the words of the command line."""

from __future__ import annotations

import re

CATEGORY = re.compile(r" \(features=\{(?:'(.*?)'|\"(.*?)\"): 'category'\} allows any\)")
PHRASES = {
    "askance.algorithms() lists": "'askance algorithms' lists",
    "tell(..., replace=True) makes": '"replace": true makes',
    "give format= if": "give --format if",
}


def in_options(sentence: str, has_field_option: bool = True) -> str:
    """A sentence with options in the place of Python.

    >>> in_options("'big' is not a number (features={'size': 'category'} allows any).")
    "'big' is not a number (--field size=category allows any)."
    """
    for phrase, said in PHRASES.items():
        sentence = sentence.replace(phrase, said)
    if not has_field_option:
        return CATEGORY.sub("", sentence)
    return CATEGORY.sub(lambda found: f" (--field {found[1] or found[2]}=category allows any)", sentence)
