"""Play one algorithm on one stream, piece by piece, in constant memory."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

from askance.errors import BadLine, InvalidParameter
from askance.features.kinds import number_in
from askance.metrics import Curve
from askance.metrics.arrays import share
from askance.playing.choice import Choice
from askance.playing.drawing import Drawing, Recorder
from askance.playing.model import Model, check_can_be_written
from askance.playing.player import LateClass, Player, labels_in
from askance.playing.preparation import prepared
from askance.playing.sources import open_source
from askance.playing.totals import ALPHA_P, C_P, Totals
from askance.playing.traces import open_trace
from askance.stream import Stream

SCALES = ("auto", "none", "l2")


class Progress(NamedTuple):
    """A look at a stream that is being played."""

    events: int
    labels: int
    accuracy: float
    seconds: float
    share_read: float | None
    """How much of the source was read, from 0 to 1; None where that cannot be known."""


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    name: str
    """The name of the file; ``-`` for the standard input."""
    model: Model
    totals: Totals
    preparation: str
    """What was done to the values, in words."""
    features: int
    """How many columns the stream had."""
    seconds: float
    """Reading included."""
    bad_lines: int
    bad_line_examples: list[str]
    unlabeled: int
    """Events that came without a label, and were left out."""
    restarted: bool
    """Whether the file was played again from its beginning because a class turned up late."""
    alpha_p: float = ALPHA_P
    """The weight of sensitivity in ``sum``."""
    c_p: float = C_P
    """The cost of a missed positive in ``cost``."""
    drawing: Drawing | None = None
    curve: Curve | None = None
    """The curve that was wanted."""

    @property
    def positive(self) -> Any:
        """The label of the positive class; None where there is none."""
        return None if self.totals.positive is None else self.totals.classes.item(self.totals.positive)

    @property
    def said(self) -> str | None:
        """What the model says of itself in a line; None where it has nothing to say."""
        clf = self.model.classifier
        return clf.describe() if hasattr(clf, "describe") else None

    def summary(self) -> dict[str, Any]:
        """The metrics, by name."""
        return self.totals.summary(self.alpha_p, self.c_p)

    def as_json(self) -> dict[str, Any]:
        """Everything, for programs."""
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
            "audits": self.totals.audits,
            "course": [piece._asdict() for piece in self.totals.course.pieces(20)],
            "seconds": seconds,
            "events_per_second": self.totals.events / seconds if seconds else None,
            "bad_lines": self.bad_lines,
            "unlabeled": self.unlabeled,
            **({} if self.curve is None else {"curve": self.curve_as_json()}),
            **({} if self.said is None else {"said": self.said}),
            "model": {"events": int(clf.events_seen_), "labels": int(clf.labels_asked_)},
        }

    def curve_as_json(self) -> dict[str, Any]:
        """The curve that was wanted, with what it is."""
        assert self.curve is not None
        assert self.drawing is not None
        points = {name: getattr(self.curve, name).tolist() for name in ("events", "labels", "values")}
        return {**vars(self.drawing), **points}


def play(
    source: Any,
    choice: Choice | None = None,
    *,
    resume: Model | None = None,
    classes: Sequence[str] | None = None,
    positive: Any = None,
    scale: str = "auto",
    save: str | os.PathLike[str] | None = None,
    trace: str | os.PathLike[str] | None = None,
    alpha_p: float = ALPHA_P,
    c_p: float = C_P,
    curve: Drawing | None = None,
    progress: Callable[[Progress], None] | None = None,
    **reading: Any,
) -> Outcome:
    """Play a file, a folder or a pipe with one algorithm.

    Parameters
    ----------
    source
        Anything ``open_stream`` reads, or a name that ``askance data list`` shows.
    choice : Choice, optional
        The algorithm and its parameters.
    resume : Model, optional
        Go on with this model instead, exactly where it ended.
    classes : sequence of str, optional
        All labels there are. Otherwise they are those of the first events; when another one turns up later, a file is
        read for all of them and played again from its beginning, while a pipe cannot go on.
    positive : label, optional
        The class that precision, recall and F1 are about; the second of two unless given.
    scale : {"auto", "none", "l2"}
        auto: what ``open_stream`` does, numbers standardised as they run, texts and sparse rows to unit length; none:
        nothing; l2: nothing but every event to unit length.
    save : path, optional
        Where to write the model, with the state of the stream, at the end.
    trace : path, optional
        Where to write every decision; see ``askance.playing.traces``.
    alpha_p, c_p : float
        The weights in ``sum`` and ``cost``, as in ``Trace.summary``.
    curve : Drawing, optional
        A curve to have in the outcome: a metric over the events or over the labels bought.
    progress : callable, optional
        Called with a ``Progress`` after every piece.
    **reading
        Options of ``open_stream``.
    """
    choice = _checked(choice or Choice(), resume, scale)
    alpha_p, c_p = share("alpha_p", alpha_p), share("c_p", c_p)
    if curve is not None:
        curve.check()
    if save is not None:
        check_can_be_written(save)
    fresh = {"raw": scale != "auto"} if resume is None else {"state": resume.stream}
    if classes is not None and any(number_in(str(label)) is None for label in classes):
        reading.setdefault("labels", "text")  # also where the first ones are numbers
    reading.setdefault("origins", trace is not None)
    began = perf_counter()

    def once(stream: Stream, classes: Sequence[Any] | None, is_second_try: bool) -> Outcome:
        """Play the stream from its beginning to its end."""
        may_be_late = not is_second_try and classes is None and resume is None and stream.source.can_be_read_again
        with ExitStack() as stack:
            names = () if stream.origins is None else stream.origins.names
            file = None if trace is None else stack.enter_context(open_trace(trace, names))
            recorder = None if curve is None else stack.enter_context(Recorder(curve))
            player = Player(stream, choice, resume, classes, positive, may_be_late)
            for batch in stream:
                played = player.add(batch, file)
                if recorder is not None and played is not None and player.totals is not None:
                    recorder.add(played, player.totals.positive)
                if progress is not None:
                    progress(_look(player, stream, perf_counter() - began))
            outcome = _outcome(player, stream, perf_counter() - began, is_second_try)
            drawn = None if recorder is None else recorder.curve(outcome.totals.positive, alpha_p, c_p)
            return dataclasses.replace(outcome, alpha_p=alpha_p, c_p=c_p, drawing=curve, curve=drawn)

    def whole(kind: str | None) -> Outcome | str:
        """Play it, with labels of this kind if it is known by now; or the kind that a late label needs."""
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

    outcome = whole(None)
    while isinstance(outcome, str):  # at most twice: whole numbers, numbers, text
        outcome = whole(outcome)
    if save is not None:
        outcome.model.save(save)
    return outcome


def _checked(choice: Choice, resume: Model | None, scale: str) -> Choice:
    if scale not in SCALES:
        raise InvalidParameter(f"scale must be one of {', '.join(SCALES)}, got {scale!r}.")
    if scale == "l2":
        choice = dataclasses.replace(choice, normalize="l2")
    if resume is None:
        choice.check()
    return choice


def _look(player: Player, stream: Stream, seconds: float) -> Progress:
    totals = player.totals
    events, labels, right = (0, 0, 0) if totals is None else (totals.events, totals.labels, totals.right)
    return Progress(events, labels, right / max(1, events), seconds, stream.share_read())


def _outcome(player: Player, stream: Stream, seconds: float, restarted: bool) -> Outcome:
    model, totals = player.finished()
    return Outcome(
        name=stream.name,
        model=model,
        totals=totals,
        preparation=prepared(stream, model.classifier),
        features=player.width,
        seconds=seconds,
        bad_lines=stream.bad_lines,
        bad_line_examples=stream.bad_line_examples,
        unlabeled=player.unlabeled,
        restarted=restarted,
    )
