"""The few words and fields that moved a score most, for the people who are asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from askance.data.encoding.explain import effects
from askance.data.encoding.rows import flatten

if TYPE_CHECKING:
    from askance_live.engine.learner import Learner

MOST_WORDS, MOST_FIELDS = 5, 3  # effects: more is noise to whoever reads
LEAST_OF_KIND = 1 / 3  # of the strongest word, or of the strongest field: one number must not hide all words
LEAST_OF_ALL = 1 / 20


def explain(learner: Learner, fields: Mapping[str, Any], label: int, most: int) -> list[dict[str, Any]]:
    """The few strongest effects, the strongest first: positive ones speak for the class ``label``. Words count singly,
    not in pairs."""
    weights = learner.weights_towards(label)
    if weights is None:
        return []
    pushes = effects(learner.features, flatten(fields), weights)
    rated: list[dict[str, Any]] = [
        {"field": found.field, "word": found.word, "value": found.value, "effect": round(found.push, 6)}
        for found in pushes
    ]
    strongest = max((abs(item["effect"]) for item in rated), default=0.0)
    whole = [item for item in rated if item["word"] is None]
    spoken = [item for item in rated if item["word"] is not None]
    few = _few(whole, MOST_FIELDS, strongest) + _few(spoken, MOST_WORDS, strongest)
    return sorted(few, key=lambda item: -abs(item["effect"]))[:most]


def _few(rated: list[dict[str, Any]], most: int, strongest: float) -> list[dict[str, Any]]:
    """Those that matter beside the strongest of their kind, and beside the strongest of all."""
    least = max(LEAST_OF_KIND * max((abs(item["effect"]) for item in rated), default=0.0), LEAST_OF_ALL * strongest)
    telling = [item for item in rated if item["effect"] != 0.0 and abs(item["effect"]) >= least]
    return sorted(telling, key=lambda item: -abs(item["effect"]))[:most]
