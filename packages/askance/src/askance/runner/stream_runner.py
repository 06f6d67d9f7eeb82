"""Run one algorithm on the batches of a stream: find the classes, widen the learner, count the totals.

``label_sets`` has what differs where events have several labels each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from askance.data import Batch, Stream
from askance.data.encoding.kinds import number_in
from askance.data.formats.labels import refuse_quantities
from askance.data.formats.read_options import ReadOptions
from askance.data.formats.stream import warnings_of
from askance.engines import WorkerEngine
from askance.errors import InvalidInput, InvalidParameter, UnfitCosts
from askance.learner.labels import distinct_labels
from askance.learner.state import room_for
from askance.learner.trace import Trace
from askance.runner.algorithm_spec import USUAL_ALGORITHM, AlgorithmSpec
from askance.runner.model import Model
from askance.runner.totals import Totals
from askance.runner.traces import TraceFile


class LateClass(Exception):
    """A label came that was not among the first ones."""


class StreamRunner:
    """One algorithm on the batches of one stream, whose events have one label each.

    Parameters
    ----------
    stream : Stream
        Where the batches come from.
    spec : AlgorithmSpec
        The algorithm.
    model : Model or None
        The model to resume, instead of a new one.
    classes : sequence of labels or None
        All labels; None: those of the first batch.
    positive : label or None
        The positive class.
    may_be_late : bool
        Whether to raise ``LateClass``, rather than an error for the user, if the first batch does not have all labels.
    workers : int, WorkerEngine or None
        Update the model in rounds, with so many threads or an engine; None: learn at once.
    """

    usual_algorithm: ClassVar[str] = USUAL_ALGORITHM
    reads_labels_first: ClassVar[bool] = False
    """Whether all labels must be known before the first event is learned."""

    def __init__(
        self,
        stream: Stream,
        spec: AlgorithmSpec,
        model: Model | None,
        classes: Sequence[Any] | None,
        positive: Any = None,
        may_be_late: bool = False,
        workers: int | WorkerEngine | None = None,
    ) -> None:
        self.stream, self.spec, self.first_model = stream, spec, model
        self.classes, self.positive, self.may_be_late = classes, positive, may_be_late
        self.workers = workers
        self.clf: Any = None
        self.totals: Any = None
        """The counts so far; None before the first batch."""
        self.unlabeled = self.width = 0

    # --- what the kind of label decides ------------------------------------------------------------------

    @staticmethod
    def check_spec(spec: AlgorithmSpec, reading: ReadOptions) -> AlgorithmSpec:
        """The algorithm; raises if it cannot work, before anything is read."""
        spec.check()
        return spec

    @staticmethod
    def options(reading: ReadOptions, model: Model | None) -> ReadOptions:
        """How the stream is read."""
        classes = reading.classes
        if reading.labels is None and classes and any(number_in(str(label)) is None for label in classes):
            reading = replace(reading, labels="text")  # even if the first ones are numbers
        return reading if model is None else replace(reading, classes=model.classifier.classes_.tolist())

    @staticmethod
    def labels_in(stream: Stream) -> list[Any]:
        """All labels of a stream, which is read to its end."""
        found: set[Any] = set()
        for batch in stream:
            present = known_labels(batch.y) if batch.y is not None else ()
            found.update(distinct_labels(present, "y").tolist() if len(present) else [])
        if not found:
            raise no_label_in(stream)
        labels = sorted(found)
        refuse_quantities(np.array(labels), stream.rows_read, stream.name)
        return labels

    def warnings(self) -> list[str]:
        """What looks wrong in the data."""
        return warnings_of(self.stream)

    def _read_labels(self, batch: Batch) -> Any:
        """The labels of a batch, all of them known to the learner, which begins with the first ones."""
        if batch.y is None:
            raise InvalidInput(
                f"{self.stream.name!r} has no labels, which are needed to answer and to count; name the field they are "
                "in, or use 'askance pipe' for events whose labels come later."
            )
        known = known_labels(batch.y)
        if self.totals is None:
            self._begin(known, len(batch.y))
        self._check_labels(known, self.totals.classes, batch)
        return batch.y

    def _run(self, X: Any, y: Any, batch: Batch) -> Any:
        """The trace of a batch whose rows are as wide as the learner."""
        trace: Trace = self.clf.run(X, y, times=batch.times, workers=self.workers)
        self.unlabeled += len(trace) - len(trace.labeled)
        return trace

    def _too_wide(self) -> str:
        """What to do about a model that the memory has no room for."""
        return (
            f"{self.stream.name!r} has {self.width:,} features, more than the memory has room for; look for a wrong "
            "index, number the features anew, or name an algorithm that keeps less of each, such as PAA-I."
        )

    # --- the stream --------------------------------------------------------------------------------------

    def add(self, batch: Batch, file: TraceFile | None = None) -> Any:
        """Run one more batch, and write its trace; events without a label are predicted only."""
        y = self._read_labels(batch)
        self.width = max(self.width, batch.X.shape[1])
        first_event = self.clf.events_seen_ + 1
        try:
            if self.clf._has_begun and self.clf.n_features_in_ < self.width:
                self.clf.widen(room_for(self.width))
            width = self.clf.n_features_in_ if self.clf._has_begun else max(1, self.width)
            trace = self._run(batch.to_width(width), y, batch)
        except MemoryError:
            raise InvalidInput(self._too_wide()) from None
        self.totals.add(trace)
        if file is not None:
            file.add(trace, first_event, batch.origins)
        return trace

    def finish(self) -> Model:
        """The model at the end of the stream."""
        if self.totals is None:
            raise InvalidInput(f"{self.stream.name!r} has no events.")
        if not self.width:
            self.stream.refuse_no_columns()
        return self.model()

    def model(self) -> Model:
        """The model as it is, between two batches."""
        about = dict(self.first_model.about if self.first_model is not None else self.spec.about())
        about.pop("position", None)
        return Model(self.clf, self.stream.state(), about)

    # --- classes -----------------------------------------------------------------------------------------

    def _begin(self, y: np.ndarray, n_events: int) -> None:
        """Make the learner from the labels of the first events, or take the one to resume."""
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

    def _late(self) -> LateClass | None:
        return LateClass() if self.may_be_late else None

    def _positive(self, classes: np.ndarray) -> int | None:
        if self.positive is None:
            return 1 if len(classes) == 2 else None
        for index, label in enumerate(classes.tolist()):
            if label == self.positive or str(label) == str(self.positive):
                return index
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


def no_label_in(stream: Stream) -> InvalidInput:
    """The error for a stream that was read to its end without a label."""
    return InvalidInput(
        f"{stream.name!r} has {stream.rows_read:,} events, but none has a label; is it the right field?"
    )


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
