"""One play: one algorithm with given parameters on one permutation of a table, and what came of it.

A play is named by numbers and strings only, so that it can be sent to another process, repeated, and looked up in a
results file. The permutation and the learner's random numbers follow from the seed, the role and the number of the
permutation alone: every algorithm meets the same events in the same order with the same coin tosses, which is what
makes the comparisons paired.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from askance.compare.provenance import describe_code
from askance.compare.random_baseline import build, is_committee
from askance.compare.table import Table
from askance.errors import InvalidInput
from askance.evaluate.metrics.register import Weights
from askance.evaluate.metrics.summary import summarise_trace

ROLES = ("play", "choose")
"""Permutations that are reported, and separate ones on which parameters are chosen."""

MODULE = "askance.compare.play"
"""This one: it and all that it imports decides the result of a play."""

LOADING = 0.6
"""Seconds that a process needs before its first play, whatever is played."""

Parameters = tuple[tuple[str, float | str], ...]


class Play(NamedTuple):
    """What to play: algorithm, parameters, budget; and on which permutation."""

    algorithm: str
    parameters: Parameters
    budget: int | None
    role: str
    permutation: int


@dataclass(frozen=True)
class Conditions:
    """What all plays of a sweep have in common."""

    seed: int = 0
    shuffle: bool = True
    alpha_p: float = 0.5
    c_p: float = 0.9
    everything: bool = False
    """Also the metrics that need a sort or probabilities: auc, nlp, weighted_loss."""


class PermutedTable(NamedTuple):
    """A table in the order of one permutation, with the seed of the learner that plays it."""

    X: Any
    y: np.ndarray
    seed: int

    @property
    def size(self) -> int:
        parts = (self.X.data, self.X.indices, self.X.indptr) if sp.issparse(self.X) else (self.X,)
        return sum(part.nbytes for part in parts) + self.y.nbytes


class TablePlayer:
    """Plays on one table, keeping permuted copies as long as there is room for them."""

    def __init__(self, table: Table, conditions: Conditions, room: int) -> None:
        self.table = table
        self.conditions = conditions
        self.warmed: set[str] = set()
        """The algorithms this process has compiled, or fetched from the cache on disk."""
        self.last_warm_up = 0.0
        """Seconds that the last of them took."""
        self._room = room
        self._streams: dict[tuple[str, int], PermutedTable] = {}

    def stream(self, role: str, permutation: int) -> PermutedTable:
        """The table in the order of this permutation."""
        kept = self._streams.get((role, permutation))
        if kept is not None:
            return kept
        rng = np.random.default_rng([self.conditions.seed, ROLES.index(role), permutation])
        order = rng.permutation(self.table.n_events)
        seed = int(rng.integers(2**62))
        if self.conditions.shuffle:
            stream = PermutedTable(self.table.X[order], self.table.y[order], seed)
        else:
            stream = PermutedTable(self.table.X.copy(), np.array(self.table.y), seed)
        # No eviction: plays go round and round, and the oldest is the next to be needed.
        if stream.size <= self._room:
            self._room -= stream.size
            self._streams[role, permutation] = stream
        return stream

    def warm(self, algorithm: str, budget: int | None) -> None:
        """Compile an algorithm before its first play, so that the play's cost is its own."""
        if algorithm in self.warmed:
            return
        began = perf_counter()
        warm_up(algorithm, len(self.table.classes), budget)
        self.last_warm_up = max(0.0, perf_counter() - began - (0.0 if self.warmed else LOADING))
        self.warmed.add(algorithm)

    def play(self, play: Play) -> dict[str, float]:
        """Play, and measure."""
        self.warm(play.algorithm, play.budget)
        began = perf_counter()
        stream = self.stream(play.role, play.permutation)
        learner = build(
            play.algorithm,
            **count_bought(play.algorithm, dict(play.parameters), play.budget),
            classes=np.arange(len(self.table.classes)),
            random_state=stream.seed,
        )
        trace, conditions = learner.run(stream.X, stream.y), self.conditions
        weights = Weights(conditions.alpha_p, conditions.c_p)
        result = summarise_trace(trace, self.table.positive, weights, everything=conditions.everything)
        result["cost_seconds"] = perf_counter() - began
        return result


def count_bought(algorithm: str, parameters: dict[str, Any], budget: int | None) -> dict[str, Any]:
    """The parameters and the budget of a learner; the rate of ``auto``, or of its random baseline, is its budget."""
    if is_committee(algorithm) and "rate" in parameters:
        rate = parameters.pop("rate")
        return parameters | {"budget": rate if rate < 1.0 else None}
    return parameters | {"budget": budget}


# --- in a worker process ---------------------------------------------------------------------------------


def room_per_worker(workers: int) -> int:
    """Bytes for permuted copies: a quarter of the memory among all workers, at most 1 GB each."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        memory = 4 * 2**30
    return int(min(2**30, memory / 4 / max(1, workers)))


_current: tuple[str, TablePlayer] | None = None


def play_shared(table: Table, key: str, code: str | None, conditions: Conditions, room: int, plays: list[Play]) -> Any:
    """Play on a shared table, whose permuted copies this process keeps from one call to the next.

    ``key`` names the table and the conditions. ``code`` names the code with which the results are kept: a worker on
    another machine must have the same."""
    global _current
    if _current is None or _current[0] != key:
        _current = None  # free the old one first
        if code is not None and describe_code(MODULE) != code:
            raise InvalidInput(
                f"the worker on {platform.node()} has another version of askance, or of the libraries below it; "
                "install the same ones there."
            )
        _current = key, TablePlayer(table, conditions, room)
    player = _current[1]
    return [player.play(play) for play in plays]


def warm_up(algorithm: str, n_classes: int, budget: int | None) -> None:
    """Compile an algorithm, or fetch it from the cache on disk, by playing two events."""
    given = count_bought(algorithm, {"rate": 0.5} if is_committee(algorithm) and budget is None else {}, budget)
    learner = build(algorithm, **given, classes=np.arange(n_classes), random_state=0)
    learner.run(sp.csr_matrix(np.eye(2)), np.array([0, 1]))
