"""Run one algorithm on one stream, piece by piece, in constant memory."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

from askance.data import Batch, Stream
from askance.data.formats.read_options import ReadOptions, change
from askance.engines import WorkerEngine
from askance.engines.local import cores
from askance.errors import BadLine, InvalidInput, InvalidParameter
from askance.evaluate.costs import relative_costs
from askance.evaluate.metrics import Curve
from askance.evaluate.metrics.arrays import share
from askance.evaluate.metrics.objectives import headline_of
from askance.evaluate.metrics.register import USUAL_WEIGHTS, Weights
from askance.evaluate.metrics.summary import weights_for
from askance.runner.algorithm_spec import AlgorithmSpec
from askance.runner.checkpoint import Checkpoint
from askance.runner.curve_recorder import CurveSpec, Recorder
from askance.runner.model import Model, check_can_be_written, describe_preparation
from askance.runner.shared_reading import SharedReader, parser_threads, read_ahead, share_reading
from askance.runner.sources import open_source
from askance.runner.stream_runner import LateClass, StreamRunner
from askance.runner.totals import ALPHA_P, C_P
from askance.runner.traces import open_trace

SCALES = ("auto", "none", "l2")


class Progress(NamedTuple):
    """How much of a stream has been run, and how well."""

    events: int
    labels: int
    accuracy: float
    seconds: float
    share_read: float | None
    """The share of the source that was read, from 0 to 1; None if its size is not known."""


@dataclass(frozen=True)
class RunResult:
    """The result of running a stream."""

    name: str
    """The name of the file; ``-`` for the standard input."""
    model: Model
    totals: Any
    """``Totals``, or of label sets ``LabelSetTotals``."""
    preparation: str
    """What was done to the values, in words."""
    features: int
    """The number of columns of the stream."""
    seconds: float
    """The time it took, reading included."""
    bad_lines: int
    bad_line_examples: list[str]
    unlabeled: int
    """Events without a label: predicted, and counted nowhere else."""
    widened: list[tuple[str, str, str]]
    """The fields that got a wider kind on the way: name, kind before, kind after."""
    warnings: list[str]
    """What looks wrong in the data, each in a sentence."""
    restarted: bool
    """Whether the file was run again from its beginning because a class came late."""
    alpha_p: float = ALPHA_P
    """The weight of sensitivity in ``sum``."""
    c_p: float = C_P
    """The cost of a missed positive in ``cost``."""
    curve_spec: CurveSpec | None = None
    curve: Curve | None = None
    """The curve that ``curve_spec`` describes."""

    @property
    def positive(self) -> Any:
        """The label of the positive class; None if there is none."""
        return self.totals.positive_label

    @property
    def description(self) -> str | None:
        """The classifier's description of itself in one line; None if it has none."""
        clf = self.model.classifier
        return clf.describe() if hasattr(clf, "describe") else None

    def summary(self) -> dict[str, Any]:
        """The metrics, by name."""
        return self.totals.summary(self.weights)

    @property
    def weights(self) -> Weights:
        """The weights of metrics, with the costs of mistakes if the classifier has them."""
        if self.model.has_label_sets:
            return USUAL_WEIGHTS
        return weights_with_costs(self.model.classifier, self.alpha_p, self.c_p)

    @property
    def headline(self) -> str:
        """The metric that the algorithm optimizes: that of the objective of ``auto``, accuracy for all others."""
        return headline_of(self.model.about)

    def as_json(self) -> dict[str, Any]:
        """The whole result as plain values, for programs."""
        clf, seconds, totals = self.model.classifier, self.seconds, self.totals
        found = {
            "source": self.name,
            **{name: self.model.about[name] for name in ("algorithm", "parameters")},
            "preparation": self.preparation,
            "features": self.features,
            **totals.as_json(self.weights),
        }
        if self.model.has_label_sets:
            return {**found, "seconds": seconds, "bad_lines": self.bad_lines}
        return {
            **found,
            "seconds": seconds,
            "events_per_second": totals.events / seconds if seconds else None,
            "bad_lines": self.bad_lines,
            "widened": [{"field": name, "before": before, "now": now} for name, before, now in self.widened],
            "unlabeled": self.unlabeled,
            "warnings": self.warnings,
            **({} if self.curve is None else {"curve": self.curve_as_json()}),
            **({} if self.description is None else {"description": self.description}),
            "model": {"events": int(clf.events_seen_), "labels": int(clf.labels_asked_)},
        }

    def curve_as_json(self) -> dict[str, Any]:
        """The curve, with its metric and axis."""
        assert self.curve is not None
        assert self.curve_spec is not None
        points = {name: getattr(self.curve, name).tolist() for name in ("events", "labels", "values")}
        return {**vars(self.curve_spec), **points}


