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
    from askance.learner.compiled import Combination
    from askance.learner.engine import Engine

Arrays = dict[str, np.ndarray]


class ModelField(NamedTuple):
    """A part of a model that has learned."""

    attribute: str
    begin: Callable[[Engine, Combination], Any]
    """Its value before the first event, when rules, classes and weights are there."""
    to_arrays: Callable[[Engine, Combination], Arrays]
    """What a model file keeps of it, by the names of the arrays, for the rules as they are now."""
    restore: Callable[[Engine, Arrays], None]
    """Give an engine that has just begun what ``to_arrays`` gave."""
    since: int = OLDEST
    """The first format of model files that has it."""


def begin_budget_state(engine: Engine, rules: Combination) -> BudgetState:
    return BudgetState(np.zeros(3, np.int64), rules.budget.budget_state(), no_labels_asked(engine))


def no_labels_asked(engine: Engine) -> np.ndarray:
    """As many zeros as there are classes."""
    return np.zeros(len(engine.classes), np.int64)


def budget_arrays(engine: Engine, rules: Combination) -> Arrays:
    kept = engine.budget_state_for(rules.budget, rules.budget.constraints_key())  # it may have changed since an event
    return {
        "counts": engine.budget_state.counts.view(COUNTS),
        "asked_by_class": engine.budget_state.asked_by_class,
        "budget_state": name_budget_state(kept),
    }


def restore_budget_state(engine: Engine, arrays: Arrays) -> None:
    restore_by_name(engine.budget_state.counts.view(COUNTS), arrays["counts"])
    restore_by_name(engine.budget_state.asked_by_class, arrays["asked_by_class"])
    restore_by_name(name_budget_state(engine.budget_state.budget), arrays["budget_state"])


def restore_answers(engine: Engine, arrays: Arrays) -> None:
    engine.recent[[*range(len(arrays["answers"]) - 1), -1]] = arrays["answers"]


def restore_tickets(engine: Engine, arrays: Arrays) -> None:
    engine.tickets = Tickets.of(arrays)


MODEL_FIELDS = (
    # the latest answers, on which probabilities rest
    ModelField(
        "recent",
        lambda engine, rules: no_answers(engine.state.scores.size),
        lambda engine, rules: {"answers": trim_answers(engine.recent)},
        restore_answers,
        since=7,
    ),
    # events seen, labels asked, mistakes; labels asked by predicted class; and what the budget remembers
    ModelField("budget_state", begin_budget_state, budget_arrays, restore_budget_state),
    # the questions that wait for their answers
    ModelField(
        "tickets", lambda engine, rules: Tickets(), lambda engine, rules: engine.tickets.arrays(), restore_tickets
    ),
)
VERSION = max(*(field.since for field in MODEL_FIELDS), *(step + 1 for step in STEPS))
"""The present format of model files."""
