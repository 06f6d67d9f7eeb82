"""A pipe between brokers: messages in, replies out, each taken once even if a process is killed.

One file is the commit: the model, the position in the source, the ids of the latest events and the replies that may not
be published yet are written at once, or not at all.

    read messages, answer them      the model moves on, in memory
    save                            our commit
    publish the replies             they are numbered, so that a second attempt is known by its numbers
    commit to the source            the broker's group has come so far

Killed before the save, all of it happens again from the file as it was; after it, the replies that the file holds are
published, and the source resumes after the position in the file. The broker's own offsets are for those who look how
far behind one is; they decide only where a new model begins.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any

from askance.brokers import MessageSource, Numbered, Position, Sink, Unreachable
from askance.errors import AskanceError, InvalidParameter
from askance.learner.budget import as_budget
from askance.runner.algorithm_spec import AlgorithmSpec
from askance.runner.lines import StopSignals
from askance.runner.model import Model
from askance.runner.pipe import Pipe, RecentIds

BROKER = "broker"
"""Where a model keeps what belongs to its source."""
MOST_TAKEN = 10_000
"""Messages that are answered before a save, at most."""
LONGEST_WAIT = 5.0
"""Seconds from the first of them to the save, at most."""
WORK_PER_SAVE = 4.0
"""So many times as long as the last save took may pass before the next: saving takes a fifth of the time."""
IDLE = 0.5
"""Seconds that a read waits for a message."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
"""Seconds between attempts to reach a broker."""
START_PATIENCE = 60.0
"""Seconds for a broker that was just started to find its streams."""