def run_file(
    source: Any,
    spec: AlgorithmSpec | None = None,
    reading: ReadOptions | None = None,
    *,
    model: Model | None = None,
    positive: Any = None,
    scale: str = "auto",
    save: str | os.PathLike[str] | None = None,
    trace: str | os.PathLike[str] | None = None,
    alpha_p: float = ALPHA_P,
    c_p: float = C_P,
    curve: CurveSpec | None = None,
    progress: Callable[[Progress], None] | None = None,
    engine: WorkerEngine | None = None,
    in_rounds: bool | None = None,
    save_every: int | None = None,
    resume: bool = False,
    **changes: Any,
) -> RunResult:
    """Run one algorithm on a file, a folder, several of both, or a pipe.

    Parameters
    ----------
    source
        Anything ``open_stream`` reads, or a name that ``askance data list`` shows.
    spec : AlgorithmSpec, optional
        The algorithm and its parameters. Default: ``auto``, or ``D-ADA`` for label sets.
    reading : ReadOptions, optional
        How to read the source. Without ``classes``, a label that comes later than the first events makes a file be read
        for all of them and run again from its beginning, while a pipe cannot continue. With ``label_separator``, an
        event has several labels: a file is read for all of them first, a pipe needs ``classes``, and ``positive``,
        ``trace``, ``curve`` and ``engine`` mean nothing.
    model : Model, optional
        Resume this model instead of making a new one, exactly where it ended.
    positive : label, optional
        The class that precision, recall and F1 are about. Default: the second of two.
    scale : {"auto", "none", "l2"}
        auto: what ``open_stream`` does: numbers standardized by running statistics, texts and sparse rows to unit
        length; none: nothing; l2: every event to unit length, nothing else.
    save : path, optional
        Where to write the model, with the state of the stream, at the end.
    trace : path, optional
        Where to write every decision; see ``askance.runner.traces``.
    alpha_p, c_p : float
        The weights in ``sum`` and ``cost``, as in ``Trace.summary``.
    curve : CurveSpec, optional
        A curve to compute: a metric over the events or over the requested labels.
    progress : callable, optional
        Called with a ``Progress`` after every piece.
    engine : WorkerEngine, optional
        Workers that parse the files (see ``shared_reading``). What they cannot cut into pieces is read here.
    in_rounds : bool, optional
        Learn the answers of a round at its end, as ``clf.run(..., workers=)`` does; the end of a piece ends a round.
        Default: with an engine.
    save_every : int, optional
        Write ``save`` after so many events, too: at the end of the piece that they end in.
    resume : bool, default False
        If ``save`` has a model that was written by ``save_every``, resume it where it was written.
    **changes
        Single ``ReadOptions``, in the place of those of ``reading``.
    """
    if scale not in SCALES:
        raise InvalidParameter(f"scale must be one of {', '.join(SCALES)}, got {scale!r}.")
    reading = change(reading or ReadOptions(), **changes)
    runner = runner_of(reading, model)
    spec = spec or AlgorithmSpec(runner.usual_algorithm)
    if scale == "l2":
        spec = dataclasses.replace(spec, normalize="l2")
    if model is None:
        spec = runner.check_spec(spec, reading)
    if curve is not None:
        curve.check()
    for name in (save, reading.quarantine):
        if name is not None:
            check_can_be_written(name)
    delayed = bool(in_rounds if in_rounds is not None else engine)
    checkpoint = Checkpoint(save, save_every, source, delayed, spec)
    if resume:
        model = checkpoint.find(model)
    file_run = FileRun(
        source=source,
        spec=spec,
        runner=runner_of(reading, model),
        reading=reading,
        model=model,
        positive=positive,
        raw=scale != "auto",
        trace=trace,
        alpha_p=share("alpha_p", alpha_p),
        c_p=share("c_p", c_p),
        curve=curve,
        progress=progress,
        engine=engine,
        scorers=scorers_in(engine, delayed),
        checkpoint=checkpoint,
    )
    try:
        outcome = file_run.run_with_retries()
    except BaseException:
        if engine is not None:
            engine.kill()
        raise
    if save is not None:
        outcome.model.save(save)
    return outcome


