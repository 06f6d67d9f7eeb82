"""The committee as an update rule: its parameters, its arrays and its report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from askance.errors import IncompatibleRules, InvalidParameter
from askance.evaluate.costs import cost_matrix
from askance.learner.auto import committee
from askance.learner.auto.change import inflate_members
from askance.learner.auto.classes import OBJECTIVES
from askance.learner.auto.decaying_rate import resolve_budget
from askance.learner.auto.event_signal import keep_signal, signal_size, view_signal
from askance.learner.auto.fourier import (
    CAPACITY,
    FREQUENCIES,
    PHASES,
    block_size,
    blocks_at,
    curved_state,
)
from askance.learner.auto.layout import covariances_at, n_flat, n_members, view_head, view_member
from askance.learner.auto.members import CURVED_MEMBERS, MEMBERS, MIRROR, SEEKS_NOVELTY, Member
from askance.learner.auto.report import Report, report
from askance.learner.auto.report_counts import count_bought
from askance.learner.auto.views import ALL, CURVED, STANDARD, WORK_ROWS
from askance.learner.budget import Budget
from askance.learner.covariance import COVARIANCE, COVARIANCE_SIZE, view_covariance
from askance.learner.fourier import draw_frequencies
from askance.learner.rule import Kernels, UpdateRule, parameter, positive
from askance.learner.state import State

MOST_FULL = 260  # features, up to which members keep full covariances ...
MOST_NUMBERS = 8_000_000  # ... if these have no more numbers than this together
MOST_CURVED = 260  # features, up to which there is a curved view ...
MOST_CURVED_NUMBERS = 2_000_000  # ... if its members keep no more numbers than this together


@dataclass
class Committee(UpdateRule):
    """A committee of learners that share every label; those that did best so far decide.

    Use it with the query rule ``InverseSquareMargin``, as ``make("auto")`` does: rules that read the margin alone keep
    it from watching the events it does not learn from, and it takes their answers for given ones.

    The weight of a bought answer, 1 / ask probability, counts in the estimates of the report, and in the votes if
    ``importance`` is above 0; no member learns more for it. A given label is learned as often as its ``sample_weight``
    says.

    Parameters
    ----------
    objective : {"balanced", "accuracy", "f1", "cost"}
        What to be good at: the mean recall of the classes, the share of right predictions, F1, or the cost of mistakes.
    ratio : float, default 1.0
        What a missed event of the second class costs, over what one of the first does; for ``cost`` without ``costs``.
    sharpness : float, default 0.5
        How fast the votes of worse members fall with their loss; with 0 all members vote alike, for good.
    importance : float, default 0.0
        The power of an answer's weight, 1 / ask probability, with which it counts in the members' losses. 1 is
        unbiased but dominated by few answers; 0 was measured to choose best.
    balancing : float, default 1.0
        The power of a class's weight with which it counts in learning; 0: all classes alike.
    predicted_part : float, default 0.4
        How much the shares of the classes are those of the recent predictions, rather than of the answers.
    midway : float, default 1.0
        Two classes, ``balanced``: how far the threshold moves from 0 to half way between their mean margins.
    members : str, default "all"
        Names of members, with commas between, to have some only.
    full : bool, default True
        Full covariances where there are few features.
    modest : bool, default True
        Whether the constant is as large as one of the other features, rather than as all of them together.
    curves : int, default 0
        How many features the curved view has, where events have few enough of their own; 0: there is none, and no
        curved member. ``make("auto")`` has 128.
    reaction : float, default 0.0
        How far an alarm (see ``change``) takes the members back to where they began. ``make("auto")`` has 1: they start
        anew. 0 counts alarms, but does nothing.
    event_reaction : float, default 0.0
        How far changed events (see ``event_signal``) take the members' covariances back to what they were at first;
        their weights stay. ``make("auto")`` has 0.5. 0: events are not watched for changes.
    audits : float, default 0.0
        With a budget that is a share r of the events, ``explore`` is this part of r at least, so that the report's
        intervals become narrower. ``make("auto")`` has 0.2.
    audit_growth : float, default 0.0
        How much larger that part is with a larger r: audits (1 + audit_growth r), up to a half. ``make("auto")`` has
        30, which is 1/5 + 6 r: the fewer labels there are, the more each of them has to teach.
    front_load : bool, default False
        Whether the burst of a ``Rate`` is spent at once while answers surprise (its ``front_load``). ``make("auto")``
        has True.
    unbiasing : float, default 0.0
        Two classes, ``balanced``: the power of an answer's weight, over the usual one, with which its margin counts in
        the threshold. With 0, as in models saved before there was a choice, the threshold is that of the asked events,
        not of all. ``make("auto")`` has 1.
    rare_side : float, default 0.0
        Two classes: the power of the predicted class's weight with which an event counts in asking, so that more is
        asked where the rarer class is predicted. ``make("auto")`` has 0.5.
    variety : float, default 0.0
        How much less is asked for events that are nearly equal to ones asked lately (see ``asking``). ``make("auto")``
        has 4.
    novelty : bool, default False
        Whether the member ``standard-novelty-1``, which takes the unusual for the rarer class, has the place of
        ``standard-mirror-0.1``. ``make("auto")`` has True.
    centred : int, default 512
        How many features there may be for them to be centred in the standardised view, which takes time for absent
        ones, too. ``make("auto")`` has 800.
    costs : optional
        What mistakes cost, by name or as rows of a matrix (see ``evaluate.costs``); for ``cost``. Of the mistakes that
        miss a class only the mean counts.
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
    curves: int = parameter(0, "a whole number from 0 to 1024", lambda value: value in range(1025))
    reaction: float = parameter(0.0, "in [0, 1]", lambda value: 0.0 <= value <= 1.0)
    event_reaction: float = parameter(0.0, "in [0, 1]", lambda value: 0.0 <= value <= 1.0)
    audits: float = parameter(0.0, "in [0, 1)", lambda value: 0.0 <= value < 1.0)
    audit_growth: float = parameter(0.0, "a finite number of 0 or more", lambda value: 0.0 <= value < np.inf)
    front_load: bool = False
    unbiasing: float = parameter(0.0, "in [0, 1]", lambda value: 0.0 <= value <= 1.0)
    rare_side: float = parameter(0.0, "in [0, 1]", lambda value: 0.0 <= value <= 1.0)
    variety: float = parameter(0.0, "a finite number of 0 or more", lambda value: 0.0 <= value < np.inf)
    novelty: bool = False
    centred: int = parameter(512, "a whole number of 0 or more", lambda value: value >= 0 and value == int(value))
    costs: Any = None

    weighted = True
    takes_weights: ClassVar = True
    watches_events: ClassVar = True
    binary: ClassVar = Kernels(
        committee.margin, committee.learn, committee.score, observe=committee.observe, learn_given=committee.learn_given
    )
    multiclass: ClassVar = binary
    is_local: ClassVar = False

    def check(self) -> None:
        super().check()
        if self.objective not in OBJECTIVES:
            raise InvalidParameter(f"objective must be one of {', '.join(OBJECTIVES)}, got {self.objective!r}.")
        known = [member.name for member in self._known()]
        names = known if self.members == "all" else self._names()
        if not names or any(name not in known for name in names):
            raise InvalidParameter(
                f"members must be all or some of {', '.join(known)}, with commas between, got {self.members!r}."
            )

    @property
    def moves_threshold(self) -> bool:
        return self.objective != "accuracy"

    def _names(self) -> list[str]:
        return [name.strip() for name in str(self.members).split(",") if name.strip()]

    def _candidates(self) -> tuple[Member, ...]:
        """All members of this committee if none are named."""
        flat = tuple(SEEKS_NOVELTY if self.novelty and one.rule == MIRROR else one for one in MEMBERS)
        return flat + (CURVED_MEMBERS if self.curves > 0 else ())

    def _known(self) -> tuple[Member, ...]:
        """All members that can be named."""
        return (*MEMBERS, SEEKS_NOVELTY, *(CURVED_MEMBERS if self.curves > 0 else ()))

    @property
    def roster(self) -> tuple[Member, ...]:
        """The members, the curved ones last; where there are too many features for these, the others alone play."""
        if self.members == "all":
            return self._candidates()
        names = self._names()
        return tuple(member for member in self._known() if member.name in names)

    def parameters(self) -> np.ndarray:
        head = [
            OBJECTIVES.index(self.objective), self.ratio, self.sharpness, self.importance, self.balancing,
            self.predicted_part, self.midway, self.curves, self.reaction, self.event_reaction,
            self.unbiasing, self.rare_side, self.variety,
        ]  # fmt: skip
        return np.array(head + [number for member in self.roster for number in member.row], np.float64)

    def parameters_for(self, classes: np.ndarray) -> np.ndarray:
        """``parameters``, followed by c_y of each class if the objective is the cost of mistakes (see ``classes``)."""
        if self.objective != "cost":
            return self.parameters()
        by_class = None if self.costs is None else cost_matrix(self.costs, classes).sum(axis=1)
        costs = np.array([1.0, self.ratio]) if by_class is None else by_class
        return np.append(self.parameters(), costs * len(costs) / costs.sum())

    def layout(self, n_classes: int) -> tuple[Any, ...]:
        own = self.roster, self.full, self.modest, self.curves, self.centred, self.event_reaction > 0.0
        return (*super().layout(n_classes), *own)

    def kernels(self, n_classes: int) -> Kernels:
        if self.objective == "cost" and self.costs is None and n_classes > 2:
            raise IncompatibleRules(
                f"the costs fn and fp are for two classes and there are {n_classes}: name the classes, such as "
                'costs={"fraud": {"ok": 9}}, or use another objective, such as balanced.'
            )
        return super().kernels(n_classes)

    # --- the arrays --------------------------------------------------------------------------------------

    def start(self, n_features: int, n_classes: int) -> State:
        width = n_features + 1  # the constant
        vectors = n_classes if self.keeps_vector_per_class(n_classes) else 1
        flat = [member for member in self.roster if member.view != CURVED]
        curved = self._curved_members(n_features, vectors)
        members = len(flat) + len(curved)
        covariances = sum(member.has_covariance for member in flat) * vectors
        if not (self.full and n_features <= MOST_FULL and covariances * width * width <= MOST_NUMBERS):
            covariances = 0
        table = np.zeros((width, 2 * len(flat) + 2, vectors))
        for place, member in enumerate(flat):
            table[:, 2 * place + 1, :] = member.variance
        rows = covariances * width
        records = covariances_at(n_classes, members)
        blocks = len(curved) * vectors * block_size(self.curves)
        broadest = max(width, CAPACITY, self.curves + 1 if curved else 0)
        state = State(
            table=table,
            matrix=np.zeros((rows, width if rows else 0)),
            pending=np.zeros((rows, CAPACITY if rows else 0)),
            extra=np.zeros(records + COVARIANCE_SIZE * covariances + blocks + self._signal_size(n_features)),
            scores=np.zeros(vectors),
            variances=np.zeros(members * vectors),
            work=np.zeros((FREQUENCIES + n_features if curved else WORK_ROWS, broadest)),
        )
        head = view_head(state)
        head.is_centred = n_features <= self.centred
        head.is_modest = self.modest
        for i in range(members):
            view_member(state, i).vote = 1.0 / members
        for block in range(covariances):
            variance = flat[block // vectors].variance
            np.fill_diagonal(state.matrix[block * width : (block + 1) * width], variance)
            state.extra[records:][: COVARIANCE_SIZE * covariances].view(COVARIANCE)[block].initial_variance = variance
        state.work[ALL].view(np.uint32)[:broadest] = np.arange(broadest)
        for member, own in self._curved_states(state):
            np.fill_diagonal(own.matrix, member.variance)
            view_covariance(own).initial_variance = member.variance
        if curved:
            frequencies, phases = draw_frequencies(n_features, self.curves)
            state.work[FREQUENCIES:, : self.curves] = frequencies
            state.work[PHASES, : self.curves] = phases
        return state

    def _signal_size(self, n_features: int) -> int:
        return int(signal_size(n_features)) if self.event_reaction > 0.0 else 0

    def _curved_members(self, n_features: int, vectors: int) -> list[Member]:
        """The curved members, if there are few enough features and classes for them."""
        curved = [member for member in self.roster if member.view == CURVED]
        numbers = len(curved) * vectors * block_size(self.curves)
        # If nobody else was named, they play whatever it costs.
        fits = n_features <= MOST_CURVED and numbers <= MOST_CURVED_NUMBERS
        return curved if fits or len(curved) == len(self.roster) else []

    def _curved_states(self, state: State) -> Iterator[tuple[Member, State]]:
        """Every curved member with each of its weight vectors, as views of ``state``."""
        for place in range(n_flat(state), n_members(state)):
            for vector in range(len(state.scores)):
                yield self.roster[place], curved_state(state, place, vector, self.curves)

    def widen(self, state: State, kept: np.ndarray, n_features: int, n_classes: int) -> State:
        """Beyond the number of features that can be centred, members with standardised features start again. Beyond the
        number for which there is a curved view, its members leave."""
        wider = self.start(n_features, n_classes)
        if self.event_reaction > 0.0:
            keep_signal(state, wider, kept)
        kept = np.append(kept, n_features)
        width, new_width = len(state.table), len(wider.table)
        members = n_members(wider)
        was_centred, is_centred = view_head(state).is_centred, view_head(wider).is_centred
        before, after = (covariances_at(n_classes, n_members(one)) for one in (state, wider))
        wider.extra[:after] = state.extra[:after]  # fewer members: the first of them
        view_head(wider).is_centred = is_centred
        records = COVARIANCE_SIZE * (len(wider.matrix) // new_width)
        wider.extra[after : after + records] = state.extra[before : before + records]
        wider.table[kept] = state.table
        for block in range(len(wider.matrix) // new_width if wider.matrix.size else 0):
            old, new = slice(block * width, (block + 1) * width), block * new_width
            wider.matrix[new : new + new_width][np.ix_(kept, kept)] = state.matrix[old]
            wider.pending[new + kept] = state.pending[old]
        if state.matrix.size and not wider.matrix.size:
            self._keep_diagonals(state, wider, kept)
        if members == n_members(state):
            blocks = len(state.extra) - self._signal_size(width - 1) - blocks_at(state)
            wider.extra[blocks_at(wider) :][:blocks] = state.extra[blocks_at(state) :][:blocks]
        else:
            self._share_votes(wider)
        if was_centred != is_centred:
            self._begin_standardised(wider, n_classes)
        return wider

    def inflate_variances(self, state: State, share: float) -> None:
        """S <- (1 - share) S + share S_0: move every covariance a share of the way back to what it was at first."""
        inflate_members(self.parameters(), state, share)

    def _share_votes(self, state: State) -> None:
        """After members left: votes that sum to 1, and a leader among those who stayed."""
        head, records = view_head(state), [view_member(state, i) for i in range(n_members(state))]
        total = sum(record.vote for record in records)
        for record in records:
            record.vote = record.vote / total if total > 0.0 else 1.0 / len(records)
        if head.leader >= len(records):
            head.leader = np.argmin([record.loss for record in records])
            head.leads_since = head.learned

    def _keep_diagonals(self, state: State, wider: State, kept: np.ndarray) -> None:
        width, vectors = len(state.table), len(state.scores)
        for block in range(len(state.matrix) // width):
            rows = slice(block * width, (block + 1) * width)
            variances = np.diag(state.matrix[rows]) - (state.pending[rows] ** 2).sum(axis=1)
            wider.table[kept, 2 * (block // vectors) + 1, block % vectors] = np.maximum(variances, 0.0)

    def _begin_standardised(self, state: State, n_classes: int) -> None:
        fresh = self.start(len(state.table) - 1, n_classes)
        state.table[:, -2:, :] = 0.0
        head, records = view_head(state), [view_member(state, i) for i in range(n_members(state))]
        losses, votes = (np.array([record[name] for record in records]) for name in ("loss", "vote"))
        for place, member in enumerate(self.roster[: n_members(state)]):
            if member.view == STANDARD:
                state.table[:, 2 * place : 2 * place + 2, :] = fresh.table[:, 2 * place : 2 * place + 2, :]
                losses[place], votes[place] = losses.max(), 0.0
        votes[:] = votes / votes.sum() if votes.sum() > 0.0 else 1.0 / len(votes)
        for record, loss, vote in zip(records, losses, votes, strict=True):
            record.loss, record.vote = loss, vote
        if self.roster[int(head.leader)].view == STANDARD:  # of equal losses the first, which did not restart
            head.leader = losses.argmin()
            head.leads_since = head.learned

    def coefficients(self, state: State) -> np.ndarray:
        """The leader's weights, for events in its own view; the constant's come last. A curved member has no weight for
        a feature: if it leads, they are those of the best of the others, 0 if there is none."""
        place, flat = int(view_head(state).leader), n_flat(state)
        if flat == 0:
            return np.zeros((len(state.scores), len(state.table)))
        if place >= flat:
            place = int(np.argmin([view_member(state, i).loss for i in range(flat)]))
        return np.ascontiguousarray(state.table[:, 2 * place, :].T)

    # --- budget and report -------------------------------------------------------------------------------

    def resolve_budget(self, budget: Any) -> Any:
        """The budget to use: if the user left the spreading open, one that begins with a burst of labels, which is
        spent early with ``front_load``."""
        budget = resolve_budget(budget)
        return budget.with_front_load() if self.front_load and isinstance(budget, Budget) else budget

    def least_explore(self, budget: Any) -> float:
        """audits (1 + audit_growth r) r for a share r of the events, growing up to r / 2; 0 without such a share."""
        share = float(budget.min_rate())
        part = max(self.audits, min(0.5, self.audits * (1.0 + self.audit_growth * share)))
        return part * share if share < 1.0 else 0.0

    def recall(self, state: State, predicted: int | None, correction: bool = False) -> None:
        sign = -1.0 if correction else 1.0
        view_head(state).predicted_then = 0.0 if predicted is None else sign * (predicted + 1.0)

    def take_back(self, state: State, answer: int, predicted: int, probability: float) -> None:
        count_bought(state, answer, predicted, 1.0 / probability, -1.0)

    def report(self, state: State, classes: np.ndarray) -> Report:
        """Who leads, since when, and how good the committee is."""
        found = report(self.roster[: n_members(state)], state, classes)
        if self.event_reaction > 0.0:
            signal = view_signal(state)
            found = found._replace(event_alarms=int(signal.alarms), last_event_alarm=int(signal.last_alarm))
        return found
