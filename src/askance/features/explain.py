"""Which words and fields moved the score of an event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from askance.features.embedding import EMBEDDING
from askance.features.kinds import CATEGORY, DATE, NUMBER, TEXT
from askance.features.rows import RowFeatures, word_of
from askance.features.text import words
from askance.features.times import date_words


class Effect(NamedTuple):
    """What a field, or a word of a text, did to a score."""

    field: str
    word: str | None
    """The word of a text; None for the field as a whole."""
    push: float


def towards(weights: np.ndarray, label: int) -> np.ndarray:
    """The weights that speak for a class, from one row for two classes, or from one for each."""
    if len(weights) == 1:
        return weights[0] if label == 1 else -weights[0]
    return weights[label] - np.delete(weights, label, axis=0).mean(axis=0)


def effects(features: RowFeatures, row: Mapping[str, Any], weights: np.ndarray) -> list[Effect]:
    """What each field and each word of a flattened row does to the score w.x, in order. Words count singly, not in
    pairs; what the model has never seen has no effect."""
    columns, values = features.look_at_row(row, features.encoder.scaling.as_next, is_from_log=True)
    value_at = dict(zip(columns.tolist(), values.tolist(), strict=True))
    found = [
        Effect(name, word, float(weights[column]) * value_at[column])
        for name, word, column in _places(features, row)
        if column in value_at
    ]
    for name in (name for name in row if features.kinds.get(name) == EMBEDDING):
        first = features.encoder.embedded_from[name]
        places = range(first, first + features.encoder.embeddings[name].width)
        found.append(Effect(name, None, sum(float(weights[k]) * value_at[k] for k in places if k in value_at)))
    return found


def _places(features: RowFeatures, row: Mapping[str, Any]) -> Iterator[tuple[str, str | None, int]]:
    """The columns of fields and words."""
    encoder = features.encoder
    for name, value in row.items():
        kind = features.kinds.get(name)
        if kind == NUMBER:
            yield name, None, encoder.number_columns[encoder.slots[name]]
        elif kind == TEXT:
            found = list(dict.fromkeys(words(features.text_of(name, value))))
            for word, column in zip(found, encoder.hasher.categories(name, found).tolist(), strict=True):
                yield name, word, column + encoder.hashed_from
        elif kind in (CATEGORY, DATE):
            given = (
                list(date_words(word_of(value).strip()) or ()) if kind == DATE else categories_of(features, name, value)
            )
            for column in encoder.hasher.categories(name, given).tolist():
                yield name, None, column + encoder.hashed_from


def categories_of(features: RowFeatures, name: str, value: Any) -> list[str]:
    """The values of a field of categories: one, or those of a list."""
    return [features.category_of(name, item) for item in (value if isinstance(value, list | tuple) else [value])]
