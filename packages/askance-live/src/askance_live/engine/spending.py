"""How much of the budget is spent, for people; the budget itself is kept by the classifier."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from askance.learner.budget_kinds import BUDGET_KINDS, Span
from askance.learner.budget_state import StreamPace
from askance_live.clock import iso
from askance_live.engine.state import EngineState

MINUTE = 60


class Spent(NamedTuple):
    """The labels of one span of time beside their limit."""

    span: Span
    asked: int
    limit: int | None

    @property
    def is_all(self) -> bool:
        """Whether nothing is left of it."""
        return self.limit is not None and self.asked >= self.limit


def count_spent(state: EngineState, now: float) -> list[Spent]:
    """What is spent of every kind that allows a number of labels: by the hour, by the day, and in all."""
    asking = state.config.asking
    found = []
    for name, kind in BUDGET_KINDS.items():
        if kind.span is not None:
            asked = (
                state.period_counts.number("asks", kind.span.seconds, now)
                if kind.span.seconds
                else int(state.learner.clf.labels_asked_)
            )
            found.append(Spent(kind.span, asked, asking.given[name]))
    return sorted(found, key=lambda spent: spent.span.seconds or inf)


def count_by_class(state: EngineState) -> dict[str, dict[str, int]]:
    """The questions about events predicted as each class beside their limit; empty without one."""
    given = state.config.asking.given
    limits: list[int] = [limit for name, limit in given.items() if BUDGET_KINDS[name].by_class and limit is not None]
    if not limits:
        return {}
    learner = state.learner
    counts = learner.clf._labels_asked_by_class or [0] * len(learner.classes)
    return {label: {"spent": asked, "limit": min(limits)} for label, asked in zip(learner.classes, counts, strict=True)}


def has_spent_all_classes(by_class: dict[str, dict[str, int]]) -> bool:
    """Whether the events predicted as each class have had their questions."""
    return bool(by_class) and all(part["spent"] >= part["limit"] for part in by_class.values())


def spending(state: EngineState, now: float) -> dict[str, Any]:
    """Questions of this hour, of this day, in all and by predicted class, beside their limits; when there will be some
    again."""
    asking = state.config.asking
    parts = count_spent(state, now)
    ends = [(int(now // span.seconds) + 1) * span.seconds if span.seconds else inf for span in _spans_spent(parts)]
    by_class = count_by_class(state)
    if has_spent_all_classes(by_class):
        ends.append(inf)
    exhausted = bool(ends) or 0 in asking.given.values()
    return {
        "rate": asking.rate,
        **{span.name: {"spent": asked, "limit": limit} for span, asked, limit in parts},
        "by_class": by_class,
        "spans": {span.words: span.name for span, _, _ in parts},
        "exhausted": exhausted,
        "next_at": iso(max(ends)) if ends and max(ends) < inf else None,
        "pace": None if exhausted else _pace(state, now, parts),
    }


def _spans_spent(parts: list[Spent]) -> list[Span]:
    return [spent.span for spent in parts if spent.is_all]


def _pace(state: EngineState, now: float, parts: list[Spent]) -> dict[str, Any] | None:
    """What is left of an hour or a day, where it is spread over the rest of it; None where that holds nothing back."""
    slowest: tuple[float, Spent] | None = None
    for part in parts:
        length = part.span.seconds
        if length and part.limit is not None and _is_held_back(state, now, length, part.limit - part.asked):
            seconds = (length - now % length) / (part.limit - part.asked)
            if slowest is None or seconds > slowest[0]:
                slowest = seconds, part
    if slowest is None:
        return None
    seconds, (span, asked, limit) = slowest
    next_at = iso((now + seconds + MINUTE - 1) // MINUTE * MINUTE)
    detail = (
        f"{asked:,} of {limit:,} questions were asked {span.words}; the rest is spread over the "
        f"{span.name}, about one every {_span(seconds)} while events come. The next is due by about {next_at}."
    )
    return {"period": span.name, "seconds": round(seconds, 1), "next_at": next_at, "detail": detail}


def _is_held_back(state: EngineState, now: float, length: int, left: int) -> bool:
    """Whether fewer of the events may be asked about for the sake of what is ``left`` of this period."""
    stream_pace: StreamPace | None = state.learner.clf._pace
    if stream_pace is None or stream_pace.time // length != now // length:
        return False
    rate = state.config.asking.rate
    if rate >= 1.0:  # nothing else sets a pace
        return stream_pace.wanted < 1.0
    return stream_pace.interval >= 0.0 and left * stream_pace.interval < rate * (
        stream_pace.interval + length - now % length
    )


def _span(seconds: float) -> str:
    """A time to wait, as one says it.

    >>> _span(40), _span(870), _span(9000)
    ('40 seconds', '14 minutes', '2.5 hours')
    """
    if seconds < 90:
        return f"{max(1.0, seconds):.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
