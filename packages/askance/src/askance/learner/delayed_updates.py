"""Delayed updates: the events of a round are scored side by side, one learner decides on them in the stream's order.

Para-active learning (Agarwal, Bottou, Dudik and Langford, 2013). In a round nothing is learned, so that its events can
be scored by any number of workers, with the model as it was when the round began. The learner then tosses the coins and
keeps the budget, event by event; the answers are learned when the round is over. That is what ``ask`` does with each
event of a round, and ``tell`` with its answers afterwards, bit for bit, whatever the number of workers.

A round is SHARE of the events seen before it, at least one and at most MOST: an answer is never late by more than a
hundredth of the stream so far. Models are never averaged; probabilities stay honest, for they depend on the past alone.

The workers are threads: compiled code holds no lock, and nothing has to be sent. Those of an engine, which may be on
other machines, get the model once a round and their events, if that is expected to take less time. What a killed worker
had to score is scored here.

A rule that keeps statistics of every event that it scores (``auto``) is scored and decided on in one pass, by the
learner: the score of an event depends on the events before it. What workers can do for it is to read (``runner``).
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from askance.engines import WorkerEngine
from askance.engines.local import cores
from askance.errors import InvalidParameter
from askance.learner.compiled import CompiledLearner
from askance.learner.loop import ASKED, MISTAKES, NOT_GIVEN, SEEN, UNLABELED, Block, Record
from askance.learner.progress import ProgressBar
from askance.learner.state import State

if TYPE_CHECKING:
    from askance.learner.engine import Engine

SHARE = 0.01  # of the events seen: the length of a round ...
MOST = 10_000  # ... and how long it is at most
WORTH_SENDING = 3e-4  # seconds of scoring, below which other threads gain nothing


def round_size(seen: int) -> int:
    """How many events the round after ``seen`` events has.

    >>> [round_size(seen) for seen in (0, 199, 200, 50_000, 10**9)]
    [1, 1, 2, 500, 10000]
    """
    return max(1, min(MOST, int(SHARE * seen)))


def check_workers(workers: Any) -> int | WorkerEngine:
    """The number of workers, or the engine that has them; raises if it is neither."""
    if all(hasattr(workers, name) for name in ("submit", "put", "losses", "count")):
        engine: WorkerEngine = workers
        return engine
    if isinstance(workers, bool) or not isinstance(workers, int | np.integer) or workers < 1:
        raise InvalidParameter(f"workers must be a whole number of 1 or more, got {workers!r}.")
    return int(workers)


class Piece(NamedTuple):
    """Events in a row, with what is known of each and what will be."""

    block: Block
    times: np.ndarray
    uniforms: np.ndarray
    answers: np.ndarray
    """The class index of each label, known to the learner once it is asked; UNLABELED where it is not known."""
    record: Record

    def part(self, first: int, last: int) -> Piece:
        """The events from ``first`` up to ``last``."""
        some = slice(first, last)
        block = self.block._replace(starts=self.block.starts[first : last + 1])
        times = self.times[some] if len(self.times) else self.times
        record = Record(*(array[some] if len(array) else array for array in self.record))
        return Piece(block, times, self.uniforms[some], self.answers[some], record)

    def __len__(self) -> int:
        return len(self.uniforms)


def share_out(pieces: list[Piece], workers: int) -> list[list[Piece]]:
    """A part of each piece for every worker."""
    return [
        [piece.part(len(piece) * i // workers, len(piece) * (i + 1) // workers) for piece in pieces]
        for i in range(workers)
    ]


class DelayedUpdates:
    """Runs pieces of a stream in rounds.

    Parameters
    ----------
    model : Engine
        The compiled rules, and what they have learned; it is moved.
    workers : int or WorkerEngine
        How many threads score, or an engine whose workers do.
    """

    def __init__(self, model: Engine, workers: int | WorkerEngine) -> None:
        compiled = model.compiled
        self._remote: RemoteScorer | None = None
        if not isinstance(workers, int):
            if not compiled.scores_in_order:
                self._remote = RemoteScorer(workers, compiled)
            workers = min(workers.count, cores())
        self._compiled, self._model, self._workers = compiled, model, workers
        self._scratch = [
            model.state._replace(
                **{name: getattr(model.state, name).copy() for name in ("scores", "variances", "work")}
            )
            for _ in range(workers)
        ]
        self._seconds_per_event = 0.0

    def run(self, pieces: Iterator[Piece], bar: ProgressBar | None = None) -> float:
        """Run pieces of a stream, and return the seconds that it took. The last round ends with the last piece."""
        began = perf_counter()
        waiting: list[Piece] = []
        missing = round_size(self._seen)
        with ThreadPoolExecutor(self._workers) as threads:
            for piece in pieces:
                first = 0
                while first < len(piece):
                    last = min(len(piece), first + missing)
                    waiting.append(piece.part(first, last))
                    missing, first = missing - (last - first), last
                    if missing == 0:
                        self._run_round(waiting, threads, bar)
                        waiting, missing = [], round_size(self._seen)
            self._run_round(waiting, threads, bar)
        return perf_counter() - began

    @property
    def _seen(self) -> int:
        return int(self._model.budget_state.counts[SEEN])

    def _run_round(self, pieces: list[Piece], threads: ThreadPoolExecutor, bar: ProgressBar | None) -> None:
        """Score the events, decide on them in order, then learn the answers in order."""
        if self._compiled.scores_in_order:
            decide = self._compiled.play
        else:
            decide = self._compiled.play_scored
            self._score(pieces, threads)
        for piece in pieces:
            self._decide(piece, decide)
        for piece in pieces:
            self._learn(piece)
            if bar is not None:
                bar.advance(len(piece), int(np.count_nonzero(piece.record.asked)))

    def _score(self, pieces: list[Piece], threads: ThreadPoolExecutor) -> None:
        events = sum(map(len, pieces))
        seconds = self._seconds_per_event * events
        if self._remote is not None and self._remote.is_worth_it(seconds, self._model.state):
            self._score_remotely(pieces, self._remote)
            return
        is_worth_it = self._workers > 1 and seconds > WORTH_SENDING
        workers = self._workers if is_worth_it else 1
        tasks = share_out(pieces, workers)
        others = [threads.submit(self._score_parts, i, tasks[i]) for i in range(1, workers)]
        began = perf_counter()
        self._score_parts(0, tasks[0])
        if first_events := sum(map(len, tasks[0])):
            self._seconds_per_event = (perf_counter() - began) / first_events
        for other in others:
            other.result()

    def _score_remotely(self, pieces: list[Piece], remote: RemoteScorer) -> None:
        shares = share_out(pieces, remote.count)
        tasks = [[task_of(part.block, part.answers) for part in parts] for parts in shares]
        for parts, found in zip(shares, remote.score(self._model.state, self._is_spent, tasks), strict=True):
            if found is None:  # its worker was killed
                self._score_parts(0, parts)
                continue
            for part, scores in zip(parts, found, strict=True):
                for name, values in scores._asdict().items():
                    getattr(part.record, name)[:] = values

    @property
    def _is_spent(self) -> bool:
        """Whether the budget allows no more labels for good."""
        return bool(self._model.budget_state.counts[ASKED] >= self._compiled.budget.max_labels())

    def _score_parts(self, worker: int, parts: list[Piece]) -> None:
        compiled, is_spent = self._compiled, self._is_spent
        for part in parts:
            compiled.score_block(
                compiled.parameters.update, self._scratch[worker], part.block, part.answers, is_spent, part.record
            )

    def _decide(self, piece: Piece, decide: Callable[..., None]) -> None:
        """What ``ask`` does, for each event."""
        compiled, model = self._compiled, self._model
        unknown = np.where(piece.answers == UNLABELED, np.int32(UNLABELED), np.int32(NOT_GIVEN))
        decide(
            compiled.parameters, model.state, model.recent, model.budget_state, piece.block, piece.times,
            piece.uniforms, unknown, compiled.weighted, piece.record,
        )  # fmt: skip

    def _learn(self, piece: Piece) -> None:
        """What ``tell`` does, for each answer: it is judged against the prediction made when the event came."""
        asked, chances = piece.record.asked, piece.record.probability
        if not asked.any():
            return
        compiled, model = self._compiled, self._model
        importances = np.zeros(len(piece))
        importances[asked] = 1.0 / chances[asked]
        weights = importances if compiled.weighted else asked.astype(np.float64)  # 0 skips an event
        for first, last in self._events_to_learn(piece):
            some = slice(first, last)
            block = piece.block._replace(starts=piece.block.starts[first : last + 1])
            if compiled.scores_in_order:
                compiled.update.recall(model.state, int(piece.record.predicted[first]))
            compiled.learn_labeled(
                compiled.parameters.update, model.state, model.recent, block, piece.answers[some], weights[some],
                importances[some],
            )  # fmt: skip
        if compiled.scores_in_order:
            compiled.update.recall(model.state, None)
        wrong = piece.record.predicted[asked] != piece.answers[asked]
        model.budget_state.counts[MISTAKES] += int(wrong.sum())

    def _events_to_learn(self, piece: Piece) -> list[tuple[int, int]]:
        """From where to where to learn at once: one by one if the rule has to be told the prediction of each."""
        if not self._compiled.scores_in_order:
            return [(0, len(piece))]
        return [(t, t + 1) for t in np.flatnonzero(piece.record.asked).tolist()]


# --- workers that may be on other machines ---------------------------------------------------------------


OVERHEAD = 0.05  # seconds that a round on an engine takes beside scoring, and what its model takes on its way:
BYTES_PER_SECOND = 2e8


class ScoringTask(NamedTuple):
    """Some events in a row, and what is known of each."""

    block: Block
    answers: np.ndarray


class Scores(NamedTuple):
    """What ``score_block`` leaves in a record."""

    predicted: np.ndarray
    margin: np.ndarray
    variance: np.ndarray
    probability: np.ndarray


class RemoteScorer:
    """The workers of an engine, for the events of a round.

    Parameters
    ----------
    engine : WorkerEngine
        Who scores.
    compiled : CompiledLearner
        The rules.
    """

    def __init__(self, engine: WorkerEngine, compiled: CompiledLearner) -> None:
        self._engine = engine
        try:
            self._rules = pickle.dumps(compiled.source)
        except (pickle.PicklingError, AttributeError, TypeError):
            raise InvalidParameter(
                "these rules cannot be sent to other processes; define them in a module, or give a number of workers."
            ) from None

    @property
    def count(self) -> int:
        """How many workers there are."""
        return self._engine.count

    def is_worth_it(self, seconds: float, state: State) -> bool:
        """Whether to send events that would take so long to score here."""
        on_its_way = OVERHEAD + sum(array.nbytes for array in state) / BYTES_PER_SECOND
        return self._engine.count > 1 and seconds > 2.0 * on_its_way

    def score(self, state: State, is_spent: bool, shares: list[list[ScoringTask]]) -> list[list[Scores] | None]:
        """The scores of the events of each share; None for one whose worker was killed."""
        handle = self._engine.put(tuple(state))
        futures = [self._submit(handle, is_spent, tasks) for tasks in shares]
        found = [self._result(future) for future in futures]
        self._engine.free(handle)
        return found

    def _submit(self, handle: Any, is_spent: bool, tasks: list[ScoringTask]) -> Future[Any] | None:
        try:
            return self._engine.submit(score_tasks, handle, self._rules, is_spent, tasks)
        except self._engine.losses:  # a worker was killed just now
            return None

    def _result(self, future: Future[Any] | None) -> list[Scores] | None:
        try:
            scores: list[Scores] | None = None if future is None else future.result()
        except self._engine.losses:
            return None
        return scores


def task_of(block: Block, answers: np.ndarray) -> ScoringTask:
    """Events without the rest of the block that they are a part of."""
    first, last = int(block.starts[0]), int(block.starts[-1])
    trimmed = Block(block.starts - block.starts[0], block.columns[first:last], block.values[first:last])
    return ScoringTask(trimmed, answers)


# --- in a worker -----------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=2)
def _compile(rules: bytes) -> CompiledLearner:
    return CompiledLearner(*pickle.loads(rules))


def score_tasks(state: Any, rules: bytes, is_spent: bool, tasks: list[ScoringTask]) -> list[Scores]:
    """Score some events by a model that was sent."""
    compiled = _compile(rules)
    own = State(*(np.array(array) for array in state))  # what is mapped into the memory cannot be written to
    found = []
    for block, answers in tasks:
        n = len(answers)
        variance = np.empty(n if compiled.keeps_variance else 0)
        flags = np.empty(n, np.bool_)
        record = Record(np.empty(n, np.int32), np.empty(n), variance, np.empty(n), flags, flags)
        block = Block(*(np.array(array) for array in block))
        compiled.score_block(compiled.parameters.update, own, block, np.array(answers), is_spent, record)
        found.append(Scores(record.predicted, record.margin, record.variance, record.probability))
    return found
