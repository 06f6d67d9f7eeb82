"""How many labels may be bought."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, NamedTuple

import numpy as np

from askance.errors import InvalidParameter, InvalidType
from askance.learner import pacing
from askance.learner.rule import Kernel, Parameterised, parameter, share, whole


class Pacing(NamedTuple):
    """The compiled half of a budget (the signatures are those of the slots in ``loop.py``)."""

    resume: Kernel
    suspend: Kernel
    is_due: Kernel
    reckon: Kernel
    tune: Kernel = pacing.multiply_scales
    """For a query rule that has scales."""
    steer: Kernel = pacing.scaled
    """For one that has none."""


LIMITED = Pacing(
    pacing.keep_limit, pacing.keep_nothing, pacing.never, pacing.same_limit, pacing.leave_scales, pacing.as_it_is
)
BY_EVENTS = Pacing(pacing.resume, pacing.suspend, pacing.after_events, pacing.by_events)
BY_TIME = Pacing(pacing.resume, pacing.suspend, pacing.after_events_or_time, pacing.by_time)


@dataclass
class Budget(Parameterised):
    """How many labels may be bought, and how they are spread over the stream. ``a & b`` keeps both promises."""

    kernels: ClassVar[Pacing] = LIMITED
    reads_time: ClassVar[bool] = False
    """Whether the time of each event must be told."""

    def parameters(self) -> np.ndarray:
        """The float vector the kernels see: the fields in their order."""
        return np.array([float(getattr(self, field.name)) for field in self._fields()])

    def account(self, old: np.ndarray | None = None, before: list[list[float]] | None = None) -> np.ndarray:
        """What the kernels keep from event to event; before the first, or after another budget with its account."""
        return np.zeros(0)

    def promises(self) -> list[list[float]]:
        """The budget as rows of ``pacing``."""
        raise InvalidType(f"{type(self).__name__} cannot be combined with other budgets.")

    def terms(self) -> list[list[float]]:
        """What must stay the same for an account to stay valid."""
        return []

    def least_share(self) -> float:
        """The share of events below which ``explore`` must stay; infinite where the budget knows none."""
        return inf

    def __and__(self, other: Any) -> Budget:
        return Both(self, as_budget(other))

    def __rand__(self, other: Any) -> Budget:
        return as_budget(other) & self


@dataclass
class Unlimited(Budget):
    """No limit: the query rule alone decides."""

    def parameters(self) -> np.ndarray:
        return np.array([inf])

    def promises(self) -> list[list[float]]:
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

    def promises(self) -> list[list[float]]:
        return [[float(self.n), 0.0, 0.0, 0.0, 0.0]]


class Paced(Budget):
    """A budget whose labels are spread over the stream by steering the query rule's scale (see ``pacing``)."""

    kernels: ClassVar = BY_EVENTS

    def parameters(self) -> np.ndarray:
        return np.array(self.promises()).ravel()

    def account(self, old: np.ndarray | None = None, before: list[list[float]] | None = None) -> np.ndarray:
        promises = self.promises()
        account = pacing.fresh_account(len(promises))
        if old is not None and before is not None:
            pacing.carry_over(account, promises, old, before)
        return account

    def terms(self) -> list[list[float]]:
        return self.promises()

    def least_share(self) -> float:
        return min((row[pacing.SHARE] for row in self.promises() if row[pacing.SHARE] > 0.0), default=inf)


@dataclass
class Rate(Paced):
    """A share ``r`` of the events: never more, and hardly less.

    After n events at most ``max(r n, burst + 0.96 r n)`` labels were asked for: a few more than ``r n`` at the
    beginning, where labels are worth most, and never more than ``r n`` from ``25 burst / r`` events on. In the long run
    the number stays about 10 labels below that line.

    Parameters
    ----------
    r : float
        The share of events to ask for, in (0, 1].
    burst : float, default 10
        How many labels may be asked for ahead of the rate at the beginning.

    Examples
    --------
    >>> import askance
    >>> clf = askance.make("SOAL", budget=askance.budgets.Rate(0.02))
    """

    r: float = share(0.1, hint=" To allow {value} labels in total use budget={value}.")
    burst: float = parameter(10.0, "a finite number of 0 or more", lambda value: 0.0 <= value < inf)

    def promises(self) -> list[list[float]]:
        return [[inf, float(self.r), float(self.burst), 0.0, 0.0]]


SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def seconds_of(period: Any) -> float:
    """The length of a period such as "1d", "12h", "30m", or a number of seconds."""
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

    Periods are counted from time 0, so that with Unix time "1d" is the UTC day. The time of each event, in seconds,
    comes with it: ``run(X, y, times=...)``, ``ask(x, time=...)``. Time that steps back counts as standing still.

    Parameters
    ----------
    n : int
        The number of labels a period.
    period : str or float, default "1d"
        The length: a number with s, m, h, d or w, or seconds.
    carry : bool, default False
        Whether labels a period left over may be asked for in the next ones.

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

    def promises(self) -> list[list[float]]:
        return [[float(self.n), 0.0, 0.0, seconds_of(self.period), float(self.carry)]]


@dataclass
class Both(Paced):
    """Two budgets at once: what ``a & b`` makes. Neither promise is ever broken."""

    first: Budget
    second: Budget

    def check(self) -> None:
        for part in (self.first, self.second):
            if not isinstance(part, Budget):
                raise InvalidType(f"a budget can only be combined with another, got {part!r}.")
            part.check()
            part.promises()

    def promises(self) -> list[list[float]]:
        return self.first.promises() + self.second.promises()

    @property
    def reads_time(self) -> bool:  # type: ignore[override]
        return self.first.reads_time or self.second.reads_time

    @property
    def sets_pace(self) -> bool:
        """Whether one of the two spreads its labels; two limits are a limit."""
        return any(row[pacing.SHARE] > 0.0 or row[pacing.PERIOD] > 0.0 for row in self.promises())

    @property
    def kernels(self) -> Pacing:  # type: ignore[override]
        if not self.sets_pace:
            return LIMITED
        return BY_TIME if self.reads_time else BY_EVENTS

    def parameters(self) -> np.ndarray:
        if self.sets_pace:
            return super().parameters()
        return np.array([min((row[pacing.LIMIT] for row in self.promises()), default=inf)])

    def account(self, old: np.ndarray | None = None, before: list[list[float]] | None = None) -> np.ndarray:
        return super().account(old, before) if self.sets_pace else np.zeros(0)


def as_budget(budget: Any) -> Budget:
    """A budget from what a user may pass: None, a count, or a budget."""
    if budget is None:
        return Unlimited()
    if isinstance(budget, Budget):
        return budget
    if isinstance(budget, int | np.integer) and not isinstance(budget, bool):
        return Fixed(int(budget))  # refuses negative ones
    if isinstance(budget, float | np.floating):
        share = budget if 0.0 < budget <= 1.0 else 0.02
        raise InvalidParameter(
            f"budget={budget} is not a whole number of labels. For a share of the events use "
            f"budget=askance.budgets.Rate({share})."
        )
    raise InvalidType(f"budget must be None, a whole number or a Budget, got {budget!r}.")
