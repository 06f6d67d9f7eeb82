"""How many labels may be bought."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar, NamedTuple

import numpy as np

from askance.errors import InvalidParameter, InvalidType
from askance.learner import pacing
from askance.learner.budget_state import Constraint, carry_over, fresh_budget_state
from askance.learner.rule import Kernel, Parameterised, parameter, share, whole

__all__ = ["Both", "Budget", "Fixed", "PerPeriod", "PerPredictedClass", "Rate", "Unlimited"]


class Pacing(NamedTuple):
    """The compiled half of a budget (the signatures are those of the slots in ``loop.py``)."""

    resume: Kernel
    suspend: Kernel
    needs_update: Kernel
    update_pace: Kernel
    scale_query: Kernel = pacing.multiply_scales
    """For a query rule that has scales."""
    scale_probability: Kernel = pacing.scale_chance
    """For one that has none."""


LIMITED = Pacing(
    pacing.load_limit,
    pacing.store_nothing,
    pacing.never_due,
    pacing.unchanged_limit,
    pacing.leave_scales,
    pacing.as_it_is,
)
BY_EVENTS = Pacing(pacing.resume, pacing.suspend, pacing.due_after_events, pacing.pace_by_events)
BY_TIME = Pacing(pacing.resume, pacing.suspend, pacing.due_after_events_or_time, pacing.pace_by_time)


@dataclass
class Budget(Parameterised):
    """How many labels may be bought, and how they are spread over the stream. ``a & b`` keeps both constraints.

    A kind of budget is a dataclass that says its ``constraints``, or by the prediction its ``class_ceilings``, and
    describes itself. All else follows from these."""

    reads_time: ClassVar[bool] = False
    """Whether every event must come with its time."""
    reads_prediction: ClassVar[bool] = False
    """Whether it has ``class_ceilings``."""

    def constraints(self) -> list[Constraint]:
        """What limits the labels by the events and the time so far; all of them hold."""
        return []

    def class_ceilings(self, classes: np.ndarray) -> np.ndarray:
        """How many labels may ever be asked of the events that are predicted as each of these classes; empty if that is
        not limited."""
        return np.zeros(0, np.int64)

    def describe(self) -> str:
        """The budget as people say it."""
        return str(self)

    def with_front_load(self) -> Budget:
        """The same budget, with the burst of every share spent early."""
        return self

    @property
    def sets_pace(self) -> bool:
        """Whether it steers the query rule, rather than setting limits alone."""
        return any(constraint.share > 0.0 or constraint.period > 0.0 for constraint in self.constraints())

    @property
    def kernels(self) -> Pacing:
        """The compiled half."""
        if not self.sets_pace:
            return LIMITED
        return BY_TIME if self.reads_time else BY_EVENTS

    def parameters(self) -> np.ndarray:
        """The float vector that the kernels see: the constraints, one after the other."""
        return np.array(self.constraints(), np.float64).ravel()

    def budget_state(self, old: np.ndarray | None = None, before: list[Constraint] | None = None) -> np.ndarray:
        """What the kernels keep from event to event. ``old`` is the state of the budget that this one replaces, and
        ``before`` are that budget's constraints."""
        if not self.sets_pace:
            return np.zeros(0)
        constraints = self.constraints()
        budget_state = fresh_budget_state(len(constraints))
        if old is not None and before is not None:
            carry_over(budget_state, constraints, old, before)
        return budget_state

    def constraints_key(self) -> list[Constraint]:
        """The constraints for which a budget state is valid; a budget with others needs a new one."""
        return self.constraints() if self.sets_pace else []

    def min_rate(self) -> float:
        """The smallest share of the events among the constraints; ``explore`` must stay below it. Infinite if there is
        none."""
        return min((constraint.share for constraint in self.constraints() if constraint.share > 0.0), default=inf)

    def max_labels(self) -> float:
        """The labels that may ever be asked; infinite if there is no such number."""
        return min((constraint.limit for constraint in self.constraints() if constraint.period == 0.0), default=inf)

    def __and__(self, other: Any) -> Budget:
        return Both(self, as_budget(other))

    def __rand__(self, other: Any) -> Budget:
        return as_budget(other) & self


