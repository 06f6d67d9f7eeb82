"""Texts as vectors, by an encoder that the user brings: a callable, or an object with ``encode``."""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from askance.data.encoding.hashing import encode_utf8
from askance.errors import InvalidInput, InvalidParameter

EMBEDDING = "embedding"
"""The kind of a field of texts that an encoder turns into vectors."""
PROBE = "text"
MOST_KNOWN = 10_000


class Embedding:
    """A kind of field: each text becomes a vector, by an encoder that is yours.

    Each number of the vector has a column of its own; the vector is scaled to unit length. A missing text has none. The
    encoder is not saved with the model: ``askance.load(path, encoders={"text": encoder})`` gives it back.

    Parameters
    ----------
    encoder : callable, or object with ``encode``
        From a list of texts to an array with a row for each. The same text must always give the same vector.
    batch : int, default 1
        How many texts go to the encoder at once. With 1, a vector never depends on other texts, and ``run``, pieces and
        ``ask`` decide alike bit for bit. More is faster; then the last digits may depend on the batch.
    cache : int, default 10_000
        How many vectors are kept, by a digest of their text, the latest used ones.

    Examples
    --------
    >>> import askance
    >>> def lengths(texts):
    ...     return [[len(text), text.count("!")] for text in texts]
    >>> clf = askance.make("PAA-I", fields={"text": askance.Embedding(lengths)}, random_state=0)
    >>> clf.fit(["Win!!!", "Lunch on Friday?"] * 20, ["spam", "ham"] * 20).predict(["Prize!!!!"]).tolist()
    ['spam']
    """

    def __init__(self, encoder: Any, *, batch: int = 1, cache: int = MOST_KNOWN) -> None:
        encode = getattr(encoder, "encode", None)
        if isinstance(encoder, str) or not (callable(encode) or callable(encoder)):
            raise InvalidParameter(f"an encoder is a callable, or has a method encode, got {type(encoder).__name__}.")
        for name, value, least in (("batch", batch, 1), ("cache", cache, 0)):
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise InvalidParameter(f"{name} must be a whole number of {least} or more, got {value!r}.")
        self.encoder, self.batch, self.cache = encoder, batch, cache
        self._encode: Callable[[list[str]], Any] = encode if callable(encode) else encoder
        self._known: OrderedDict[bytes, tuple[np.ndarray, float]] = OrderedDict()
        self._width = 0

    def __repr__(self) -> str:
        return f"Embedding({type(self.encoder).__name__})"

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # an encoder may be large, and is never changed here

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        if not self._width:
            self._width = self._ask([PROBE]).shape[1]
        return self._width

    def vectors(self, texts: Sequence[str], unit: bool = True) -> np.ndarray:
        """The vectors of texts, a row for each; of unit length, unless they are all zero, or that is not wanted."""
        keys = [hashlib.blake2b(encode_utf8(text), digest_size=16).digest() for text in texts]
        found = {key: self._known[key] for key in keys if key in self._known}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        waiting = list(missing.items())
        for start in range(0, len(waiting), self.batch):
            some = waiting[start : start + self.batch]
            for (key, _), vector in zip(some, self._ask([text for _, text in some]), strict=True):
                found[key] = vector, math.sqrt(math.fsum(vector * vector)) or 1.0
        for key in dict.fromkeys(keys):
            self._known[key] = found[key]
            self._known.move_to_end(key)
        while len(self._known) > self.cache:
            self._known.popitem(last=False)
        rows = [found[key][0] / found[key][1] if unit else found[key][0] for key in keys]
        return np.array(rows).reshape(len(texts), self.width)

    def _ask(self, texts: list[str]) -> np.ndarray:
        """What the encoder gives, checked."""
        try:
            vectors = np.asarray(self._encode(texts), np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"the encoder {self!r} failed, or gave no array of numbers: {error}.") from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
            raise InvalidInput(
                f"the encoder {self!r} gave an array of shape {vectors.shape} for {len(texts)} texts; it must give a "
                "row for each."
            )
        if self._width and vectors.shape[1] != self._width:
            raise InvalidInput(f"the encoder {self!r} gave {vectors.shape[1]} numbers, and {self._width} before.")
        if not np.isfinite(vectors).all():
            raise InvalidInput(f"the encoder {self!r} gave numbers that are not finite, for {texts[0][:40]!r} or so.")
        return vectors


def split_embeddings(fields: Mapping[str, Any] | None) -> tuple[dict[str, str], dict[str, Embedding]]:
    """The kinds of fields that are words, and those that are embedded."""
    given = dict(fields or {})
    embedded = {name: kind for name, kind in given.items() if isinstance(kind, Embedding)}
    return {name: kind for name, kind in given.items() if name not in embedded}, embedded


def match_encoders(fields: Sequence[str], encoders: Mapping[str, Any] | None) -> dict[str, Embedding]:
    """The encoders of a saved model's embedded fields; refuses it without one for each, and others."""
    given = dict(encoders or {})
    missing = [name for name in fields if name not in given]
    if missing:
        raise InvalidInput(
            f"the model embeds the field {missing[0]!r} with an encoder of yours, which no file can hold; load it in "
            f"Python, askance.load(path, encoders={{{missing[0]!r}: encoder}})."
        )
    unknown = [name for name in given if name not in fields]
    if unknown:
        raise InvalidInput(f"encoders names {unknown[0]!r}, which is no field that the model embeds.")
    return {name: encoder if isinstance(encoder, Embedding) else Embedding(encoder) for name, encoder in given.items()}
