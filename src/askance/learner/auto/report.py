"""What a committee says of itself."""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from askance.learner.auto.layout import (
    CLASSES,
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
    events_apart,
    events_at,
    given_at,
    members_at,
)
from askance.learner.auto.members import Member
from askance.learner.octaves import OCTAVES
from askance.learner.state import State

if TYPE_CHECKING:
    from askance.quality import Quality

SPENT_ON = ("cold start", "members at odds", "undecided", "clear", "given")
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
    """Estimates of accuracy, balanced accuracy, recall and the like for all events of the stream, with 95 % intervals:
    those of ``askance.quality``, from the bought labels alone. Before there is a stream, how well the given labels were
    predicted, each before it was learned."""
    events: int
    """Events watched, given ones included."""
    answers: int
    """Answers learned."""
    spent: dict[str, int]
    """What these answers were bought for: in the cold start, until every class was seen or there were 20 answers for
    each class there is; where members that are heard were at odds; where they agreed, but the margin was below its
    usual size; where it was clear, to check. Last, how many were not bought but given."""
    classes: dict[Any, float]
    """For each class, its share of the recent answers."""

    @property
    def effective_voices(self) -> float:
        """How many members that all speak alike would be as many: e to the power of the voices' entropy.

        A member is heard as long as its voice is a thousandth of the leader's, so many are heard of whom few count.
        """
        return exp(-sum(standing.voice * log(standing.voice) for standing in self.standings if standing.voice > 0.0))

    def __str__(self) -> str:
        lines = [self.in_a_line()]
        lines += [f"  {name:<22} voice {voice:4.0%}   loss {loss:.2f}" for name, voice, loss in self.standings]
        lines += [f"  estimated {name}: {self.quality[name]}" for name in ("accuracy", "recall")]
        spent = ", ".join(f"{reason}: {count:,}" for reason, count in self.spent.items())
        shares = ", ".join(f"{label}: {share:.0%}" for label, share in list(self.classes.items())[:8])
        lines.append(f"  labels: {spent}")
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
            f"{heard} heard, {self.effective_voices:.1f} in effect; "
            f"estimated balanced accuracy {value:.1%} [{low:.1%}, {high:.1%}]"
        )


def report(line_up: tuple[Member, ...], state: State, classes: np.ndarray) -> Report:
    """Read it from the state."""
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
        quality=estimated(extra, classes),
        events=int(extra[WATCHED]),
        answers=int(extra[LEARNED]),
        spent=dict(zip(SPENT_ON, map(int, extra[REASONS : REASONS + len(SPENT_ON)]), strict=True)),
        classes={
            label: float(count / max(answered.sum(), 1e-300))
            for label, count in zip(classes.tolist(), answered, strict=True)
        },
    )


def estimated(extra: np.ndarray, classes: np.ndarray) -> Quality:
    """The estimates of ``askance.quality`` from the files of events and answers."""
    from askance.quality.ledger import Ledger, Settings

    n = len(classes)
    ledger = Ledger(Settings.of(classes, None, 0.5, 0.9, LEVEL))
    tally, bins = ledger.tally, ledger.settings.score_bins
    events, asked = extra[events_at(n, 0, 0) :][: 2 * events_apart(n)].reshape(2, n, OCTAVES)
    answers, odds, squares = extra[answers_at(n, 0, 0, 0) :][: 3 * answers_apart(n)].reshape(3, n, n, OCTAVES)
    if not events.any():
        answers = np.zeros((n, n, OCTAVES))
        answers[:, :, 0] = extra[given_at(n, 0, 0) :][: n * n].reshape(n, n)
    # an answer told with its weight may be filed elsewhere than its event: no file has more answers than events
    asked = np.maximum(asked, answers.sum(axis=0))
    tally.events[::bins] = np.maximum(events, asked)
    tally.asked[::bins] = asked
    tally.answered[:, ::bins] = answers
    tally.odds[:, ::bins] = odds
    tally.squares[:, ::bins] = squares
    return ledger.quality()
