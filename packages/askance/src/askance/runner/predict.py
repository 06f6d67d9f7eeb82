"""Predict the events of a file with a saved model, piece by piece; nothing of the model changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from askance.data import Batch, Stream
from askance.data.encoding.rows import word_of
from askance.data.formats.named_fields import find_id
from askance.data.formats.read_options import ReadOptions, change
from askance.errors import InvalidInput
from askance.runner.model import LABEL_KINDS, Model
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
    """What moved the score of each event, the strongest first; None if nobody asked."""


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
        What stands between the labels of an event, where they are sets (``LabelSetPredictor``).
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
        self.classes: list[Any] = self.classifier.classes_.tolist()
        self._words = frozenset(map(word_of, self.classes))
        kind = LABEL_KINDS.get(self.classifier.classes_.dtype.kind, "text")
        reading = change(reading or ReadOptions(), **changes)
        labels = reading.labels or model.stream.get("labels") or kind
        self._open(source, model.stream, reading, labels=labels, classes=self.classes, keep_rows=explain > 0)

    def _open(self, source: Any, state: Any, reading: ReadOptions, **changes: Any) -> None:
        self.events = self.labeled = self.right = 0
        self.stream: Stream = open_source(source, reading, **changes, state=state, frozen=True, origins=True)

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
        known = set(self._fields)
        known |= {name.split(".")[0] for name in known} | {f.name for f in self.stream.fields if f.kind == "label"}
        return [name for name in names if name not in known and name != find_id(names)]

    @property
    def _fields(self) -> Iterable[str]:
        """The names of the fields that the model knows."""
        return getattr(self.classifier, "fields_", ())

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
