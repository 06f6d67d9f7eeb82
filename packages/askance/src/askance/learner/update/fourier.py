"""Any update rule, on random Fourier features of the event: the kernel form of a linear rule.

The event is standardised by the stream so far (see ``learner.fourier``), and becomes D cosines and a constant (see
``fourier``), which the rule within takes for the event. Every event of the stream enters the statistics, asked or not,
until the budget allows no further label; so does every given one.

``state.table`` has the mean and the variance of each feature. The arrays of the rule within lie in ``state.extra``, one
behind the other, after the number of events watched; its scratch is in the last rows of ``state.work``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from askance.compile import no_inline
from askance.errors import IncompatibleRules, InvalidInput, InvalidType, NoFeatureWeights
from askance.learner.fourier import LONG, draw_frequencies, fill_curves, standardise, update_moments
from askance.learner.loop import length
from askance.learner.rule import Kernel, Kernels, RuleAround, UpdateRule, parameter, positive, whole
from askance.learner.state import Event, State, declare_record, fresh_state
from askance.learner.update.passive_aggressive import PassiveAggressive1

__all__ = ["RandomFourier"]

MOST_FEATURES = 4096  # of an event: every one of them costs D multiplications, whether it is there or not
WATCHED = 0  # where the number of events watched is in state.extra
COLUMNS, STANDARD, CURVES, PHASES, FREQUENCIES = 0, 1, 2, 3, 4
"""Rows of state.work: all columns of the curved event; the standardised event; the curved one; b_j; from here on w_jk
/ h, a row for each feature k; then the scratch of the rule within."""

SHAPE = declare_record(
    "curves",  # D
    "scale",  # the root of ``length``
    "numbers",  # that the rule within keeps of a feature
    "matrix",  # rows and columns of its covariance
    "pending_rows",
    "pending",
    "extra",
    "work_rows",
    "work",
)
"""What comes before the parameters of the rule within: what the event is made of, and the shapes of its arrays."""
SHAPE_SIZE = SHAPE.itemsize // 8


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


def inner_learn(parameters, state, event, answer, prediction, weight):
    """The slot for its kernel ``learn``."""
    raise NotImplementedError


def inner_forget(parameters, state, event):
    """The slot for its kernel ``forget``."""
    raise NotImplementedError


# --- the kernels -----------------------------------------------------------------------------------------


def inner_state(parameters, state):
    """The arrays of the rule within, as views of ``state``."""
    shape = parameters[:SHAPE_SIZE].view(SHAPE)[0]
    width, numbers, vectors = int(shape.curves) + 1, int(shape.numbers), state.scores.size
    side, pending_rows, pending = int(shape.matrix), int(shape.pending_rows), int(shape.pending)
    extra = WATCHED + 1
    table = extra + int(shape.extra)
    matrix = table + width * numbers * vectors
    steps = matrix + side * side
    rows, columns = int(shape.work_rows), int(shape.work)
    scratch = state.work.reshape(state.work.size)
    first = (FREQUENCIES + state.table.shape[0]) * state.work.shape[1]
    return State(
        state.extra[table:matrix].reshape((width, numbers, vectors)),
        state.extra[matrix:steps].reshape((side, side)),
        state.extra[steps : steps + pending_rows * pending].reshape((pending_rows, pending)),
        state.extra[extra:table],
        state.scores,
        state.variances,
        scratch[first : first + rows * columns].reshape((rows, columns)),
    )


def curved_event(parameters, state):
    """The event that ``curve`` wrote."""
    stop = np.uint64(parameters[0] + 1.0)  # D and the constant
    return Event(state.work[COLUMNS].view(np.uint32), state.work[CURVES], np.uint64(0), stop, False)


def curve(parameters, state, event):
    """Standardise an event and make it a curved one."""
    work, features = state.work, state.table.shape[0]
    standardise(state.table, features, event, work[STANDARD])
    curves, scale = int(parameters[0]), parameters[1]
    fill_curves(work[STANDARD], work[PHASES], work[FREQUENCIES:], work[CURVES], features, curves)
    for j in range(curves + 1):
        work[CURVES, j] *= scale


@no_inline
def watch(parameters, state, event):
    """Let an event enter the means and variances of the features."""
    state.extra[WATCHED] += 1.0
    update_moments(state.table, state.table.shape[0], event, 1.0 / min(state.extra[WATCHED], LONG))


@no_inline
def margin(parameters, state, event):
    curve(parameters, state, event)
    return inner_margin(parameters[SHAPE_SIZE:], inner_state(parameters, state), curved_event(parameters, state))


@no_inline
def margin_and_length(parameters, state, event):
    curve(parameters, state, event)
    curved = curved_event(parameters, state)
    return inner_margin(parameters[SHAPE_SIZE:], inner_state(parameters, state), curved), length(curved)


@no_inline
def score(parameters, state, event):
    curve(parameters, state, event)
    return inner_score(parameters[SHAPE_SIZE:], inner_state(parameters, state), curved_event(parameters, state))


@no_inline
def score_then_length(parameters, state, event):
    curve(parameters, state, event)
    curved = curved_event(parameters, state)
    return inner_score(parameters[SHAPE_SIZE:], inner_state(parameters, state), curved), length(curved)


@no_inline
def score_and_length(parameters, state, event):
    curve(parameters, state, event)
    own = inner_state(parameters, state)
    return inner_score_and_length(parameters[SHAPE_SIZE:], own, curved_event(parameters, state))


@no_inline
def learn(parameters, state, event, answer, prediction, weight):
    """The curved event is that of the last prediction, which was of this event."""
    own, curved = inner_state(parameters, state), curved_event(parameters, state)
    inner_learn(parameters[SHAPE_SIZE:], own, curved, answer, prediction, weight)


@no_inline
def forget(parameters, state, event):
    inner_forget(parameters[SHAPE_SIZE:], inner_state(parameters, state), curved_event(parameters, state))


def kernels_around(inner: Kernels) -> Kernels:
    """The kernels above, with those of the rule within in their slots."""
    kernels: dict[Kernel, Kernel | None] = {
        inner_margin: inner.margin,
        inner_score: inner.score,
        inner_score_and_length: inner.score_and_length,
        inner_learn: inner.learn,
        inner_forget: inner.forget,
    }
    at_once = None if inner.score is None else score_then_length
    return Kernels(
        margin=margin,
        learn=learn,
        score=None if inner.score is None else score,
        forget=None if inner.forget is None else forget,
        score_and_length=at_once if inner.score_and_length is None else score_and_length,
        margin_and_length=margin_and_length,
        watch=watch,
        slots={slot: kernel for slot, kernel in kernels.items() if kernel is not None},
    )


# --- the rule --------------------------------------------------------------------------------------------


@dataclass
class RandomFourier(RuleAround):
    """Let a rule learn on random Fourier features of the standardised event: what it separates is then bent.

    For events of numbers, up to a few hundred columns. Every event costs ``components`` times its columns, a full
    covariance within ``components`` squared for each answer. Scales do not matter: features are standardised by the
    stream, labels or not.

    Parameters
    ----------
    update : UpdateRule
        The rule that learns.
    components : int, default 192
        How many cosines there are: more follow the Gaussian kernel more closely.
    bandwidth : float, default 1.0
        The width of the kernel: 1 is where events as far apart as two usually are have a kernel of 1/e. Smaller bends
        more.
    length : float, default 10.0
        The squared length that events have, about. Longer ones are learned faster by rules with a step size or a prior
        of their own; a standardised event has that of its number of columns.
    seed : int, default 0
        Chooses the cosines.

    Examples
    --------
    A circle, which no line can cut out:

    >>> import askance, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = (X**2).sum(axis=1) > 1.4
    >>> for kernel in (None, "rbf"):
    ...     clf = askance.make("SOAL", kernel=kernel, budget=0.1, random_state=0)
    ...     print(round(float((clf.run(X, y).predicted == y).mean()), 2))
    0.49
    0.94
    """

    update: UpdateRule = field(default_factory=PassiveAggressive1)
    components: int = parameter(192, "a whole number from 1 to 4096", lambda value: value in range(1, 4097))
    bandwidth: float = positive(1.0)
    length: float = positive(10.0)
    seed: int = whole(0, least=0)

    watches_events: ClassVar = True
    is_local: ClassVar = False

    def check(self) -> None:
        if not isinstance(self.update, UpdateRule):
            raise InvalidType(
                "RandomFourier: update must be an update rule such as askance.updates.PassiveAggressive1(), "
                f"got {self.update!r}."
            )
        if self.update.watches_events:
            raise IncompatibleRules(
                f"RandomFourier: {type(self.update).__name__} prepares events in its own way; take another rule within."
            )
        self.update.check()
        super().check()

    def kernels_around(self, inner: Kernels) -> Kernels:
        return kernels_around(inner)

    def layout(self, n_classes: int) -> tuple[Any, ...]:
        cosines = self.components, float(self.bandwidth), float(self.length), self.seed
        return (*super().layout(n_classes), *cosines, *self.update.layout(n_classes))

    def parameters_for(self, classes: np.ndarray) -> np.ndarray:
        """The shapes of the inner arrays, and the inner rule's parameters."""
        own = self._start_within(len(classes))
        shape = [
            self.components, sqrt(self.length), own.table.shape[1], len(own.matrix), *own.pending.shape,
            own.extra.size, *own.work.shape,
        ]  # fmt: skip
        return np.append(np.array(shape, np.float64), self.update.parameters_for(classes))

    # --- the arrays --------------------------------------------------------------------------------------

    def _start_within(self, n_classes: int) -> State:
        return self.update.start(int(self.components) + 1, n_classes)

    def start(self, n_features: int, n_classes: int) -> State:
        if n_features > MOST_FEATURES:
            raise InvalidInput(
                f"RandomFourier is for events of at most {MOST_FEATURES:,} columns, and these have {n_features:,}; "
                "take numbers only, or the algorithm without a kernel."
            )
        own = self._start_within(n_classes)
        curves = int(self.components)
        width = max(n_features, curves + 1)
        rows = FREQUENCIES + n_features + -(-own.work.size // width)
        inner = (own.extra, own.table, own.matrix, own.pending)
        state = fresh_state(n_features, len(own.scores), (0.0, 0.0), work=(rows, width))
        state = state._replace(extra=np.concatenate([np.zeros(1), *(array.ravel() for array in inner)]))
        frequencies, phases = draw_frequencies(n_features, curves, self.bandwidth, int(self.seed))
        state.work[COLUMNS].view(np.uint32)[:width] = np.arange(width)
        state.work[PHASES, :curves] = phases
        state.work[FREQUENCIES : FREQUENCIES + n_features, :curves] = frequencies
        state.work.reshape(-1)[(FREQUENCIES + n_features) * width :][: own.work.size] = own.work.ravel()
        return state

    def inflate_variances(self, state: State, share: float) -> None:
        n_classes = max(2, len(state.scores))
        self.update.inflate_variances(inner_state(self.parameters_for(np.arange(n_classes)), state), share)

    def coefficients(self, state: State) -> np.ndarray:
        raise NoFeatureWeights(
            "RandomFourier has a weight for each cosine, none for a feature: there is no coef_, and nothing to explain "
            "by it."
        )
