"""What a committee says of itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from askance.learner.auto.layout import (
    CLASSES,
    DEPTHS,
    LEADER,
    LEARNED,
    LOSS,
    PER_MEMBER,
    REASONS,
    SINCE,
    VOICE,
    WATCHED,
    answers_apart,
    answers_at,
    events_at,
    members_at,
)
from askance.learner.auto.members import Member
from askance.learner.state import State

if TYPE_CHECKING:
    from askance.quality import Quality

SPENT_ON = ("until every class was seen", "members at odds", "undecided", "clear")
LEVEL = 0.95


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
    quality: Quality
    """Estimates of accuracy, balanced accuracy, recall and the like for all events, with intervals, which are
    about right: the model does not know the probabilities of asking, but groups events by margin. The 95 % intervals
    were measured to hold the accuracy of 87 to 99 % of small streams, depending on the data, and mostly to lie below it
    where they did not. ``askance.quality.estimate(trace)`` and ``Monitor`` know the probabilities."""
    events: int
    """Events watched."""
    answers: int
    """Answers learned."""
    spent: dict[str, int]
    """What these answers were bought for: until every class was seen; where members that are heard were at odds; where
    they agreed, but the margin was below its usual size; where it was clear, to check."""
    classes: dict[Any, float]
    """For each class, its share of the recent answers."""

    def __str__(self) -> str:
        lines = [self.in_a_line()]
        lines += [f"  {name:<22} voice {voice:4.0%}   loss {loss:.2f}" for name, voice, loss in self.standings]
        lines += [
            f"  estimated {name.replace('_', ' ')}: about {self.quality[name]}" for name in ("accuracy", "recall")
        ]
        spent = ", ".join(f"{reason}: {count:,}" for reason, count in self.spent.items())
        shares = ", ".join(f"{label}: {share:.0%}" for label, share in list(self.classes.items())[:8])
        lines.append(f"  labels spent: {spent}")
        lines.append(f"  answers lately: {shares}{', ...' if len(self.classes) > 8 else ''}")
        return "\n".join(lines)

    def in_a_line(self) -> str:
        """The gist."""
        if not self.answers:
            return f"{len(self.standings)} learners, no answer yet"
        heard = sum(standing.voice > 0.0 for standing in self.standings)
        value, low, high = self.quality.balanced_accuracy
        return (
            f"{self.leader} leads {len(self.standings)} learners since answer {self.since:,} of {self.answers:,}, "
            f"{heard} heard; estimated balanced accuracy about {value:.1%} [{low:.1%}, {high:.1%}]"
        )


def report(line_up: tuple[Member, ...], state: State, classes: np.ndarray, seen: int = 0) -> Report:
    """Read it from the state.

    ``seen`` is how many events were predicted. Once its budget is spent a committee watches no more of them; it can say
    nothing about these.
    """
    extra = state.extra
    n_classes = len(classes)
    places = range(members_at(n_classes), len(extra), PER_MEMBER)
    standings = [
        Standing(member.name, float(extra[place + VOICE]), float(extra[place + LOSS]))
        for member, place in zip(line_up, places, strict=False)
    ]
    answered = extra[CLASSES : CLASSES + n_classes]
    return Report(
        leader=line_up[int(extra[LEADER])].name,
        since=int(extra[SINCE]),
        standings=sorted(standings, key=lambda standing: standing.loss),
        quality=estimated(extra, classes, seen),
        events=int(extra[WATCHED]),
        answers=int(extra[LEARNED]),
        spent=dict(zip(SPENT_ON, map(int, extra[REASONS : REASONS + len(SPENT_ON)]), strict=True)),
        classes={
            label: float(count / max(answered.sum(), 1e-300))
            for label, count in zip(classes.tolist(), answered, strict=True)
        },
    )


def estimated(extra: np.ndarray, classes: np.ndarray, seen: int) -> Quality:
    """The estimates of ``askance.quality`` from the files of events and answers.

    Events that are in no file, as they were not watched or have no features, could not be asked. What was predicted for
    them is not known: the values take it to be as usual, the intervals allow for any one class too.
    """
    n = len(classes)
    events = extra[events_at(n, 0, 0) :][: DEPTHS * n].reshape(n, DEPTHS)
    answers = extra[answers_at(n, 0, 0, 0) :][: answers_apart(n)].reshape(n, n, DEPTHS)
    # an answer that comes late may be filed elsewhere than its event: no file has more answers than events
    events = np.maximum(events, answers.sum(axis=0))
    missing = max(0, max(seen, int(extra[WATCHED])) - int(events.sum()))
    usually = events.sum(axis=1) / events.sum() if events.any() else np.full(n, 1.0 / n)
    found = estimated_with(np.diff(np.rint(missing * np.cumsum(usually)), prepend=0.0), events, extra, classes)
    if not missing:
        return found
    others = [found, *(estimated_with(unfiled, events, extra, classes) for unfiled in missing * np.eye(n))]
    limits = {
        name: value._replace(
            low=min(other[name].low for other in others), high=max(other[name].high for other in others)
        )
        for name, value in found.items()
    }
    return replace(found, estimates=limits)


def estimated_with(unfiled: np.ndarray, events: np.ndarray, extra: np.ndarray, classes: np.ndarray) -> Quality:
    """The estimates, if so many of the events that are in no file were predicted to be of each class."""
    from askance.quality.bins import NEVER, SQUARE_UNIT, UNIT
    from askance.quality.ledger import Ledger, Settings

    n = len(classes)
    ledger = Ledger(Settings.of(classes, None, 0.5, 0.9, LEVEL))
    tally, bins = ledger.tally, ledger.settings.score_bins
    answers, odds, squares = (
        extra[answers_at(n, 0, 0, 0) + part * answers_apart(n) :][: answers_apart(n)].reshape(n, n, DEPTHS)
        for part in range(3)
    )
    scale = 0.5 ** np.arange(DEPTHS)  # only the ratios within a depth matter
    tally.events[::bins, :DEPTHS] = events
    tally.events[::bins, NEVER] = unfiled
    tally.asked[::bins, :DEPTHS] = answers.sum(axis=0)  # of questions without an answer the state knows nothing
    tally.answered[:, ::bins, :DEPTHS] = answers
    tally.odds[:, ::bins, :DEPTHS] = np.rint(odds * scale * UNIT)
    tally.squares[:, ::bins, :DEPTHS] = np.rint(squares * scale * scale * SQUARE_UNIT)
    return ledger.quality()
