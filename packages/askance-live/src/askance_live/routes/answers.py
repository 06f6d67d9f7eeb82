"""Answers given: one's own history, taking one back, and labels from elsewhere."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import msgspec
from msgspec import Meta

from askance_live.clock import iso
from askance_live.engine.label_space import ShownLabel
from askance_live.engine.state import EngineState
from askance_live.exchange.export import summary
from askance_live.http.routing import Items, Request, process_in_chunks, route
from askance_live.http.schemas import NEWEST, ClassName, Name, Paging, RequestBody
from askance_live.problems import Problem, result_or_problem
from askance_live.questions.answers import UNDOABLE
from askance_live.questions.answers import undo as undo_answer
from askance_live.questions.labels import give_label
from askance_live.questions.states import TAKEN_BACK, AnswerKind, AnswerOutcome, AnswerState, UndoOutcome
from askance_live.routes.asks import Question
from askance_live.service import Service
from askance_live.store.database import Session
from askance_live.store.rows import Query

LABELS_AT_ONCE = 100


class AnswerWithEvent(NamedTuple):
    """An answer, a label or a skip, and what is shown of its event."""

    seq: int
    id: str
    kind: AnswerKind
    ask: int | None
    event_id: str
    label: int | None
    reason: str | None
    predicted: int
    state: AnswerState
    annotator: str
    ms: int | None
    comment: str | None
    created: float
    fields: str


def _query(rest: str) -> Query[AnswerWithEvent]:
    return Query(AnswerWithEvent, "answers a JOIN events e ON e.seq = a.event", rest, event_id="e.id")


NEWEST_OF_ALL = _query("WHERE a.seq < ? ORDER BY a.seq DESC LIMIT ?")
NEWEST_OF_ONE = _query("WHERE a.seq < ? AND a.annotator = ? ORDER BY a.seq DESC LIMIT ?")
OF_EVENT = _query("WHERE a.event = ? ORDER BY a.seq")

Answer = TypedDict("Answer", {
    "answer_id": str, "kind": AnswerKind, "ask": int | None, "event": str, "label": ShownLabel | None,
    "reason": str | None, "predicted": ShownLabel,
    "state": AnswerState, "annotator": str,
    "ms": int | None, "comment": str | None, "created": str, "undoable": bool, "summary": str,
})  # fmt: skip
Answers = TypedDict("Answers", {"answers": list[Answer], "next": str | None})
Undone = TypedDict("Undone", {
    "answer_id": str, "outcome": UndoOutcome, "ask": Question | None,
})  # fmt: skip
Labeled = TypedDict("Labeled", {
    "label_id": str, "event": str, "label": ShownLabel, "outcome": AnswerOutcome, "learn_at": str | None,
    "duplicate": bool,
})  # fmt: skip
LabeledBatch = TypedDict("LabeledBatch", {"items": list[dict[str, Any]], "errors": int})


AnswerId = Annotated[str, Meta(min_length=1, description="The answer's id.")]


class AnswersPage(Paging):
    """Which answers."""

    mine: Annotated[Literal[0, 1], Meta(description="1: one's own; 0: everybody's (scope admin).")] = 1
    limit: Annotated[int, Meta(ge=1, le=200, description="How many.")] = 50


class NewLabel(RequestBody):
    """A label for an event."""

    example = '{"event": "m-1", "label": "spam"}'
    identifier = "event"

    event: Annotated[Name, Meta(description="The event's id.")]
    label: ClassName
    label_id: Annotated[
        Name | None,
        Meta(description="Made up where it is missing; by one, a repetition is known even after a correction."),
    ] = None
    replace: Annotated[bool, Meta(description="Correct an earlier label: one's own, or (scope review) anybody's.")] = (
        False
    )


@route("GET", "/v1/answers", "label", stateless=True)
async def history(service: Service, request: Request, query: AnswersPage) -> Answers:
    """Answers, newest first: one's own with mine=1, else (admin) everybody's."""
    user, limit, mine = request.user, query.limit, bool(query.mine)
    cursor = int(query.cursor or NEWEST)
    if not mine and not user.may("admin"):
        raise Problem("forbidden", "other people's answers need the scope 'admin'.")
    state = service.engine.state
    await service.refresh_classes()

    def read(session: Session) -> Answers:
        if mine:
            rows = NEWEST_OF_ONE.all(session, (cursor, user.name, limit + 1))
        else:
            rows = NEWEST_OF_ALL.all(session, (cursor, limit + 1))
        recent = UNDOABLE if cursor == NEWEST else 0
        shown = [describe_answer(state, row, place < recent) for place, row in enumerate(rows[:limit])]
        return {"answers": shown, "next": str(rows[limit - 1].seq) if len(rows) > limit else None}

    return await service.read(read)


def answers_of_event(session: Session, state: EngineState, event: int) -> list[Answer]:
    """Every answer to one event, oldest first."""
    return [describe_answer(state, row, False) for row in OF_EVENT.all(session, (event,))]


def describe_answer(state: EngineState, answer: AnswerWithEvent, recent: bool) -> Answer:
    """An answer as a client sees it."""
    return {
        "answer_id": answer.id,
        "kind": answer.kind,
        "ask": answer.ask,
        "event": answer.event_id,
        "label": None if answer.label is None else state.labels.show(answer.label),
        "reason": answer.reason,
        "predicted": state.labels.show(answer.predicted),
        "state": answer.state,
        "annotator": answer.annotator,
        "ms": answer.ms,
        "comment": answer.comment,
        "created": iso(answer.created),
        "undoable": recent and answer.state not in TAKEN_BACK,
        "summary": summary(msgspec.json.decode(answer.fields)),
    }


@route("POST", "/v1/answers/{answer}/undo", "label")
async def undo(service: Service, request: Request, answer: AnswerId) -> Undone:
    """Take back one of one's last 50 answers or skips, or (review) anybody's; the question comes back."""
    return await service.do(undo_answer, request.user.name, answer, request.user.may("review"))


@route("POST", "/v1/labels", "label", body_bytes=None, is_repeatable=True)
async def labels(service: Service, request: Request, body: Items[NewLabel]) -> Labeled | LabeledBatch:
    """Labels by event id from any source, one or many; one that the source gave already changes nothing."""
    parts = [body.items[first : first + LABELS_AT_ONCE] for first in range(0, len(body.items), LABELS_AT_ONCE)]
    by, may_review = request.user.name, request.user.may("review")
    outcomes = await process_in_chunks(parts, lambda part: service.do(_label_all, part, by, may_review))
    if body.is_single:
        return body.only(outcomes)
    results = body.report(outcomes, lambda outcome: 200)
    return {"items": results, "errors": sum(item["status"] >= 400 for item in results)}


def _label_all(
    session: Session, state: EngineState, items: list[NewLabel | Problem], source: str, may_review: bool
) -> list[dict[str, Any] | Problem]:
    def label(item: NewLabel) -> dict[str, Any]:
        place, identifier = state.labels.read(item.label), item.label_id.value if item.label_id else None
        return give_label(session, state, source, item.event.value, place, identifier, item.replace, may_review)

    return [result_or_problem(label, item) for item in items]
