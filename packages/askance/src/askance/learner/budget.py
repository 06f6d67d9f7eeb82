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

__all__ = ["Both", "Budget", "Fixed", "PerPeriod", "Rate", "Unlimited"]


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
    """How many labels may be bought, and how they are spread over the stream. ``a & b`` keeps both constraints."""

    kernels: ClassVar[Pacing] = LIMITED
    reads_time: ClassVar[bool] = False
    """Whether every event must come with its time."""
    sets_pace: ClassVar[bool] = False
    """Whether it steers the query rule, rather than setting a limit alone."""

    def parameters(self) -> np.ndarray:
        """The float vector the kernels see: the fields in their order."""
        return np.array([float(getattr(self, field.name)) for field in self._fields()])

    def budget_state(self, old: np.ndarray | None = None, before: list[Constraint] | None = None) -> np.ndarray:
        """What the kernels keep from event to event. ``old`` is the state of the budget that this one replaces, and
        ``before`` are that budget's constraints."""
        return np.zeros(0)

    def constraints(self) -> list[Constraint]:
        """The budget's constraints; all of them hold."""
        raise InvalidType(f"{type(self).__name__} cannot be combined with other budgets.")

    def constraints_key(self) -> list[Constraint]:
        """The constraints for which a budget state is valid; a budget with others needs a new one."""
        return []

    def least_share(self) -> float:
        """The smallest share of the events among the constraints; ``explore`` must stay below it. Infinite if there is
        none."""
        return inf

    def most_in_all(self) -> float:
        """The labels that may ever be asked; infinite if there is no such number."""
        return inf

    def hurried(self) -> Budget:
        """The same budget, with the burst of every share in a hurry."""
        return self

    def in_words(self) -> str:
        """The budget as people say it."""
        return str(self)

    def __and__(self, other: Any) -> Budget:
        return Both(self, as_budget(other))

    def __rand__(self, other: Any) -> Budget:
        return as_budget(other) & self


@dataclass
class Unlimited(Budget):
    """No limit: the query rule alone decides."""

    def in_words(self) -> str:
        return "no limit"

    def parameters(self) -> np.ndarray:
        return np.array([inf])

    def constraints(self) -> list[Constraint]:
        return []


@dataclass
class Fixed(Budget):
    """At most ``n`` labels in all; after that nothing is asked, and predictions go on.

    Parameters
    ----------
    n : int
        The number of labels.
    """

    n: int = whole(0, least=0)

    def in_words(self) -> str:
        return f"at most {self.n:,} labels"

    def most_in_all(self) -> float:
        return float(self.n)

    def constraints(self) -> list[Constraint]:
        return [Constraint(limit=float(self.n))]


class Paced(Budget):
    """A budget that spreads its labels over the stream by steering the query rule's scale (see ``pacing``)."""

    kernels: ClassVar = BY_EVENTS
    sets_pace: ClassVar[bool] = True

    def parameters(self) -> np.ndarray:
        return np.array(self.constraints()).ravel()

    def budget_state(self, old: np.ndarray | None = None, before: list[Constraint] | None = None) -> np.ndarray:
        constraints = self.constraints()
        budget_state = fresh_budget_state(len(constraints))
        if old is not None and before is not None:
            carry_over(budget_state, constraints, old, before)
        return budget_state

    def constraints_key(self) -> list[Constraint]:
        return self.constraints()

    def most_in_all(self) -> float:
        return min((constraint.limit for constraint in self.constraints() if constraint.period == 0.0), default=inf)

    def least_share(self) -> float:
        return min((constraint.share for constraint in self.constraints() if constraint.share > 0.0), default=inf)


@dataclass
class Rate(Paced):
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
    hurry : bool, default False
        Whether a burst of more than 10 labels is spent within some hundred events, as long as half of the answers or
        more are not as predicted, instead of over the first ``10 / r`` events. ``auto`` is always in a hurry.

    Examples
    --------
    >>> import askance
    >>> clf = askance.make("SOAL", budget=askance.budgets.Rate(0.02))
    """

    r: float = share(0.1, hint=" To allow {value} labels in total use budget={value}.")
    burst: float = parameter(10.0, "a finite number of 0 or more", lambda value: 0.0 <= value < inf)
    hurry: bool = False

    def hurried(self) -> Budget:
        return replace(self, hurry=True)

    def in_words(self) -> str:
        ahead = f", at most {self.burst:g} labels ahead at the start" if self.burst else ""
        return f"about {100 * self.r:g}% of the events{ahead}"

    def constraints(self) -> list[Constraint]:
        return [Constraint(share=float(self.r), burst=float(self.burst), hurry=float(self.hurry))]


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
class PerPeriod(Paced):
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

    kernels: ClassVar = BY_TIME
    reads_time: ClassVar = True

    def _check(self, field: Any, value: Any) -> None:
        if field.name == "period":
            seconds_of(value)
        super()._check(field, value)

    def in_words(self) -> str:
        return f"at most {self.n:,} labels {PERIODS.get(str(self.period), f'every {self.period}')}"

    def constraints(self) -> list[Constraint]:
        return [Constraint(limit=float(self.n), period=seconds_of(self.period), carry=float(self.carry))]


@dataclass
class Both(Paced):
    """Two budgets at once: what ``a & b`` makes. No constraint of either is ever broken."""

    first: Budget
    second: Budget

    def check(self) -> None:
        for part in (self.first, self.second):
            if not isinstance(part, Budget):
                raise InvalidType(f"a budget can only be combined with another, got {part!r}.")
            part.check()
            part.constraints()

    def hurried(self) -> Budget:
        return Both(self.first.hurried(), self.second.hurried())

    def in_words(self) -> str:
        return f"{self.first.in_words()} and {self.second.in_words()}"

    def constraints(self) -> list[Constraint]:
        return self.first.constraints() + self.second.constraints()

    @property
    def reads_time(self) -> bool:  # type: ignore[override]
        return self.first.reads_time or self.second.reads_time

    @property
    def sets_pace(self) -> bool:  # type: ignore[override]
        """Whether one of the two sets a pace. Two mere limits are one limit, the smaller."""
        return any(constraint.share > 0.0 or constraint.period > 0.0 for constraint in self.constraints())

    @property
    def kernels(self) -> Pacing:  # type: ignore[override]
        if not self.sets_pace:
            return LIMITED
        return BY_TIME if self.reads_time else BY_EVENTS

    def parameters(self) -> np.ndarray:
        if self.sets_pace:
            return super().parameters()
        return np.array([self.most_in_all()])

    def budget_state(self, old: np.ndarray | None = None, before: list[Constraint] | None = None) -> np.ndarray:
        return super().budget_state(old, before) if self.sets_pace else np.zeros(0)


def as_budget(budget: Any) -> Budget:
    """The budget that a user's value means: None is no limit, a whole number ``Fixed``, a share ``Rate``.

    >>> as_budget(500), as_budget(0.02)
    (Fixed(n=500), Rate(r=0.02, burst=10.0, hurry=False))
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
