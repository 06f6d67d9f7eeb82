"""Counts of answers and questions that the dashboard shows, kept in the store: a look at them never counts rows.

They change in the transaction that changes the rows, so they are exact at any time; ``recount`` is what they must be.

    kind      name                                      what is counted
    label     label.predicted.why                       answers that are valid, by what had been said of their event
    extra                                               answers that are kept but not learned
    skip      reason                                    skips that were not taken back
    labels    annotator                                 answers and labels of one person, but for those taken back
    skips     annotator                                 the same of skips
    ask       answered, closed, expired                 questions that nobody gets any more
    counted                                             1: all of this is there

Labels and predictions are places of classes; ``why`` is empty for events that were not asked about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from askance.live.store.database import Session

VALID = ("waiting", "learned")
OVER = ("answered", "closed", "expired")
ADD = (
    "INSERT INTO tallies (kind, name, n) VALUES (?, ?, ?) "
    "ON CONFLICT (kind, name) DO UPDATE SET n = tallies.n + excluded.n"
)
RECOUNT = (
    "SELECT 'label', a.label || '.' || e.predicted || '.' || coalesce(q.why, ''), count(*) "
    "FROM answers a JOIN events e ON e.seq = a.event LEFT JOIN asks q ON q.id = e.asked "
    "WHERE a.state IN ('waiting', 'learned') AND a.label IS NOT NULL GROUP BY 2",
    "SELECT 'extra', '', count(*) FROM answers WHERE state = 'extra'",
    "SELECT 'skip', reason, count(*) FROM answers WHERE state = 'skipped' GROUP BY reason",
    "SELECT 'labels', annotator, count(*) FROM answers WHERE kind <> 'skip' AND state <> 'undone' GROUP BY annotator",
    "SELECT 'skips', annotator, count(*) FROM answers WHERE kind = 'skip' AND state <> 'undone' GROUP BY annotator",
    "SELECT 'ask', state, count(*) FROM asks WHERE state IN ('answered', 'closed', 'expired') GROUP BY state",
)

Key = tuple[str, str]


class Row(NamedTuple):
    """What is counted of an answer, but for its state."""

    kind: str
    event: int
    annotator: str
    label: int | None
    reason: str | None


class Labels(NamedTuple):
    """So many valid answers of one sort."""

    label: int
    predicted: int
    why: str
    n: int


def answer_moved(session: Session, row: Row, before: str | None, after: str) -> None:
    """An answer, new where ``before`` is None, has another state."""
    changes: Counter[Key] = Counter()
    for state, sign in ((before, -1), (after, 1)):
        if state is not None:
            for key in _keys(session, row, state):
                changes[key] += sign
    _add(session, changes)


def asks_moved(session: Session, before: str, after: str, number: int = 1) -> None:
    """Questions have another state."""
    changes: Counter[Key] = Counter()
    changes["ask", before] -= number
    changes["ask", after] += number
    _add(session, {key: n for key, n in changes.items() if key[1] in OVER})


def _keys(session: Session, row: Row, state: str) -> Iterable[Key]:
    """What an answer in this state counts for."""
    if state in VALID and row.label is not None:
        ((predicted, why),) = session.all(
            "SELECT e.predicted, q.why FROM events e LEFT JOIN asks q ON q.id = e.asked WHERE e.seq = ?",
            (row.event,),
        )
        yield "label", f"{row.label}.{predicted}.{why or ''}"
    if state == "extra":
        yield "extra", ""
    if state == "skipped":
        yield "skip", row.reason or ""
    if state != "undone":
        yield "skips" if row.kind == "skip" else "labels", row.annotator


def _add(session: Session, changes: dict[Key, int]) -> None:
    rows = [(*key, n) for key, n in changes.items() if n]
    if rows:
        session.many(ADD, rows)


def recount(session: Session) -> dict[Key, int]:
    """What the counts must be, from the rows."""
    return {(kind, name): int(n) for sql in RECOUNT for kind, name, n in session.all(sql) if n}


def stored(session: Session) -> dict[Key, int]:
    """The counts as they are."""
    rows = session.all("SELECT kind, name, n FROM tallies WHERE kind <> 'counted'")
    return {(kind, name): int(n) for kind, name, n in rows if n}


def is_counted(session: Session) -> bool:
    """Whether there are counts at all; an older askance kept none."""
    return session.one("SELECT 1 FROM tallies WHERE kind = 'counted'") is not None


def count_all(session: Session, anew: bool = False) -> None:
    """Count once what was there before there were counts."""
    if is_counted(session) and not anew:
        return
    session.execute("DELETE FROM tallies")
    _add(session, {**recount(session), ("counted", ""): 1})


class Tallies:
    """The counts, read once."""

    def __init__(self, session: Session) -> None:
        self.labels: list[Labels] = []
        self.of: dict[str, dict[str, int]] = {}
        for (kind, name), n in stored(session).items():
            if kind == "label":
                label, predicted, why = name.split(".")
                self.labels.append(Labels(int(label), int(predicted), why, n))
            else:
                self.of.setdefault(kind, {})[name] = n

    def number(self, kind: str, name: str = "") -> int:
        return self.of.get(kind, {}).get(name, 0)

    def by(self, *names: str, **wanted: Any) -> Counter[Any]:
        """Valid answers by one or more of their attributes, of those with the ``wanted`` ones."""
        found: Counter[Any] = Counter()
        for row in self.labels:
            if all(getattr(row, name) == value for name, value in wanted.items()):
                key = tuple(getattr(row, name) for name in names)
                found[key if len(key) > 1 else key[0]] += row.n
        return found
