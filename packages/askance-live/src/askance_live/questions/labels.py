"""Labels by event, from any source: late truth, another tool, a file. Every function runs inside a transaction."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from askance_live.clock import iso
from askance_live.engine.state import EngineState
from askance_live.exchange.received import digest_of
from askance_live.problems import Problem
from askance_live.questions.corrections import (
    VALID_OF_EVENT,
    held_of_others,
    list_bad_data_reports,
    need_review,
    remember,
    take_back,
)
from askance_live.questions.queue import StoredQuestion, count_votes, find
from askance_live.questions.states import KEPT, AnswerKind, AnswerOutcome, AnswerState, QuestionState, one_of
from askance_live.questions.submissions import (
    BY_EVENT,
    Submission,
    find_response,
    new_name,
    refuse_retired,
    store,
)
from askance_live.questions.transitions import move_question
from askance_live.store.database import Session
from askance_live.store.rows import Query


class LabeledEvent(NamedTuple):
    """The number of an event, and that of its question or 0."""

    seq: int
    asked: int


LABELED_EVENT = Query(LabeledEvent, "events", "WHERE id = ?")
SAID_BEFORE = (
    f"SELECT response FROM answers WHERE event = ? AND annotator = ? AND kind = '{AnswerKind.LABEL}' AND label = ? "
    f"AND state IN {one_of(KEPT)} ORDER BY seq DESC LIMIT 1"
)


def class_of(state: EngineState, label: Any) -> int:
    """A class that people may choose, by its place; or a set of them."""
    place = state.labels.read(label)
    refuse_retired(state, place)
    return place


def give_label(
    session: Session, state: EngineState, source: str, event_id: str, place: int, identifier: str | None, replace: bool,
    may_review: bool = False, comment: str | None = None, is_made_here: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """A label by event from any source: late truth, another tool. What the source says already changes nothing.

    Of label sets, what is said is added to what is known of the event; only what contradicts that is to ``replace`` it.

    One for an event that somebody called bad data is kept as extra, unless it is to ``replace`` that judgement. A
    source replaces its own; somebody else's takes the scope ``review``, and so does a question in somebody's hands. An
    identifier that ``is_made_here`` is a new one.
    """
    found = LABELED_EVENT.one(session, (event_id,))
    if found is None:
        where = "send it to /v1/events first, then its label."
        if session.one("SELECT seq FROM quarantine WHERE id = ?", (event_id,)) is not None:
            where = "it is kept in quarantine; replay it first, then send its label."
        raise Problem("unknown_event", f"there is no event {event_id!r}; {where}")
    event, ask = found
    digest = digest_of([{"event": event_id, "label": state.labels.show(place)}, "label"])
    if identifier is not None and not is_made_here:
        otherwise = f"the id {identifier!r} was used for another label; make a new one."
        if (known := find_response(session, identifier, source, digest, otherwise)) is not None:
            return {**known, "duplicate": True}
    valid = VALID_OF_EVENT.one(session, (event,))
    held = None if valid is None else valid.label or 0
    after_it = place if held is None else state.labels.add(held, place)
    if after_it != held:
        refuse_retired(state, place)  # what is held already may be said again
    status = AnswerState.WAITING
    called_bad = list_bad_data_reports(session, find(session, ask)) if ask and valid is None else []
    before: list[dict[str, Any]] = []
    if (called_bad and not replace) or after_it == held:
        if identifier is None and (earlier := _find_same_label(session, event, source, {place, after_it})) is not None:
            return {**earlier, "duplicate": True}
        status = AnswerState.EXTRA
    elif valid is not None and held is not None and state.labels.agree(held, place):
        before = [take_back(session, state, valid, AnswerState.SUPERSEDED)]
    elif valid is not None:
        labeled_before = (
            f"the event {event_id!r} was labeled {state.labels.show(valid.label or 0)!r} by {valid.annotator}"
        )
        if not replace:
            with_review = "" if may_review or valid.annotator == source else " with a token that has the scope 'review'"
            raise Problem("already_labeled", f'{labeled_before}; send "replace": true{with_review} to correct it.')
        if any(not state.labels.agree(one.label or 0, place) for one in held_of_others(session, state, valid, source)):
            need_review(may_review, f"{labeled_before}; replacing somebody else's label")
        before = [take_back(session, state, valid, AnswerState.SUPERSEDED)]
    elif valid is None and ask and not called_bad and count_votes(session, find(session, ask)):
        need_review(may_review, f"several people answer the question about the event {event_id!r}; deciding it alone")
    elif called_bad:
        if others := [row["by"] for row in called_bad if row["by"] != source]:
            need_review(may_review, f"{others[0]} closed the event {event_id!r} as bad data; labeling it")
        before = called_bad
    was = find(session, ask) if ask and status == AnswerState.WAITING else None
    leased_to = _holder(was, source, state.clock.now(), event_id, may_review) if was else None
    if status == AnswerState.WAITING:
        place = after_it
    name = identifier or new_name(session, state, f"{BY_EVENT}{source}:{event_id}")
    superseded = valid.id if valid and status == AnswerState.WAITING else None
    given = Submission(name, digest, None, place, None, None, comment, superseded)
    after = {
        "answer_id": name,
        "label": state.labels.show(place),
        "by": source,
        **({"comment": comment} if comment else {}),
    }
    if before:
        remember(session, state, source, "label replace", event_id, ask or None, before, after)
    if was and was.state != QuestionState.CLOSED:
        move_question(session, was, QuestionState.ANSWERED)
    if leased_to is not None:
        in_hands = [{"leased_to": leased_to}]
        remember(session, state, source, "label of leased question", event_id, ask, in_hands, after)
    response = {
        "label_id": name,
        "event": event_id,
        "label": state.labels.show(place),
        "outcome": AnswerOutcome.ACCEPTED if status == AnswerState.WAITING else AnswerOutcome.EXTRA,
        "learn_at": None,
        "duplicate": False,
    }
    return store(session, state, given, AnswerKind.LABEL, ask or None, event, source, status, response)


def _holder(ask: StoredQuestion, source: str, now: float, event_id: str, may_review: bool) -> str | None:
    """Somebody else in whose hands the question about an event is; whoever may not override that is refused."""
    holder = ask.holder(now)
    if holder is None or holder == source:
        return None
    if not may_review:
        until = "" if ask.deadline is None else f" until {iso(ask.deadline)}"
        raise Problem(
            "leased",
            f"the question about the event {event_id!r} is in the hands of {holder}{until}; label it later, or with a "
            "token that has the scope 'review'.",
        )
    return holder


def _find_same_label(session: Session, event: int, source: str, places: set[int]) -> dict[str, Any] | None:
    """What was answered to one of these labels from the same source, where that still stands."""
    found = (session.value(SAID_BEFORE, (event, source, place)) for place in sorted(places))
    response = next((one for one in found if one is not None), None)
    return None if response is None else msgspec.json.decode(response)