@dataclass
class Unlimited(Budget):
    """No limit: the query rule alone decides."""

    def describe(self) -> str:
        return "no limit"


@dataclass
class Fixed(Budget):
    """At most ``n`` labels in all; after that nothing is asked, and predictions go on.

    Parameters
    ----------
    n : int
        The number of labels.
    """

    n: int = whole(0, least=0)

    def describe(self) -> str:
        return f"at most {self.n:,} labels"

    def constraints(self) -> list[Constraint]:
        return [Constraint(limit=float(self.n))]


@dataclass
class PerPredictedClass(Budget):
    """At most ``n`` labels of the events that are predicted as each class.

    An event whose predicted class has had its labels is not asked, not even at random: its ask probability is 0.
    Together with a rate or a number a period, the labels go to the events of the other classes. All labels asked since
    the first event count, for the class that was predicted when they were asked.

    Parameters
    ----------
    n : int
        The number of labels per predicted class.

    Examples
    --------
    >>> import askance
    >>> budget = askance.budgets.Rate(0.02) & askance.budgets.PerPredictedClass(100)
    >>> clf = askance.make("SOAL-diag", budget=budget)
    """

    n: int = whole(0, least=0)

    reads_prediction: ClassVar = True

    def describe(self) -> str:
        return f"at most {self.n:,} labels of each predicted class"

    def class_ceilings(self, classes: np.ndarray) -> np.ndarray:
        return np.full(len(classes), self.n, np.int64)


@dataclass
class Rate(Budget):
    """A share ``r`` of the events: never more, and hardly less.

    After n events at most ``max(r n, burst + 0.96 r n)`` labels were asked: a few more than ``r n`` at the beginning,
    where labels are worth most, and never more than ``r n`` from ``25 burst / r`` events on. In the long run the number
    stays about 10 labels below this ceiling.

    Parameters
    ----------
    r : float
        The share of events to ask for, in (0, 1].
    burst : float, default 10
        How many labels may be asked ahead of the rate at the beginning.
    front_load : bool, default False
        Whether a burst of more than 10 labels is spent within some hundred events, as long as half of the answers or
        more are not as predicted, instead of over the first ``10 / r`` events. ``auto`` always does so.

    Examples
    --------
    >>> import askance
    >>> clf = askance.make("SOAL", budget=askance.budgets.Rate(0.02))
    """

    r: float = share(0.1, hint=" To allow {value} labels in total use budget={value}.")
    burst: float = parameter(10.0, "a finite number of 0 or more", lambda value: 0.0 <= value < inf)
    front_load: bool = False

    def with_front_load(self) -> Budget:
        return replace(self, front_load=True)

    def describe(self) -> str:
        ahead = f", at most {self.burst:g} labels ahead at the start" if self.burst else ""
        return f"about {100 * self.r:g}% of the events{ahead}"

    def constraints(self) -> list[Constraint]:
        return [Constraint(share=float(self.r), burst=float(self.burst), front_load=float(self.front_load))]


PERIODS = {"1d": "a day", "1h": "an hour"}
SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def seconds_of(period: Any) -> float:
    """The length in seconds of a period such as "1d", "12h", "30m", or of a number of seconds."""
    try:
        if isinstance(period, bool):
            raise ValueError
        if isinstance(period, str):
            number, unit = period.strip()[:-1], period.strip()[-1:]
            length = float(number or 1) * SECONDS[unit]
        else:
            length = float(period)
        if 1e-3 <= length < inf:
            return length
    except (KeyError, TypeError, ValueError):
        pass
    raise InvalidParameter(
        f'PerPeriod: period must be a time such as "1d", "12h", "30m", "90s" or a number of seconds, got {period!r}.'
    )


