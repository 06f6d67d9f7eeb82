"""How a rule is checked: one check after the other, and a sentence for each that fails."""

from __future__ import annotations

import copy
import math
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from askance.errors import AskanceError, BrokenContract, InvalidType
from askance.learner.classifier import StreamClassifier
from askance.learner.files import load
from askance.learner.rule import Parameterised, QueryRule, UpdateRule
from askance.learner.state import SAVED

Rule = TypeVar("Rule", bound=Parameterised)
Check = Callable[[Any], None]


def expect(is_met: Any, sentence: str) -> None:
    """Raise unless it is met; the sentence says what is wrong and how to mend it."""
    if not is_met:
        raise BrokenContract(sentence)


def instance_of(rule: Any, kind: type[Rule]) -> Rule:
    """The rule itself; a class stands for itself with its defaults."""
    if isinstance(rule, type) and issubclass(rule, kind):
        rule = rule()
    if not isinstance(rule, kind):
        raise InvalidType(f"expected a {kind.__name__}, or a class of one, got {rule!r}.")
    return rule


def run_checks(name: str, checks: Iterable[tuple[Check, Any]]) -> None:
    """Run every check on its case, then raise one error with a sentence for each that failed."""
    failures: list[str] = []
    for check, case in checks:
        try:
            check(case)
        except AskanceError as error:
            failures.append(str(error))
        except Exception as error:  # a kernel may raise anything
            failures.append(f"{name}: {check.__name__} ended with {type(error).__name__}: {error}.")
    found = list(dict.fromkeys(failures))
    if len(found) == 1:
        raise BrokenContract(found[0])
    if found:
        raise BrokenContract(f"{name} breaks {len(found)} rules:\n" + "\n".join(f"- {sentence}" for sentence in found))


def check_parameters(rule: Parameterised) -> None:
    """Parameters are fields that can be copied, and that refuse what is no number."""
    name = type(rule).__name__
    rule.check()
    expect(
        type(rule)(**rule.get_params(deep=False)).get_params() == rule.get_params(),
        f"{name}: a copy made from its parameters has other ones; keep in a field what the user gave, unchanged.",
    )
    for field in rule._fields():
        if isinstance(getattr(rule, field.name), int | float) and not isinstance(field.default, bool):
            try:
                copy.deepcopy(rule).set_params(**{field.name: math.nan})
            except AskanceError:
                continue
            raise BrokenContract(
                f"{name}: {field.name}=nan is not refused; declare the field with positive, share, whole or finite, "
                f"as in {field.name}: float = positive({field.default!r})."
            )


def are_equal(one: Iterable[np.ndarray], other: Iterable[np.ndarray]) -> bool:
    """Whether all arrays are equal, bit for bit but for the kinds of NaN, which another check finds."""
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def labeled_events(n_classes: int, n_events: int = 160, n_features: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Events with some zeros, one without any feature, and labels that a linear model can learn."""
    rng = np.random.default_rng(n_classes)
    X = rng.standard_normal((n_events, n_features)) * (rng.random((n_events, n_features)) < 0.5)
    X[11] = 0.0
    return X, np.argmax(X @ rng.standard_normal((n_features, n_classes)), axis=1)


# --- the same stream in other pieces ---------------------------------------------------------------------


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
