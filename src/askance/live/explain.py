"""Which words and fields moved a score, for the people who are asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from askance.features.kinds import CATEGORY, DATE, NUMBER, TEXT
from askance.features.rows import flatten, word_of
from askance.features.text import words
from askance.features.times import date_words

if TYPE_CHECKING:
    from askance.live.learner import Learner

MOST_WORDS, MOST_FIELDS = 5, 3  # effects: more is noise to whoever reads
LEAST_OF_KIND = 1 / 3  # of the strongest word, or of the strongest field: one number must not hide all words
LEAST_OF_ALL = 1 / 20


def explain(learner: Learner, fields: Mapping[str, Any], label: int, most: int) -> list[dict[str, Any]]:
    """The few strongest effects, the strongest first: positive ones speak for the class ``label``. Words count singly,
    not in pairs."""
    if not hasattr(learner.clf, "n_features_in_") or not hasattr(learner.clf, "coef_"):
        return []
    weights = _towards(learner.clf.coef_, label)
    encoder = learner.features.encoder
    columns, values = learner.encode(fields)
    value_at = dict(zip(columns.tolist(), values.tolist(), strict=True))
    effects: list[tuple[str, str | None, int]] = []
    for name, value in flatten(fields).items():
        kind = learner.features.kinds.get(name)
        if kind == NUMBER:
            column = encoder.number_columns[encoder.slots[name]]
            effects.append((name, None, column))
        elif kind == TEXT and value is not None:
            text = " ".join(value) if isinstance(value, list | tuple) else word_of(value)
            found = list(dict.fromkeys(words(text)))
            places = encoder.hasher.categories(name, found) + encoder.hashed_from
            effects.extend((name, word, int(column)) for word, column in zip(found, places, strict=True))
        elif kind in (CATEGORY, DATE):
            given = list(date_words(word_of(value).strip()) or ()) if kind == DATE else categories_of(value)
            places = encoder.hasher.categories(name, given) + encoder.hashed_from
            effects.extend((name, None, int(column)) for column in places)
    rated = [
        {"field": name, "word": word, "effect": round(float(weights[column]) * value_at.get(column, 0.0), 6)}
        for name, word, column in effects
    ]
    strongest = max((abs(item["effect"]) for item in rated), default=0.0)
    whole = [item for item in rated if item["word"] is None]
    spoken = [item for item in rated if item["word"] is not None]
    few = _few(whole, MOST_FIELDS, strongest) + _few(spoken, MOST_WORDS, strongest)
    return sorted(few, key=lambda item: -abs(item["effect"]))[:most]


def categories_of(value: Any) -> list[str]:
    """The values of a field of categories: one, or those of a list."""
    return [word_of(item) for item in (value if isinstance(value, list | tuple) else [value])]


def _few(rated: list[dict[str, Any]], most: int, strongest: float) -> list[dict[str, Any]]:
    """Those that matter beside the strongest of their kind, and beside the strongest of all."""
    least = max(LEAST_OF_KIND * max((abs(item["effect"]) for item in rated), default=0.0), LEAST_OF_ALL * strongest)
    telling = [item for item in rated if item["effect"] != 0.0 and abs(item["effect"]) >= least]
    return sorted(telling, key=lambda item: -abs(item["effect"]))[:most]


def _towards(weights: np.ndarray, label: int) -> np.ndarray:
    if len(weights) == 1:
        return weights[0] if label == 1 else -weights[0]
    return weights[label] - np.delete(weights, label, axis=0).mean(axis=0)
