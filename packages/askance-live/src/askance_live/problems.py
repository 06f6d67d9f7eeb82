"""What the service answers when it cannot do what was asked: RFC 9457 problem documents with a stable code."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, NotRequired, TypedDict, TypeVar

from askance.data.encoding.rows import FieldError
from askance.errors import AskanceError, InvalidInput

Item = TypeVar("Item")
Result = TypeVar("Result")

CODES = {
    "malformed": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "proxied": 403,
    "not_found": 404,
    "unknown_event": 404,
    "unknown_ask": 404,
    "unknown_answer": 404,
    "unknown_person": 404,
    "method_not_allowed": 405,
    "id_reused": 409,
    "answer_id_reused": 409,
    "too_many_answers": 409,
    "too_many_notes": 409,
    "already_answered": 409,
    "already_labeled": 409,
    "leased": 409,
    "stale_token": 409,
    "not_undoable": 409,
    "name_taken": 409,
    "person_revoked": 409,
    "own_person": 409,
    "stale_classes": 409,
    "link_ended": 410,
    "other_store": 412,
    "other_user": 412,
    "body_too_large": 413,
    "event_too_large": 413,
    "unsupported_encoding": 415,
    "wrong_host": 421,
    "invalid": 422,
    "too_deep": 422,
    "too_many_fields": 422,
    "unknown_label": 422,
    "retired_label": 422,
    "rate_limited": 429,
    "internal": 500,
    "not_installed": 501,
    "busy": 503,
    "no_owner": 503,
    "store_busy": 503,
    "stopping": 503,
    "storage_full": 507,
}
"""Every code there is, and the status it comes with."""


class ProblemDocument(TypedDict):
    """What every response that says what is wrong has; some have more, such as the name of a field."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    request: NotRequired[str]


class Problem(AskanceError):
    """A request that cannot be done; the sentence says what, where, and what to do."""

    def __init__(self, code: str, detail: str, *, headers: dict[str, str] | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.code, self.status, self.detail = code, CODES[code], detail
        self.headers = headers or {}
        self.more = more

    def alone(self) -> Problem:
        """Itself without a trace of how it arose, for whoever keeps it: frames hold whatever was worked on there, the
        list that keeps the problem among it, and such a circle stays in memory until the next full collection."""
        self.__traceback__ = self.__context__ = self.__cause__ = None
        return self

    def document(self, request: str = "") -> dict[str, Any]:
        """The body of the response to the request with this id."""
        title = HTTPStatus(self.status).phrase
        return {
            "type": "about:blank",
            "title": title,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            **({"request": request} if request else {}),
            **self.more,
        }


def result_or_problem(do: Callable[[Item], Result], item: Item | Problem) -> Result | Problem:
    """What comes of an item, or the problem with it: one that it is already, or that arises."""
    if isinstance(item, Problem):
        return item
    try:
        return do(item)
    except Problem as problem:
        return problem.alone()


class TooManyFields(InvalidInput):
    """An event brings the names of fields above the number that a stream may have."""


class Unusable(InvalidInput):
    """An event has a field with a value that its kind cannot take."""

    def __init__(self, sentence: str, field: str) -> None:
        super().__init__(sentence)
        self.field = field

    @classmethod
    def of(cls, error: FieldError) -> Unusable:
        return cls(str(error), error.field)


class StartError(AskanceError, OSError):
    """The service cannot start: the sentence names the file and the remedy."""


class StoreUnreachable(StartError):
    """The server with the store does not answer; it may be on its way."""


class StoreExists(StartError):
    """A store that was to be created is there already, at ``place``."""

    def __init__(self, sentence: str, place: str) -> None:
        super().__init__(sentence)
        self.place = place


class StoreInUse(StartError):
    """Another process works on the store."""
