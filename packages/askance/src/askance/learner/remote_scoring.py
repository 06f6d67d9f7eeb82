"""Score events by workers of an engine, which may be on other machines: the model goes there once a round.

The scores are those that this process would find, so that it is only a matter of time whether to send anything. It pays
where a round takes longer to score than the model takes on its way. What a killed worker had to score is scored here.
"""

from __future__ import annotations

import functools
import pickle
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np

from askance.engines import WorkerEngine
from askance.errors import InvalidParameter
from askance.learner.compiled import CompiledLearner
from askance.learner.loop import Block, Record
from askance.learner.state import State

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
