"""The kinds of budgets, as users write them: with the options of a command, or in ``askance.toml``.

Each is declared here, once, in ``BUDGET_KINDS``: its name in ``[asking]``, its option, what it must be, the budget that
it means, by which time it goes, and what is said of it. Command line, service, screens, pages and settings read that.
The budgets themselves, with their parameters, their kernels and their words, are in ``budget``; it is loaded when one
is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, NamedTuple

from askance.errors import InvalidParameter

if TYPE_CHECKING:
    from askance.learner.budget import Budget

MOST = 2**53
HOUR, DAY = 3_600, 86_400


class Span(NamedTuple):
    """The time over which the labels of a kind are counted."""

    name: str
    words: str
    """The span under way, as people say it."""
    period: str = ""
    """As ``PerPeriod`` takes it; empty if all labels there ever were are counted."""
    seconds: int = 0
    """Its length, in whole hours; 0 if there is no end."""


class BudgetKind(NamedTuple):
    """How one kind of budget is written, checked, counted, and turned into a budget."""

    option: str
    metavar: str
    help: str
    """As argparse takes it, with %% for a percent sign."""
    requirement: str
    read: Callable[[str], Any]
    """From a text to a value; raises ``ValueError``."""
    is_met: Callable[[Any], bool]
    budget: Callable[[Any], Budget]
    """The budget of a value above 0."""
    example: str
    """A value and what it means, for the settings that ``askance init`` writes."""
    span: Span | None = None
    """Where a number of labels is allowed: over which time."""
    by_class: bool = False
    """Whether the number is for each predicted class, of all labels there ever were."""
    may_be_share: bool = False
    """Whether an option may also be a share of the events, below 1, which then is the rate."""

    @property
    def needs_time(self) -> bool:
        """Whether every event must come with its time."""
        return self.span is not None and self.span.seconds > 0

    @property
    def destination(self) -> str:
        """Where argparse puts the option."""
        return self.option.lstrip("-").replace("-", "_")

    def parse(self, text: str) -> Any:
        """The value that the text of an option means; raises ``ValueError`` with what it must be."""
        for read, is_met in ((self.read, self.is_met), *([(read_share, is_part)] if self.may_be_share else [])):
            try:
                value = read(text)
            except ValueError:
                continue
            if is_met(value):
                return value
        more = ", or a share such as 2%" if self.may_be_share else ""
        wanted = SHARE if self.read is read_share else f"must be {self.requirement}{more}"
        raise ValueError(f"{wanted}, got {text!r}{propose_percentage(text) if self.read is read_share else ''}")

    def check(self, name: str, value: Any) -> Any:
        """The value of a setting, if it is what it must be."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not self.is_met(value):
            wanted = f"a whole number from 0 to {MOST}" if isinstance(value, int) and value > MOST else self.requirement
            raise InvalidParameter(f"{name} must be {wanted}, got {value!r}.")
        return self.read(str(value))


def is_count(value: Any) -> bool:
    return isinstance(value, int) and 0 <= value <= MOST


def is_share(value: Any) -> bool:
    return bool(0.0 <= value <= 1.0)


def is_part(value: Any) -> bool:
    return bool(0.0 < value < 1.0)


SHARE = "must be a share of the events, such as 5% or 0.05"
"""What an option says that takes a share."""


def read_share(text: str) -> float:
    """A share of the events, written as 0.05 or as 5%.

    >>> read_share("0.1%") == read_share("0.001")
    True
    """
    return float(f"{text[:-1]}e-2") if text.endswith("%") else float(text)


def propose_percentage(text: str) -> str:
    """What to type for a number that was meant as a percentage, to append to an error."""
    try:
        is_percentage = 1.0 < float(text) <= 100.0
    except ValueError:
        is_percentage = False
    return f"; for {text} of 100 events type {text}%" if is_percentage else ""


def count(option: str, help: str, budget: Callable[[int], Budget], example: str, **more: Any) -> BudgetKind:
    """Declare a kind that is a whole number."""
    return BudgetKind(option, "N", help, "a whole number, 0 or more", int, is_count, budget, example, **more)


def share(option: str, help: str, budget: Callable[[float], Budget], example: str) -> BudgetKind:
    """Declare a kind that is a share of the events."""
    return BudgetKind(option, "R", help, "a share of the events, from 0 to 1", read_share, is_share, budget, example)


