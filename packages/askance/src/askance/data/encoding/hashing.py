"""Hashing: from the bytes of a name to a column, the same in every process, on every machine, in every version.

The function is MurmurHash3 (x86, 32 bits) of the UTF-8 bytes, as scikit-learn's ``murmurhash3_32`` computes it. A value
is hashed with the hash of its field's name as the seed, so that "yes" in one field is not "yes" in another:

    column = offset + murmur3(value, seed=murmur3(field name, seed=0)) mod 2^hash_bits

Values are not signed: two that fall into one column are added.
"""

from __future__ import annotations

import numpy as np

from askance.compile import specialise
from askance.errors import InvalidParameter

HASH_BITS = 18
MOST_BITS = 30

MASK = np.uint64(0xFFFFFFFF)
FIRST, SECOND = np.uint64(0xCC9E2D51), np.uint64(0x1B873593)
FIVE, ADDEND = np.uint64(5), np.uint64(0xE6546B64)
MIX_1, MIX_2 = np.uint64(0x85EBCA6B), np.uint64(0xC2B2AE35)
S8, S13, S15, S16, S17, S19, S24 = (np.uint64(n) for n in (8, 13, 15, 16, 17, 19, 24))

SPACE, NEWLINE = 32, 10


def murmur3(data: np.ndarray, start: int, stop: int, seed: np.uint64) -> np.uint64:
    """MurmurHash3_x86_32 of ``data[start:stop]``, by Austin Appleby (public domain)."""
    digest = seed
    length = stop - start
    last = start + (length & ~3)
    i = start
    while i < last:
        block = np.uint64(data[i]) | np.uint64(data[i + 1]) << S8
        block |= np.uint64(data[i + 2]) << S16 | np.uint64(data[i + 3]) << S24
        digest ^= scramble(block)
        digest = (digest << S13 | digest >> S19) & MASK
        digest = (digest * FIVE + ADDEND) & MASK
        i += 4
    block = np.uint64(0)
    shift = np.uint64(0)
    while i < stop:
        block |= np.uint64(data[i]) << shift
        shift += S8
        i += 1
    digest ^= scramble(block)
    digest ^= np.uint64(length)
    digest ^= digest >> S16
    digest = (digest * MIX_1) & MASK
    digest ^= digest >> S13
    digest = (digest * MIX_2) & MASK
    return digest ^ digest >> S16


def scramble(block: np.uint64) -> np.uint64:
    """One block of four bytes, mixed."""
    block = (block * FIRST) & MASK
    block = (block << S15 | block >> S17) & MASK
    return (block * SECOND) & MASK


def hash_cells(
    data: np.ndarray, starts: np.ndarray, stops: np.ndarray, seeds: np.ndarray, mask: np.uint64, columns: np.ndarray
) -> None:
    """The column of each value ``data[starts[k]:stops[k]]`` of the field with ``seeds[k]``."""
    for k in range(starts.size):
        columns[k] = murmur3(data, starts[k], stops[k], seeds[k]) & mask


def hash_words(
    data: np.ndarray, seed: np.uint64, mask: np.uint64, longest: int, starts: np.ndarray, columns: np.ndarray
) -> None:
    """The columns of the words, and of neighbouring words up to ``longest`` together, of some texts.

    ``data`` has one text per line, its words separated by one space; ``starts`` gets where each text's columns begin.
    """
    n_columns = 0
    text = 0
    starts[0] = 0
    i = 0
    while i < data.size:
        while data[i] != NEWLINE:
            stop = i
            for _ in range(longest):
                while data[stop] != SPACE and data[stop] != NEWLINE:
                    stop += 1
                columns[n_columns] = murmur3(data, i, stop, seed) & mask
                n_columns += 1
                if data[stop] == NEWLINE:
                    break
                stop += 1
            while data[i] != SPACE and data[i] != NEWLINE:
                i += 1
            if data[i] == SPACE:
                i += 1
        text += 1
        starts[text] = n_columns
        i += 1


def encode_utf8(text: str) -> bytes:
    """UTF-8; halves of surrogate pairs, which JSON can hold, are kept as they are."""
    return text.encode("utf-8", errors="surrogatepass")


def hash_of(value: str | bytes, seed: int = 0) -> int:
    """The 32-bit hash of a name.

    >>> hash_of("hello"), hash_of(b"hello", seed=1), hash_of("")
    (613153351, 3142237357, 0)
    """
    data = np.frombuffer(encode_utf8(value) if isinstance(value, str) else value, np.uint8)
    return int(specialise(murmur3)(data, 0, len(data), np.uint64(seed)))


class Hasher:
    """Columns for the values of named fields.

    Parameters
    ----------
    bits : int, default 18
        There are ``2**bits`` columns.

    Examples
    --------
    >>> hasher = Hasher(bits=10)
    >>> hasher.categories("city", ["Oslo", "Lima", "Oslo"])
    array([ 28, 345,  28], dtype=int32)
    >>> starts, columns = hasher.words("text", [["hello", "world"], []], longest=2)
    >>> starts, columns
    (array([0, 3, 3]), array([285, 362, 631], dtype=int32))
    """

    def __init__(self, bits: int = HASH_BITS) -> None:
        if not isinstance(bits, int | np.integer) or isinstance(bits, bool) or not 1 <= bits <= MOST_BITS:
            raise InvalidParameter(f"hash_bits must be a whole number from 1 to {MOST_BITS}, got {bits!r}.")
        self.bits = int(bits)
        self.mask = np.uint64(2**self.bits - 1)
        self._seeds: dict[str, np.uint64] = {}

    def seed(self, field: str) -> np.uint64:
        """The seed for the values of a field: the hash of its name."""
        if field not in self._seeds:
            self._seeds[field] = np.uint64(hash_of(field))
        return self._seeds[field]

    def cells(self, field: str, data: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
        """The columns of values that are pieces of ``data``."""
        return self._columns(data, starts, stops, np.full(len(starts), self.seed(field)))

    def categories(self, field: str, values: list[str]) -> np.ndarray:
        """The columns of values."""
        return self.categories_of([field], [values])

    def categories_of(self, fields: list[str], values: list[list[str]]) -> np.ndarray:
        """The columns of values of several fields, one field after the other."""
        pieces = [encode_utf8(value) for of_field in values for value in of_field]
        ends = np.cumsum([0, *map(len, pieces)])
        seeds = np.repeat(np.array([self.seed(field) for field in fields], np.uint64), [len(part) for part in values])
        return self._columns(np.frombuffer(b"".join(pieces), np.uint8), ends[:-1], ends[1:], seeds)

    def _columns(self, data: np.ndarray, starts: np.ndarray, stops: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        columns = np.empty(len(starts), np.int32)
        specialise(hash_cells)(data, starts, stops, seeds, self.mask, columns)
        return columns

    def words(self, field: str, texts: list[list[str]], longest: int) -> tuple[np.ndarray, np.ndarray]:
        """The columns of words, single and up to ``longest`` neighbours together: where each text begins, and all."""
        data = np.frombuffer(encode_utf8("".join(" ".join(text) + "\n" for text in texts)), np.uint8)
        starts = np.empty(len(texts) + 1, np.int64)
        columns = np.empty(longest * sum(map(len, texts)), np.int32)
        specialise(hash_words)(data, self.seed(field), self.mask, longest, starts, columns)
        return starts, columns[: starts[-1]]
