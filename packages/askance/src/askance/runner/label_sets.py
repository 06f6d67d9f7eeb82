"""Events with several labels each: what differs from ``stream_runner``, where an event has one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from askance.data import Batch, Stream
from askance.data.formats.read_options import ReadOptions
from askance.errors import InvalidInput, InvalidParameter
from askance.evaluate.metrics.label_sets import summarise_label_sets
from askance.evaluate.metrics.register import USUAL_WEIGHTS, Weights
from askance.learner.multilabel import MultiLabelTrace
from askance.learner.multilabel.classifier import parameters_for_sets
from askance.learner.multilabel.label_sets import UnknownLabel, check_labels, read_set
from askance.runner.algorithm_spec import LABEL_SET_ALGORITHM, AlgorithmSpec
from askance.runner.model import USUAL_SEPARATOR, Model
from askance.runner.stream_runner import StreamRunner, no_label_in


class LabelSetRunner(StreamRunner):
    """One algorithm on the batches of a stream of label sets. The budget counts answers: one for each label of an event
    that is asked about."""

    usual_algorithm: ClassVar[str] = LABEL_SET_ALGORITHM
    reads_labels_first: ClassVar[bool] = True
    totals: LabelSetTotals

    @staticmethod
    def check_spec(spec: AlgorithmSpec, reading: ReadOptions) -> AlgorithmSpec:
        spec = replace(spec, parameters=parameters_for_sets(spec.algorithm, spec.parameters))
        labels = None if reading.classes is None else check_labels(reading.classes)
        spec.make_multilabel(labels, reading.label_separator)
        return spec

    @staticmethod
    def options(reading: ReadOptions, model: Model | None) -> ReadOptions:
        separator = reading.label_separator or (model and model.classifier.label_separator) or USUAL_SEPARATOR
        return replace(reading, labels="text", label_separator=separator, classes=None)

    @staticmethod
    def labels_in(stream: Stream) -> list[str]:
        if not stream.source.can_be_read_again:
            raise InvalidParameter("a pipe is read once; name all labels: labels=, or --classes A,B,...")
        found: set[str] = set()
        for batch in stream:
            sets = _sets_of(batch, stream)
            for each in {value for value in sets if not isinstance(value, dict)}:
                found |= read_set(each, "a label", stream.options.label_separator) or set()
            found.update(label for value in sets if isinstance(value, dict) for label in value)
        if not found:
            raise no_label_in(stream)
        return sorted(found)

    def warnings(self) -> list[str]:
        return []

    def _read_labels(self, batch: Batch) -> list[Any]:
        if self.totals is None:
            separator = self.stream.options.label_separator
            if self.first_model is not None:
                self.clf = self.first_model.classifier
                self.clf.label_separator = separator
            else:
                self.clf = self.spec.make_multilabel(check_labels(self.classes), separator)
            self.totals = LabelSetTotals()
        return _sets_of(batch, self.stream)

    def _run(self, X: Any, y: Any, batch: Batch) -> MultiLabelTrace:
        try:
            trace: MultiLabelTrace = self.clf.run(X, y, times=batch.times)
        except UnknownLabel as error:
            kept = "" if self.first_model is None else "a model keeps its labels, so "
            when = "" if self.first_model is None else " when it is first run"
            raise InvalidInput(
                f"event {batch.first_row + error.row + 1:,} of {self.stream.name!r} {error.what}; {kept}name all of "
                f"them{when}: labels=, or --classes A,B,..."
            ) from None
        except InvalidInput as error:
            raise InvalidInput(f"{self.stream.name!r}, from event {batch.first_row + 1:,} on: {error}") from None
        return trace

    def _too_wide(self) -> str:
        return (
            f"{self.stream.name!r} has {self.width:,} features for each of {len(self.clf.labels):,} labels, more than "
            "the memory has room for; name an algorithm that keeps less of each, such as PAA-I, or leave out rare "
            "labels."
        )


def _sets_of(batch: Batch, stream: Stream) -> list[Any]:
    if batch.y is None:
        raise InvalidInput(f"{stream.name!r} has no labels; name the field they are in.")
    sets: list[Any] = np.asarray(batch.y, object).tolist()
    return sets


class LabelSetTotals:
    """The decisions on all events so far, and the metrics of ``MultiLabelTrace.summary``."""

    positive_label = None

    def __init__(self) -> None:
        self._traces: list[MultiLabelTrace] = []
        self.events = self.labels = 0
        self._questions = self._wrong = 0

    @property
    def accuracy(self) -> float:
        """The share of questions that were not predicted wrong."""
        return 1.0 - self._wrong / max(1, self._questions)

    def add(self, trace: MultiLabelTrace) -> None:
        """Take in one more piece."""
        self._traces.append(trace)
        self.events += len(trace)
        self.labels += int(trace.asked.sum())
        self._wrong += int(((trace.truth >= 0) & (trace.predicted != (trace.truth == 1))).sum())
        self._questions += trace.truth.size

    @property
    def trace(self) -> MultiLabelTrace:
        """All decisions."""
        self._traces = [MultiLabelTrace.join(self._traces)]
        return self._traces[0]

    def summary(self, weights: Weights = USUAL_WEIGHTS) -> dict[str, Any]:
        """The metrics of all labels together."""
        return summarise_label_sets(self.trace.truth, self.trace.predicted, self.trace.asked)

    def by_label(self) -> dict[Any, dict[str, Any]]:
        """For each label how many events have it, how many answers were requested, and its F1."""
        trace, found = self.trace, {}
        for number, label in enumerate(trace.labels):
            one = slice(number, number + 1)
            figures = summarise_label_sets(trace.truth[:, one], trace.predicted[:, one], trace.asked[:, one])
            has_label = int((trace.truth[:, number] == 1).sum())
            found[label] = {"events": has_label, "answers": figures["answers"], "f1": figures["micro_f1"]}
        return found

    def as_json(self, weights: Weights = USUAL_WEIGHTS) -> dict[str, Any]:
        """The metrics, of all labels together and of each."""
        by_label = {str(label): figures for label, figures in self.by_label().items()}
        return {**self.summary(), "by_label": by_label}
