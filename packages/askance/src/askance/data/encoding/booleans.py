"""Truth values that are written as words: true and false, as Python, SQL, R, spreadsheets and JSON write them.

They are the numbers 1 and 0, as truth values are where a format has them. A field of which every value is such a word
is one of numbers; in any other field they are words like others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from askance.data.missing import USUAL, MissingValues

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