class BrokerPipe:
    """Answers the messages of a source until a signal comes.

    Parameters
    ----------
    pipe : Pipe
        Decides and learns.
    source, sink
        Where messages come from, and where the replies go.
    path
        The file of the model, which is the commit.
    encode : callable
        A reply as bytes.
    complain : callable
        Called with a message when a broker is lost or found again.
    """

    def __init__(
        self,
        pipe: Pipe,
        source: MessageSource,
        sink: Sink,
        path: str | os.PathLike[str],
        encode: Callable[[Mapping[str, Any]], bytes],
        complain: Callable[[str], None],
    ) -> None:
        self._pipe, self._source, self._sink, self._path = pipe, source, sink, path
        self._encode, self._complain = encode, complain
        self._is_resumed = BROKER in pipe.about
        kept = pipe.about.get(BROKER) or {"source": source.name}
        if kept["source"] != source.name:
            raise InvalidParameter(
                f"the model has read {kept['source']}, and cannot go on with {source.name}; begin one of its own."
            )
        self._position: Position = dict(kept.get("position", {}))
        self._series: str = kept.get("series") or os.urandom(8).hex()
        self._outbox = [Numbered(number, key, body.encode()) for number, key, body in kept.get("outbox", [])]
        self._numbered: int = kept.get("numbered", 0)
        pipe.recent = RecentIds(kept.get("recent", ""))
        self._unsaved = 0  # messages; and whether the file holds replies that are published by now
        self._holds_published = False
        self._save_seconds = 0.0

    def open(self) -> None:
        """Connect."""
        self._position = self._source.open(self._position)
        self._sink.open(self._series)

    def begin(self, signals: StopSignals) -> bool:
        """Connect; whether no signal came before that.

        A new pipe says at once what is wrong. One that is resumed has seen its stream, and is often started again
        together with the broker: it waits for one that cannot be reached, and a minute for what is not found there."""
        try:
            self.open()
        except AskanceError as error:
            if not self._is_resumed:
                raise
            return self._reconnect(error, signals, time.monotonic() + START_PATIENCE)
        return True

    def run(self, signals: StopSignals) -> None:
        """Read, answer, save, publish, commit, until a signal comes; a broker that is lost is waited for."""
        try:
            while signals.stopped_by is None:
                try:
                    self._deliver()
                    self._take(signals)
                except Unreachable as error:
                    self._reconnect(error, signals)
                if self._unsaved:
                    self._save()
            try:
                self._deliver()
            except Unreachable as error:
                self._complain(f"{error} What is not published yet is kept in the model's file.")
        finally:
            if self._unsaved or self._holds_published:
                self._save()
            self._source.close()
            self._sink.close()

    def _take(self, signals: StopSignals) -> None:
        """Answer messages until it is time to save."""
        wait = min(LONGEST_WAIT, WORK_PER_SAVE * self._save_seconds)
        until = None
        while signals.stopped_by is None and self._unsaved < MOST_TAKEN:
            left = IDLE if until is None else until - time.monotonic()
            if left <= 0:
                return
            for message in self._source.read(MOST_TAKEN - self._unsaved, min(IDLE, left)):
                if until is None:
                    until = time.monotonic() + wait
                where = message.offset if len(self._position) <= 1 else f"{message.partition}:{message.offset}"
                reply = self._pipe.answer(message.body, f"message {where}")
                self._position[message.partition] = message.offset
                self._unsaved += 1
                if reply is not None:
                    self._numbered += 1
                    body = self._encode({"number": self._numbered, **reply})
                    self._outbox.append(Numbered(self._numbered, str(reply.get("id", "")), body))

    def _save(self) -> None:
        """Our commit."""
        begun = time.monotonic()
        assert self._pipe.recent is not None
        self._pipe.about[BROKER] = {
            "source": self._source.name, "position": self._position, "series": self._series,
            "numbered": self._numbered, "recent": self._pipe.recent.to_text(),
            "outbox": [[number, key, body.decode()] for number, key, body in self._outbox],
        }  # fmt: skip
        self._pipe.model().save(self._path)
        self._unsaved, self._holds_published = 0, False
        self._save_seconds = time.monotonic() - begun

    def _deliver(self) -> None:
        """Publish the replies that are saved, then let the source know how far one has come."""
        if self._outbox:
            self._sink.publish(self._outbox)
            self._outbox.clear()
            self._holds_published = True
        self._source.commit(self._position)

    def _reconnect(self, error: AskanceError, signals: StopSignals, until: float = inf) -> bool:
        """Try again and again to reach the brokers, until a signal comes; whether they are reached.

        ``until`` is when one that answers must have what is wanted of it."""
        self._complain(f"{error} Trying again.")
        pause = FIRST_PAUSE
        while not select.select([signals.descriptor], [], [], pause)[0]:
            pause = min(LONGEST_PAUSE, 2 * pause)
            self._source.close()
            self._sink.close()
            try:
                self.open()
            except AskanceError as still:  # also a stream that a broker does not find while it starts
                if not isinstance(still, Unreachable) and time.monotonic() >= until:
                    raise
                if str(still) != str(error):
                    error = still
                    self._complain(f"{error} Trying again.")
                continue
            self._complain(f"{self._source.name} is reached again.")
            return True
        return False


def find_saved(path: str | os.PathLike[str], spec: AlgorithmSpec | None, budget: Any) -> Model | None:
    """The model that an earlier start of the same command has saved, if it did. Its budget may be another now."""
    if not Path(path).exists():
        return None
    model = Model.load(path)
    if BROKER not in model.about:
        raise InvalidParameter(
            f"{str(path)!r} is there, and has read no broker; begin with it by --load, and save to another file."
        )
    wanted = {} if spec is None else json.loads(json.dumps(spec.about(), default=str))
    if any(model.about.get(name) != value for name, value in wanted.items()):
        raise InvalidParameter(
            f"the model in {str(path)!r} is of {model.about.get('algorithm')} with other parameters; go on with the "
            "same command, or save to another file."
        )
    if budget is not None and as_budget(budget) != as_budget(model.classifier.budget):
        model.classifier.budget = budget
    return model


@contextmanager
def sole_writer(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the file of a model: two processes that resume it would each undo what the other saved."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    target = Path(path)
    with open(target.with_name(f".{target.name}.lock"), "wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InvalidParameter(
                f"{str(path)!r} is in use by another askance pipe; wait for its end, or save to another file."
            ) from None
        yield