@dataclass
class PerPeriod(Budget):
    """At most ``n`` labels a period, by the events' own time, spread over the period.

    Give the time of each event in seconds: ``run(X, y, times=...)``, ``ask(x, time=...)``. Periods are counted from
    time 0, so that with Unix time "1d" is the UTC day. A time before the latest one counts as the latest.

    Parameters
    ----------
    n : int
        The number of labels per period.
    period : str or float, default "1d"
        The length: a number with s, m, h, d or w, or seconds.
    carry : bool, default False
        Whether the labels that a period leaves over may be asked in the next ones.

    Examples
    --------
    >>> import askance
    >>> budget = askance.budgets.Fixed(10_000) & askance.budgets.PerPeriod(500, "1d")
    >>> clf = askance.make("SOAL-diag", budget=budget)
    """

    n: int = whole(1, least=1)
    period: str | float = "1d"
    carry: bool = False

    reads_time: ClassVar = True

    def _check(self, field: Any, value: Any) -> None:
        if field.name == "period":
            seconds_of(value)
        super()._check(field, value)

    def describe(self) -> str:
        return f"at most {self.n:,} labels {PERIODS.get(str(self.period), f'every {self.period}')}"

    def constraints(self) -> list[Constraint]:
        return [Constraint(limit=float(self.n), period=seconds_of(self.period), carry=float(self.carry))]


@dataclass
class Both(Budget):
    """Two budgets at once: what ``a & b`` makes. No constraint of either is ever broken."""

    first: Budget
    second: Budget

    def check(self) -> None:
        for part in (self.first, self.second):
            if not isinstance(part, Budget):
                raise InvalidType(f"a budget can only be combined with another, got {part!r}.")
            part.check()

    def with_front_load(self) -> Budget:
        return Both(self.first.with_front_load(), self.second.with_front_load())

    def describe(self) -> str:
        return f"{self.first.describe()} and {self.second.describe()}"

    def constraints(self) -> list[Constraint]:
        return self.first.constraints() + self.second.constraints()

    def class_ceilings(self, classes: np.ndarray) -> np.ndarray:
        first, second = self.first.class_ceilings(classes), self.second.class_ceilings(classes)
        return np.minimum(first, second) if first.size and second.size else first if first.size else second

    @property
    def reads_time(self) -> bool:  # type: ignore[override]
        return self.first.reads_time or self.second.reads_time

    @property
    def reads_prediction(self) -> bool:  # type: ignore[override]
        return self.first.reads_prediction or self.second.reads_prediction

    @property
    def sets_pace(self) -> bool:
        """Whether one of the two sets a pace. Two mere limits are one limit, the smaller."""
        part = self._only_part_with_constraints()
        return super().sets_pace if part is None else part.sets_pace

    @property
    def kernels(self) -> Pacing:
        part = self._only_part_with_constraints()
        return super().kernels if part is None else part.kernels

    def _only_part_with_constraints(self) -> Budget | None:
        """One of the two, if the other goes by the prediction alone: it spreads its labels in its own way."""
        parts = [part for part in (self.first, self.second) if part.constraints() or not part.reads_prediction]
        return parts[0] if len(parts) == 1 else None


def as_budget(budget: Any) -> Budget:
    """The budget that a user's value means: None is no limit, a whole number ``Fixed``, a share ``Rate``.

    >>> as_budget(500), as_budget(0.02)
    (Fixed(n=500), Rate(r=0.02, burst=10.0, front_load=False))
    """
    if budget is None:
        return Unlimited()
    if isinstance(budget, Budget):
        return budget
    if isinstance(budget, int | np.integer) and not isinstance(budget, bool):
        if budget < 0:
            raise InvalidParameter(f"budget must be a number of labels, 0 or more, got {budget}.")
        return Fixed(int(budget))
    if isinstance(budget, float | np.floating):
        if 0.0 < budget < 1.0:
            return Rate(float(budget))
        raise InvalidParameter(
            f"budget={budget} is neither a whole number of labels, such as 500, nor a share of the events, such as "
            "0.02."
        )
    raise InvalidType(f"budget must be None, a whole number, a share such as 0.02 or a Budget, got {budget!r}.")
