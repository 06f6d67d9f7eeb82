"""Numbers of things, in words for people."""

from __future__ import annotations


def format_count(count: int, what: str) -> str:
    """How many there are of a thing.

    >>> format_count(1, "event"), format_count(2500, "label")
    ('1 event', '2,500 labels')
    """
    return f"{count:,} {what if count == 1 else what + 's'}"


def conjugate(count: int, verb: str) -> str:
    """What so many things do.

    >>> conjugate(1, "get"), conjugate(2, "get"), conjugate(1, "teach"), conjugate(1, "have")
    ('gets', 'get', 'teaches', 'has')
    """
    if count != 1:
        return verb
    return "has" if verb == "have" else verb + ("es" if verb.endswith("ch") else "s")
