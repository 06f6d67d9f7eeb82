"""What a model keeps beside its weights: each field is declared here, once.

``MODEL_FIELDS`` says what a field is before the first event, what a model file keeps of it, and how it is read again.
``fit`` makes all of them anew; files, pickles and copies hold them. A file or a pickle from before a field was there
leaves it as it is before the first event. ``upgrades`` is for what had another form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from askance.evaluate.calibration.windowed import no_answers, trim_answers
from askance.learner.budget_state import name_budget_state, restore_by_name
from askance.learner.loop import COUNTS, BudgetState
from askance.learner.tickets import Tickets
from askance.learner.upgrades import OLDEST, STEPS

if TYPE_CHECKING:
    from askance.learner.base import BaseActiveClassifier

Arrays = dict[str, np.ndarray]


class ModelField(NamedTuple):
    """A part of a model that has learned."""

    attribute: str
    begin: Callable[[BaseActiveClassifier], Any]
    """Its value before the first event, when rules, classes and weights are there."""
    to_arrays: Callable[[BaseActiveClassifier], Arrays]
    """What a model file keeps of it, by the names of the arrays."""
    restore: Callable[[BaseActiveClassifier, Arrays], None]
    """Give a classifier that has just begun what ``to_arrays`` gave."""
    since: int = OLDEST
    """The first format of model files that has it."""


def begin_budget_state(clf: BaseActiveClassifier) -> BudgetState:
    return BudgetState(np.zeros(3, np.int64), clf._rules().budget.budget_state(), no_labels_asked(clf))


def no_labels_asked(clf: BaseActiveClassifier) -> np.ndarray:
    """As many zeros as there are classes."""
    return np.zeros(len(clf.classes_), np.int64)


def budget_arrays(clf: BaseActiveClassifier) -> Arrays:
    budget = clf._rules().budget  # which may be another than at the last event
    kept = clf._budget_state_for(budget, budget.constraints_key())
    return {
        "counts": clf._budget_state.counts.view(COUNTS),
        "asked_by_class": clf._budget_state.asked_by_class,
        "budget_state": name_budget_state(kept),
    }


def restore_budget_state(clf: BaseActiveClassifier, arrays: Arrays) -> None:
    restore_by_name(clf._budget_state.counts.view(COUNTS), arrays["counts"])
    restore_by_name(clf._budget_state.asked_by_class, arrays["asked_by_class"])
    restore_by_name(name_budget_state(clf._budget_state.budget), arrays["budget_state"])


def restore_answers(clf: BaseActiveClassifier, arrays: Arrays) -> None:
    clf._recent[[*range(len(arrays["answers"]) - 1), -1]] = arrays["answers"]


def restore_tickets(clf: BaseActiveClassifier, arrays: Arrays) -> None:
    clf._tickets = Tickets.of(arrays)


MODEL_FIELDS = (
    # the latest answers, on which probabilities rest
    ModelField(
        "_recent",
        lambda clf: no_answers(clf._state.scores.size),
        lambda clf: {"answers": trim_answers(clf._recent)},
        restore_answers,
        since=7,
    ),
    # events seen, labels asked, mistakes; labels asked by predicted class; and what the budget remembers
    ModelField("_budget_state", begin_budget_state, budget_arrays, restore_budget_state),
    # the questions that wait for their answers
    ModelField("_tickets", lambda clf: Tickets(), lambda clf: clf._tickets.arrays(), restore_tickets),
)
VERSION = max(*(field.since for field in MODEL_FIELDS), *(step + 1 for step in STEPS))
"""The present format of model files."""
