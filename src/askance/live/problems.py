"""What the service answers when it cannot do what was asked: RFC 9457 problem documents with a stable code."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from askance.errors import AskanceError, InvalidInput

CODES = {
    "malformed": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "not_found": 404,
    "unknown_event": 404,
    "unknown_ask": 404,
    "unknown_answer": 404,
    "method_not_allowed": 405,
    "id_reused": 409,
    "answer_id_reused": 409,
    "already_answered": 409,
    "already_labeled": 409,
    "stale_token": 409,
    "not_undoable": 409,
    "other_store": 412,
    "body_too_large": 413,
    "event_too_large": 413,
    "unsupported_encoding": 415,
    "wrong_host": 421,
    "invalid": 422,
    "too_deep": 422,
    "too_many_fields": 422,
    "unknown_label": 422,
    "rate_limited": 429,
    "internal": 500,
    "busy": 503,
    "store_busy": 503,
    "stopping": 503,
    "storage_full": 507,
}
"""Every code there is, and the status it comes with."""


class Problem(AskanceError):
    """A request that cannot be done; the sentence says what, where, and what to do."""

    def __init__(self, code: str, detail: str, *, headers: dict[str, str] | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.code, self.status, self.detail = code, CODES[code], detail
        self.headers = headers or {}
        self.more = more

    def document(self) -> dict[str, Any]:
        """The body of the response."""
        title = HTTPStatus(self.status).phrase
        return {
            "type": "about:blank",
            "title": title,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            **self.more,
        }


class TooManyFields(InvalidInput):
    """An event brings the names of fields above the number that a stream may have."""


class StartError(AskanceError, OSError):
    """The service cannot start: the sentence names the file and the remedy."""


class StoreExists(StartError):
    """A store that was to be created is there already."""


class StoreInUse(StartError):
    """Another process works on the store."""
