"""The ids of the latest events, by which one that comes again is known."""

from __future__ import annotations

import base64
import hashlib

import numpy as np

MOST = 100_000
"""Events after which an id may come again."""


class RecentIds:
    """The latest ids, each by eight bytes of a hash: two of 100,000 have the same with a probability of 3e-10.

    Examples
    --------
    >>> ids = RecentIds()
    >>> ids.add("m1"), ids.add("m2")
    (None, None)
    >>> again = RecentIds(ids.to_text())
    >>> "m1" in again, "m3" in again
    (True, False)
    """

    def __init__(self, text: str = "") -> None:
        self._hashes = dict.fromkeys(np.frombuffer(base64.b64decode(text), np.uint64).tolist())

    def __contains__(self, key: str) -> bool:
        return _hash(key) in self._hashes

    def add(self, key: str) -> None:
        """Keep one more, and forget the oldest beyond so many."""
        self._hashes[_hash(key)] = None
        if len(self._hashes) > MOST:
            del self._hashes[next(iter(self._hashes))]

    def to_text(self) -> str:
        """What is kept, in order."""
        return base64.b64encode(np.fromiter(self._hashes, np.uint64).tobytes()).decode()


def _hash(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
