"""Which words and fields moved the score of an event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from askance.data.encoding.embedding import EMBEDDING
from askance.data.encoding.kinds import CATEGORY, DATE, NUMBER, TEXT, date_words, words
from askance.data.encoding.rows import RowFeatures, number_of, word_of

WHOLE = 1e15  # below it a float holds every digit of a whole number


class Effect(NamedTuple):
    """What a field, or a word of a text, did to a score."""

    field: str
    word: str | None
    """The word of a text; None for the field as a whole."""
    value: str | None
    """What the field has, of a date its weekday or its hour; None for words, and for texts that become vectors."""
    push: float


def towards(weights: np.ndarray, label: int) -> np.ndarray:
    """The weights that speak for a class, from one row for two classes, or from one for each."""
    if len(weights) == 1:
        return weights[0] if label == 1 else -weights[0]
    return weights[label] - np.delete(weights, label, axis=0).mean(axis=0)


def effects(features: RowFeatures, row: Mapping[str, Any], weights: np.ndarray) -> list[Effect]:
    """What each field and each word of a flattened row does to the score w.x, in order. Words count singly, not in
    pairs; what the model has never seen has no effect."""
    columns, values = features.transform_row(row, features.encoder.scaling.as_next, is_from_log=True)
    value_at = dict(zip(columns.tolist(), values.tolist(), strict=True))
    found = [
        Effect(name, word, value, float(weights[column]) * value_at[column])
        for name, word, value, column in _columns_of(features, row)
        if column in value_at
    ]
    for name in (name for name in row if features.kinds.get(name) == EMBEDDING):
        first = features.encoder.embedded_from[name]
        columns_of_vector = range(first, first + features.encoder.embeddings[name].width)
        found.append(
            Effect(name, None, None, sum(float(weights[k]) * value_at[k] for k in columns_of_vector if k in value_at))
        )
    return found


def name_effects(found: Sequence[Effect]) -> list[tuple[str, float]]:
    """What pushed, and how much: a word, with its field where words of several fields did, or a field and its value.

    >>> name_effects([Effect("text", "prize", None, 0.5), Effect("sender", None, "shop", 0.2)])
    [('prize', 0.5), ('sender=shop', 0.2)]
    """
    is_one_text = len({effect.field for effect in found if effect.word is not None}) < 2
    return [(_name(effect, is_one_text), effect.push) for effect in found]


def _name(effect: Effect, is_one_text: bool) -> str:
    if effect.word is not None:
        return effect.word if is_one_text else f"{effect.field}: {effect.word}"
    if effect.value is None:
        return effect.field
    return f"{effect.field}={effect.value}" if effect.value else f"{effect.field} missing"


def _columns_of(features: RowFeatures, row: Mapping[str, Any]) -> Iterator[tuple[str, str | None, str | None, int]]:
    """The fields and words, their values and columns."""
    encoder = features.encoder
    for name, value in row.items():
        kind = features.kinds.get(name)
        if kind == NUMBER:
            yield name, None, _number_as_text(value), encoder.number_columns[encoder.slots[name]]
        elif kind == TEXT:
            found = list(dict.fromkeys(words(features.text_of(name, value))))
            for word, column in zip(found, encoder.hasher.categories(name, found).tolist(), strict=True):
                yield name, word, None, column + encoder.hashed_from
        elif kind in (CATEGORY, DATE):
            given = (
                list(date_words(word_of(value).strip()) or ()) if kind == DATE else categories_of(features, name, value)
            )
            for word, column in zip(given, encoder.hasher.categories(name, given).tolist(), strict=True):
                yield name, None, word, column + encoder.hashed_from


def _number_as_text(value: Any) -> str:
    """A number as people write it, in six digits, or all of a whole one; other values as they are written.

    >>> _number_as_text("0.1257302210933933"), _number_as_text(1234567.0), _number_as_text(True), _number_as_text("1,5")
    ('0.12573', '1234567', 'true', '1,5')
    """
    if isinstance(value, bool):
        return word_of(value)
    try:
        number = number_of(value)
    except ValueError:  # with a decimal comma, or a word for a truth value
        return word_of(value)
    return str(int(number)) if number.is_integer() and abs(number) < WHOLE else f"{number:.6g}"


def categories_of(features: RowFeatures, name: str, value: Any) -> list[str]:
    """The values of a field of categories: one, or those of a list."""
    return [features.category_of(name, item) for item in (value if isinstance(value, list | tuple) else [value])]