@dataclass(frozen=True)
class FileRun:
    """All that was chosen for a run, and the run itself; ``run_file`` says what each choice is."""

    source: Any
    spec: AlgorithmSpec
    runner: type[StreamRunner]
    reading: ReadOptions
    model: Model | None
    positive: Any
    raw: bool
    trace: str | os.PathLike[str] | None
    alpha_p: float
    c_p: float
    curve: CurveSpec | None
    progress: Callable[[Progress], None] | None
    engine: WorkerEngine | None
    scorers: int | WorkerEngine | None
    checkpoint: Checkpoint
    began: float = field(default_factory=perf_counter)

    def run_with_retries(self) -> RunResult:
        """Run; where a late label has a wider kind than the first ones (whole numbers, numbers, text), run again."""
        reading = first_reading = self._first_reading()
        is_retry = False
        while True:
            with open_source(self.source, reading) as stream:
                can_retry = self.reading.classes is None and self.model is None and stream.source.can_be_read_again
                try:
                    return self._run_stream(stream, can_retry, is_retry)
                except BadLine:
                    if not can_retry or stream.labels.wider is None or first_reading.labels is not None:
                        raise
                    reading, is_retry = dataclasses.replace(first_reading, labels=stream.labels.wider), True

    def _first_reading(self) -> ReadOptions:
        """How the source is read at first: with the state of a model, else from nothing."""
        reading = self.runner.options(self.reading, self.model)
        reading = dataclasses.replace(reading, origins=reading.origins or self.trace is not None)
        if self.model is None:
            return dataclasses.replace(reading, raw=self.raw)
        return dataclasses.replace(reading, state=self.model.stream)

    def _run_stream(self, stream: Stream, can_retry: bool, is_retry: bool) -> RunResult:
        """Run an open stream; where a class comes late, find all classes first and run it again."""
        classes = self.reading.classes
        if self.runner.reads_labels_first and classes is None and self.model is None:
            classes = self.runner.labels_in(stream)
        if not is_retry:
            try:
                return self._run_once(stream, classes, may_be_late=can_retry, is_retry=False)
            except LateClass:
                pass
        return self._run_once(stream, self.runner.labels_in(stream), may_be_late=False, is_retry=True)

    def _run_once(self, stream: Stream, classes: Sequence[Any] | None, may_be_late: bool, is_retry: bool) -> RunResult:
        """Run the stream from its beginning to its end."""
        with ExitStack() as stack:
            names = () if stream.origins is None else stream.origins.names
            file = None if self.trace is None else stack.enter_context(open_trace(self.trace, names))
            recorder = None if self.curve is None else stack.enter_context(Recorder(self.curve))
            runner = self.runner(stream, self.spec, self.model, classes, self.positive, may_be_late, self.scorers)
            batches, reader = self._batches(stream, stack)
            for batch in batches:
                decided = runner.add(batch, file)
                if recorder is not None:
                    recorder.add(decided, runner.totals.positive, self._weights(runner))
                if reader is not None:
                    self.checkpoint.add(runner, reader)
                if self.progress is not None:
                    totals, seconds = runner.totals, perf_counter() - self.began
                    self.progress(Progress(totals.events, totals.labels, totals.accuracy, seconds, stream.share_read()))
            if self.checkpoint.position is not None and runner.totals is None:
                raise InvalidInput(f"the model in {str(self.checkpoint.path)!r} has run {stream.name!r} to its end.")
            model = runner.finish()
            if reader is not None:
                self.checkpoint.mark(model, reader)
            curve = None
            if recorder is not None:
                curve = recorder.curve(runner.totals.positive, self._weights(runner))
            return RunResult(
                name=stream.name,
                model=model,
                totals=runner.totals,
                preparation=describe_preparation(stream, model.classifier),
                features=runner.width,
                seconds=perf_counter() - self.began,
                bad_lines=stream.bad_lines,
                bad_line_examples=stream.bad_line_examples,
                unlabeled=runner.unlabeled,
                widened=stream.promoted,
                warnings=runner.warnings(),
                restarted=is_retry,
                alpha_p=self.alpha_p,
                c_p=self.c_p,
                curve_spec=self.curve,
                curve=curve,
            )

    def _batches(self, stream: Stream, stack: ExitStack) -> tuple[Iterator[Batch], SharedReader | None]:
        """The batches of a stream, and the reader that knows their position, if the stream is cut into pieces."""
        checkpoint = self.checkpoint
        is_cut = checkpoint.every is not None or checkpoint.position is not None
        reader = share_reading(stream, self.engine or parser_threads(stream, stack), checkpoint.position, is_cut)
        if reader is not None:
            return iter(reader), reader
        if stream.source.can_be_read_again:
            return stack.enter_context(closing(read_ahead(iter(stream)))), None
        return iter(stream), None  # a pipe may keep its reader waiting for ever

    def _weights(self, runner: StreamRunner) -> Weights:
        return weights_with_costs(runner.clf, self.alpha_p, self.c_p)


def runner_of(reading: ReadOptions, model: Model | None) -> type[StreamRunner]:
    """What runs the stream, by the kind of its labels."""
    if reading.label_separator is None and (model is None or not model.has_label_sets):
        return StreamRunner
    if model is not None and not model.has_label_sets:
        raise InvalidInput("the model is of events with one label each, not of label sets; leave out the separator.")
    from askance.runner.label_sets import LabelSetRunner

    return LabelSetRunner


def scorers_in(engine: WorkerEngine | None, delayed: bool) -> int | WorkerEngine | None:
    """Who scores the events of a round: so many threads, or a cluster; None to learn at once."""
    if not delayed:
        return None
    if engine is not None and engine.is_remote:
        return engine
    return 1 if engine is None else min(engine.count, cores())


def weights_with_costs(clf: Any, alpha_p: float, c_p: float) -> Weights:
    """The weights of metrics, with the costs of mistakes if the classifier has them. Of the costs of a missed event and
    of a false alarm, ``auto`` keeps only the ratio: they are in units of the cheaper one."""
    costs, update = clf.costs, getattr(clf, "update", None)
    if costs is None and update is not None and getattr(update, "objective", None) == "cost":
        costs = relative_costs({"fn": update.ratio, "fp": 1.0}, clf.classes_).tolist()
    return weights_for(alpha_p, c_p, costs, clf.classes_)
