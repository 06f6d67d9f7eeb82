"""Questions for people: take some, answer, skip, hold on, give back."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypedDict
from uuid import uuid4

from msgspec import Meta
from starlette.responses import Response

from askance_live.engine.label_space import LabelSets, ShownLabel, known_of
from askance_live.exchange.received import digest_of
from askance_live.http.routing import Request, route
from askance_live.http.schemas import ClassName, LeaseToken, Name, QueryString, QuestionNumber, RequestBody
from askance_live.questions import answers, queue
from askance_live.questions.states import AnswerOutcome, ReleaseOutcome, SkipOutcome, SkipReason
from askance_live.questions.submissions import Submission
from askance_live.service import Service

MOST_AT_ONCE = 10
LONGEST_COMMENT = 2_000
DAY_MS = 86_400_000

Why = TypedDict("Why", {"code": Literal["uncertain", "audit", "cold_start"], "probability": float, "text": str})
Effect = TypedDict("Effect", {
    "field": str, "word": str | None,
    "value": Annotated[
        str | None,
        Meta(description="What the field has, of a date its weekday or hour; empty if it is missing, null for words."),
    ],
    "effect": float,
})  # fmt: skip
AnswersGiven = TypedDict("AnswersGiven", {
    "given": Annotated[int, Meta(description="By other people, where several answer.")], "wanted": int,
})  # fmt: skip
Question = TypedDict("Question", {
    "id": int, "token": LeaseToken, "deadline": str, "seconds_left": float, "event": dict[str, Any],
    "suggestion": Annotated[
        dict[str, Any] | None, Meta(description="Nothing for random samples: they are blind.")
    ],
    "about": Annotated[
        list[str] | None,
        Meta(description="In a stream of label sets: the labels that the question is about; the answer says which of "
             "them the event has."),
    ],
    "why": Why, "audit": bool, "explanation": list[Effect], "skips": int,
    "answers": AnswersGiven, "created": str,
})  # fmt: skip
Lengths = TypedDict("Lengths", {"open": int, "leased": int, "parked": int})
Questions = TypedDict("Questions", {"asks": list[Question], "queue": Lengths})
Answered = TypedDict("Answered", {
    "answer_id": str, "ask": int, "event": str, "label": ShownLabel, "outcome": AnswerOutcome,
    "stale_token": bool, "learn_at": str | None,
})  # fmt: skip
Skipped = TypedDict("Skipped", {
    "answer_id": str, "ask": int, "event": str, "reason": str,
    "outcome": SkipOutcome,
})  # fmt: skip
Renewed = TypedDict("Renewed", {"ask": int, "token": LeaseToken, "deadline": str, "seconds_left": float})
Released = TypedDict("Released", {"ask": int, "outcome": ReleaseOutcome})


class NextAsks(QueryString):
    """How many questions, and which not."""

    n: Annotated[int, Meta(ge=1, le=MOST_AT_ONCE, description="How many.")] = 1
    exclude: Annotated[
        str, Meta(description="Numbers of asks, with commas between, that the client holds already.")
    ] = ""
    topic: Annotated[
        Literal[0, 1], Meta(description="1: questions like the last one first; 0: no near-duplicates in a row.")
    ] = 0


class GiveAnswer(RequestBody):
    """An answer to a question."""

    example = '{"answer_id": "a-1", "token": "17.1", "label": "spam"}'

    answer_id: Annotated[
        Name,
        Meta(
            title=f"{Name.schema['title']}, that you make, such as a UUID, so that a retry counts once",
            description="The same one gives the same response for ever.",
        ),
    ]
    token: LeaseToken
    label: ClassName
    ms: Annotated[Annotated[int, Meta(ge=0, le=DAY_MS)] | None, Meta(description="How many milliseconds it took.")] = (
        None
    )
    comment: Annotated[str, Meta(max_length=LONGEST_COMMENT)] | None = None
    supersedes: Annotated[Name | None, Meta(description="The answer_id of the answer that this one corrects.")] = None


class SkipAsk(RequestBody):
    """A question that is not answered."""

    example = '{"token": "17.1", "reason": "unsure"}'

    token: LeaseToken
    reason: SkipReason
    answer_id: Annotated[Name | None, Meta(description="Made up where it is missing.")] = None


class Lease(RequestBody):
    """A question in one's hands."""

    example = '{"token": "17.1"}'

    token: LeaseToken


NO_QUESTION = "No question now; X-Askance-Reason and X-Askance-Detail say why."


@route("POST", "/v1/asks/next", "label", is_repeatable=True, responses={204: (NO_QUESTION, None)})
async def next_asks(service: Service, request: Request, query: NextAsks) -> Questions | Response:
    """Lease questions; those leased to the caller already come first. 204 with the reason where there is none."""
    held = frozenset(int(text) for text in re.findall(r"[0-9]{1,15}", query.exclude[:2000]))
    found = await service.do(queue.next_asks, request.user.name, query.n, held, bool(query.topic))
    if isinstance(found, queue.NothingToLabel):
        headers = {
            "X-Askance-Reason": found.reason,
            "X-Askance-Detail": found.detail.encode("ascii", "replace").decode(),
            "Retry-After": str(found.seconds),
        }
        return Response(status_code=204, headers=headers)
    return {"asks": found[0], "queue": found[1]}


@route("POST", "/v1/asks/{ask}/answer", "label", is_repeatable=True)
async def answer(service: Service, request: Request, ask: QuestionNumber, body: GiveAnswer) -> Answered:
    """Answer a question. The same answer_id gives the same response for ever."""
    name = request.user.name
    labels = service.engine.state.labels
    if isinstance(labels, LabelSets):
        about = await service.read(lambda session: queue.find_asked_labels(session, ask))
        label = labels.read_about(body.label, known_of(about))
    else:
        label = labels.read(body.label)
    supersedes = body.supersedes.value if body.supersedes else None
    digest = digest_of([name, ask, body.label, supersedes])
    given = Submission(body.answer_id.value, digest, body.token, label, None, body.ms, body.comment, supersedes)
    return await service.do(answers.answer, name, ask, given, request.user.may("review"))


@route("POST", "/v1/asks/{ask}/skip", "label")
async def skip(service: Service, request: Request, ask: QuestionNumber, body: SkipAsk) -> Skipped:
    """Skip a question: unsure (to others), bad_data (closed), later (back in ten minutes)."""
    name = request.user.name
    identifier = body.answer_id.value if body.answer_id else uuid4().hex
    digest = digest_of([name, ask, body.reason, "skip"])
    given = Submission(identifier, digest, body.token, None, body.reason, None, None, None)
    return await service.do(answers.skip, name, ask, given)


@route("POST", "/v1/asks/{ask}/renew", "label", is_repeatable=True)
async def renew(service: Service, request: Request, ask: QuestionNumber, body: Lease) -> Renewed:
    """Hold on to a question that takes longer."""
    return await service.do(queue.renew, request.user.name, ask, body.token)


@route("POST", "/v1/asks/{ask}/release", "label")
async def release(service: Service, request: Request, ask: QuestionNumber, body: Lease) -> Released:
    """Give a question back."""
    return await service.do(queue.release, request.user.name, ask, body.token)
