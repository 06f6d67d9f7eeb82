"""Files of classifiers for label sets: model files with two more arrays, ``label_sets`` and ``reader``."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from askance.errors import ModelFileError
from askance.learner.engine import not_fitted_yet
from askance.learner.files import LABEL_SETS, describe, from_bytes, read, revive, save, to_bytes
from askance.learner.multilabel.classifier import MultiLabelClassifier
from askance.learner.multilabel.label_sets import check_labels
from askance.learner.multilabel.model_per_label import ModelPerLabel
from askance.learner.multilabel.questions import QuestionLearner
from askance.learner.multilabel.reader import EventReader

OWN = ("intercept", "label_separator", "normalize", "n_features")
"""Parameters that neither the learner nor the reader has."""
OF_LEARNER = ("query", "budget", "random_state", "explore", "max_pending", "max_pending_age")


def save_label_sets(clf: MultiLabelClassifier, path: str | os.PathLike[str], **more: np.ndarray) -> None:
    """Write a classifier to a file, whole or not at all, with more arrays that are to be kept with it."""
    if not clf._has_begun:
        raise not_fitted_yet("there is nothing to save before the first event.")
    document = {"labels": describe(list(clf.labels_)), **{name: getattr(clf, name) for name in OWN}}
    save(
        clf._learner,
        path,
        label_sets=np.frombuffer(json.dumps(document).encode(), np.uint8),
        reader=np.frombuffer(to_bytes(clf._reader), np.uint8),
        **more,
    )


def read_label_set_model(path: str | os.PathLike[str]) -> tuple[MultiLabelClassifier, dict[str, np.ndarray]]:
    """The classifier of a file, and all arrays that are kept there."""
    learner, arrays = read(path, QuestionLearner)
    try:
        document = json.loads(arrays[LABEL_SETS].tobytes())
        reader, _ = from_bytes(arrays["reader"].tobytes(), str(path), EventReader)
        clf = _restore(document, learner, reader)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ModelFileError(f"{str(path)!r} is not a model this version can read ({error}).") from None
    if clf is None:
        raise ModelFileError(f"{str(path)!r}: its model is too narrow for its labels.")
    return clf, arrays


def _restore(document: dict[str, Any], learner: QuestionLearner, reader: EventReader) -> MultiLabelClassifier | None:
    """The classifier of its parts; None if the learner has less room than the labels need."""
    labels = check_labels(revive(document.pop("labels")).tolist())
    update = learner.update.update if isinstance(learner.update, ModelPerLabel) else learner.update
    clf = MultiLabelClassifier(
        update=update, labels=labels, fields=reader.fields, na_values=reader.na_values, **document,
        **{name: getattr(learner, name) for name in OF_LEARNER},
    )  # fmt: skip
    clf._check_rules()
    if learner.n_features_in_ < clf._layout(labels).width(reader.n_features_in_):
        return None
    clf._keep(reader, learner, labels)
    return clf
