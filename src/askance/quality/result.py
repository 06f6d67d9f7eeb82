"""Estimates with their intervals, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

from askance.plural import format_count

WIDEST_SHARE = 0.3  # of an interval that still helps to judge a share


class Estimate(NamedTuple):
    """A value and the interval that holds the truth with the chosen confidence, by default 95 %.

    >>> estimate = Estimate(value=0.93, low=0.91, high=0.95)
    >>> print(estimate)
    0.930 [0.910, 0.950]
    >>> 0.92 in estimate
    True
    """

    value: float
    low: float
    high: float

    @property
    def is_too_wide(self) -> bool:
        """Whether the interval of a share is too wide to say anything yet.

        >>> Estimate(value=0.477, low=0.002, high=0.954).is_too_wide
        True
        """
        return not self.high - self.low <= WIDEST_SHARE

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int | float) and self.low <= number <= self.high

    def __str__(self) -> str:
        digits = 3 if max(abs(self.low), abs(self.high)) <= 10.0 else 1
        return f"{self.value:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


@dataclass(frozen=True)
class Quality(Mapping[str, Estimate]):
    """Estimates by name, also as attributes, and the counts that they rest on."""

    estimates: dict[str, Estimate]
    events: int
    """All events; the estimates are for all of them."""
    labels: int
    """Answers so far."""
    unreachable: int
    """Events that could not be asked, with ask probability 0. They widen the intervals by as much as they could change
    the result. In the values they are taken to be like the events that were asked least often, which is a guess."""
    level: float = 0.95
    anytime: bool = False
    """Whether the intervals hold at all times at once, however often one looks."""
    shares: dict[Any, float] = field(default_factory=dict)
    """The estimated share of each class among these events: the accuracy of always predicting that class."""

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

    def __str__(self) -> str:
        return self.table()

    def table(self) -> str:
        """The estimates as a table in plain text."""
        kind = "at all times" if self.anytime else "at this time"
        size = f"{format_count(self.labels, 'label')} of {format_count(self.events, 'event')}"
        head = f"{size}, {self.level:.0%} intervals {kind}"
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

    def _repr_html_(self) -> str:
        """The table, as a notebook shows it."""
        head, names, *rows = self.table().rsplit("\n", len(self.estimates) + 1)
        cells = [f"<tr><th></th>{''.join(f'<th>{name}</th>' for name in names.split())}</tr>"]
        for name, row in zip(self.estimates, rows, strict=True):
            numbers = "".join(f"<td>{number}</td>" for number in row.split()[-3:])
            cells.append(f"<tr><th>{escape(name.replace('_', ' '))}</th>{numbers}</tr>")
        return f"<p>{escape(head)}</p><table>{''.join(cells)}</table>"
