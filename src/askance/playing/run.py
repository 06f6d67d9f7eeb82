"""Play one algorithm on one stream, piece by piece, in constant memory."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

from askance.engines import WorkerEngine
from askance.engines.local import cores
from askance.engines.threads import ThreadEngine
from askance.errors import BadLine, InvalidInput, InvalidParameter
from askance.features.kinds import number_in
from askance.metrics import Curve
from askance.metrics.arrays import share
from askance.metrics.register import Weights
from askance.metrics.summary import weights_for
from askance.playing.algorithm_spec import AlgorithmSpec
from askance.playing.checkpoint import Checkpoint
from askance.playing.curve_recorder import CurveSpec, Recorder
from askance.playing.model import Model, check_can_be_written
from askance.playing.player import LateClass, Player, labels_in
from askance.playing.preparation import describe_preparation
from askance.playing.read_ahead import read_ahead
from askance.playing.shared_reading import Position, SharedReader
from askance.playing.sources import open_source
from askance.playing.totals import ALPHA_P, C_P, Totals
from askance.playing.traces import open_trace
from askance.stream import Stream, pieces
from askance.stream.first_events import warnings_of

SCALES = ("auto", "none", "l2")
FEW_PIECES = 3
MANY_PIECES = 6


class Progress(NamedTuple):
    """How far a stream has been played, and how well."""

    events: int
    labels: int
    accuracy: float
    seconds: float
    share_read: float | None
    """The share of the source that was read, from 0 to 1; None if its size is not known."""


@dataclass(frozen=True)
class RunResult:
    """The result of playing a stream."""

    name: str
    """The name of the file; ``-`` for the standard input."""
    model: Model
    totals: Totals
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
    """Whether the file was played again from its beginning because a class came late."""
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
        return None if self.totals.positive is None else self.totals.classes.item(self.totals.positive)

    @property
    def description(self) -> str | None:
        """The classifier's description of itself in one line; None if it has none."""
        clf = self.model.classifier
        return clf.describe() if hasattr(clf, "describe") else None

    def summary(self) -> dict[str, Any]:
        """The metrics, by name."""
        return self.totals.summary(weights_with_costs(self.model.classifier, self.alpha_p, self.c_p))

    def as_json(self) -> dict[str, Any]:
        """The whole result as plain values, for programs."""
        clf, seconds = self.model.classifier, self.seconds
        summary = self.summary()
        summary["loop_seconds"] = summary.pop("seconds")
        return {
            "source": self.name,
            **{name: self.model.about[name] for name in ("algorithm", "parameters")},
            "preparation": self.preparation,
            "features": self.features,
            "classes": self.totals.classes.tolist(),
            "positive": self.positive,
            **({} if self.positive is None else {"alpha_p": self.alpha_p, "c_p": self.c_p}),
            **summary,
            "recalls": {str(label): share for label, share in self.totals.recalls().items()},
            "audits": self.totals.audits,
            "course": [piece._asdict() for piece in self.totals.course.pieces(20)],
            "seconds": seconds,
            "events_per_second": self.totals.events / seconds if seconds else None,
            "bad_lines": self.bad_lines,
            "widened": [{"field": name, "before": before, "now": now} for name, before, now in self.widened],
            "unlabeled": self.unlabeled,
            "warnings": self.warnings,
            **({} if self.curve is None else {"curve": self.curve_as_json()}),
            **(
                {} if self.description is None else dict.fromkeys(("description", "said"), self.description)
            ),  # said: in 0.1
            "model": {"events": int(clf.events_seen_), "labels": int(clf.labels_asked_)},
        }

    def curve_as_json(self) -> dict[str, Any]:
        """The curve, with its metric and axis."""
        assert self.curve is not None
        assert self.curve_spec is not None
        points = {name: getattr(self.curve, name).tolist() for name in ("events", "labels", "values")}
        return {**vars(self.curve_spec), **points}


