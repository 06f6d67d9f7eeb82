"""Counts of answers and questions that the dashboard shows, kept in the store: a look at them never counts rows.

They change in the transaction that changes the rows, so they are exact at any time: they equal ``count_anew``.

    kind      name                                      what is counted
    label     label.predicted.why                       answers that are valid, by what had been said of their event
    set       why                                       the same of label sets
    of_set    place.label.predicted.why                 what they say of a label, 1 for yes and 0 for no
    extra                                               answers that are kept but not learned
    skip      reason                                    skips that were not taken back
    labels    annotator                                 answers and labels of one person, but for those taken back
    skips     annotator                                 the same of skips
    ask       answered, closed, expired, disputed       questions that the queue no longer has
    counted                                             1: all of this is there

Labels and predictions are places of classes; ``why`` is empty for events that were not asked about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from askance_live.engine.label_space import each_known, is_set
from askance_live.questions.states import BY_ONE, OUT, VALID, AnswerKind, AnswerState, one_of
from askance_live.store.database import Session
from askance_live.store.rows import Query, insert
from askance_live.store.schema import TallyRow

ADD = f"{insert(TallyRow)} ON CONFLICT (kind, name) DO UPDATE SET n = tallies.n + excluded.n"
TALLIES = Query(TallyRow, "tallies", "WHERE kind <> 'counted'")
SAID = (
    "SELECT a.label, e.predicted, coalesce(q.why, ''), count(*) "
    "FROM answers a JOIN events e ON e.seq = a.event LEFT JOIN asks q ON q.id = e.asked "
    f"WHERE a.state IN {one_of(VALID)} AND a.label IS NOT NULL GROUP BY 1, 2, 3"
)
RECOUNT = (
    f"SELECT 'extra', '', count(*) FROM answers WHERE state = '{AnswerState.EXTRA}'",
    f"SELECT 'skip', reason, count(*) FROM answers WHERE state = '{AnswerState.SKIPPED}' GROUP BY reason",
    f"SELECT 'labels', annotator, count(*) FROM answers "
    f"WHERE kind IN {one_of(BY_ONE)} AND state <> '{AnswerState.UNDONE}' GROUP BY annotator",
    f"SELECT 'skips', annotator, count(*) FROM answers "
    f"WHERE kind = '{AnswerKind.SKIP}' AND state <> '{AnswerState.UNDONE}' GROUP BY annotator",
    f"SELECT 'ask', state, count(*) FROM asks WHERE state IN {one_of(OUT)} GROUP BY state",
)

Key = tuple[str, str]


class CountedAnswer(NamedTuple):
    """What is counted of an answer; one that is new has no state yet."""

    seq: int
    state: str | None
    kind: str
    event: int
    annotator: str
    label: int | None
    reason: str | None

    @classmethod
    def of(cls, row: Any) -> CountedAnswer:
        """From a row that has these columns, by their names."""
        return cls(row.seq, row.state, row.kind, row.event, row.annotator, row.label, row.reason)


class Prediction(NamedTuple):
    """What was said of an event, and why it was asked about if it was."""

    predicted: int
    why: str | None


PREDICTION = Query(Prediction, "events e LEFT JOIN asks q ON q.id = e.asked", "WHERE e.seq = ?")


class AnswerCount(NamedTuple):
    """So many valid answers of one sort; of label sets, so many that say something of one label."""

    label: int
    predicted: int
    why: str
    n: int
    place: int = 0
    """Of label sets: which label; ``label`` and ``predicted`` are then 1 for yes and 0 for no."""


def count_answer(session: Session, answer: CountedAnswer, after: str) -> None:
    """An answer has another state."""
    if answer.state in VALID and after in VALID:
        return  # which count alike
    changes: Counter[Key] = Counter()
    for state, sign in ((answer.state, -1), (after, 1)):
        if state is not None:
            for key in _keys(session, answer, state):
                changes[key] += sign
    _add(session, changes)


def count_questions(session: Session, before: str, after: str, number: int = 1) -> None:
    """Questions have another state."""
    if before not in OUT and after not in OUT:
        return
    changes: Counter[Key] = Counter()
    changes["ask", before] -= number
    changes["ask", after] += number
    _add(session, {key: n for key, n in changes.items() if key[1] in OUT})


def _keys(session: Session, answer: CountedAnswer, state: str) -> Iterable[Key]:
    """What an answer in this state counts for."""
    if state in VALID and answer.label is not None:
        (made,) = PREDICTION.all(session, (answer.event,))
        yield from _said(answer.label, made.predicted, made.why or "")
    if state == AnswerState.EXTRA:
        yield "extra", ""
    if state == AnswerState.SKIPPED:
        yield "skip", answer.reason or ""
    if state != AnswerState.UNDONE and answer.kind != AnswerKind.CONSENSUS:
        yield "skips" if answer.kind == AnswerKind.SKIP else "labels", answer.annotator


def _said(label: int, predicted: int, why: str) -> Iterable[Key]:
    """What a valid answer counts for."""
    if not is_set(label):
        yield "label", f"{label}.{predicted}.{why}"
        return
    yield "set", why
    for place, has_label in each_known(label):
        yield "of_set", f"{place}.{has_label:d}.{predicted >> place & 1}.{why}"


def _add(session: Session, changes: dict[Key, int]) -> None:
    rows = [(*key, n) for key, n in changes.items() if n]
    if rows:
        session.many(ADD, rows)


def count_anew(session: Session) -> dict[Key, int]:
    """What the counts must be, from the rows."""
    found: Counter[Key] = Counter()
    for label, predicted, why, n in session.all(SAID):
        for key in _said(int(label), int(predicted), why):
            found[key] += int(n)
    return {**found, **{(kind, name): int(n) for sql in RECOUNT for kind, name, n in session.all(sql) if n}}


def read_counts(session: Session) -> dict[Key, int]:
    """The counts as they are."""
    return {(row.kind, row.name): int(row.n) for row in TALLIES.all(session) if isinstance(row.n, int) and row.n}


def is_counted(session: Session) -> bool:
    """Whether there are counts at all; an older askance kept none."""
    return session.one("SELECT 1 FROM tallies WHERE kind = 'counted'") is not None


def are_right(session: Session) -> bool:
    """Whether the counts are those of the rows; an older askance kept none, which is not wrong."""
    return not is_counted(session) or read_counts(session) == count_anew(session)


def count_all(session: Session, anew: bool = False) -> None:
    """Count once what was there before there were counts."""
    if is_counted(session) and not anew:
        return
    session.execute("DELETE FROM tallies")
    _add(session, {**count_anew(session), ("counted", ""): 1})


class DashboardCounts:
    """The counts, read once."""

    def __init__(self, session: Session) -> None:
        self.labels: list[AnswerCount] = []
        self.of: dict[str, dict[str, int]] = {}
        for (kind, name), n in read_counts(session).items():
            if kind in ("label", "of_set"):
                *place, label, predicted, why = name.split(".")
                self.labels.append(AnswerCount(int(label), int(predicted), why, n, *map(int, place)))
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

    def per_place(self, are_sets: bool) -> Counter[Any]:
        """Valid answers by the place of the class they name; of label sets, of each label those that say yes."""
        return self.by("place", label=1) if are_sets else self.by("label")
