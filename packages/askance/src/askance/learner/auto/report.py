"""The report of a committee: who leads, how good it is, and what its labels were spent on."""

from __future__ import annotations

from html import escape
from math import exp, log
from typing import Any, NamedTuple

import numpy as np

from askance.evaluate.quality.bins import ASK_BINS
from askance.evaluate.quality.ledger import EstimateSettings, Ledger
from askance.evaluate.quality.result import Quality
from askance.learner.auto.layout import view_counts, view_head, view_member, view_report_counts
from askance.learner.auto.members import Member
from askance.learner.state import State

SPENT_ON = {
    "cold_start": "cold start",
    "disagreed": "members at odds",
    "undecided": "undecided",
    "clear": "clear",
    "given": "given",
}
"""What a label was bought for, by its name in ``layout.HEAD``, as the report calls it."""
LEVEL = 0.95


class MemberReport(NamedTuple):
    """How a member does."""

    name: str
    vote: float
    """Its weight in the committee's margin, in [0, 1]."""
    loss: float
    """Its loss so far, recent answers counting most; comparable within one report."""


class Report(NamedTuple):
    """Who leads a committee, how good it is, and what its labels were spent on. ``print`` shows it."""

    leader: str
    """The member that has done best so far."""
    since: int
    """The answer since which it leads, from 1; 0 before the first."""
    member_reports: list[MemberReport]
    """All members, the best first."""
    quality: Quality
    """Estimates of accuracy, balanced accuracy, recall and the like for all events of the stream, with 95 % intervals,
    by ``askance.quality`` from the bought labels alone. Before there is a stream: how well the given labels were
    predicted, each before it was learned."""
    events: int
    """Events watched, given ones included."""
    answers: int
    """Answers learned."""
    spent: dict[str, int]
    """What these answers were bought for: in the cold start, until every class was seen or there were 20 answers per
    class; where members with a vote disagreed; where they agreed, but the margin was below its usual size; where it was
    clear, to check. Last, how many were given."""
    classes: dict[Any, float]
    """For each class, its share of the recent answers."""
    alarms: int = 0
    """How often the answers said that the world had changed (see ``change``)."""
    last_alarm: int = 0
    """The answer that raised the last alarm, from 1; 0 if there was none."""
    event_alarms: int = 0
    """How often the events themselves had changed (see ``event_signal``)."""
    last_event_alarm: int = 0
    """The event of the stream after which they last did, from 1; 0 if they never did."""

    @property
    def effective_members(self) -> float:
        """exp(-sum v log v) for the votes v, their perplexity: as if so many members had equal votes.

        Every member with a thousandth of the leader's vote has one, so many may vote of whom few count.
        """
        return exp(
            -sum(
                member_report.vote * log(member_report.vote)
                for member_report in self.member_reports
                if member_report.vote > 0.0
            )
        )

    def __str__(self) -> str:
        lines = [self.one_line()]
        lines += [f"  {name:<22} vote {vote:4.0%}   loss {loss:.2f}" for name, vote, loss in self.member_reports]
        lines += [f"  estimated {name}{describe_estimate(self.quality, name)}" for name in ("accuracy", "recall")]
        spent = ", ".join(f"{reason}: {count:,}" for reason, count in self.spent.items())
        shares = ", ".join(f"{label}: {share:.0%}" for label, share in list(self.classes.items())[:8])
        lines.append(f"  labels: {spent}")
        lines.append(f"  answers lately: {shares}{', ...' if len(self.classes) > 8 else ''}")
        if self.alarms:
            lines.append(f"  changes of the world found: {self.alarms:,}, the last at answer {self.last_alarm:,}")
        if self.event_alarms:
            found = f"{self.event_alarms:,}, the last at event {self.last_event_alarm:,}"
            lines.append(f"  changes of the events found: {found}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The report, as a notebook shows it."""
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{vote:.0%}</td><td>{loss:.2f}</td></tr>"
            for name, vote, loss in self.member_reports
        )
        spent = ", ".join(f"{reason}: {count:,}" for reason, count in self.spent.items())
        members = f"<table><tr><th>member</th><th>vote</th><th>loss</th></tr>{rows}</table>"
        return f"<p>{escape(self.one_line())}</p>{members}<p>labels: {escape(spent)}</p>{self.quality._repr_html_()}"

    def one_line(self) -> str:
        """The report in one line."""
        if not self.answers:
            return f"{len(self.member_reports)} learners, no answer yet"
        heard = sum(member_report.vote > 0.0 for member_report in self.member_reports)
        return (
            f"{self.leader} leads {len(self.member_reports)} learners since answer {self.since:,} of {self.answers:,}, "
            f"{heard} heard, {self.effective_members:.1f} in effect; "
            f"estimated balanced accuracy{describe_estimate(self.quality, 'balanced_accuracy')}"
        )


