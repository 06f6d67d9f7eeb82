"""Any update rule, once for each label: K models that know nothing of each other.

The arrays of the K models lie one behind the other in those of the state, label after label, and ``state.extra`` begins
with K. They share the scratch. A question begins with an entry whose column is its label and whose value is 0; the
features follow, in the columns that they have in the model of a single label.

Rules that keep all their numbers feature by feature need none of this (see ``questions``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from askance.compile import no_inline
from askance.errors import ModelFileError
from askance.learner.rule import Kernel, Kernels, RuleAround, UpdateRule, whole
from askance.learner.state import SAVED, Event, State
from askance.learner.update import PassiveAggressive1

K = 0  # where the number of labels is in state.extra
ONE = np.uint64(1)


# --- the slots -------------------------------------------------------------------------------------------


def inner_margin(parameters, state, event):
    """The slot for the kernel ``margin`` of the rule within."""
    raise NotImplementedError


def inner_score(parameters, state, event):
    """The slot for its kernel ``score``."""
    raise NotImplementedError


def inner_score_and_length(parameters, state, event):
    """The slot for its kernel ``score_and_length``."""
    raise NotImplementedError


def inner_margin_and_length(parameters, state, event):
    """The slot for its kernel ``margin_and_length``."""
    raise NotImplementedError


def inner_learn(parameters, state, event, answer, prediction, weight):
    """The slot for its kernel ``learn``."""
    raise NotImplementedError


def inner_learn_given(parameters, state, event, answer, prediction, weight):
    """The slot for its kernel ``learn_given``."""
    raise NotImplementedError


def inner_forget(parameters, state, event):
    """The slot for its kernel ``forget``."""
    raise NotImplementedError


def inner_watch(parameters, state, event):
    """The slot for its kernel ``watch``."""
    raise NotImplementedError


def inner_observe(state, event, prediction, chance, is_asked):
    """The slot for its kernel ``observe``."""
    raise NotImplementedError


# --- the kernels -----------------------------------------------------------------------------------------


def model_of(state, label):
    """The arrays of one label's model, as views of ``state``."""
    labels = int(state.extra[K])
    width, side, steps = len(state.table) // labels, len(state.matrix) // labels, len(state.pending) // labels
    own = (state.extra.size - 1) // labels
    first = 1 + label * own
    return State(
        state.table[label * width : (label + 1) * width],
        state.matrix[label * side : (label + 1) * side],
        state.pending[label * steps : (label + 1) * steps],
        state.extra[first : first + own],
        state.scores,
        state.variances,
        state.work,
    )


def model_for(state, question):
    """The model of the label that a question is about."""
    return model_of(state, int(question.columns[question.start]))


def event_in(question):
    """The event, without the entry that names the label."""
    return Event(question.columns, question.values, question.start + ONE, question.stop, False)


def has_features(question):
    return question.stop > question.start + ONE


@no_inline
def margin(parameters, state, event):
    return inner_margin(parameters, model_for(state, event), event_in(event))


@no_inline
def score(parameters, state, event):
    return inner_score(parameters, model_for(state, event), event_in(event))


@no_inline
def score_and_length(parameters, state, event):
    return inner_score_and_length(parameters, model_for(state, event), event_in(event))


@no_inline
def margin_and_length(parameters, state, event):
    return inner_margin_and_length(parameters, model_for(state, event), event_in(event))


@no_inline
def learn(parameters, state, event, answer, prediction, weight):
    inner_learn(parameters, model_for(state, event), event_in(event), answer, prediction, weight)


@no_inline
def learn_given(parameters, state, event, answer, prediction, weight):
    inner_learn_given(parameters, model_for(state, event), event_in(event), answer, prediction, weight)


@no_inline
def forget(parameters, state, event):
    inner_forget(parameters, model_for(state, event), event_in(event))


@no_inline
def watch(parameters, state, event):
    inner_watch(parameters, model_for(state, event), event_in(event))


