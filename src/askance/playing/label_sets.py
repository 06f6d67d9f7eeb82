"""Play one algorithm on one file whose labels are sets, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from askance.errors import InvalidInput, InvalidParameter
from askance.learner.multilabel import MultiLabelClassifier, MultiLabelTrace
from askance.learner.multilabel.label_sets import check_labels, read_set
from askance.learner.presets import is_auto
from askance.learner.state import room_for
from askance.metrics.label_sets import summarise_label_sets
from askance.playing.algorithm_spec import AlgorithmSpec
from askance.playing.preparation import prepare
from askance.playing.run import SCALES, Progress
from askance.playing.sources import open_source
from askance.stream import Batch, Stream

USUAL_ALGORITHM = "D-ADA"
"""What plays label sets if no algorithm is named."""


@dataclass(frozen=True)
class LabelSetResult:
    """The result of playing a stream of label sets."""

    name: str
    """The name of the file; ``-`` for the standard input."""
    classifier: MultiLabelClassifier
    algorithm: dict[str, Any]
    """The algorithm by its own name, with its parameters."""
    trace: MultiLabelTrace
    preparation: str
    """What was done to the values, in words."""
    features: int
    seconds: float
    """The time it took, reading included."""
    bad_lines: int
    bad_line_examples: list[str]

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


def play_label_sets(
    source: Any,
    spec: AlgorithmSpec,
    *,
    separator: str,
    labels: Sequence[str] | None = None,
    scale: str = "auto",
    progress: Callable[[Progress], None] | None = None,
    **reading: Any,
) -> LabelSetResult:
    """Play a file, a folder or a pipe whose events have several labels.

    Parameters
    ----------
    source
        Anything ``open_stream`` reads.
    spec : AlgorithmSpec
        The algorithm, its parameters and its budget, which counts answers.
    separator : str
        What stands between the labels of an event. A JSON list of labels needs none, but it must not contain it.
    labels : sequence of str, optional
        All labels. Default: a file is read for them first, and then played; a pipe needs them.
    scale : {"auto", "none", "l2"}
        As for ``play``.
    progress : callable, optional
        Called with a ``Progress`` after every piece.
    **reading
        Options of ``open_stream``.
    """
    if scale not in SCALES:
        raise InvalidParameter(f"scale must be one of {', '.join(SCALES)}, got {scale!r}.")
    if is_auto(spec.algorithm):
        raise InvalidParameter("auto cannot learn label sets; name an algorithm such as D-ADA, PAA-I or SOAL-diag.")
    if scale == "l2":
        spec = replace(spec, normalize="l2")
    if labels is not None:
        labels = check_labels(labels)
    spec.make_multilabel(labels, separator)  # refuses what cannot work before anything is read
    began = perf_counter()
    with open_source(source, **reading, labels="text", label_separator=separator, raw=scale != "auto") as stream:
        known = check_labels(labels_in(stream, separator)) if labels is None else labels
        clf = spec.make_multilabel(known, separator)
        traces, width, asked, wrong, questions = list[MultiLabelTrace](), 0, 0, 0, 0
        for batch in stream:
            width = max(width, batch.X.shape[1])
            trace = _play(clf, batch, width, stream)
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
        return LabelSetResult(
            name=stream.name,
            classifier=clf,
            algorithm=spec.about(),
            trace=MultiLabelTrace.join(traces),
            preparation=prepare(stream, clf),
            features=width,
            seconds=perf_counter() - began,
            bad_lines=stream.bad_lines,
            bad_line_examples=stream.bad_line_examples,
        )


def _play(clf: MultiLabelClassifier, batch: Batch, width: int, stream: Stream) -> MultiLabelTrace:
    """The trace of a batch; the model is widened to the stream first."""
    sets = _sets_of(batch, stream)
    if clf.has_begun and clf.n_features_in_ < width:
        clf.widen(room_for(width))
    wide = clf.n_features_in_ if clf.has_begun else max(1, width)
    try:
        return clf.run(batch.to_width(wide), sets, times=batch.times)
    except InvalidInput as error:
        raise InvalidInput(f"{stream.name!r}, from event {batch.first_row + 1:,} on: {error}") from None


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
        for text in set(_sets_of(batch, stream)):
            found |= read_set(text, "a label", separator) or set()
    if not found:
        raise InvalidInput(
            f"{stream.name!r} has {stream.rows_read:,} events, but none has a label; is it the right field?"
        )
    return sorted(found)