def play(
    source: Any,
    spec: AlgorithmSpec | None = None,
    *,
    resume: Model | None = None,
    classes: Sequence[str] | None = None,
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
    go_on: bool = False,
    **reading: Any,
) -> RunResult:
    """Play a file, a folder, several of both, or a pipe with one algorithm.

    Parameters
    ----------
    source
        Anything ``open_stream`` reads, or a name that ``askance data list`` shows.
    spec : AlgorithmSpec, optional
        The algorithm and its parameters.
    resume : Model, optional
        Go on with this model instead, exactly where it ended.
    classes : sequence of str, optional
        All labels. Default: those of the first events. If another one comes later, a file is read for all of them and
        played again from its beginning, while a pipe cannot go on.
    positive : label, optional
        The class that precision, recall and F1 are about. Default: the second of two.
    scale : {"auto", "none", "l2"}
        auto: what ``open_stream`` does: numbers standardised by running statistics, texts and sparse rows to unit
        length; none: nothing; l2: every event to unit length, nothing else.
    save : path, optional
        Where to write the model, with the state of the stream, at the end.
    trace : path, optional
        Where to write every decision; see ``askance.playing.traces``.
    alpha_p, c_p : float
        The weights in ``sum`` and ``cost``, as in ``Trace.summary``.
    curve : CurveSpec, optional
        A curve to compute: a metric over the events or over the labels bought.
    progress : callable, optional
        Called with a ``Progress`` after every piece.
    engine : WorkerEngine, optional
        Workers that parse the files (see ``shared_reading``). What they cannot cut into pieces is read here.
    in_rounds : bool, optional
        Learn the answers of a round at its end, as ``clf.run(..., workers=)`` does; the end of a piece ends a round.
        Default: with an engine.
    save_every : int, optional
        Write ``save`` after so many events, too: at the end of the piece that they end in.
    go_on : bool, default False
        If there is a model in ``save`` that was written so, go on where it was written: for whoever was interrupted.
    **reading
        Options of ``open_stream``.
    """
    spec = _check(spec or AlgorithmSpec(), resume, scale)
    checkpoint = Checkpoint(save, save_every, source, bool(in_rounds if in_rounds is not None else engine), spec)
    position = None
    if go_on:
        resume, position = checkpoint.find(resume)
    alpha_p, c_p = share("alpha_p", alpha_p), share("c_p", c_p)
    if curve is not None:
        curve.check()
    for name in (save, reading.get("quarantine")):
        if name is not None:
            check_can_be_written(name)
    fresh: dict[str, Any] = {"raw": scale != "auto"} if resume is None else {"state": resume.stream}
    fresh["classes"] = classes if resume is None else resume.classifier.classes_.tolist()
    if classes is not None and any(number_in(str(label)) is None for label in classes):
        reading.setdefault("labels", "text")  # even if the first ones are numbers
    reading.setdefault("origins", trace is not None)
    began = perf_counter()

    def once(stream: Stream, classes: Sequence[Any] | None, is_second_try: bool) -> RunResult:
        """Play the stream from its beginning to its end."""
        may_be_late = not is_second_try and classes is None and resume is None and stream.source.can_be_read_again
        with ExitStack() as stack:
            names = () if stream.origins is None else stream.origins.names
            file = None if trace is None else stack.enter_context(open_trace(trace, names))
            recorder = None if curve is None else stack.enter_context(Recorder(curve))
            parsers = engine or _parser_threads(stream, stack)
            reader = _share_reading(stream, parsers, position, save_every)
            player = Player(stream, spec, resume, classes, positive, may_be_late, scorers_in(engine, in_rounds))
            batches = iter(stream if reader is None else reader)
            if reader is None and stream.source.can_be_read_again:  # a pipe may keep its reader waiting for ever
                batches = stack.enter_context(closing(read_ahead(batches)))
            for batch in batches:
                played = player.add(batch, file)
                if recorder is not None and played is not None and player.totals is not None:
                    weights = weights_with_costs(player.clf, alpha_p, c_p)
                    recorder.add(played, player.totals.positive, weights)
                if reader is not None:
                    checkpoint.add(player, reader)
                if progress is not None:
                    progress(_show_progress(player, stream, perf_counter() - began))
            if position is not None and player.totals is None:
                raise InvalidInput(f"the model in {str(save)!r} has played {stream.name!r} to its end.")
            outcome = _outcome(player, stream, perf_counter() - began, is_second_try)
            if reader is not None and save_every is not None:
                checkpoint.mark(outcome.model, reader)
            weights = weights_with_costs(player.clf, alpha_p, c_p)
            drawn = None if recorder is None else recorder.curve(outcome.totals.positive, weights)
            return dataclasses.replace(outcome, alpha_p=alpha_p, c_p=c_p, curve_spec=curve, curve=drawn)

    def whole(kind: str | None) -> RunResult | str:
        """Play the source with labels of this kind, if it is known; or return the kind that a late label needs."""
        wanted = reading if kind is None else {**reading, "labels": kind}
        with open_source(source, **wanted, **fresh) as stream:
            can_widen = classes is None and resume is None and stream.source.can_be_read_again
            try:
                if kind is not None:
                    return once(stream, labels_in(stream), is_second_try=True)
                try:
                    return once(stream, classes, is_second_try=False)
                except LateClass:
                    return once(stream, labels_in(stream), is_second_try=True)
            except BadLine:
                if not can_widen or stream.labels.wider is None or "labels" in reading:
                    raise
                return stream.labels.wider

    try:
        outcome = whole(None)
        while isinstance(outcome, str):  # at most twice: whole numbers, numbers, text
            outcome = whole(outcome)
    except BaseException:
        if engine is not None:
            engine.kill()
        raise
    if save is not None:
        outcome.model.save(save)
    return outcome


