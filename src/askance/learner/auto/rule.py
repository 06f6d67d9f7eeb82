"""The committee as an update rule: its parameters, its arrays, and what it says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from askance.errors import IncompatibleRules, InvalidParameter
from askance.learner.auto import committee
from askance.learner.auto.evidence import note_evidence
from askance.learner.auto.gradual import spread
from askance.learner.auto.layout import (
    CENTRED,
    LEADER,
    LEARNED,
    LOSS,
    MODEST,
    PER_MEMBER,
    PREDICTED_THEN,
    SINCE,
    VOICE,
    members_at,
)
from askance.learner.auto.members import BLOCK, LINE_UP, Member
from askance.learner.auto.report import Report, report
from askance.learner.auto.views import ALL, MOST_CENTRED, STANDARD, WORK_ROWS
from askance.learner.rule import Kernels, UpdateRule, parameter, positive
from askance.learner.state import State

OBJECTIVES = ("accuracy", "balanced", "f1", "cost")
MOST_FULL = 260  # features, up to which members keep full covariances ...
MOST_NUMBERS = 8_000_000  # ... if these have no more numbers than this together
CAPACITY = 16  # steps that a covariance puts off


@dataclass
class Committee(UpdateRule):
    """Several learners that share every label; those that have done best so far speak.

    Use it with the query rule ``Doubt``, as ``make("auto")`` does: rules that read the margin alone keep it from
    watching the events it does not learn from, and it takes their answers for given ones.

    The weight of a bought answer, 1 / probability of asking, counts in the estimates of the report, and in the choice
    if ``importance`` is above 0; nobody learns more for it. A given label is learned as often as its ``sample_weight``
    says.

    Parameters
    ----------
    objective : {"balanced", "accuracy", "f1", "cost"}
        What to be good at: the mean recall of the classes, the share of right predictions, F1, or the cost of mistakes.
    ratio : float, default 1.0
        What a missed event of the second class costs, over what one of the first does; for ``cost``.
    sharpness : float, default 0.5
        How soon the voices of those who do worse die away; 0: all speak alike, for good.
    importance : float, default 0.0
        The power of an answer's importance weight, 1 / probability of asking, with which it counts in the choice. 1 is
        unbiased but ruled by few answers; 0 was measured to choose best.
    balancing : float, default 1.0
        The power of a class's weight with which it counts in learning; 0: all classes alike.
    predicted_part : float, default 0.4
        How much the shares of the classes are those of the recent predictions, rather than of the answers.
    midway : float, default 1.0
        Two classes, ``balanced``: how far the line between them moves from 0 to half way between their mean margins.
    members : str, default "all"
        Names of members, with commas between, to have some only.
    full : bool, default True
        Full covariances where there are few features.
    modest : bool, default True
        Whether the constant is as large as one of the other features, rather than as all of them together.
    """

    objective: str = "balanced"
    ratio: float = positive(1.0)
    sharpness: float = parameter(0.5, "a finite number of 0 or more", lambda value: 0.0 <= value < np.inf)
    importance: float = parameter(0.0, "in [0, 1]", lambda value: 0.0 <= value <= 1.0)
    balancing: float = parameter(1.0, "in [0, 1]", lambda value: 0.0 <= value <= 1.0)
    predicted_part: float = parameter(0.4, "in [0, 1)", lambda value: 0.0 <= value < 1.0)
    midway: float = parameter(1.0, "in [0, 1]", lambda value: 0.0 <= value <= 1.0)
    members: str = "all"
    full: bool = True
    modest: bool = True

    weighted = True
    weighs_itself: ClassVar = True
    binary: ClassVar = Kernels(
        committee.margin, committee.learn, committee.score, note=committee.note, given=committee.learn_given
    )
    multiclass: ClassVar = binary

    def check(self) -> None:
        super().check()
        if self.objective not in OBJECTIVES:
            raise InvalidParameter(f"objective must be one of {', '.join(OBJECTIVES)}, got {self.objective!r}.")
        known = [member.name for member in LINE_UP]
        unknown = [name for name in self._names() if name not in known]
        if unknown or not self._names():
            raise InvalidParameter(
                f"members must be all or some of {', '.join(known)}, with commas between, got {self.members!r}."
            )

    def _names(self) -> list[str]:
        if self.members == "all":
            return [member.name for member in LINE_UP]
        return [name.strip() for name in str(self.members).split(",") if name.strip()]

    @property
    def line_up(self) -> tuple[Member, ...]:
        """The members."""
        names = self._names()
        return tuple(member for member in LINE_UP if member.name in names)

    def parameters(self) -> np.ndarray:
        head = [
            OBJECTIVES.index(self.objective), self.ratio, self.sharpness, self.importance, self.balancing,
            self.predicted_part, self.midway,
        ]  # fmt: skip
        return np.array(head + [number for member in self.line_up for number in member.row], np.float64)

    def layout(self, n_classes: int) -> tuple[Any, ...]:
        return (*super().layout(n_classes), self.line_up, self.full, self.modest)

    def kernels(self, n_classes: int) -> Kernels:
        if self.objective == "cost" and n_classes > 2:
            raise IncompatibleRules(
                f"costs are those of the two kinds of mistakes between two classes and there are {n_classes}: use "
                "another objective, such as balanced."
            )
        return super().kernels(n_classes)

    # --- the arrays --------------------------------------------------------------------------------------

    def start(self, n_features: int, n_classes: int) -> State:
        width = n_features + 1  # the constant
        vectors = n_classes if self.keeps_vector_per_class(n_classes) else 1
        members = len(self.line_up)
        covariances = sum(member.has_covariance for member in self.line_up) * vectors
        if not (self.full and n_features <= MOST_FULL and covariances * width * width <= MOST_NUMBERS):
            covariances = 0
        table = np.zeros((width, 2 * members + 2, vectors))
        for place, member in enumerate(self.line_up):
            table[:, 2 * place + 1, :] = member.variance
        rows = covariances * width
        head = members_at(n_classes) + PER_MEMBER * members
        state = State(
            table=table,
            matrix=np.zeros((rows, width if rows else 0)),
            pending=np.zeros((rows, CAPACITY if rows else 0)),
            extra=np.zeros(head + BLOCK * covariances),
            scores=np.zeros(vectors),
            variances=np.zeros(members * vectors),
            work=np.zeros((WORK_ROWS, max(width, CAPACITY))),
        )
        state.extra[CENTRED] = n_features <= MOST_CENTRED
        state.extra[MODEST] = self.modest
        state.extra[head - PER_MEMBER * members + VOICE : head : PER_MEMBER] = 1.0 / members
        for block in range(covariances):
            variance = self.line_up[block // vectors].variance
            np.fill_diagonal(state.matrix[block * width : (block + 1) * width], variance)
            state.extra[head + BLOCK * block + 1] = variance
        state.work[ALL].view(np.uint32)[:width] = np.arange(width)
        return state

    def widen(self, state: State, kept: np.ndarray, n_features: int, n_classes: int) -> State:
        """Beyond the number of features that are centred, members with standardised features begin anew."""
        wider = self.start(n_features, n_classes)
        kept = np.append(kept, n_features)
        width, new_width = len(state.table), len(wider.table)
        common = min(len(state.extra), len(wider.extra))
        was_centred, is_centred = state.extra[CENTRED], wider.extra[CENTRED]
        wider.extra[:common] = state.extra[:common]
        wider.extra[CENTRED] = is_centred
        wider.table[kept] = state.table
        for block in range(len(wider.matrix) // new_width if wider.matrix.size else 0):
            old, new = slice(block * width, (block + 1) * width), block * new_width
            wider.matrix[new : new + new_width][np.ix_(kept, kept)] = state.matrix[old]
            wider.pending[new + kept] = state.pending[old]
        if state.matrix.size and not wider.matrix.size:
            self._keep_diagonals(state, wider, kept)
        if was_centred != is_centred:
            self._begin_standardised(wider, n_classes)
        return wider

    def loosen(self, state: State, share: float) -> None:
        """Take every variance and covariance ``share`` of the way back to what it was at first."""
        width, vectors = len(state.table), len(state.scores)
        for place, member in enumerate(self.line_up):
            variances = state.table[:, 2 * place + 1, :]
            variances += share * (member.variance - variances)
        state.matrix[...] *= 1.0 - share
        state.pending[...] *= np.sqrt(1.0 - share)
        for block in range(len(state.matrix) // width):
            own = state.matrix[block * width : (block + 1) * width]
            own[np.diag_indices(width)] += share * self.line_up[block // vectors].variance

    def _keep_diagonals(self, state: State, wider: State, kept: np.ndarray) -> None:
        width, vectors = len(state.table), len(state.scores)
        for block in range(len(state.matrix) // width):
            rows = slice(block * width, (block + 1) * width)
            variances = np.diag(state.matrix[rows]) - (state.pending[rows] ** 2).sum(axis=1)
            wider.table[kept, 2 * (block // vectors) + 1, block % vectors] = np.maximum(variances, 0.0)

    def _begin_standardised(self, state: State, n_classes: int) -> None:
        fresh = self.start(len(state.table) - 1, n_classes)
        state.table[:, -2:, :] = 0.0
        losses = state.extra[members_at(n_classes) + LOSS :: PER_MEMBER][: len(self.line_up)]
        voices = state.extra[members_at(n_classes) + VOICE :: PER_MEMBER][: len(self.line_up)]
        for place, member in enumerate(self.line_up):
            if member.view == STANDARD:
                state.table[:, 2 * place : 2 * place + 2, :] = fresh.table[:, 2 * place : 2 * place + 2, :]
                losses[place], voices[place] = losses.max(), 0.0
        voices[:] = voices / voices.sum() if voices.sum() > 0.0 else 1.0 / len(voices)
        if self.line_up[int(state.extra[LEADER])].view == STANDARD:  # of equal losses the first, which is not anew
            state.extra[LEADER] = losses.argmin()
            state.extra[SINCE] = state.extra[LEARNED]

    def coefficients(self, state: State) -> np.ndarray:
        """The leader's weights, in terms of the events as it sees them; the constant's come last."""
        return np.ascontiguousarray(state.table[:, 2 * int(state.extra[LEADER]), :].T)

    # --- what is said of it ------------------------------------------------------------------------------

    def spread(self, budget: Any) -> Any:
        """The budget, spread over the stream with some of it at the beginning, wherever the user left that open."""
        return spread(budget)

    def recall(self, state: State, predicted: int | None, correction: bool = False) -> None:
        sign = -1.0 if correction else 1.0
        state.extra[PREDICTED_THEN] = 0.0 if predicted is None else sign * (predicted + 1.0)

    def take_back(self, state: State, answer: int, predicted: int, probability: float) -> None:
        note_evidence(state, committee.n_classes(state), answer, predicted, 1.0 / probability, -1.0)

    def report(self, state: State, classes: np.ndarray) -> Report:
        """Who leads, since when, and how good the committee is."""
        return report(self.line_up, state, classes)
