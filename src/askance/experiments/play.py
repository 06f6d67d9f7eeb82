"""One play: one algorithm with given parameters on one permutation of a table, and what came of it.

A play is named by numbers and strings only, so that it can be sent to another process, repeated, and looked up in a
results file. The permutation and the learner's random numbers follow from the seed, the role and the number of the
permutation alone: every algorithm meets the same events in the same order with the same coin tosses, which is what
makes the comparisons paired.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from askance.experiments.table import Table, open_shared
from askance.learner.presets import is_auto, make
from askance.learner.trace import Trace
from askance.metrics.counts import PerClass, cross

ROLES = ("play", "choose")
"""Permutations that are reported, and separate ones on which parameters are chosen."""

COUNTED = frozenset(
    {
        "events", "labels", "query_ratio", "accuracy", "balanced_accuracy", "mistakes", "precision", "recall", "f1",
        "sensitivity", "specificity", "sum", "cost", "seconds",
    }
)  # fmt: skip
"""The metrics that follow from a table of counts, and therefore cost next to nothing."""

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


class Stream(NamedTuple):
    """A table in the order of one permutation, with the seed of the learner that plays it."""

    X: Any
    y: np.ndarray
    seed: int

    @property
    def size(self) -> int:
        parts = (self.X.data, self.X.indices, self.X.indptr) if sp.issparse(self.X) else (self.X,)
        return sum(part.nbytes for part in parts) + self.y.nbytes


class Player:
    """Plays on one table, keeping permuted copies as long as there is room for them."""

    def __init__(self, table: Table, conditions: Conditions, room: int) -> None:
        self.table = table
        self.conditions = conditions
        self.warmed: set[str] = set()
        """The algorithms this process has compiled, or fetched from the cache on disk."""
        self.last_warm_up = 0.0
        """Seconds that the last of them took."""
        self._room = room
        self._streams: dict[tuple[str, int], Stream] = {}

    def stream(self, role: str, permutation: int) -> Stream:
        """The table in the order of this permutation."""
        kept = self._streams.get((role, permutation))
        if kept is not None:
            return kept
        rng = np.random.default_rng([self.conditions.seed, ROLES.index(role), permutation])
        order = rng.permutation(self.table.n_events)
        seed = int(rng.integers(2**62))
        if self.conditions.shuffle:
            stream = Stream(self.table.X[order], self.table.y[order], seed)
        else:
            stream = Stream(self.table.X.copy(), np.array(self.table.y), seed)
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
        learner = make(
            play.algorithm,
            **bought(play.algorithm, dict(play.parameters), play.budget),
            classes=np.arange(len(self.table.classes)),
            random_state=stream.seed,
        )
        result = measure(learner.run(stream.X, stream.y), self.table.positive, self.conditions)
        result["cost_seconds"] = perf_counter() - began
        return result


def bought(algorithm: str, parameters: dict[str, Any], budget: int | None) -> dict[str, Any]:
    """The parameters and the budget of a learner; the rate of ``auto`` is its budget."""
    if is_auto(algorithm) and "rate" in parameters:
        rate = parameters.pop("rate")
        return parameters | {"budget": rate if rate < 1.0 else None}
    return parameters | {"budget": budget}


def measure(trace: Trace, positive: int | None, conditions: Conditions) -> dict[str, float]:
    """The metrics of one play, named as in ``Trace.summary``."""
    n_classes = len(trace.classes)
    if conditions.everything:
        return dict(trace.summary(positive, conditions.alpha_p, conditions.c_p))
    matrix = cross(trace.truth_index.astype(np.int64), trace.predicted_index.astype(np.int64), n_classes)
    per_class = PerClass.of(matrix)
    events, labels = len(trace), int(np.count_nonzero(trace.asked))
    wrong = int(matrix.sum() - matrix.trace())
    result: dict[str, float] = {
        "events": events,
        "labels": labels,
        "query_ratio": labels / events,
        "accuracy": 1.0 - wrong / events,
        "balanced_accuracy": per_class.balanced_accuracy(),
        "mistakes": wrong,
    }
    if positive is not None:
        counts = per_class.counts(positive)
        result |= {
            "precision": counts.precision,
            "recall": counts.recall,
            "sensitivity": counts.recall,
            "specificity": counts.specificity,
            "f1": counts.f1,
            "sum": counts.sum(conditions.alpha_p),
            "cost": counts.cost(conditions.c_p),
        }
    else:
        result |= {
            "precision": per_class.macro_precision(),
            "recall": per_class.macro_recall(),
            "f1": per_class.macro_f1(),
        }
    result["seconds"] = trace.seconds
    return result


# --- in a worker process ---------------------------------------------------------------------------------


def room_per_worker(workers: int) -> int:
    """Bytes for permuted copies: a quarter of the memory among all workers, at most 1 GB each."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        memory = 4 * 2**30
    return int(min(2**30, memory / 4 / max(1, workers)))


_current: tuple[tuple[str, Conditions], Player] | None = None


def play_shared(folder: str, conditions: Conditions, room: int, plays: list[Play]) -> list[dict[str, float]]:
    """Play on a shared table, whose permuted copies this process keeps from one call to the next."""
    global _current
    if _current is None or _current[0] != (folder, conditions):
        _current = None  # free the old one first
        _current = (folder, conditions), Player(open_shared(Path(folder)), conditions, room)
    player = _current[1]
    return [player.play(play) for play in plays]


def warm_up(algorithm: str, n_classes: int, budget: int | None) -> None:
    """Compile an algorithm, or fetch it from the cache on disk, by playing two events."""
    given = bought(algorithm, {"rate": 0.5} if is_auto(algorithm) and budget is None else {}, budget)
    learner = make(algorithm, **given, classes=np.arange(n_classes), random_state=0)
    learner.run(sp.csr_matrix(np.eye(2)), np.array([0, 1]))
