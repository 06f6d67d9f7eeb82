"""Answers given: one's own history, taking one back, and labels from elsewhere."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from starlette.responses import Response

from askance.live import answers
from askance.live.clock import iso
from askance.live.ingest import name_of
from askance.live.problems import Problem
from askance.live.routing import Request, json_response, route
from askance.live.service import Service
from askance.live.state import State
from askance.live.store.database import Row, Session

ANSWER = (
    "a.seq, a.id, a.kind, a.ask, e.id, a.label, a.reason, e.predicted, a.state, a.annotator, a.ms, a.comment, "
    "a.created, e.fields FROM answers a JOIN events e ON e.seq = a.event"
)
LONGEST_SUMMARY = 120


@route("GET", "/v1/answers", "label")
async def history(service: Service, request: Request) -> Response:
    """Answers, newest first: one's own with mine=1, else (admin) everybody's."""
    query, user = request.query(), request.user
    limit = request.whole_number("limit", 50, 1, 200)
    cursor = query.get("cursor") or "999999999999999"
    if not re.fullmatch(r"[0-9]{1,15}", cursor):
        raise Problem("invalid", "'cursor' must be the 'next' of the page before.", field="cursor")
    mine = request.whole_number("mine", 1, 0, 1) == 1
    if not mine and not user.may("admin"):
        raise Problem("forbidden", "other people's answers need the scope 'admin'.")
    state = service.engine.state

    def look(session: Session) -> list[Row]:
        only = "AND a.annotator = ?" if mine else ""
        values = [int(cursor), *([user.name] if mine else []), limit + 1]
        return session.all(f"SELECT {ANSWER} WHERE a.seq < ? {only} ORDER BY a.seq DESC LIMIT ?", values)

    rows = await service.read(look)
    recent = answers.UNDOABLE if cursor == "999999999999999" else 0
    shown = [answer_shown(state, row, place < recent) for place, row in enumerate(rows[:limit])]
    return json_response({"answers": shown, "next": str(rows[limit - 1][0]) if len(rows) > limit else None})


def answers_of_event(session: Session, state: State, event: int) -> list[dict[str, Any]]:
    """Every answer to one event, oldest first."""
    rows = session.all(f"SELECT {ANSWER} WHERE a.event = ? ORDER BY a.seq", (event,))
    return [answer_shown(state, row, False) for row in rows]


def answer_shown(state: State, row: Row, recent: bool) -> dict[str, Any]:
    """An answer as a client sees it."""
    _, identifier, kind, ask, event, label, reason, predicted, status, annotator, ms, comment, created, fields = row
    return {
        "answer_id": identifier,
        "kind": kind,
        "ask": ask,
        "event": event,
        "label": None if label is None else state.classes[label],
        "reason": reason,
        "predicted": state.classes[predicted],
        "state": status,
        "annotator": annotator,
        "ms": ms,
        "comment": comment,
        "created": iso(created),
        "undoable": recent and status not in ("undone", "superseded"),
        "summary": summary(msgspec.json.decode(fields)),
    }


def summary(fields: dict[str, Any]) -> str:
    """An event in a line: its longest text, or its fields."""
    texts = [value for value in fields.values() if isinstance(value, str)]
    longest = max(texts, key=len, default="")
    if len(longest.split()) < 3:
        longest = ", ".join(f"{name}: {_plain(value)}" for name, value in list(fields.items())[:8])
    return longest if len(longest) <= LONGEST_SUMMARY else longest[: LONGEST_SUMMARY - 1] + "…"


def _plain(value: Any) -> str:
    """A value as the pages show it: JSON, but a text without its quotes."""
    return (value or "(empty)") if isinstance(value, str) else msgspec.json.encode(value).decode()


@route("POST", "/v1/answers/{answer}/undo", "label")
async def undo(service: Service, request: Request) -> Response:
    """Take back one of one's last 50 answers or skips; the question comes back."""
    request.object()
    name, identifier = request.user.name, request.parameters["answer"]
    return json_response(await service.engine.do(lambda session, state: answers.undo(session, state, name, identifier)))


@route("POST", "/v1/labels", "label")
async def labels(service: Service, request: Request) -> Response:
    """Labels by event id from any source, one or many; one that the source gave already changes nothing."""
    most = service.config.server.batch_events
    items = request.documents(most)
    single = isinstance(items, dict)
    items = [items] if single else items
    if not isinstance(items, list) or len(items) > most:
        raise Problem("invalid", f"the body must be a label, or an array of at most {most:,}.")
    outcomes = await label_batch(service, items, request.user.name)
    if single:
        if isinstance(outcomes[0], Problem):
            raise outcomes[0]
        return json_response(outcomes[0])
    results = [_result(outcome, item) for outcome, item in zip(outcomes, items, strict=True)]
    return json_response({"items": results, "errors": sum(item["status"] >= 400 for item in results)})


def _result(outcome: dict[str, Any] | Problem, item: Any) -> dict[str, Any]:
    if isinstance(outcome, Problem):
        given = item.get("event") if isinstance(item, dict) else None
        return {"status": outcome.status, "event": given, "code": outcome.code, "detail": outcome.detail}
    return {"status": 200, **outcome}


async def label_batch(service: Service, items: list[Any], source: str) -> list[dict[str, Any] | Problem]:
    """Give labels, an outcome each."""

    def work(session: Session, state: State) -> list[dict[str, Any] | Problem]:
        outcomes: list[dict[str, Any] | Problem] = []
        for item in items:
            try:
                outcomes.append(answers.label(session, state, source, *_read(item, state)))
            except Problem as problem:
                outcomes.append(problem)
        return outcomes

    result: list[dict[str, Any] | Problem] = await service.engine.do(work)
    return result


NAMES = frozenset(("event", "label", "label_id", "replace"))


def _read(item: Any, state: State) -> tuple[str, int, str | None, bool]:
    if isinstance(item, Problem):
        raise item
    if not isinstance(item, dict) or not NAMES.issuperset(item):
        raise Problem("invalid", 'a label is an object such as {"event": "m-1", "label": "spam"}.')
    event = name_of(item.get("event"), "'event'")
    place = state.place_of.get(item["label"]) if isinstance(item.get("label"), str) else None
    if place is None:
        known = ", ".join(state.classes[:20])
        raise Problem("unknown_label", f"'label' must be one of {known}; got {str(item.get('label'))[:40]!r}.")
    identifier = item.get("label_id")
    if identifier is not None:
        identifier = name_of(identifier, "'label_id'")
    if not isinstance(item.get("replace", False), bool):
        raise Problem("invalid", "'replace' must be true or false.")
    return event, place, identifier, item.get("replace", False)
