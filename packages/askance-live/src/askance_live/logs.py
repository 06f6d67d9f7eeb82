"""What the service says on stderr: lines for people, or JSON for programs, each with the request it belongs to.

A warning is written at once, for it may be the last that is said. Other lines, one for each request among them, wait in
a queue for a thread that writes them, so that no request waits for a full pipe.
"""

from __future__ import annotations

import logging
import queue
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from logging.handlers import QueueHandler, QueueListener
from typing import Any
from uuid import uuid4

import msgspec

from askance_live.config import LogSettings

MOST_WAITING = 10_000  # lines; beyond, they are counted and dropped
HEADER = b"x-request-id"
SCOPE = "askance.request"
"""Where a request keeps what its line in the log tells, such as the name of who sent it."""

access = logging.getLogger("askance.access")
current_request: ContextVar[str] = ContextVar("current_request", default="")

_HARMLESS = re.compile(rb"[A-Za-z0-9._:@+=/-]{1,128}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def request_id(headers: Any) -> str:
    """The name that the sender or a proxy gave a request, where it is harmless; else a new one."""
    given = next((value for name, value in headers if name == HEADER), b"")
    return given.decode() if _HARMLESS.fullmatch(given) else uuid4().hex


def on_one_line(text: str) -> str:
    r"""Text without line breaks and control characters, so that nobody can forge a line of the log.

    >>> on_one_line("/a\nERROR b")
    '/a\\nERROR b'
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class TextFormatter(logging.Formatter):
    """Time, level, logger, message, details, request; a traceback below."""

    def format(self, record: logging.LogRecord) -> str:
        details = "".join(f" {name}={on_one_line(str(value))}" for name, value in _details(record).items())
        message = on_one_line(record.getMessage())
        line = f"{_moment(record)} {record.levelname} {record.name}: {message}{details}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        document = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_details(record),
        }
        if record.exc_info:
            document["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(document).decode()


def _moment(record: logging.LogRecord) -> str:
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(record.created))}.{int(record.msecs):03d}Z"


def _details(record: logging.LogRecord) -> dict[str, Any]:
    found: dict[str, Any] = dict(getattr(record, "details", {}))
    if request := current_request.get():
        found["request"] = request
    return found


class LineQueue(QueueHandler):
    """Formats a line where it arises, and leaves it for the thread that writes."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__(queue.Queue(MOST_WAITING))
        self.setFormatter(formatter)
        self.dropped = 0

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        return logging.LogRecord(record.name, record.levelno, record.pathname, 0, self.format(record), (), None)

    def enqueue(self, record: logging.LogRecord) -> None:
        try:
            if self.dropped:
                message = f"{self.dropped:,} lines were dropped here: whoever reads them is too slow."
                warning = logging.LogRecord("askance", logging.WARNING, "", 0, message, (), None)
                self.queue.put_nowait(self.prepare(warning))
                self.dropped = 0
            self.queue.put_nowait(record)
        except queue.Full:
            self.dropped += 1


@contextmanager
def logging_as(settings: LogSettings) -> Iterator[None]:
    """Log as the settings say, until the block ends; then everything is written."""
    formatter = JsonFormatter() if settings.format == "json" else TextFormatter()
    lines, warnings = LineQueue(formatter), logging.StreamHandler(sys.stderr)
    lines.addFilter(lambda record: record.levelno < logging.WARNING)
    warnings.setLevel(logging.WARNING)
    warnings.setFormatter(formatter)
    listener = QueueListener(lines.queue, logging.StreamHandler(sys.stderr))
    root = logging.getLogger()
    before = root.level, access.level
    root.addHandler(lines)
    root.addHandler(warnings)
    root.setLevel(settings.level.upper())
    access.setLevel(logging.INFO if settings.requests else logging.WARNING)
    listener.start()
    try:
        yield
    finally:
        root.removeHandler(lines)
        root.removeHandler(warnings)
        listener.stop()
        root.setLevel(before[0])
        access.setLevel(before[1])


class RequestLog:
    """An ASGI application that names each request, and logs it once it is answered."""

    def __init__(self, application: Any, client_address: Callable[[Any], str]) -> None:
        self.application, self.client_address = application, client_address

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        began, status = time.perf_counter(), 0
        name = request_id(scope["headers"])
        told = scope[SCOPE] = {"user": "-"}

        async def send_named(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message.get("headers", ()), (HEADER, name.encode())]}
            await send(message)

        token = current_request.set(name)
        try:
            await self.application(scope, receive, send_named)
        finally:
            if access.isEnabledFor(logging.INFO):
                details = {
                    "status": status,
                    "milliseconds": round(1e3 * (time.perf_counter() - began), 3),
                    "user": told["user"],
                    "address": self.client_address(scope),
                }
                access.info("%s %s", scope["method"], scope["path"], extra={"details": details})
            current_request.reset(token)
