"""Old names: how long they are understood, and what is said of them."""

from __future__ import annotations

import warnings

GONE_WITH = "0.3"
"""The release that knows the old names no more: that after the one which renamed them."""


def describe_renaming(old: str, new: str) -> str:
    """What to say to whoever uses an old name.

    >>> describe_renaming("loosen", "inflate_variances")
    'loosen is called inflate_variances now; the old name goes with 0.3.'
    """
    return f"{old} is called {new} now; the old name goes with {GONE_WITH}."


def warn_renamed(old: str, new: str, stacklevel: int = 3) -> None:
    """Say it to who called the caller, or further up."""
    warnings.warn(describe_renaming(old, new), DeprecationWarning, stacklevel=stacklevel)