@no_inline
def observe(state, event, prediction, chance, is_asked):
    inner_observe(model_for(state, event), event_in(event), prediction, chance, is_asked)


OUTER: dict[str, tuple[Kernel, Kernel]] = {
    "margin": (margin, inner_margin),
    "score": (score, inner_score),
    "score_and_length": (score_and_length, inner_score_and_length),
    "margin_and_length": (margin_and_length, inner_margin_and_length),
    "learn": (learn, inner_learn),
    "learn_given": (learn_given, inner_learn_given),
    "forget": (forget, inner_forget),
    "watch": (watch, inner_watch),
    "observe": (observe, inner_observe),
}
"""By the name of a kernel: ours, and its slot for the kernel of the rule within."""


# --- the rule --------------------------------------------------------------------------------------------


@dataclass
class ModelPerLabel(RuleAround):
    """Learn each label of a set by a model of its own.

    Parameters
    ----------
    update : UpdateRule
        The rule that learns each label.
    labels : int
        How many labels there are.
    """

    update: UpdateRule = field(default_factory=PassiveAggressive1)
    labels: int = whole(1, least=1)

    is_local: ClassVar = False

    def check(self) -> None:
        self.update.check()
        super().check()

    @property
    def watches_events(self) -> bool:  # type: ignore[override]
        return self.update.watches_events

    def kernels_around(self, inner: Kernels) -> Kernels:
        own = {name: pair for name, pair in OUTER.items() if getattr(inner, name) is not None}
        slots = {slot: getattr(inner, name) for name, (_, slot) in own.items()}
        outer = {name: kernel for name, (kernel, _) in own.items()}
        return Kernels(**outer, has_features=has_features, slots={**inner.slots, **slots})

    def layout(self, n_classes: int) -> tuple[Any, ...]:
        return (*super().layout(n_classes), int(self.labels), *self.update.layout(n_classes))

    def parameters_for(self, classes: np.ndarray) -> np.ndarray:
        return self.update.parameters_for(classes)

    # --- the arrays --------------------------------------------------------------------------------------

    def models(self, state: State) -> list[State]:
        """The arrays of each label's model, as views of ``state``."""
        return [model_of(state, label) for label in range(int(self.labels))]

    def start(self, n_features: int, n_classes: int) -> State:
        return self._join([self.update.start(n_features, n_classes)] * int(self.labels))

    def widen(self, state: State, kept: np.ndarray, n_features: int, n_classes: int) -> State:
        return self._join([self.update.widen(model, kept, n_features, n_classes) for model in self.models(state)])

    @staticmethod
    def _join(models: list[State]) -> State:
        """The models one behind the other; their scratch is that of the first."""
        joined = {name: np.concatenate([getattr(model, name) for model in models]) for name in SAVED}
        return models[0]._replace(**joined | {"extra": np.append(float(len(models)), joined["extra"])})

    def check_state(self, state: State) -> None:
        if state.extra[K] != self.labels:
            raise ModelFileError(f"it has the models of {state.extra[K]:g} labels where {self.labels} belong.")
        for model in self.models(state):
            self.update.check_state(model)

    def inflate_variances(self, state: State, share: float) -> None:
        for model in self.models(state):
            self.update.inflate_variances(model, share)

    def coefficients(self, state: State) -> np.ndarray:
        """A row per label."""
        return np.vstack([self.update.coefficients(model) for model in self.models(state)])

    def threshold(self, state: State) -> np.ndarray:  # type: ignore[override]
        return np.array([self.update.threshold(model) for model in self.models(state)])

    # --- budget and report -------------------------------------------------------------------------------

    def resolve_budget(self, budget: Any) -> Any:
        return self.update.resolve_budget(budget)

    def least_explore(self, budget: Any) -> float:
        return self.update.least_explore(budget)

    def recall(self, state: State, predicted: int | None, correction: bool = False) -> None:
        """Said to every model: the answer that comes next is learned by one of them alone."""
        for model in self.models(state):
            self.update.recall(model, predicted, correction)
