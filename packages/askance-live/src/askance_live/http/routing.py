"""Which function answers which request, who may send it, and what its parameters are."""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import UnionType
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl

import msgspec
from starlette.responses import Response, StreamingResponse

from askance_live.access.auth import EVERYBODY, User
from askance_live.http.body import SHORT_BYTES, SMALL, BodyLimits, parse_documents, parse_lines, parse_within, too_many
from askance_live.http.request_limits import Slots
from askance_live.http.schemas import Name, NoBody, read, read_part, such_as
from askance_live.logs import current_request
from askance_live.problems import Problem, result_or_problem

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Any]])
Item = TypeVar("Item")
ItemResult = dict[str, Any] | Problem

LOGIN_BYTES = 4_096
LONGEST_QUERY = 8_192
FEW_LINES = 50
FEW_ITEMS = 16
_PART = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Route:
    """A verb and a path; ``scope`` None: for everybody."""

    method: str
    path: str
    scope: str | None
    handler: Callable[..., Awaitable[Any]]
    summary: str
    parts: dict[str, Any]
    """The types of what stands for the names in the path."""
    query: Any
    body: Any
    returns: list[Any]
    """The types of its response."""
    responses: Mapping[int, tuple[str, Any]] = field(default_factory=dict)
    """The responses with other statuses than 200: a description, and the type or None."""
    media: str = "application/json"
    is_page: bool = False
    body_bytes: int | None = SHORT_BYTES
    """What a body may have; None: ``server.body_bytes``."""
    stateless: bool = False
    """Whether any process can answer it, without the model; the owner of the model answers others."""
    is_repeatable: bool = False
    """Whether a POST may be done twice without harm, as one whose ids make it count once."""


ROUTES: list[Route] = []


def route(method: str, path: str, scope: str | None, **more: Any) -> Callable[[Handler], Handler]:
    """Say which request a function answers; the first paragraph of its docstring is the summary.

    It is called with the service, the request, and what it has parameters for, read and checked as their types say:
    each name in the path, ``query`` (a ``QueryString``), and ``body`` (a ``RequestBody``, ``Items`` of one, or bytes).
    Without the last, the body must be empty. What it gives is sent as JSON, unless it is a ``Response``. All of this is
    described in /openapi.json and docs/http.md. ``more`` are fields of ``Route``.
    """

    def register(handler: Handler) -> Handler:
        summary = " ".join(inspect.cleandoc(handler.__doc__ or "").split("\n\n")[0].split())
        hints = get_type_hints(handler, include_extras=True)
        parts = {name: hints[name] for name in _PART.findall(path)}
        query, body, given = hints.get("query"), hints.get("body"), hints["return"]
        returns = [
            kind for kind in (get_args(given) if get_origin(given) is UnionType else (given,)) if kind != Response
        ]
        ROUTES.append(Route(method, path, scope, handler, summary, parts, query, body, returns, **more))
        return handler

    return register


class Request:
    """A request whose body has arrived."""

    __slots__ = ("body", "headers", "limits", "parts", "scope", "sender", "user")

    def __init__(
        self, scope: Any, headers: dict[bytes, bytes], parts: dict[str, str], user: User | None, limits: BodyLimits
    ) -> None:
        self.scope, self.headers, self.parts, self.limits = scope, headers, parts, limits
        self.user = user or EVERYBODY
        self.sender = ""
        """Whom it counts for where senders share something."""
        self.body = b""

    @property
    def is_small(self) -> bool:
        """Whether the body is read and checked in a millisecond or so, whatever it says."""
        return len(self.body) <= SMALL and self.body.count(b"\n") <= FEW_LINES

    @property
    def is_post(self) -> bool:
        return bool(self.scope["method"] == "POST")

    def header(self, name: str) -> str:
        return self.headers.get(name.encode(), b"").decode("latin-1")

    def query(self) -> dict[str, str]:
        """The parameters after the question mark; of repeated ones, the last."""
        text: bytes = self.scope.get("query_string", b"")
        if len(text) > LONGEST_QUERY:
            raise Problem("invalid", f"what follows the question mark may have {LONGEST_QUERY:,} bytes at most.")
        return dict(parse_qsl(text.decode("latin-1"), keep_blank_values=True))

    def arguments(self, chosen: Route) -> dict[str, Any]:
        """What the request says, by the names of the parameters of the function that answers it."""
        found = {name: read_part(name, kind, self.parts[name]) for name, kind in chosen.parts.items()}
        if chosen.query is not None:
            found["query"] = read(chosen.query, self.query(), strict=False)
        if chosen.body is not None:
            found["body"] = self._read_body(chosen.body)
        elif not chosen.is_page and not self._is_empty:
            read(NoBody, parse_within(self.body, self.limits))
        return found

    def _read_body(self, kind: Any) -> Any:
        if kind is bytes:
            return self.body
        item = get_args(kind)[0] if get_origin(kind) is Items else None
        if self._is_empty and not (item and self.has_lines):
            more = ", an array of such, or one a line" if item else ""
            raise Problem("invalid", f"the body is empty; send {such_as(item or kind)}{more}.")
        return Items(item, self) if item else read(kind, parse_within(self.body, self.limits))

    @property
    def has_lines(self) -> bool:
        """Whether the body is said to be items one a line, of which there may be none, as in an empty array."""
        return any(word in self.header("content-type") for word in ("ndjson", "jsonl"))

    @property
    def _is_empty(self) -> bool:
        return not self.body or self.body.isspace()