def describe_estimate(quality: Quality, name: str) -> str:
    """An estimate in words, or that it is too early to say.

    >>> from askance.evaluate.quality.result import Estimate
    >>> estimates = {"recall": Estimate(0.93, 0.91, 0.95), "f1": Estimate(0.477, 0.002, 0.954)}
    >>> found = Quality(estimates, events=99, labels=9, unreachable=0, answers={"ham": 8, "spam": 1})
    >>> print(describe_estimate(found, "recall"))
     93.0% [91.0%, 95.0%]
    >>> print(describe_estimate(found, "f1"))
    : too early to say [0.2%, 95.4%], 1 label of spam; labels bought at random (explore) tell more
    """
    about, told = quality.scope(name), quality.telling(name)
    value, low, high = told[name]
    if told.as_share(name).is_too_wide:
        found = f"[{low:.1%}, {high:.1%}], {told.rarest}"
        return f"{about}: too early to say {found}; labels bought at random (explore) tell more"
    return f"{about} {value:.1%} [{low:.1%}, {high:.1%}]"


def report(roster: tuple[Member, ...], state: State, classes: np.ndarray) -> Report:
    """Read the report from the state."""
    head, answered = view_head(state), view_counts(state).answers
    member_reports = [
        MemberReport(member.name, float(view_member(state, i).vote), float(view_member(state, i).loss))
        for i, member in enumerate(roster)
    ]
    return Report(
        leader=roster[int(head.leader)].name,
        since=int(head.leads_since),
        member_reports=sorted(member_reports, key=lambda member_report: member_report.loss),
        quality=estimate_quality(state, classes),
        events=int(head.watched),
        answers=int(head.learned),
        spent={reason: int(head[name]) for name, reason in SPENT_ON.items()},
        classes={
            label: float(count / max(answered.sum(), 1e-300))
            for label, count in zip(classes.tolist(), answered, strict=True)
        },
        alarms=int(head.alarms),
        last_alarm=int(head.last_alarm),
    )


def estimate_quality(state: State, classes: np.ndarray) -> Quality:
    """The estimates of ``askance.quality`` from the counts of events and answers."""
    n = len(classes)
    ledger = Ledger(EstimateSettings.of(classes, None, 0.5, 0.9, LEVEL))
    counts, bins = ledger.counts, ledger.settings.score_bins
    own = view_report_counts(state)
    events, asked = (by_group.reshape(n, ASK_BINS) for by_group in (own.events, own.asked))
    cells = own.answers, own.unasked, own.squares
    answers, unasked, squares = (by_cell.reshape(n, n, ASK_BINS) for by_cell in cells)
    if not events.any():
        answers = np.zeros((n, n, ASK_BINS))
        answers[:, :, 0] = own.given.reshape(n, n)
    # An answer that came with its own weight may be in another ask bin than its event: no group may have more answers
    # than events.
    asked = np.maximum(asked, answers.sum(axis=0))
    counts.events[::bins] = np.maximum(events, asked)
    counts.asked[::bins] = asked
    counts.answered[:, ::bins] = answers
    counts.unasked[:, ::bins] = unasked
    counts.squares[:, ::bins] = squares
    return ledger.quality()