def per(option: str, help: str, span: Span, example: str) -> BudgetKind:
    """Declare a number of labels a period."""

    def budget(n: int) -> Budget:
        from askance.learner.budget import PerPeriod

        return PerPeriod(n, span.period)

    return count(option, help, budget, example, span=span)


def _fixed(n: int) -> Budget:
    from askance.learner.budget import Fixed

    return Fixed(n)


def _rate(r: float) -> Budget:
    from askance.learner.budget import Rate

    return Rate(r)


def _per_predicted_class(n: int) -> Budget:
    from askance.learner.budget import PerPredictedClass

    return PerPredictedClass(n)


BUDGET_KINDS: dict[str, BudgetKind] = {
    "total": count(
        "--budget",
        "at most N labels in all; 2%% means --rate 2%%",
        _fixed,
        "10000  # for example",
        span=Span("total", "in total"),
        may_be_share=True,
    ),
    "rate": share(
        "--rate",
        "about this share of the events, such as 2%% or 0.02,\nat most 10 labels ahead of that at first, 40 with auto",
        _rate,
        "0.05  # share of the events that are asked about, after the first 40 questions",
    ),
    "per_hour": per(
        "--per-hour",
        "at most N labels an hour",
        Span("hour", "this hour", "1h", HOUR),
        "60  # questions at most, for example: there is no limit unless one is given",
    ),
    "per_day": per("--per-day", "at most N labels a day (UTC)", Span("day", "today", "1d", DAY), "500  # for example"),
    "per_class": count(
        "--per-class",
        "at most N labels of each predicted class",
        _per_predicted_class,
        "1000  # for example: of the events predicted as each class",
        by_class=True,
    ),
}


def period_kinds() -> dict[str, BudgetKind]:
    """The kinds that go by the hour, by the day and so on, by their names."""
    return {name: kind for name, kind in BUDGET_KINDS.items() if kind.needs_time}


class Limits:
    """What a user gave of each kind; None where there is none.

    Examples
    --------
    >>> Limits(total=500, per_day=50).budget()
    Both(first=Fixed(n=500), second=PerPeriod(n=50, period='1d', carry=False))
    """

    def __init__(self, **given: Any) -> None:
        if unknown := given.keys() - BUDGET_KINDS.keys():
            raise TypeError(f"there is no budget kind {min(unknown)!r}; there are: {', '.join(BUDGET_KINDS)}.")
        self.given = {name: given.get(name) for name in BUDGET_KINDS}

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["given"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.to_dict().items())})"

    def to_dict(self) -> dict[str, Any]:
        """What was given, ready for JSON and for the constructor."""
        return {**self.given, **{name: value for name, value in vars(self).items() if name != "given"}}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Limits:
        """The limits with these values, as options gave them: a share in place of a number is the rate."""
        values = dict(values)
        for name, kind in BUDGET_KINDS.items():
            if kind.may_be_share and isinstance(values.get(name), float):
                part = values.pop(name)
                if values.get("rate") is not None:
                    raise InvalidParameter(f"{kind.option} {part} means --rate {part}; leave one of the two out.")
                values["rate"] = part
        return cls(**values)

    def budgets(self) -> dict[str, Budget]:
        """The budget of each kind that is given, by its name. One of nothing asks nothing, whatever its kind."""
        given = {name: value for name, value in self.given.items() if value is not None}
        return {name: BUDGET_KINDS[name].budget(value) if value else _fixed(0) for name, value in given.items()}

    def budget(self) -> Budget | None:
        """All of them at once; None if there is no limit."""
        parts = list(self.budgets().values())
        return reduce(and_, parts) if parts else None

    def value(self) -> Budget | float | int | None:
        """What ``make(budget=...)`` takes: a number or a share that is the only limit, which an algorithm may spread in
        its own way, or the budget."""
        alone = [name for name, value in self.given.items() if value is not None]
        if alone == ["total"] or (alone == ["rate"] and is_part(self.rate)):
            return self.given[alone[0]]
        return self.budget()


def read_limits(table: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The limits that a table of settings gives, checked."""
    return {name: kind.check(f"{prefix}.{name}", table[name]) for name, kind in BUDGET_KINDS.items() if name in table}