class Items(Generic[Item]):
    """The body of a request that is one item or several, in an array or, whatever its content type, one a line.

    There are as many ``items`` as were given, each as it is read or the problem with it. Nothing else of what was given
    is kept but the ``names`` of the items, where they have one.
    """

    def __init__(self, kind: type[Item], request: Request) -> None:
        documents = (parse_lines if request.has_lines else parse_documents)(request.body, request.limits)
        self.is_single = isinstance(documents, dict)
        given: list[Any] = [documents] if self.is_single else documents
        if not isinstance(given, list):
            raise Problem("invalid", f"the body must be {such_as(kind)}, an array of such, or one a line.")
        if len(given) > request.limits.most:
            raise too_many(request.limits.most)
        self.identifier: str = kind.identifier  # type: ignore[attr-defined]
        self.items: list[Item | Problem] = []
        self.names: list[str | None] = []
        for place, item in enumerate(given):
            found = result_or_problem(partial(read, kind), item)
            self.items.append(found)
            self.names.append(_name(item if isinstance(found, Problem) else found, self.identifier))
            given[place] = None  # millions of values, freed in one go at the end, would hold up all threads

    def only(self, outcomes: list[ItemResult]) -> Any:
        """What came of the one item, unless it is a problem."""
        if isinstance(outcomes[0], Problem):
            raise outcomes[0]
        return outcomes[0]

    def report(self, outcomes: list[ItemResult], status: Callable[[Any], int]) -> list[dict[str, Any]]:
        """What came of each item, beside its status; of a problem, with the item's name."""
        return [
            {"status": outcome.status, self.identifier: name, "code": outcome.code, "detail": outcome.detail}
            if isinstance(outcome, Problem)
            else {"status": status(outcome), **outcome}
            for name, outcome in zip(self.names, outcomes, strict=True)
        ]


def _name(item: Any, identifier: str) -> str | None:
    """What an item is called, if that can be the name of something: nobody gets back whatever else stood there."""
    if isinstance(item, msgspec.Struct):
        found = getattr(item, identifier)
        return found.value if isinstance(found, Name) else found
    try:
        return Name.check(item.get(identifier)) if isinstance(item, dict) else None
    except ValueError:
        return None


async def process_in_chunks(
    parts: Iterable[list[Any]], do: Callable[[list[Any]], Awaitable[list[ItemResult]]]
) -> list[ItemResult]:
    """An outcome of each item, done part by part, so that others have their turn."""
    outcomes: list[ItemResult] = []
    for part in parts:
        try:
            outcomes += await do(part)
        except Problem as problem:
            if not outcomes:
                raise
            outcomes += [problem.alone()] * len(part)  # those before are stored
    return outcomes


def _part(found: re.Match[str]) -> str:
    """What stands for a name in a path: ids and files may have slashes in them."""
    return f"(?P<{found[1]}>{'.+' if found[1] in ('event', 'answer', 'file') else '[^/]+'})"


class Router:
    """Finds the route of a request."""

    def __init__(self, routes: list[Route]) -> None:
        self._plain: dict[str, dict[str, Route]] = {}
        self._patterns: dict[re.Pattern[str], dict[str, Route]] = {}
        for item in routes:
            if "{" in item.path:
                pattern = re.compile(_PART.sub(_part, item.path.replace(".", r"\.")))
                self._patterns.setdefault(pattern, {})[item.method] = item
            else:
                self._plain.setdefault(item.path, {})[item.method] = item

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """The route of a request and what its path says."""
        if "\0" in path:  # no name has one, and not every store takes the question
            raise Problem("not_found", f"there is nothing at {path[:200]!r}; no address has a NUL character.")
        methods, parameters = self._plain.get(path), {}
        if methods is None:
            for pattern, table in self._patterns.items():
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


def encode(value: Any) -> bytes:
    """JSON; what stands in long lists item by item, so that other threads have their turn in between."""
    if value.__class__ is not dict or not any(_is_long(part) for part in value.values()):
        return _encoder.encode(value)
    parts = [
        _encoder.encode(name)
        + b":"
        + (b"[" + b",".join(map(_encoder.encode, part)) + b"]" if _is_long(part) else _encoder.encode(part))
        for name, part in value.items()
    ]
    return b"{" + b",".join(parts) + b"}"


def _is_long(value: Any) -> bool:
    return value.__class__ is list and len(value) > FEW_ITEMS


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON response."""
    return encoded_response(encode(value), status, headers)


def encoded_response(content: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A response that is JSON already."""
    return Response(content, status, headers, media_type="application/json")


class PlacedStream(StreamingResponse):
    """A response that goes on for a while, and has a place among such responses until it is over or the client gone."""

    def __init__(self, slots: Slots, sender: str, content: AsyncIterator[bytes], **more: Any) -> None:
        slots.take(sender)
        self._slots, self._sender = slots, sender
        super().__init__(content, **more)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._slots.release(self._sender)


def problem_response(problem: Problem) -> Response:
    """An error, with the id of the request, under which the log has more."""
    content = _encoder.encode(problem.document(current_request.get()))
    return Response(content, problem.status, problem.headers, media_type="application/problem+json")
