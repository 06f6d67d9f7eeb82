"""Several people answer a question; the model learns what most of them say, once.

Each gives a vote (``AnswerState.VOTE``), and is never asked again. Once as many have voted as the question takes, the
consensus is the label of more than half of them:

    n(label) > n / 2

It is stored as an answer of its own, which is learned as any other. Where no label has so many votes, or one that was
retired since, the question is disputed, until somebody with the scope ``review`` labels its event; that word stands,
whatever the votes are. Until then the consensus follows the votes: whoever corrects or takes back theirs may change it,
begin a dispute, or open the question again.

Every function runs inside a transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from askance_live.access.names import CONSENSUS
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
from askance_live.questions.queue import FOR_EVER, SET_ASIDE, Ask, find, is_passed_on
from askance_live.questions.states import IN_PLAY, AnswerKind, AnswerOutcome, AnswerState, AskState
from askance_live.questions.submissions import OF_SEVERAL, Submission, new_name, store
from askance_live.questions.transitions import move_ask
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


def has_voted(session: Session, ask: Ask, annotator: str) -> bool:
    """Whether an answer of theirs is one of several."""
    return ask.wanted > 1 and any(
        earlier.state == AnswerState.VOTE for earlier in earlier_answers(session, ask.id, annotator)
    )


def vote(session: Session, state: EngineState, annotator: str, ask: Ask, given: Submission) -> dict[str, Any]:
    """One of several answers to a question: counts if the question still waits for some, else it is kept as extra.

    One that comes late counts, too, even if somebody else has the question by now; they keep it.
    """
    has_passed_on = is_passed_on(ask, annotator, given.token or "", state.clock.now())
    stale = given.token != ask.token or ask.state != AskState.LEASED or ask.annotator != annotator
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
            move_ask(session, ask, AskState.OPEN)
    return response


def _refuse_others(session: Session, ask: Ask, mine: list[EarlierAnswer], supersedes: str | None) -> None:
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


def settle(session: Session, state: EngineState, ask: Ask) -> bool:
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
    if now.state == AskState.CLOSED and list_bad_data_reports(session, now):
        return True
    move_ask(session, now, AskState.DISPUTED if agreed is None else AskState.ANSWERED)
    if agreed is not None and standing is None:
        _agree(session, state, ask, agreed, votes)
    return True


def _agree(session: Session, state: EngineState, ask: Ask, label: int, votes: list[EarlierAnswer]) -> None:
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
