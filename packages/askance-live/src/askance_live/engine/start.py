"""A saved model that a service starts from, instead of one that knows nothing.

``model.load`` in the settings names a file that ``askance run --save``, ``askance pipe --save`` or ``clf.save`` wrote.
The store keeps its content from the beginning, at place 0 of its checkpoints, and every replay starts from that. So the
model stays a function of settings and log, whatever becomes of the file:

    model = f(settings, content, log[1..n])

Rules, weights, fields, running statistics and random numbers are the file's. What counts for a stream of its own begins
anew: the budget, the questions that wait, and the estimates of quality. A class that one of the file's latest answers
had needs no cold start, and these answers also begin the calibration.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from askance.data.encoding.kind_evidence import TypeMismatches
from askance.data.encoding.kinds import format_names
from askance.data.encoding.rows import RowFeatures
from askance.errors import InvalidParameter, ModelFileError
from askance.evaluate.calibration import OnlineCalibration
from askance.evaluate.calibration.windowed import calibrate, sort_answers
from askance.learner.auto.decaying_rate import resolve_budget
from askance.learner.auto.rule import Committee
from askance.learner.budget import Budget
from askance.learner.classifier import StreamClassifier
from askance.learner.files import PIPELINE, from_bytes
from askance.learner.model_fields import MODEL_FIELDS
from askance.learner.rule import UpdateRule
from askance_live.config import AskingSettings, Config, ModelSettings
from askance_live.engine.exploration import budget_of

MOST_BYTES = 2_000_000_000
ANEW = ("budget_state", "tickets")
"""Those of a model's fields that begin anew with a service."""


class Start(NamedTuple):
    """A model to start from, checked against the settings."""

    content: bytes
    """The file."""
    name: str
    """What the settings call it."""
    classes: list[str]
    """Its labels, as text, in its own order."""
    fields: Mapping[str, str]
    """Kinds that the settings give to fields."""
    update: UpdateRule
    n_features: int
    n_fields: int
    hash_bits: int
    algorithm: str

    @property
    def digest(self) -> str:
        """A hash of the file."""
        return hashlib.sha256(self.content).hexdigest()

    def budget(self, asking: AskingSettings) -> Budget:
        """The budget of the settings, spread as the algorithm would have it."""
        budget: Budget = budget_of(asking)
        return resolve_budget(budget) if isinstance(self.update, Committee) else budget

    def begin(self, asking: AskingSettings) -> tuple[StreamClassifier, RowFeatures]:
        """The model, ready for a stream of its own; and its encoder."""
        clf, _ = _read(self.content, self.name)
        features = clf._features
        del clf._features
        clf.__dict__.pop("feature_names_in_", None)
        clf.fields = clf.na_values = None
        clf.classes, clf._engine.classes = self.classes, np.array(self.classes)
        clf.budget, clf.max_pending, clf.max_pending_age = self.budget(asking), 0, None
        engine, rules = clf._engine, clf._rules()
        engine.constraints = rules.budget.constraints_key()
        for field in MODEL_FIELDS:
            if field.attribute in ANEW:
                setattr(engine, field.attribute, field.begin(engine, rules))
        features.given = {**self.fields, **features.given}
        features.time_field = None  # events come when they come
        features.mismatches = TypeMismatches()
        return clf, features

    def begin_calibration(self, clf: StreamClassifier) -> tuple[OnlineCalibration, list[int]]:
        """The calibration by the latest answers of the file; and how many of them each class has.

        Slope and offset are those of ``predict_proba``, so that the service begins with the probabilities that the file
        gives in Python; their variances are as if the answers had come one by one."""
        calibration, counts = OnlineCalibration(), [0] * len(self.classes)
        labels, weights, scores = sort_answers(clf._engine.recent)
        for label, weight, own in zip(labels.tolist(), weights.tolist(), scores, strict=True):
            counts[label] += 1
            if self.update.probabilistic or not np.isfinite(own).all() or not weight > 0.0:
                continue  # the scores of a probabilistic rule are in other units
            is_pair = len(self.classes) == 2 and len(own) == 2
            calibration.learn([float(own[1] - own[0])] if is_pair else own.tolist(), label, weight)
        if self.update.probabilistic:
            calibration.slope = 1.0  # its scores are log-odds, but for the third digit
        elif len(labels):
            calibration.slope, calibration.offset = calibrate(clf._engine.recent, self.update.moves_threshold)
        return calibration, counts


