"""Which learner a stream has: one of single classes, or one of label sets."""

from __future__ import annotations

from askance_live.config import ModelSettings
from askance_live.engine.label_sets.learner import LabelSetLearner
from askance_live.engine.learner import Learner


def learner_kind(model: ModelSettings) -> type[Learner]:
    """The learner that the settings ask for."""
    return LabelSetLearner if model.label_sets else Learner
