"""Several people answer a question; the model learns what most of them say, once.

Each gives a vote (``AnswerState.VOTE``), and is never asked again. Once as many have voted as the question takes, the
consensus is the label of more than half of them:

    n(label) > n / 2

It is stored as an answer of its own, which is learned as any other. Where no label has so many votes, or one that was
retired since, the question is disputed, until somebody with the scope ``review`` labels its event; that word stands,
whatever the votes are. Until then the consensus follows the votes: whoever corrects or takes back theirs may change it,
begin a dispute, or open the question again.

``measure_agreement`` tells how far people agree about the events that several of them labeled.

Every function runs inside a transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import isnan
from typing import Any, NamedTuple, TypedDict

import numpy as np

from askance.evaluate.metrics.agreement import Agreement, cohen_kappa, krippendorff_alpha, wilson
from askance_live.access.names import CONSENSUS
from askance_live.engine.label_space import each_known, is_set
from askance_live.engine.state import EngineState
from askance_live.exchange.received import digest_of
from askance_live.problems import Problem
from askance_live.questions.corrections import (
    VALID_OF_EVENT,
    EarlierAnswer,
    earlier_answers,
    event_name,
    list_bad_data_reports,
    refuse_second,
    remember,
    take_back,
)
from askance_live.questions.queue import FOR_EVER, SET_ASIDE, StoredQuestion, find, is_passed_on
from askance_live.questions.states import (
    BY_ONE,
    IN_PLAY,
    KEPT,
    AnswerKind,
    AnswerOutcome,
    AnswerState,
    QuestionState,
    one_of,
)
from askance_live.questions.submissions import OF_SEVERAL, Submission, new_name, store
from askance_live.questions.transitions import move_question
from askance_live.store.database import Session
from askance_live.store.rows import Query
from askance_live.store.schema import SetAsideRow

VOTES = Query(EarlierAnswer, "answers", f"WHERE ask = ? AND state = '{AnswerState.VOTE}' ORDER BY seq")


def majority(labels: Sequence[Any]) -> Any:
    """What more than half say; None where nothing is.

    >>> majority(["ham", "spam", "ham"]), majority(["ham", "spam"])
    ('ham', None)
    """
    label, votes = Counter(labels).most_common(1)[0] if labels else (None, 0)
    return label if 2 * votes > len(labels) else None


def has_voted(session: Session, ask: StoredQuestion, annotator: str) -> bool:
    """Whether an answer of theirs is one of several."""
    return ask.wanted > 1 and any(
        earlier.state == AnswerState.VOTE for earlier in earlier_answers(session, ask.id, annotator)
    )


def vote(
    session: Session, state: EngineState, annotator: str, ask: StoredQuestion, given: Submission
) -> dict[str, Any]:
    """One of several answers to a question: counts if the question still waits for some, else it is kept as extra.

    One that comes late counts, too, even if somebody else has the question by now; they keep it.
    """
    has_passed_on = is_passed_on(ask, annotator, given.token or "", state.clock.now())
    stale = given.token != ask.token or ask.state != QuestionState.LEASED or ask.annotator != annotator
    mine = earlier_answers(session, ask.id, annotator)
    taken: list[EarlierAnswer] = []
    if given.supersedes in [earlier.id for earlier in mine]:
        taken = mine
    else:
        _refuse_others(session, ask, mine, given.supersedes)
        refuse_second(state, ask.id, mine, given.label, given.supersedes)
    counted = any(earlier.state == AnswerState.VOTE for earlier in mine)
    counts = bool(taken) if counted else ask.state in IN_PLAY
    event = event_name(session, ask.event)
    if taken:
        was = [take_back(session, state, earlier, AnswerState.SUPERSEDED) for earlier in taken]
        after = {"answer_id": given.id, "label": state.labels.show(given.label or 0), "by": annotator}
        remember(session, state, annotator, "answer replace", event, ask.id, was, after)
    response = {
        "answer_id": given.id,
        "ask": ask.id,
        "event": event,
        "label": state.labels.show(given.label or 0),
        "outcome": AnswerOutcome.ACCEPTED if counts else AnswerOutcome.EXTRA,
        "stale_token": stale,
        "learn_at": None,
    }
    status = AnswerState.VOTE if counts else AnswerState.EXTRA
    store(session, state, given, AnswerKind.ANSWER, ask.id, ask.event, annotator, status, response)
    if counts:
        session.execute(SET_ASIDE, SetAsideRow(ask.id, annotator, FOR_EVER))  # nobody gets a question twice
        if not settle(session, state, ask) and ask.state in IN_PLAY and not has_passed_on:
            move_question(session, ask, QuestionState.OPEN)
    return response


def _refuse_others(session: Session, ask: StoredQuestion, mine: list[EarlierAnswer], supersedes: str | None) -> None:
    """Nobody speaks for another person; whoever reviews decides the question as a whole."""
    if supersedes is None or supersedes in [earlier.id for earlier in mine]:
        return
    others = [vote for vote in VOTES.all(session, (ask.id,)) if vote.id == supersedes]
    if others:
        raise Problem(
            "forbidden",
            f"the answer {supersedes!r} is {others[0].annotator}'s, one of several; to decide the question, label the "
            f"event {event_name(session, ask.event)!r} with a token that has the scope 'review'.",
        )


def settle(session: Session, state: EngineState, ask: StoredQuestion) -> bool:
    """Let the consensus follow the votes; False where it takes more of them."""
    standing = VALID_OF_EVENT.one(session, (ask.event,))
    if standing is not None and standing.kind != AnswerKind.CONSENSUS:
        return True
    votes = VOTES.all(session, (ask.id,))
    is_complete = len(votes) >= ask.wanted
    agreed = majority([vote.label for vote in votes]) if is_complete else None
    if standing is not None and standing.label != agreed:
        take_back(session, state, standing, AnswerState.SUPERSEDED)
        standing = None
    if not is_complete:
        return False
    if agreed is not None and standing is None and not state.is_offered(agreed):
        agreed = None  # retired since
    now = find(session, ask.id)
    if now.state == QuestionState.CLOSED and list_bad_data_reports(session, now):
        return True
    move_question(session, now, QuestionState.DISPUTED if agreed is None else QuestionState.ANSWERED)
    if agreed is not None and standing is None:
        _agree(session, state, ask, agreed, votes)
    return True


def _agree(session: Session, state: EngineState, ask: StoredQuestion, label: int, votes: list[EarlierAnswer]) -> None:
    """Store what most people said, to be learned."""
    name = new_name(session, state, f"{OF_SEVERAL}{ask.id}")
    said = f"{sum(vote.label == label for vote in votes)} of {len(votes)} people"
    given = Submission(name, digest_of([name, label]), None, label, None, None, said, None)
    response = {"answer_id": name, "ask": ask.id, "label": state.labels.show(label), "learn_at": None}
    status, kind = AnswerState.WAITING, AnswerKind.CONSENSUS
    store(session, state, given, kind, ask.id, ask.event, CONSENSUS, status, response)


def find_agreement(session: Session, answer: Any) -> float:
    """The share of votes for what is learned; 1 for what one person said."""
    if answer.kind != AnswerKind.CONSENSUS:
        return 1.0
    labels = [vote.label for vote in VOTES.all(session, (answer.ask,))]
    return labels.count(answer.label) / len(labels)


# --- how far people agree ------------------------------------------------------------------------------


RECENT = 10_000  # answers that are looked at
MOST_PAIRS = 50


class GivenLabel(NamedTuple):
    """What somebody said of an event."""

    event: int
    annotator: str
    label: int


LABELS = Query(
    GivenLabel,
    "answers",
    f"WHERE kind IN {one_of(BY_ONE)} AND label IS NOT NULL AND state IN {one_of(KEPT)} ORDER BY seq DESC LIMIT ?",
)


class Measure(TypedDict):
    """A number with its 95 % interval; null where it is not defined."""

    estimate: float | None
    low: float | None
    high: float | None


class Pair(TypedDict):
    """Two people."""

    people: list[str]
    both: int
    agreed: float
    kappa: Measure


class Person(TypedDict):
    """One person beside the others."""

    name: str
    compared: int
    agreed: Measure


class AgreementReport(TypedDict):
    """What /v1/agreement says."""

    events: int
    answers: int
    alpha: Measure
    pairs: list[Pair]
    people: list[Person]  # fmt: skip


def measure_agreement(session: Session, state: EngineState) -> AgreementReport:
    """Alpha of all, kappa of each pair, and of each person the share of answers that most of the others gave, too.

    It is about the last answers, to events that two or more people labeled; of one person's several the newest counts.
    Of label sets, each label that two or more people spoke of counts on its own, as yes or no.
    """
    said: dict[tuple[int, int], dict[str, int]] = {}
    for row in LABELS.all(session, (RECENT,)):
        for place, label in each_known(row.label) if is_set(row.label) else [(0, row.label)]:
            said.setdefault((row.event, place), {}).setdefault(row.annotator, int(label))
    found = {unit: by_person for unit, by_person in said.items() if len(by_person) > 1}
    shared, n_classes = list(found.values()), 2 if state.labels.are_sets else len(state.classes)
    counts = np.zeros((len(shared), n_classes))
    for place, by_person in enumerate(shared):
        for label, n in Counter(by_person.values()).items():
            counts[place, label] = n
    return {
        "events": len({event for event, _ in found}),
        "answers": int(counts.sum()),
        "alpha": _round(krippendorff_alpha(counts)),
        "pairs": _pairs(shared, n_classes),
        "people": _people(shared),
    }


def _pairs(shared: list[dict[str, int]], n_classes: int) -> list[Pair]:
    tables: dict[tuple[str, str], np.ndarray] = {}
    for by_person in shared:
        for one, other in combinations(sorted(by_person), 2):
            table = tables.setdefault((one, other), np.zeros((n_classes, n_classes)))
            table[by_person[one], by_person[other]] += 1
    most = sorted(tables.items(), key=lambda item: (-item[1].sum(), item[0]))[:MOST_PAIRS]
    return [
        {
            "people": list(pair),
            "both": int(table.sum()),
            "agreed": round(float(np.trace(table) / table.sum()), 4),
            "kappa": _round(cohen_kappa(table)),
        }
        for pair, table in most
    ]


def _people(shared: list[dict[str, int]]) -> list[Person]:
    """Each against the majority of the others; where these have none, there is nothing to compare with."""
    compared: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    for by_person in shared:
        for name, label in by_person.items():
            others = majority([given for other, given in by_person.items() if other != name])
            if others is not None:
                compared[name] += 1
                agreed[name] += others == label
    return [
        {"name": name, "compared": n, "agreed": _round(wilson(agreed[name], n))}
        for name, n in sorted(compared.items(), key=lambda item: (-item[1], item[0]))
    ]


def _round(measure: Agreement) -> Measure:
    estimate, low, high = (None if isnan(value) else round(value, 4) for value in measure)
    return {"estimate": estimate, "low": low, "high": high}