def start_from_file(config: Config) -> Start | None:
    """The model that the settings name, from its file; None where they name none."""
    if not config.model.load:
        return None
    start = start_from(_content(config.folder / config.model.load), config.model)
    if start.n_fields > config.server.fields:
        raise InvalidParameter(
            f"the model {start.name!r} has {start.n_fields:,} fields, where server.fields allows "
            f"{config.server.fields:,}; raise it, or leave model.load out."
        )
    return start


def start_from(content: bytes, model: ModelSettings) -> Start:
    """A model to start from, once its classes and its fields are found to be those of the settings."""
    clf, algorithm = _read(content, model.load)
    labels = _labels(clf)
    if sorted(labels) != model.classes:
        raise InvalidParameter(
            f"the model {model.load!r} has the classes {format_names(labels)}, and the settings have "
            f"{format_names(model.classes)}; give both the same, or leave model.load out."
        )
    if labels != model.classes:
        raise InvalidParameter(
            f"the classes of the model {model.load!r} are the numbers {format_names(labels)}, which have another order "
            "as words; train it with words as labels."
        )
    wanted = RowFeatures(model.fields)
    for name, kind in clf.fields_.items():
        if wanted.given_kind(name) not in (None, kind):
            raise InvalidParameter(
                f"the field {name!r} is of the kind {kind} in the model {model.load!r}, and of the kind "
                f"{wanted.given_kind(name)} in the settings; take it out of [fields], or train the model anew."
            )
    return Start(
        content=content,
        name=model.load,
        classes=labels,
        fields=model.fields,
        update=clf._rules().update,
        n_features=clf.n_features_in_,
        n_fields=len(clf.fields_),
        hash_bits=clf._features.encoder.hasher.bits,
        algorithm=algorithm,
    )


def read_classes(path: Path) -> list[str]:
    """The labels of a model file, as text."""
    return _labels(_read(_content(path), str(path))[0])


def _labels(clf: StreamClassifier) -> list[str]:
    return [str(label) for label in clf.classes_.tolist()]


def _content(path: Path) -> bytes:
    try:
        if (size := path.stat().st_size) > MOST_BYTES:
            raise ModelFileError(f"the model {str(path)!r} has {size:,} bytes, where at most {MOST_BYTES:,} may be.")
        return path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"cannot read the model {str(path)!r}: {error.strerror}.") from None


def _read(content: bytes, name: str) -> tuple[StreamClassifier, str]:
    """A classifier that has learned from events with named fields; and what its algorithm is called."""
    clf, arrays = from_bytes(content, name, StreamClassifier)
    if not clf._has_begun:
        raise ModelFileError(f"{name!r} holds a classifier that has learned nothing; leave it out.")
    if PIPELINE in arrays:
        raise ModelFileError(f"{name!r} holds a pipeline, whose transformers are not for a service; leave it out.")
    if not hasattr(clf, "_features"):
        raise ModelFileError(
            f"{name!r} holds a model of columns without names, and the events of a service have named fields; train "
            "one with events that have them, such as a CSV file, JSON lines or a table."
        )
    try:
        algorithm = str(json.loads(arrays["stream"].tobytes())["about"]["algorithm"])
    except (KeyError, TypeError, ValueError):  # saved in Python
        algorithm = type(clf._rules().update).__name__
    return clf, algorithm
