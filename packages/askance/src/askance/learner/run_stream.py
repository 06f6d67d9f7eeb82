"""A stream whose labels are known, played through a classifier: predict, ask, learn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import chain
from time import perf_counter
from typing import Any

import numpy as np

from askance.engines import WorkerEngine
from askance.errors import InvalidInput
from askance.evaluate.calibration.windowed import keep_margins
from askance.learner.ask_and_tell import AskTellClassifier
from askance.learner.base import NO_TIMES, length_of
from askance.learner.compiled import CompiledLearner
from askance.learner.events import in_pieces
from askance.learner.labels import MISSING, distinct_known_labels, select_known
from askance.learner.loop import UNLABELED, Record
from askance.learner.progress import ProgressBar
from askance.learner.shards import batches_of, name_label
from askance.learner.shared_seed import warn_of_shared_seed
from askance.learner.sifting import LearnedState, Piece, Sifter, check_workers
from askance.learner.trace import Trace


class PlayingClassifier(AskTellClassifier):
    """Plays whole streams, with the decisions that ``ask`` and ``tell`` would make."""

    def run(
        self,
        X: Any,
        y: Any = None,
        times: Any = None,
        *,
        workers: int | WorkerEngine | None = None,
        progress: bool = False,
    ) -> Trace:
        """Play a stream whose labels are known: predict, ask, and learn from what was asked.

        A second call goes on where the first ended; one without events changes nothing. The result is the same, bit
        for bit, for any division of the stream into calls, and the same as a loop of ``ask`` and, where asked,
        ``tell``.

        An event whose label is missing (None, NaN, NA, or a word such as "?" that is none of the classes) is predicted,
        as by ``predict``: it is not asked, not counted and not learned. Only the running statistics by which the
        numbers of raw events are standardised take it in.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_events, n_features), table, list of dicts or list of texts
            Or, without y, a list or an iterator of batches ``(X, y)`` or ``(X, y, times)``, which are played one after
            the other; or of functions without arguments that load them, which ``workers`` threads call ahead. With the
            name of a column as y, an iterator of tables or of lists of dicts.
        y : array-like of shape (n_events,), or str
            The labels, or the name of the column that holds them. Only those that are asked for are looked at by the
            learner.
        times : array-like of shape (n_events,), optional
            When each event came, in seconds or as datetimes, which are in UTC unless they have a time zone; budgets by
            time need it, unless a field has the kind "time".
        workers : int or WorkerEngine, optional
            Sift the stream in rounds: so many threads, or the workers of an engine (``askance.engines``), score the
            events of a round, a hundredth of those seen before it, by the model as it was when the round began; its
            answers are learned when it is over. The result is the same, bit for bit, for any number of workers, and the
            same as ``ask`` for each event and ``tell`` for the answers of a round at its end; it is not that of a run
            without workers, which learns at once. The end of a call, or of a batch, ends a round. It pays where scoring
            an event takes long, as with full covariances. ``auto`` scores its events in order, whatever the number.
        progress : bool, default False
            Show a bar, in a notebook and in a terminal. It changes no decision.

        Notes
        -----
        What the fields of raw events are is found from the first 1000 events, those of the first batches, or of the
        first call if it has fewer. Only in that do calls differ from one call.
        """
        X, y = name_label(X, y)
        workers = workers if workers is None else check_workers(workers)
        with ProgressBar(None if y is None else length_of(X)) if progress else nullcontext() as bar:
            if y is None:
                return self._run_batches(X, bar, workers)
            return self._run(X, y, times, bar=bar, workers=workers)

    def _run(
        self,
        X: Any,
        y: Any,
        times: Any = None,
        classes: Any = None,
        bar: ProgressBar | None = None,
        workers: int | WorkerEngine | None = None,
    ) -> Trace:
        """Play some events; ``classes`` are those of the whole stream, if they are known."""
        tells_time = times is None and self._has_time_field()
        when = self._times(times) if not tells_time else NO_TIMES
        rows = length_of(X)
        if rows is not None and len(when) not in (0, rows):
            raise InvalidInput(f"there are {len(when)} times for {rows} events.")
        events, truth = self._read(X, y, classes, may_be_unlabeled=True)
        if tells_time:
            when = self._times(events.times)
        compiled = self._compiled_learner()
        self._refresh_budget_state(compiled)
        n = events.n_events
        is_labeled = truth != MISSING
        is_complete = bool(is_labeled.all())
        answers = truth if is_complete else np.where(is_labeled, truth, np.int32(UNLABELED))
        record = Record(
            predicted=np.empty(n, np.int32),
            margin=np.empty(n),
            variance=np.empty(n if compiled.keeps_variance else 0),
            probability=np.empty(n),
            asked=np.empty(n, np.bool_),
            audit=np.empty(n, np.bool_),
        )
        uniforms = self._rng.random(n) if is_complete else np.zeros(n)
        if not is_complete:
            uniforms[is_labeled] = self._rng.random(int(is_labeled.sum()))
        warn_of_shared_seed(truth, uniforms, self.random_state)
        blocks = events.blocks(compiled.preparation)
        pieces = (
            Piece(
                block,
                when[which] if len(when) else when,
                uniforms[which],
                answers[which],
                record if which == slice(0, n) else Record(*(array[which] for array in record)),
            )
            for which, block in (blocks if bar is None else in_pieces(blocks, bar.events_at_once(n)))
        )
        if workers is None:
            seconds = self._play(compiled, pieces, bar)
        else:
            sifter = Sifter(compiled, LearnedState(self._state, self._recent, self._budget_state), workers)
            seconds = sifter.play(pieces, bar)
        if workers is None and self._state.scores.size == 1:
            bought = np.flatnonzero(record.asked)
            keep_margins(self._recent, record.margin[bought], truth[bought], record.probability[bought])
        self._expire()
        return Trace(
            classes=self.classes_,
            predicted_index=record.predicted,
            truth_index=truth,
            margin=record.margin,
            variance=record.variance,
            probability=record.probability,
            asked=record.asked,
            audit=record.audit,
            seconds=seconds,
            margin_is_signed=self._state.scores.size == 1,
            probabilistic=compiled.probabilistic,
        )

    def _play(self, compiled: CompiledLearner, pieces: Iterator[Piece], bar: ProgressBar | None) -> float:
        """Play pieces of a stream one event after the other, and return the seconds of the loop."""
        seconds = 0.0
        for piece in pieces:
            began = perf_counter()
            compiled.play(
                compiled.parameters, self._state, self._recent, self._budget_state, piece.block, piece.times,
                piece.uniforms, piece.answers, compiled.weighted, piece.record,
            )  # fmt: skip
            seconds += perf_counter() - began
            if bar is not None:
                bar.advance(len(piece), int(np.count_nonzero(piece.record.asked)))
        return seconds

    def _run_batches(self, batches: Any, bar: ProgressBar | None, workers: int | WorkerEngine | None) -> Trace:
        """Play pieces of a stream one after the other. What the first ones have to tell is found before they play."""
        from askance.data.encoding.columns import reopen_kinds
        from askance.data.encoding.kinds import SAMPLE_ROWS

        is_new = not hasattr(self, "_state")
        waiting, held, n_events = batches_of(batches, workers if isinstance(workers, int) else None), list[Any](), 0
        first: list[Any] = []  # raw events, by which kinds are settled
        label = None
        while is_new and n_events < SAMPLE_ROWS and (piece := next(waiting, None)) is not None:
            X, y, times = piece
            if length_of(X) == 0:
                continue
            raw = self._raw_events(X)
            if raw is not None:
                if isinstance(y, str):
                    label, y = y, raw.pop(y)
                first.append(raw)
            y = self._missing().blank_labels(y, self.classes)
            held.append((X if raw is None else raw, y, times))
            n_events += length_of(y) or 0
        classes = labels_of(held) if held and self.classes is None else None
        settled = bool(first) and not hasattr(self, "_features")
        if settled:
            self._settle_kinds(first)
            self._remember_label(label)
        traces: list[Trace] = []
        try:
            for X, y, times in chain(held, waiting):
                if length_of(X) == 0 and not hasattr(self, "_state"):
                    continue  # there is nothing yet that could go on
                traces.append(self._run(X, y, times, None if hasattr(self, "_state") else classes, bar, workers))
        except BaseException:
            if settled and not traces:
                for name in ("_features", "feature_names_in_"):
                    self.__dict__.pop(name, None)
            raise
        if settled:
            reopen_kinds(self._features, first)
            self._warn_of_data([(X, y) for X, y, _ in held if X in first])
        if not traces:
            raise InvalidInput("there are no batches to play.")
        return Trace.join(traces)


def labels_of(pieces: Sequence[Sequence[Any]]) -> np.ndarray:
    """The different labels in some pieces of a stream."""
    labels = [label for piece in pieces for label in np.asarray(piece[1], dtype=object).tolist()]
    return distinct_known_labels(select_known(labels, None)[0], "y")