def scorers_in(engine: WorkerEngine | None, in_rounds: bool | None) -> int | WorkerEngine | None:
    """Who scores the events of a round: so many threads, or a cluster; None to learn at once."""
    if not (engine is not None if in_rounds is None else in_rounds):
        return None
    if engine is not None and engine.is_remote:
        return engine
    return 1 if engine is None else min(engine.count, cores())


def _parser_threads(stream: Stream, stack: ExitStack) -> WorkerEngine | None:
    """Two threads that parse a large file beside the learner, if they can; on two processors, whoever has work has one.

    One thread would read for twice as long as the learner plays, and keep it waiting."""
    if not (stream.parses_without_lock and stream.source.can_be_read_again and cores() > 1):
        return None
    places = range(len(stream.source))
    if any(stream.source.stored_path(place) is None for place in places):  # compressed: the learner would decompress it
        return None
    if sum(map(stream.source.size_of, places)) < MANY_PIECES * pieces.PIECE_BYTES:
        return None
    threads = ThreadEngine(2)
    stack.callback(threads.kill)
    return threads


def _share_reading(
    stream: Stream, engine: WorkerEngine | None, position: Position | None, save_every: int | None
) -> SharedReader | None:
    """The reader in pieces, if one is wanted and the files can be cut; None to read as usual."""
    if save_every is None and position is None and (engine is None or stream.pieces() is None):
        return None
    if engine is not None and stream.pieces() is not None:
        sizes = [stream.source.size_of(place) for place in range(len(stream.source))]
        if sum(sizes) < FEW_PIECES * pieces.PIECE_BYTES and not engine.is_remote:
            engine = None  # processes would start for longer than it takes to parse so little here
        else:
            engine.start()
    return SharedReader(stream, engine, position)


def weights_with_costs(clf: Any, alpha_p: float, c_p: float) -> Weights:
    """The weights of metrics, with the costs of mistakes if the classifier has them."""
    return weights_for(alpha_p, c_p, clf.costs, clf.classes_)


def _check(spec: AlgorithmSpec, resume: Model | None, scale: str) -> AlgorithmSpec:
    if scale not in SCALES:
        raise InvalidParameter(f"scale must be one of {', '.join(SCALES)}, got {scale!r}.")
    if scale == "l2":
        spec = dataclasses.replace(spec, normalize="l2")
    if resume is None:
        spec.check()
    return spec


def _show_progress(player: Player, stream: Stream, seconds: float) -> Progress:
    totals = player.totals
    events, labels, right = (0, 0, 0) if totals is None else (totals.events, totals.labels, totals.right)
    return Progress(events, labels, right / max(1, events), seconds, stream.share_read())


def _outcome(player: Player, stream: Stream, seconds: float, restarted: bool) -> RunResult:
    model, totals = player.finish()
    return RunResult(
        name=stream.name,
        model=model,
        totals=totals,
        preparation=describe_preparation(stream, model.classifier),
        features=player.width,
        seconds=seconds,
        bad_lines=stream.bad_lines,
        bad_line_examples=stream.bad_line_examples,
        unlabeled=player.unlabeled,
        widened=stream.widened,
        warnings=warnings_of(stream),
        restarted=restarted,
    )
