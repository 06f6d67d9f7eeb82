"""What an estimate says, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Estimate(NamedTuple):
    """A value and the interval that holds the truth with the stated confidence, 95 % unless another was asked for.

    >>> estimate = Estimate(value=0.93, low=0.91, high=0.95)
    >>> print(estimate)
    0.930 [0.910, 0.950]
    >>> 0.92 in estimate
    True
    """

    value: float
    low: float
    high: float

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int | float) and self.low <= number <= self.high

    def __str__(self) -> str:
        digits = 3 if max(abs(self.low), abs(self.high)) <= 10.0 else 1
        return f"{self.value:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


@dataclass(frozen=True)
class Quality(Mapping[str, Estimate]):
    """Estimates by name, also as attributes, and what they rest on."""

    estimates: dict[str, Estimate]
    events: int
    """Events that were predicted, all of which the estimates are about."""
    labels: int
    """Answers there were."""
    unreachable: int
    """Events that could not be asked about, with probability 0: they widen the intervals by as much as they could
    change the result. For the values they are taken to be like the events most seldom asked, which is a guess."""
    level: float = 0.95
    anytime: bool = False
    """Whether the intervals hold for all times at once, however often one looks."""
    shares: dict[Any, float] = field(default_factory=dict)
    """How frequent each class is among these events, estimated by the same answers: who always said one class would be
    right so often."""

    def __getitem__(self, name: str) -> Estimate:
        return self.estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __getattr__(self, name: str) -> Estimate:
        if name.startswith("_") or name == "estimates" or name not in self.estimates:
            raise AttributeError(
                f"this estimate has no {name!r}; it has {', '.join(self.__dict__.get('estimates', ()))}."
            )
        return self.estimates[name]

    def to_dict(self) -> dict[str, object]:
        """Plain numbers, ready for JSON."""
        return {
            "events": self.events,
            "labels": self.labels,
            "unreachable": self.unreachable,
            "level": self.level,
            "anytime": self.anytime,
            "shares": [[label, share] for label, share in self.shares.items()],
            "estimates": {name: estimate._asdict() for name, estimate in self.estimates.items()},
        }

    def table(self) -> str:
        """A table of plain text."""
        kind = "at all times" if self.anytime else "at this time"
        head = f"{self.labels:,} labels of {self.events:,} events, {self.level:.0%} intervals {kind}"
        if self.unreachable:
            head += f"\n{self.unreachable:,} events could not be asked: the values guess at them, the intervals do not"
        width = max((len(name) for name in self.estimates), default=0)
        rows = []
        for name, (value, low, high) in self.estimates.items():
            digits = 4 if max(abs(low), abs(high)) <= 10.0 else 1
            rows.append(
                f"{name.replace('_', ' '):<{width}}  {value:>9.{digits}f}  {low:>9.{digits}f}  {high:>9.{digits}f}"
            )
        return "\n".join([head, f"{'':<{width}}  {'value':>9}  {'low':>9}  {'high':>9}", *rows])
