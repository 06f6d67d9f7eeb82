"""What a committee says of itself."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from askance.learner.auto.committee import (
    AT_FIRST,
    CLASSES,
    LEADER,
    LEARNED,
    LOSS,
    PER_CLASS,
    PER_MEMBER,
    RIGHT,
    RIGHT_SQUARED,
    SINCE,
    VOICE,
    WEIGHT,
    WEIGHT_SQUARED,
)
from askance.learner.auto.members import Member
from askance.learner.auto.views import WATCHED
from askance.learner.state import State

NORMAL_95 = 1.96


class Standing(NamedTuple):
    """How a member does."""

    name: str
    voice: float
    """Its part in what the committee says, in [0, 1]."""
    loss: float
    """What it lost so far, recent answers counting most; comparable within one report."""


class Report(NamedTuple):
    """What a committee says of itself. ``print`` shows it."""

    leader: str
    """The member that has done best so far."""
    since: int
    """The answer since which it leads, from 1; 0 before the first."""
    standings: list[Standing]
    """All members, the best first."""
    accuracy: float
    """The estimated share of right predictions among all events; NaN before the first answer."""
    accuracy_low: float
    accuracy_high: float
    """Its interval, 95 %."""
    events: int
    """Events watched."""
    answers: int
    """Answers learned."""
    answers_at_first: int
    """Of these, how many came before every class had one."""
    classes: dict[Any, float]
    """For each class, its share of the recent answers."""

    def __str__(self) -> str:
        lines = [self.in_a_line()]
        lines += [f"  {name:<22} voice {voice:4.0%}   loss {loss:.2f}" for name, voice, loss in self.standings]
        shares = ", ".join(f"{label}: {share:.0%}" for label, share in list(self.classes.items())[:8])
        lines.append(f"  answers lately: {shares}{', ...' if len(self.classes) > 8 else ''}")
        lines.append(f"  answers before every class had one: {self.answers_at_first:,}")
        return "\n".join(lines)

    def in_a_line(self) -> str:
        """The gist."""
        if not self.answers:
            return f"{len(self.standings)} learners, no answer yet"
        heard = sum(standing.voice > 0.0 for standing in self.standings)
        return (
            f"{self.leader} leads {len(self.standings)} learners since answer {self.since:,} of {self.answers:,}, "
            f"{heard} heard; estimated accuracy {self.accuracy:.1%} [{self.accuracy_low:.1%}, {self.accuracy_high:.1%}]"
        )


def report(line_up: tuple[Member, ...], state: State, classes: np.ndarray) -> Report:
    """Read it from the state."""
    extra = state.extra
    n_classes = len(classes)
    first = CLASSES + PER_CLASS * n_classes
    standings = [
        Standing(member.name, float(extra[place + VOICE]), float(extra[place + LOSS]))
        for member, place in zip(line_up, range(first, len(extra), PER_MEMBER), strict=False)
    ]
    answered = extra[CLASSES : CLASSES + n_classes]
    accuracy, low, high = estimated_accuracy(extra)
    return Report(
        leader=line_up[int(extra[LEADER])].name,
        since=int(extra[SINCE]),
        standings=sorted(standings, key=lambda standing: standing.loss),
        accuracy=accuracy,
        accuracy_low=low,
        accuracy_high=high,
        events=int(extra[WATCHED]),
        answers=int(extra[LEARNED]),
        answers_at_first=int(extra[AT_FIRST]),
        classes={
            label: float(count / max(answered.sum(), 1e-300))
            for label, count in zip(classes.tolist(), answered, strict=True)
        },
    )


def estimated_accuracy(extra: np.ndarray) -> tuple[float, float, float]:
    """The share of right predictions, each answer counting 1 / its probability, with a normal interval of a ratio.

    Four answers' worth of doubt is added, two right and two wrong, which keeps an interval honest whose answers were
    all right (Agresti and Coull, The American Statistician 52, 1998).
    """
    weight, right, squares, right_squares = (
        float(extra[place]) for place in (WEIGHT, RIGHT, WEIGHT_SQUARED, RIGHT_SQUARED)
    )
    if weight == 0.0:
        return float("nan"), 0.0, 1.0
    unit = squares / weight  # the weight of a typical answer
    share = right / weight
    centre = (right + 2.0 * unit) / (weight + 4.0 * unit)
    variance = (1.0 - 2.0 * centre) * right_squares + centre * centre * squares + unit * unit
    reach = NORMAL_95 * sqrt(max(0.0, variance)) / (weight + 4.0 * unit)
    return share, max(0.0, centre - reach), min(1.0, centre + reach)
