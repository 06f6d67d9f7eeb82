"""The same stream in other pieces: whole, sparse, in chunks, event by event, and across a saved file."""

from __future__ import annotations

import copy
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from askance.learner.classifier import StreamClassifier
from askance.learner.files import load
from askance.learner.rule import QueryRule, UpdateRule
from askance.learner.state import SAVED
from askance.testing.contract import are_equal, expect, labeled_events

CUTS = (0, 1, 7, 60, 61, 160)
HALF = 80


@dataclass(frozen=True)
class ReplayCase:
    """A combination of rules, and how many classes it separates."""

    update: UpdateRule
    query: QueryRule
    n_classes: int
    checked: str
    """The name of the rule that is checked, as sentences begin with it."""

    @property
    def name(self) -> str:
        return self.checked if self.n_classes == 2 else f"{self.checked} with {self.n_classes} classes"

    def events(self) -> tuple[np.ndarray, np.ndarray]:
        return labeled_events(self.n_classes)

    def fresh(self, **options: Any) -> StreamClassifier:
        """A classifier that has seen nothing."""
        rules = {"update": copy.deepcopy(self.update), "query": copy.deepcopy(self.query)} | options
        return StreamClassifier(**rules, classes=list(range(self.n_classes)), random_state=1)


class ReplayResult:
    """What was decided for each event, and the model that is left."""

    def __init__(self, clf: StreamClassifier, decided: list[Any]) -> None:
        columns = ("margin", "probability", "asked")
        self.arrays = {name: np.concatenate([np.atleast_1d(getattr(d, name)) for d in decided]) for name in columns}
        self.model = saved_arrays(clf)

    def difference_to(self, other: ReplayResult) -> str | None:
        """Where the two differ first, in words."""
        for name, own in self.arrays.items():
            theirs = other.arrays[name]
            (places,) = np.nonzero((own != theirs) & ~((own != own) & (theirs != theirs)))  # NaN is like NaN
            if places.size:
                place = int(places[0])
                return f"event {place}: {name} {theirs[place]} instead of {own[place]}"
        return None if are_equal(self.model, other.model) else "the same decisions, and another model at the end"


def saved_arrays(clf: StreamClassifier) -> list[np.ndarray]:
    """Copies of what the model has learned."""
    return [getattr(clf._engine.state, name).copy() for name in SAVED]


def play_whole(case: ReplayCase) -> ReplayResult:
    X, y = case.events()
    clf = case.fresh()
    return ReplayResult(clf, [clf.run(X, y)])


def check_same_seed_same_decisions(case: ReplayCase) -> None:
    """A second run with the same seed gives the same bits."""
    difference = play_whole(case).difference_to(play_whole(case))
    expect(
        difference is None,
        f"{case.name}: the same stream with the same seed gave another result ({difference}); a kernel must depend on "
        "its arguments alone, and draw no random numbers.",
    )


def check_dense_and_sparse_alike(case: ReplayCase) -> None:
    """An array and a CSR matrix of the same numbers give the same bits."""
    X, y = case.events()
    clf = case.fresh()
    difference = play_whole(case).difference_to(ReplayResult(clf, [clf.run(sp.csr_matrix(X), y)]))
    expect(
        difference is None,
        f"{case.name}: a sparse matrix gave another result than an array ({difference}); read an event's features as "
        "event.columns[i] and event.values[i], for i in range(event.start, event.stop).",
    )


def check_chunks_and_single_events_alike(case: ReplayCase) -> None:
    """A stream in one call, in chunks, and as a loop of ask and tell gives the same bits."""
    X, y = case.events()
    in_chunks, one_by_one = case.fresh(), case.fresh()
    chunks = [in_chunks.run(X[a:b], y[a:b]) for a, b in pairwise(CUTS)]
    decisions = []
    for x, label in zip(X, y, strict=True):
        decisions.append(one_by_one.ask(x))
        if decisions[-1].asked:
            one_by_one.tell(x, label, weight=decisions[-1].weight)
    whole = play_whole(case)
    for how, outcome in (
        ("in chunks", ReplayResult(in_chunks, chunks)),
        ("by ask and tell", ReplayResult(one_by_one, decisions)),
    ):
        difference = whole.difference_to(outcome)
        expect(
            difference is None,
            f"{case.name}: played {how}, the stream gave another result than at once ({difference}); let kernels read "
            "an event from event.start to event.stop only, and keep what they remember in state.table or state.extra.",
        )


def check_saved_and_loaded_goes_on(case: ReplayCase) -> None:
    """A model that is saved and loaded in mid-stream goes on with the same bits."""
    X, y = case.events()
    clf = case.fresh()
    first = clf.run(X[:HALF], y[:HALF])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rule.model"
        clf.save(path)
        again = load(path)
    unsaved, saved = (ReplayResult(model, [first, model.run(X[HALF:], y[HALF:])]) for model in (clf, again))
    difference = unsaved.difference_to(saved)
    expect(
        difference is None,
        f"{case.name}: saved and loaded in mid-stream, it went on otherwise ({difference}); what a kernel remembers "
        "belongs into state.table or state.extra (own_numbers says how many), for nothing else is saved.",
    )


REPLAYS = (
    check_same_seed_same_decisions,
    check_dense_and_sparse_alike,
    check_chunks_and_single_events_alike,
    check_saved_and_loaded_goes_on,
)
