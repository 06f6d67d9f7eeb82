"""Which function answers which request, and who may send it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import msgspec
from starlette.responses import Response

from askance.live.auth import EVERYBODY, User
from askance.live.body import is_lines, parse, parse_lines
from askance.live.problems import Problem

if TYPE_CHECKING:
    from askance.live.service import Service

Handler = Callable[["Service", "Request"], Awaitable[Response]]


@dataclass(frozen=True)
class Route:
    """A verb and a path; ``scope`` None: for everybody."""

    method: str
    path: str
    scope: str | None
    handler: Handler
    summary: str
    is_page: bool = False
    is_stream: bool = False


ROUTES: list[Route] = []


def route(method: str, path: str, scope: str | None, **more: Any) -> Callable[[Handler], Handler]:
    """Say which request a function answers; the first line of its docstring is the summary."""

    def register(handler: Handler) -> Handler:
        summary = (handler.__doc__ or "").strip().splitlines()[0]
        ROUTES.append(Route(method, path, scope, handler, summary, **more))
        return handler

    return register


class Request:
    """A request whose body has arrived."""

    __slots__ = ("body", "depth", "headers", "parameters", "query_string", "scope", "user")

    def __init__(self, scope: Any, headers: dict[bytes, bytes], parameters: dict[str, str], user: User | None) -> None:
        self.scope, self.headers, self.parameters = scope, headers, parameters
        self.user = user or EVERYBODY
        self.body = b""
        self.depth = 32
        self.query_string: bytes = scope.get("query_string", b"")

    def header(self, name: str) -> str:
        return self.headers.get(name.encode(), b"").decode("latin-1")

    def query(self) -> dict[str, str]:
        """The parameters after the question mark; of repeated ones, the last."""
        return dict(parse_qsl(self.query_string.decode("latin-1"), keep_blank_values=True)) if self.query_string else {}

    def whole_number(self, name: str, default: int, least: int, most: int) -> int:
        """A parameter after the question mark that is a whole number."""
        text = self.query().get(name)
        if text is None:
            return default
        if not re.fullmatch(r"[0-9]{1,9}", text) or not least <= int(text) <= most:
            raise Problem(
                "invalid", f"{name} must be a whole number from {least} to {most}, got {text[:40]!r}.", field=name
            )
        return int(text)

    def json(self) -> Any:
        """The body, parsed; an empty one is an empty object."""
        return parse(self.body, self.depth) if self.body.strip() else {}

    def documents(self, most: int) -> Any:
        """The body, one document or, whatever its content type, one a line; then a line that cannot be read is a
        problem."""
        if not self.body.strip():
            raise Problem(
                "invalid", "the body is empty; send a JSON object, an array of objects, or one object a line."
            )
        kind = self.header("content-type")
        if "ndjson" in kind or "jsonl" in kind:
            return parse_lines(self.body, self.depth, most)
        try:
            return self.json()
        except Problem:
            if not is_lines(self.body):
                raise
        return parse_lines(self.body, self.depth, most)

    def object(self, *known: str) -> dict[str, Any]:
        """The body, an object with no other names than these."""
        value = self.json()
        if not isinstance(value, dict):
            raise Problem("invalid", "the body must be a JSON object.")
        for name in value:
            if name not in known:
                raise Problem(
                    "invalid", f"there is no {name!r} here; known are: {', '.join(known) or 'none'}.", field=name
                )
        return value


def _part(found: re.Match[str]) -> str:
    """What stands for a name in a path: ids may have slashes in them."""
    return f"(?P<{found[1]}>{'.+' if found[1] in ('event', 'answer') else '[^/]+'})"


class Router:
    """Finds the route of a request."""

    def __init__(self, routes: list[Route]) -> None:
        self._plain: dict[str, dict[str, Route]] = {}
        self._patterns: list[tuple[re.Pattern[str], dict[str, Route]]] = []
        for item in routes:
            if "{" in item.path:
                pattern = re.compile(re.sub(r"\{(\w+)\}", _part, item.path.replace(".", r"\.")))
                methods = next((table for known, table in self._patterns if known.pattern == pattern.pattern), None)
                if methods is None:
                    methods = {}
                    self._patterns.append((pattern, methods))
                methods[item.method] = item
            else:
                self._plain.setdefault(item.path, {})[item.method] = item

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """The route of a request and what its path says."""
        methods, parameters = self._plain.get(path), {}
        if methods is None:
            for pattern, table in self._patterns:
                if found := pattern.fullmatch(path):
                    methods, parameters = table, found.groupdict()
                    break
        if methods is None:
            raise Problem("not_found", f"there is nothing at {path[:200]!r}; /openapi.json lists what there is.")
        chosen = methods.get(method) or (methods.get("GET") if method == "HEAD" else None)
        if chosen is None:
            allowed = ", ".join(sorted(methods))
            raise Problem("method_not_allowed", f"{path[:200]!r} takes {allowed}.", headers={"Allow": allowed})
        return chosen, parameters


_encoder = msgspec.json.Encoder()


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON response."""
    return Response(_encoder.encode(value), status, headers, media_type="application/json")


def problem_response(problem: Problem) -> Response:
    """An error."""
    return Response(
        _encoder.encode(problem.document()), problem.status, problem.headers, media_type="application/problem+json"
    )
