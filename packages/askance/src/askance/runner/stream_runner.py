"""Play the batches of a stream: find the classes, widen the learner, count the totals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from askance.data import Batch, Stream
from askance.data.formats.labels import refuse_quantities
from askance.engines import WorkerEngine
from askance.errors import InvalidInput, InvalidParameter, UnfitCosts
from askance.learner.labels import distinct_labels
from askance.learner.state import room_for
from askance.learner.trace import Trace
from askance.runner.algorithm_spec import AlgorithmSpec
from askance.runner.model import Model
from askance.runner.totals import Totals
from askance.runner.traces import TraceFile


class LateClass(Exception):
    """A label came that was not among the first ones."""


class StreamRunner:
    """One algorithm on the batches of one stream.

    Parameters
    ----------
    stream : Stream
        Where the batches come from.
    spec : AlgorithmSpec
        The algorithm.
    model : Model or None
        The model to go on with, instead of a new one.
    classes : sequence of labels or None
        All labels; None: those of the first batch.
    positive : label or None
        The positive class.
    may_be_late : bool
        Whether to raise ``LateClass``, rather than an error for the user, if the first batch does not have all labels.
    workers : int, WorkerEngine or None
        Update the model in rounds, with so many threads or an engine; None: learn at once.
    """

    def __init__(
        self,
        stream: Stream,
        spec: AlgorithmSpec,
        model: Model | None,
        classes: Sequence[Any] | None,
        positive: Any,
        may_be_late: bool,
        workers: int | WorkerEngine | None = None,
    ) -> None:
        self.stream, self.spec, self.first_model = stream, spec, model
        self.classes, self.positive, self.may_be_late = classes, positive, may_be_late
        self.workers = workers
        self.clf: Any = None
        self.totals: Totals | None = None
        self.unlabeled = self.width = 0

    def add(self, batch: Batch, file: TraceFile | None) -> Trace | None:
        """Play one more batch, and write its trace; events without a label are predicted only."""
        if batch.y is None:
            raise InvalidInput(
                f"{self.stream.name!r} has no labels, which are needed to answer and to count; name the field they are "
                "in, or use 'askance pipe' for events whose labels come later."
            )
        known = known_labels(batch.y)
        totals = self.totals if self.totals is not None else self._begin(known, len(batch.y))
        self._check_labels(known, totals.classes, batch)
        self.width = max(self.width, batch.X.shape[1])
        first_event = self.clf.events_seen_ + 1
        try:
            trace = self._play(batch, batch.y)
        except MemoryError:
            raise InvalidInput(
                f"{self.stream.name!r} has {self.width:,} features, more than the memory has room for; look for a "
                "wrong index, number the features anew, or name an algorithm that keeps less of each, such as PAA-I."
            ) from None
        totals.add(trace)
        if file is not None:
            file.add(trace, first_event, batch.origins)
        return trace

    def _play(self, batch: Batch, y: np.ndarray) -> Trace:
        """The trace of a batch; the learner is widened to the stream first."""
        if not self.clf._has_begun:
            model_width = max(1, self.width)
        else:
            if self.clf.n_features_in_ < self.width:
                self.clf.widen(room_for(self.width))
            model_width = self.clf.n_features_in_
        trace: Trace = self.clf.run(batch.to_width(model_width), y, times=batch.times, workers=self.workers)
        self.unlabeled += len(trace) - len(trace.labeled)
        return trace

    def finish(self) -> tuple[Model, Totals]:
        """The model and the totals at the end of the stream."""
        if self.totals is None:
            raise InvalidInput(f"{self.stream.name!r} has no events.")
        if not self.width:
            self.stream.refuse_no_columns()
        return self.model(), self.totals

    def model(self) -> Model:
        """The model as it is, between two batches."""
        about = dict(self.first_model.about if self.first_model is not None else self.spec.about())
        about.pop("position", None)
        return Model(self.clf, self.stream.state(), about)

    def _begin(self, y: np.ndarray, n_events: int) -> Totals:
        """Make the learner from the labels of the first events, or take the one to go on with."""
        if self.first_model is not None:
            self.clf = self.first_model.classifier
            classes = self.clf.classes_
        else:
            if not len(y) and self.classes is None:
                raise self._late() or InvalidInput(
                    f"none of the first {n_events:,} events of {self.stream.name!r} has a label; name the classes if "
                    "labels come later."
                )
            classes = distinct_labels(
                y if self.classes is None else as_labels(self.classes, y if len(y) else None), "classes"
            )
            if len(classes) < 2:
                raise self._late() or InvalidInput(
                    f"{self.stream.name!r} has only one class, {str(classes.item(0))!r}, "
                    f"{'in its first events' if self.classes is None else 'in all its events'}; learning needs two or "
                    "more: is this the right field, or do other classes come later, and should be named?"
                )
            if self.classes is None:
                refuse_quantities(classes, len(y), self.stream.name)
            positive = self._positive(classes) if len(classes) == 2 else None
            try:
                self.clf = self.spec.make(classes.tolist(), positive=positive)
            except UnfitCosts as error:
                raise self._late() or error from None
        self.totals = Totals(classes, self._positive(classes))
        return self.totals

    def _late(self) -> LateClass | None:
        return LateClass() if self.may_be_late else None

    def _positive(self, classes: np.ndarray) -> int | None:
        if self.positive is None:
            return 1 if len(classes) == 2 else None
        for place, label in enumerate(classes.tolist()):
            if label == self.positive or str(label) == str(self.positive):
                return place
        known = ", ".join(str(label) for label in classes[:10].tolist())
        raise self._late() or InvalidParameter(
            f"{self.stream.name!r} has no class {str(self.positive)!r}; its classes are {known}."
        )

    def _check_labels(self, y: np.ndarray, classes: np.ndarray, batch: Batch) -> None:
        known = set(classes.tolist())
        new = [label for label in distinct_labels(y, "y").tolist() if label not in known]
        if new:
            assert batch.y is not None
            row = batch.first_row + batch.y.tolist().index(new[0]) + 1
            listed = ", ".join(str(label) for label in classes[:10].tolist())
            advice = "those of the model" if self.first_model is not None else "name all classes if there are more"
            raise self._late() or InvalidInput(
                f"event {row:,} of {self.stream.name!r} has the label {str(new[0])!r}, which is not one of the classes "
                f"{listed} ({advice})."
            )


def known_labels(y: np.ndarray) -> np.ndarray:
    """The labels of a batch that are not missing."""
    return y if y.dtype != object else np.array([label for label in y.tolist() if label is not None])


def labels_in(stream: Stream) -> list[Any]:
    """All labels of a stream, which is read to its end."""
    found: set[Any] = set()
    for batch in stream:
        present = known_labels(batch.y) if batch.y is not None else ()
        found.update(distinct_labels(present, "y").tolist() if len(present) else [])
    if not found:
        raise InvalidInput(
            f"{stream.name!r} has {stream.rows_read:,} events, but none has a label; is it the right field?"
        )
    labels = sorted(found)
    refuse_quantities(np.array(labels), stream.rows_read, stream.name)
    return labels


def as_labels(texts: Sequence[Any], like: np.ndarray | None) -> list[Any]:
    """The labels in the type of the stream's: as numbers if those are numbers."""
    kind = "U" if like is None else like.dtype.kind
    try:
        if kind in "iu":
            return [int(text) for text in texts]
        return [float(text) for text in texts] if kind == "f" else [str(text) for text in texts]
    except ValueError:
        raise InvalidParameter(
            f"the labels of the stream are numbers, but the classes are {', '.join(map(str, texts))}."
        ) from None
