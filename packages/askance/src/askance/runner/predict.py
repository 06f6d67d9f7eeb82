"""Predict the events of a file with a saved model, piece by piece; nothing of the model changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from askance.data import Batch, Stream
from askance.data.encoding.rows import word_of
from askance.data.formats.named_fields import find_id
from askance.data.formats.read_options import ReadOptions, change
from askance.errors import InvalidInput, InvalidParameter
from askance.runner.model import LABEL_KINDS, USUAL_SEPARATOR, Model
from askance.runner.sources import open_source


class Predictions(NamedTuple):
    """What a model says of some events, in order."""

    columns: dict[str, np.ndarray]
    """By name: ``event``, the number of the event from 1; ``file``, ``line`` and ``id``, if it has them; ``label``, the
    predicted one; ``margin``, how far it lies towards the second of two classes, or the best score minus the second. Of
    label sets ``labels`` is there in place of these two."""
    probabilities: np.ndarray
    """The probability of each class."""
    reasons: list[list[tuple[Any, float]]] | None
    """What moved the score of each event, the strongest first; None without ``explain``."""


class Predictor:
    """Predicts the events of a file. Iterate over it for ``Predictions``; memory stays constant.

    Parameters
    ----------
    model : Model
        What predicts.
    source
        Anything ``open_stream`` reads, or a name that ``askance data list`` shows.
    explain : int, default 0
        How many reasons to give for each event, at most.
    **reading
        Options of ``open_stream``.

    Attributes
    ----------
    separator : str
        Of label sets: what stands between the labels of an event.
    events : int
        How many events were predicted so far.
    labeled, right : int
        How many of them have a label that is one of the classes, and for how many of these it was predicted.

    Examples
    --------
    >>> import io, tempfile
    >>> import askance
    >>> clf = askance.make("PAA-I", random_state=0).fit(["win a prize", "lunch today"] * 5, ["spam", "ham"] * 5)
    >>> with tempfile.NamedTemporaryFile(suffix=".model") as file:
    ...     clf.save(file.name)
    ...     model = Model.load(file.name)
    >>> with Predictor(model, io.BytesIO(b'{"text": "win the prize"}'), format="jsonl", explain=1) as predictor:
    ...     for found in predictor:
    ...         print(found.columns["label"], [word for word, push in found.reasons[0]])
    ['spam'] ['win']
    """

    separator = ""

    def __init__(
        self, model: Model, source: Any, reading: ReadOptions | None = None, *, explain: int = 0, **changes: Any
    ) -> None:
        self.classifier: Any = model.classifier
        self.explain = explain
        self.events = self.labeled = self.right = 0
        self._reader = model.reader
        reading = self._options(model, change(reading or ReadOptions(), **changes))
        self.stream: Stream = open_source(source, reading, state=model.stream, frozen=True, origins=True)

    def _options(self, model: Model, reading: ReadOptions) -> ReadOptions:
        """How the source is read, once it is known what is predicted."""
        classes = self.classifier.classes_
        self.classes: list[Any] = classes.tolist()
        self._words = frozenset(map(word_of, self.classes))
        labels = reading.labels or model.stream.get("labels") or LABEL_KINDS.get(classes.dtype.kind, "text")
        return change(reading, labels=labels, classes=self.classes, keep_rows=self.explain > 0)

    def __enter__(self) -> Predictor:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def __iter__(self) -> Iterator[Predictions]:
        for batch in self.stream:
            yield self._predict(batch)
        if not self.events:
            raise InvalidInput(f"{self.stream.name!r} has no events.")

    @property
    def left_out(self) -> list[str]:
        """The fields of the file that the model does not know, label and id aside."""
        names = list(self.stream.first_values)
        known = set(getattr(self._reader, "fields_", ()))
        known |= {name.split(".")[0] for name in known} | {f.name for f in self.stream.fields if f.kind == "label"}
        return [name for name in names if name not in known and name != find_id(names)]

    def _predict(self, batch: Batch) -> Predictions:
        X = self._rows_of(batch)
        labels = self.classifier.predict(X)
        self._count(labels, batch.y)
        columns = {**self._number(batch), "label": labels, "margin": self._margin(X)}
        reasons = self._reasons(batch, X, labels) if self.explain else None
        return Predictions(columns, self.classifier.predict_proba(X), reasons)

    def _rows_of(self, batch: Batch) -> Any:
        """The events of a batch, as wide as the model."""
        clf = self.classifier
        if clf.n_features_in_ < batch.X.shape[1]:  # numbered features never seen, of which nothing was learned
            clf.widen(batch.X.shape[1])
        return batch.to_width(clf.n_features_in_)

    def _number(self, batch: Batch) -> dict[str, np.ndarray]:
        """The numbers of the events of a batch, and where they come from."""
        first = self.events + 1
        self.events += batch.X.shape[0]
        return {"event": np.arange(first, self.events + 1), **batch.origins}

    def _margin(self, X: Any) -> np.ndarray:
        scores: np.ndarray = self.classifier.decision_function(X)
        if scores.ndim == 1:
            return scores
        best = np.partition(scores, -2, axis=1)[:, -2:]
        margins: np.ndarray = best[:, 1] - best[:, 0]
        return margins

    def _reasons(self, batch: Batch, X: Any, labels: np.ndarray) -> list[list[tuple[Any, float]]]:
        events = batch.rows or (
            (X.indices[start:stop], X.data[start:stop])
            for start, stop in zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True)
        )
        return [
            self.classifier.explain(event, label)[: self.explain]
            for event, label in zip(events, labels.tolist(), strict=True)
        ]

    def _count(self, predicted: np.ndarray, y: np.ndarray | None) -> None:
        """Compare the predictions with those labels that are classes of the model."""
        if y is None:
            return
        pairs = zip(predicted.tolist(), y.tolist(), strict=True)
        found = [(word_of(one), word_of(other)) for one, other in pairs if other is not None]
        known = [one == other for one, other in found if other in self._words]
        self.labeled += len(known)
        self.right += sum(known)


class LabelSetPredictor(Predictor):
    """Predicts label sets: a ``Predictor`` whose column ``labels`` has a list of the predicted labels of each event,
    and whose probabilities are those of each label.

    ``labeled`` counts the events whose labels are known, ``right`` those whose whole set was predicted.
    """

    def _options(self, model: Model, reading: ReadOptions) -> ReadOptions:
        if self.explain:
            raise InvalidParameter("--explain is for events with one label, not for label sets; leave it out.")
        self.classes = list(self.classifier.labels_)
        self.separator = self.classifier.label_separator or USUAL_SEPARATOR
        return change(reading, labels="text", label_separator=reading.label_separator or self.separator)

    def _predict(self, batch: Batch) -> Predictions:
        X = self._rows_of(batch)
        sets = np.empty(X.shape[0], object)
        for row, has_label in enumerate(self.classifier.predict(X) == 1):
            sets[row] = [str(self.classes[index]) for index in np.flatnonzero(has_label)]
        self._count(sets, batch.y)
        columns = {**self._number(batch), "labels": sets}
        return Predictions(columns, self.classifier.predict_proba(X), None)

    def _count(self, predicted: np.ndarray, y: np.ndarray | None) -> None:
        from askance.learner.multilabel.label_sets import read_known

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


def open_predictor(model: Model, source: Any, reading: ReadOptions | None = None, *, explain: int = 0) -> Predictor:
    """What predicts the events of a file, by the kind of label that the model has."""
    kind = LabelSetPredictor if model.has_label_sets else Predictor
    return kind(model, source, reading, explain=explain)
