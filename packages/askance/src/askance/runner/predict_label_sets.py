"""Predict the label sets of a file's events with a saved model, piece by piece; nothing of the model changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from askance.data import Batch
from askance.data.formats.read_options import ReadOptions, change
from askance.learner.multilabel.label_sets import read_known
from askance.runner.label_set_model import LabelSetModel
from askance.runner.predict import Predictions, Predictor


class LabelSetPredictor(Predictor):
    """Predicts label sets: a ``Predictor`` whose column ``labels`` has a list of the predicted labels of each event,
    and whose probabilities are those of each label.

    ``labeled`` counts the events whose labels are known, ``right`` those whose whole set was predicted.
    """

    def __init__(self, model: LabelSetModel, source: Any, reading: ReadOptions | None = None, **changes: Any) -> None:
        self.classifier, self.explain = model.classifier, 0
        self.classes = list(self.classifier.labels_)
        self.separator = model.separator
        reading = change(reading or ReadOptions(), **changes)
        separator = reading.label_separator or self.separator
        self._open(source, model.stream, reading, labels="text", label_separator=separator)

    @property
    def _fields(self) -> Iterable[str]:
        return getattr(self.classifier._reader, "fields_", ())

    def _predict(self, batch: Batch) -> Predictions:
        X = self._rows_of(batch)
        sets = np.empty(X.shape[0], object)
        for row, has_label in enumerate(self.classifier.predict(X) == 1):
            sets[row] = [str(self.classes[place]) for place in np.flatnonzero(has_label)]
        self._count(sets, batch.y)
        columns = {**self._number(batch), "labels": sets}
        return Predictions(columns, self.classifier.predict_proba(X), None)

    def _count(self, predicted: np.ndarray, y: np.ndarray | None) -> None:
        if y is None:
            return
        for found, value in zip(predicted, y.tolist(), strict=True):
            truth = read_known(value, "a label", self.stream.options.label_separator)
            if isinstance(truth, dict):
                is_whole = all(truth.get(str(label)) is not None for label in self.classes)
                truth = {label for label, answer in truth.items() if answer} if is_whole else None
            if truth is not None:
                self.labeled += 1
                self.right += set(found) == truth
