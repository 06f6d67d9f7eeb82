"""Estimates with their intervals, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from math import inf
from typing import Any, NamedTuple

from askance.evaluate.metrics.register import METRICS
from askance.plural import format_count

WIDEST_SHARE = 0.3  # of an interval that still helps to judge a share
EVERYTHING = 0.9  # width of an interval that leaves nearly everything open
TOO_FEW = "too few labels for an interval"


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

    @property
    def is_open(self) -> bool:
        """Whether the interval of a share holds nearly everything.

        >>> print(Estimate(value=0.831, low=0.0, high=1.0))
        0.831 (the interval is too wide to help)
        """
        return self.low >= 0.0 and self.high <= 1.0 and self.high - self.low >= EVERYTHING

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int | float) and self.low <= number <= self.high

    def __str__(self) -> str:
        digits = 3 if max(abs(self.low), abs(self.high)) <= 10.0 else 1
        if self.is_open:
            return f"{self.value:.{digits}f} (the interval is too wide to help)"
        return f"{self.value:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


@dataclass(frozen=True)
class Quality(Mapping[str, Estimate]):
    """Estimates by name, also as attributes, and the counts that they rest on."""

    estimates: dict[str, Estimate]
    events: int
    """All events; the intervals are for all of them."""
    labels: int
    """Answers so far."""
    unreachable: int
    """Events that could not be asked, with ask probability 0. They widen the intervals by as much as they could change
    the result. The values are about the other events, except that of a calibration error and those that hold at
    all times."""
    level: float = 0.95
    anytime: bool = False
    """Whether the intervals hold at all times at once, however often one looks."""
    shares: dict[Any, float] = field(default_factory=dict)
    """The estimated share of each class among these events: the accuracy of always predicting that class."""
    answers: dict[Any, int] = field(default_factory=dict)
    """Answers so far, by class."""
    reachable: Quality | None = None
    """The estimates for the events that could be asked; None where all of them could, none could, or the intervals hold
    at all times. With an exhausted budget these are the events up to the last label. Without a calibration error."""

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
            "answers": [[label, count] for label, count in self.answers.items()],
            "reachable": None if self.reachable is None else self.reachable.to_dict(),
            "estimates": {name: estimate._asdict() for name, estimate in self.estimates.items()},
        }

    def __str__(self) -> str:
        return self.table()

    def why_open(self, name: str) -> str:
        """Why the interval of a share holds nearly everything; empty where it does not."""
        if METRICS[name].largest == inf or not self.as_share(name).is_open:
            return ""
        if self.reachable is not None and name in self.reachable and not self.reachable.as_share(name).is_open:
            return f"no interval: {format_count(self.unreachable, 'event')} could not be asked"
        return f"{TOO_FEW}: {self.rarest}"

    @property
    def rarest(self) -> str:
        """How many answers there are of the class that has fewest, in words."""
        label = min(self.answers, key=self.answers.__getitem__)
        return f"{format_count(self.answers[label], 'label')} of {label}"

    def as_share(self, name: str) -> Estimate:
        """An estimate in units of the metric's range, from 0 to 1."""
        return Estimate(*map(METRICS[name].as_share, self.estimates[name]))

    def telling(self, name: str) -> Quality:
        """These estimates, or those of ``reachable`` where what could not be asked leaves this one too wide."""
        return self.reachable if self.reachable is not None and self.as_share(name).is_too_wide else self

    def scope(self, name: str) -> str:
        """What ``telling`` is about, where that is not all events."""
        told = self.telling(name)
        return "" if told is self else f" of the {format_count(told.events, 'event')} that could be asked"

    def table(self) -> str:
        """The estimates as a table in plain text."""
        lines = [self._head(), *self._rows()]
        if self.reachable is not None:
            lines += [self.reachable._title(), *self.reachable._rows()]
        return "\n".join(lines)

    def _head(self) -> str:
        kind = "at all times" if self.anytime else "at this time"
        size = f"{format_count(self.labels, 'label')} of {format_count(self.events, 'event')}"
        head = f"{size}, {self.level:.0%} intervals {kind}"
        if self.unreachable:
            head += (
                f"\n{format_count(self.unreachable, 'event')} could not be asked: "
                "the values are about the others, the intervals about all"
            )
        return head

    def _title(self) -> str:
        return f"The {format_count(self.events, 'event')} that could be asked:"

    def _cells(self) -> list[tuple[str, ...]]:
        """A row for each estimate: its name, the value, and the limits or why there are none."""
        rows: list[tuple[str, ...]] = []
        for name, (value, low, high) in self.estimates.items():
            digits = 4 if max(abs(low), abs(high)) <= 10.0 else 1
            why = self.why_open(name)
            limits = (why,) if why else (f"{low:.{digits}f}", f"{high:.{digits}f}")
            rows.append((name.replace("_", " "), f"{value:.{digits}f}", *limits))
        return rows

    def _rows(self) -> list[str]:
        width = max((len(name) for name in self.estimates), default=0)
        return [
            "  ".join([f"{name:<{width}}", *(f"{cell:>9}" for cell in cells)])
            for name, *cells in [("", "value", "low", "high"), *self._cells()]
        ]

    def _repr_html_(self) -> str:
        """The table, as a notebook shows it."""
        shown = f"<p>{escape(self._head())}</p>{self._html_table()}"
        if self.reachable is not None:
            shown += f"<p>{escape(self.reachable._title())}</p>{self.reachable._html_table()}"
        return shown

    def _html_table(self) -> str:
        rows = [f"<tr><th></th>{''.join(f'<th>{name}</th>' for name in ('value', 'low', 'high'))}</tr>"]
        for name, *cells in self._cells():
            rows.append(f"<tr><th>{escape(name)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
        return f"<table>{''.join(rows)}</table>"
