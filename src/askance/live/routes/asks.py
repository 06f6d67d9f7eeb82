"""Questions for people: take some, answer, skip, hold on, give back."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

from starlette.responses import Response

from askance.live import answers, queue
from askance.live.answers import SKIPS, Given
from askance.live.ingest import digest_of, name_of
from askance.live.problems import Problem
from askance.live.routing import Request, json_response, route
from askance.live.service import Service

MOST_AT_ONCE = 10
LONGEST_COMMENT = 2_000
DAY_MS = 86_400_000


@route("POST", "/v1/asks/next", "label")
async def next_asks(service: Service, request: Request) -> Response:
    """Lease questions; those leased to the caller already come first. 204 with the reason where there is none."""
    n = request.whole_number("n", 1, 1, MOST_AT_ONCE)
    request.object()
    held = frozenset(int(text) for text in re.findall(r"[0-9]{1,15}", request.query().get("exclude", "")[:2000]))
    name = request.user.name
    found = await service.engine.do(lambda session, state: queue.next_asks(session, state, name, n, held))
    if isinstance(found, queue.Nothing):
        headers = {
            "X-Askance-Reason": found.reason,
            "X-Askance-Detail": found.detail.encode("ascii", "replace").decode(),
            "Retry-After": str(found.seconds),
        }
        return Response(status_code=204, headers=headers)
    return json_response({"asks": found[0], "queue": found[1]})


def _number(request: Request) -> int:
    text = request.parameters["ask"]
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise Problem("unknown_ask", f"there is no ask {text[:40]!r}.")
    return int(text)


def _token(body: dict[str, Any]) -> str:
    token = body.get("token")
    if not isinstance(token, str) or not re.fullmatch(r"[0-9]{1,18}\.[0-9]{1,18}", token):
        raise Problem("invalid", "'token' must be the token that came with the ask, such as '17.1'.", field="token")
    return token


@route("POST", "/v1/asks/{ask}/answer", "label")
async def answer(service: Service, request: Request) -> Response:
    """Answer a question. The same answer_id gives the same response for ever."""
    body = request.object("answer_id", "token", "label", "ms", "comment", "supersedes")
    number, name = _number(request), request.user.name
    label = service.engine.state.place_of.get(body["label"]) if isinstance(body.get("label"), str) else None
    if label is None:
        known = ", ".join(service.engine.state.classes[:20])
        raise Problem(
            "unknown_label", f"'label' must be one of {known}; got {str(body.get('label'))[:40]!r}.", field="label"
        )
    ms, comment, supersedes = body.get("ms"), body.get("comment"), body.get("supersedes")
    if ms is not None and (not isinstance(ms, int) or isinstance(ms, bool) or not 0 <= ms <= DAY_MS):
        raise Problem("invalid", f"'ms' must be a whole number of milliseconds from 0 to {DAY_MS}.", field="ms")
    if comment is not None and (not isinstance(comment, str) or len(comment) > LONGEST_COMMENT):
        raise Problem("invalid", f"'comment' must be a text of at most {LONGEST_COMMENT} characters.", field="comment")
    if supersedes is not None:
        supersedes = name_of(supersedes, "'supersedes'")
    if "answer_id" not in body:
        raise Problem(
            "invalid",
            "'answer_id' is missing: make one, such as a UUID, so that a retry counts once.",
            field="answer_id",
        )
    identifier = name_of(body["answer_id"], "'answer_id'")
    digest = digest_of([name, number, body.get("label"), supersedes])
    given = Given(identifier, digest, _token(body), label, None, ms, comment, supersedes)
    return json_response(
        await service.engine.do(lambda session, state: answers.answer(session, state, name, number, given))
    )


@route("POST", "/v1/asks/{ask}/skip", "label")
async def skip(service: Service, request: Request) -> Response:
    """Skip a question: unsure (to others), bad_data (closed), later (back in ten minutes)."""
    body = request.object("answer_id", "token", "reason")
    number, name = _number(request), request.user.name
    if body.get("reason") not in SKIPS:
        raise Problem("invalid", f"'reason' must be one of {', '.join(SKIPS)}.", field="reason")
    given_id = body.get("answer_id")
    identifier = uuid4().hex if given_id is None else name_of(given_id, "'answer_id'")
    digest = digest_of([name, number, body["reason"], "skip"])
    given = Given(identifier, digest, _token(body), None, body["reason"], None, None, None)
    return json_response(
        await service.engine.do(lambda session, state: answers.skip(session, state, name, number, given))
    )


@route("POST", "/v1/asks/{ask}/renew", "label")
async def renew(service: Service, request: Request) -> Response:
    """Hold on to a question that takes longer."""
    token, number, name = _token(request.object("token")), _number(request), request.user.name
    return json_response(
        await service.engine.do(lambda session, state: queue.renew(session, state, name, number, token))
    )


@route("POST", "/v1/asks/{ask}/release", "label")
async def release(service: Service, request: Request) -> Response:
    """Give a question back."""
    token, number, name = _token(request.object("token")), _number(request), request.user.name
    return json_response(await service.engine.do(lambda session, state: queue.release(session, name, number, token)))
