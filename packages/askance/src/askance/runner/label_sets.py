"""Run one algorithm on one file whose labels are sets, piece by piece."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from askance.data import Batch, Stream
from askance.data.formats.read_options import ReadOptions, change
from askance.errors import InvalidInput, InvalidParameter
from askance.evaluate.metrics.label_sets import summarise_label_sets
from askance.learner.multilabel import MultiLabelClassifier, MultiLabelTrace
from askance.learner.multilabel.classifier import parameters_for_sets
from askance.learner.multilabel.label_sets import UnknownLabel, check_labels, read_set
from askance.learner.state import room_for
from askance.runner.algorithm_spec import AlgorithmSpec
from askance.runner.label_set_model import USUAL_SEPARATOR, LabelSetModel
from askance.runner.model import check_can_be_written
from askance.runner.preparation import describe_preparation
from askance.runner.run import SCALES, Progress
from askance.runner.sources import open_source

USUAL_ALGORITHM = "D-ADA"
"""What plays label sets if no algorithm is named."""


@dataclass(frozen=True)
class LabelSetResult:
    """The result of playing a stream of label sets."""

    name: str
    """The name of the file; ``-`` for the standard input."""
    model: LabelSetModel
    """The classifier with the state of the stream."""
    trace: MultiLabelTrace
    preparation: str
    """What was done to the values, in words."""
    features: int
    seconds: float
    """The time it took, reading included."""
    bad_lines: int
    bad_line_examples: list[str]

    @property
    def classifier(self) -> MultiLabelClassifier:
        return self.model.classifier

    @property
    def algorithm(self) -> dict[str, Any]:
        """The algorithm by its own name, with its parameters."""
        return self.model.about

    def summary(self) -> dict[str, Any]:
        """The metrics of all labels together."""
        return summarise_label_sets(self.trace.truth, self.trace.predicted, self.trace.asked)

    def of_labels(self) -> dict[Any, dict[str, Any]]:
        """For each label how many events have it, how many answers were bought, and its F1."""
        trace, found = self.trace, {}
        for place, label in enumerate(trace.labels):
            one = slice(place, place + 1)
            figures = summarise_label_sets(trace.truth[:, one], trace.predicted[:, one], trace.asked[:, one])
            has_label = int((trace.truth[:, place] == 1).sum())
            found[label] = {"events": has_label, "answers": figures["answers"], "f1": figures["micro_f1"]}
        return found

    def as_json(self) -> dict[str, Any]:
        """The whole result as plain values, for programs."""
        return {
            "source": self.name,
            **self.algorithm,
            "preparation": self.preparation,
            "features": self.features,
            **self.summary(),
            "by_label": {str(label): figures for label, figures in self.of_labels().items()},
            "seconds": self.seconds,
            "bad_lines": self.bad_lines,
        }


def run_label_sets_file(
    source: Any,
    spec: AlgorithmSpec | None = None,
    reading: ReadOptions | None = None,
    *,
    separator: str | None = None,
    model: LabelSetModel | None = None,
    labels: Sequence[str] | None = None,
    scale: str = "auto",
    save: str | os.PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    **changes: Any,
) -> LabelSetResult:
    """Run an algorithm on a file, a folder or a pipe whose events have several labels.

    Parameters
    ----------
    source
        Anything ``open_stream`` reads.
    spec : AlgorithmSpec, optional
        The algorithm, its parameters and its budget, which counts answers.
    reading : ReadOptions, optional
        How to read the source.
    separator : str, optional
        What stands between the labels of an event. A JSON list of labels needs none, but it must not contain it.
        Default: that of the model to go on with, else ";".
    model : LabelSetModel, optional
        Go on with this model instead, exactly where it ended.
    labels : sequence of str, optional
        All labels. Default: a file is read for them first, and then played; a pipe needs them.
    scale : {"auto", "none", "l2"}
        As for ``run_file``.
    save : path, optional
        Where to write the model, with the state of the stream, at the end.
    progress : callable, optional
        Called with a ``Progress`` after every piece.
    **changes
        Single ``ReadOptions``, in the place of those of ``reading``.
    """
    if scale not in SCALES:
        raise InvalidParameter(f"scale must be one of {', '.join(SCALES)}, got {scale!r}.")
    spec = spec or AlgorithmSpec(USUAL_ALGORITHM)
    spec = replace(spec, parameters=parameters_for_sets(spec.algorithm, spec.parameters))
    if scale == "l2":
        spec = replace(spec, normalize="l2")
    if labels is not None:
        labels = check_labels(labels)
    separator = separator or (USUAL_SEPARATOR if model is None else model.separator)
    if model is None:
        spec.make_multilabel(labels, separator)  # refuses what cannot work before anything is read
    reading = change(reading or ReadOptions(), **changes)
    for name in (save, reading.quarantine):
        if name is not None:
            check_can_be_written(name)
    began = perf_counter()
    fresh: dict[str, Any] = {"raw": scale != "auto"} if model is None else {"state": model.stream}
    with open_source(source, reading, labels="text", label_separator=separator, **fresh) as stream:
        if model is None:
            known = check_labels(labels_in(stream, separator)) if labels is None else labels
            clf = spec.make_multilabel(known, separator)
        else:
            clf = model.classifier
            clf.label_separator = separator
        traces, width, asked, wrong, questions = list[MultiLabelTrace](), 0, 0, 0, 0
        for batch in stream:
            width = max(width, batch.X.shape[1])
            trace = _run_batch(clf, batch, width, stream, model is not None)
            traces.append(trace)
            asked += int(trace.asked.sum())
            wrong += int(((trace.truth >= 0) & (trace.predicted != (trace.truth == 1))).sum())
            questions += trace.truth.size
            if progress is not None:
                right = 1.0 - wrong / max(1, questions)
                seen = sum(map(len, traces))
                progress(Progress(seen, asked, right, perf_counter() - began, stream.share_read()))
        if not traces:
            raise InvalidInput(f"{stream.name!r} has no events.")
        learned = LabelSetModel(clf, stream.state(), spec.about() if model is None else model.about)
        if save is not None:
            learned.save(save)
        return LabelSetResult(
            name=stream.name,
            model=learned,
            trace=MultiLabelTrace.join(traces),
            preparation=describe_preparation(stream, clf),
            features=width,
            seconds=perf_counter() - began,
            bad_lines=stream.bad_lines,
            bad_line_examples=stream.bad_line_examples,
        )


def _run_batch(clf: MultiLabelClassifier, batch: Batch, width: int, stream: Stream, goes_on: bool) -> MultiLabelTrace:
    """The trace of a batch; the model is widened to the stream first."""
    sets = _sets_of(batch, stream)
    if clf._has_begun and clf.n_features_in_ < width:
        clf.widen(room_for(width))
    wide = clf.n_features_in_ if clf._has_begun else max(1, width)
    try:
        return clf.run(batch.to_width(wide), sets, times=batch.times)
    except UnknownLabel as error:
        advice = "a model keeps its labels, so name all of them when it is first run" if goes_on else "name all of them"
        raise InvalidInput(
            f"event {batch.first_row + error.row + 1:,} of {stream.name!r} {error.what}; {advice}: labels=, or "
            "--classes A,B,..."
        ) from None
    except InvalidInput as error:
        raise InvalidInput(f"{stream.name!r}, from event {batch.first_row + 1:,} on: {error}") from None
    except MemoryError:
        raise InvalidInput(
            f"{stream.name!r} has {width:,} features for each of {len(clf.labels):,} labels, more than the memory "
            "has room for; name an algorithm that keeps less of each, such as PAA-I, or leave out rare labels."
        ) from None


def _sets_of(batch: Batch, stream: Stream) -> list[Any]:
    if batch.y is None:
        raise InvalidInput(f"{stream.name!r} has no labels; name the field they are in.")
    sets: list[Any] = np.asarray(batch.y, object).tolist()
    return sets


def labels_in(stream: Stream, separator: str) -> list[str]:
    """All labels of a stream, which is read to its end; playing it begins anew."""
    if not stream.source.can_be_read_again:
        raise InvalidParameter("a pipe is read once; name all labels: labels=, or --classes A,B,...")
    found: set[str] = set()
    for batch in stream:
        sets = _sets_of(batch, stream)
        for each in {value for value in sets if not isinstance(value, dict)}:
            found |= read_set(each, "a label", separator) or set()
        found.update(label for value in sets if isinstance(value, dict) for label in value)
    if not found:
        raise InvalidInput(
            f"{stream.name!r} has {stream.rows_read:,} events, but none has a label; is it the right field?"
        )
    return sorted(found)
