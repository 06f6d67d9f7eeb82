"""The interface as an OpenAPI 3.1 document, and as a page, made from the routes themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, get_args, get_origin

import msgspec

import askance
from askance_live import routes
from askance_live.config import ServerSettings
from askance_live.http.routing import ROUTES, Items, Route
from askance_live.http.schemas import Schema, describe, in_words, schema_of
from askance_live.problems import CODES, ProblemDocument

JSON, LINES = "application/json", "application/x-ndjson"
TEXT: Schema = {"type": "string"}


class Shapes:
    """The JSON Schemas of types; those that have a name are kept, and referred to by it."""

    def __init__(self) -> None:
        self.named: dict[str, Schema] = {}

    def of(self, *kinds: Any) -> Schema:
        """Of one type, or of any of several."""
        schemas, named = describe(kinds)
        self.named |= named
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def documented_routes() -> list[Route]:
    """The routes that are no pages, in the order of their paths."""
    return sorted((route for route in ROUTES if not route.is_page), key=lambda route: (route.path, route.method))


@cache
def document() -> dict[str, Any]:
    """The whole of it."""
    paths: dict[str, dict[str, Any]] = {}
    shapes = Shapes()
    for route in documented_routes():
        paths.setdefault(route.path, {})[route.method.lower()] = operation(route, shapes)
    shapes.named["ProblemDocument"]["additionalProperties"] = True
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "askance",
            "version": askance.__version__,
            "description": "Events in, predictions out, questions for people, answers that teach the model once. "
            f"Errors are problem documents with a stable code: {', '.join(sorted(CODES))}.",
        },
        "paths": paths,
        "components": {
            "schemas": shapes.named,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "askance_session"},
            },
        },
    }


def body_of(route: Route) -> Any:
    """The type of the body, or of the items in it; None where there is none, or one that is not JSON alone."""
    kind = get_args(route.body)[0] if get_origin(route.body) is Items else route.body
    return None if kind is bytes else kind


def operation(route: Route, shapes: Shapes) -> dict[str, Any]:
    """One verb of one path."""
    found: dict[str, Any] = {
        "operationId": route.handler.__name__,
        "summary": route.summary,
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": schema_of(kind)}
            for name, kind in route.parts.items()
        ]
        + [
            {"name": field.name, "in": "query", "required": False, "schema": schema_of(field.type)}
            for field in (msgspec.structs.fields(route.query) if route.query else ())
        ],
        "responses": responses(route, shapes),
    }
    if route.scope is not None:
        scope = [] if route.scope == "any" else [route.scope]
        found["description"] = f"Scope: {route.scope}."
        found["security"] = [{"token": scope}, {"session": scope}]
    if content := _body_content(route, shapes):
        found["requestBody"] = {"required": True, "content": content}
    return found


def _body_content(route: Route, shapes: Shapes) -> dict[str, Any]:
    """What a body may be, by content type."""
    if route.body is bytes:
        objects = {"type": "array", "items": {"type": "object"}}
        return {JSON: {"schema": objects}, LINES: {"schema": TEXT}, "text/csv": {"schema": TEXT}}
    if (kind := body_of(route)) is None:
        return {}
    one = shapes.of(kind)
    if get_origin(route.body) is not Items:
        return {JSON: {"schema": one}}
    several = {"type": "array", "items": one, "maxItems": ServerSettings.batch_events}
    return {JSON: {"schema": {"anyOf": [one, several]}}, LINES: {"schema": TEXT}}


def responses(route: Route, shapes: Shapes) -> dict[str, Any]:
    """What may come back."""
    schema = shapes.of(*route.returns) if route.media == JSON else TEXT
    found: dict[str, Any] = {"200": {"description": "Done.", "content": {route.media: {"schema": schema}}}}
    for status, (text, kind) in route.responses.items():
        content = {} if kind is None else {"content": {JSON: {"schema": shapes.of(kind)}}}
        found[str(status)] = {"description": text, **content}
    problem = {"application/problem+json": {"schema": shapes.of(ProblemDocument)}}
    found["default"] = {"description": "A problem; its code is stable.", "content": problem}
    return found


def as_markdown() -> str:
    """The interface as a page for people: docs/http.md is this, word for word."""
    lines = [
        "# HTTP interface of the live service",
        "",
        "Made from the routes themselves, as is `/openapi.json`, which has every shape in full (OpenAPI 3.1). Bodies "
        "are JSON; `Content-Encoding: gzip` is understood. Many events or labels at once are an array, or one object "
        "a line (`application/x-ndjson`, which is recognised without being said too): each has an outcome of its own. "
        "An id with a slash is written `%2F` in a path. A token goes into `Authorization: Bearer ...`; the scope "
        "`admin` includes the others. Among several streams every path stands behind `/name`. How it all plays "
        "together: [the live service](live.md).",
        "",
        "| request | scope | what it does |",
        "| --- | --- | --- |",
    ]
    lines += [
        f"| {route.method} `{route.path}` | {route.scope or '-'} | {route.summary.replace('|', '/')} |"
        for route in documented_routes()
    ]
    for route in documented_routes():
        body = body_of(route)
        if route.query is None and body is None:
            continue
        lines += ["", f"## {route.method} `{route.path}`", "", route.summary, ""]
        if route.query is not None:
            lines += _fields(route.query, "?", "=")
        if body is not None:
            lines += [*_fields(body), "", f"For instance `{body.example}`."]
    lines += [
        "",
        *ownership_chapter(),
        "",
        "## Errors",
        "",
        "`application/problem+json` with `type`, `title`, `status`, `code`, `detail`, `request` and sometimes `field`. "
        "`detail` is a sentence for people; programs go by `code`. After 429, 503 and 507 the same request may be sent "
        "again, later: `Retry-After` says when, and whatever carries an id counts once.",
        "",
        "| code | status |",
        "| --- | --- |",
        *(f"| `{code}` | {status} |" for code, status in CODES.items()),
        "",
    ]
    return "\n".join(lines)


def _fields(kind: Any, before: str = "", after: str = "") -> Iterator[str]:
    """The fields of a declared type: what each may be, and what it means."""
    for field in msgspec.structs.fields(kind):
        schema = schema_of(field.type)
        default = f"{field.default} where it is" if field.default.__class__ is int else "may be"
        need = "" if field.required else f"; {default} left out"
        text = f": {schema['description']}" if "description" in schema else ""
        yield f"- `{before}{field.name}{after}` ({in_words(schema)}{need}){text}"


# --- whose question, whose answer ----------------------------------------------------------------------

QUESTIONS = [
    ("question 17 is", "Ana's token", "answer", "skip", "renew", "release"),
    (
        "in Ana's hands",
        "of this delivery, or an earlier one",
        "trains",
        "counts",
        "holds on to it (earlier: 409 `stale_token`)",
        "gives it back (earlier: `stale`)",
    ),
    (
        "in nobody's hands, and Ana had it last",
        "of her lease that ran out",
        "trains",
        "counts",
        "hers again",
        "`stale`",
    ),
    ("in nobody's hands, or parked", "any other", "trains", "counts", "409 `stale_token`", "`stale`"),
    (
        "in Ben's hands",
        "of a delivery before his: it passed on to him",
        "`extra`",
        "*unsure* and *later* count for her, *bad data* is `extra`; he keeps it",
        "409 `stale_token`",
        "`stale`",
    ),
    ("in Ben's hands", "any other", "409 `leased`", "409 `leased`", "409 `stale_token`", "409 `leased`"),
    ("answered, closed or expired", "any", "`extra`", "`extra`", "409 `stale_token`", "`stale`"),
]
ANSWERS_OF_OTHERS = [
    ("to take back or replace", "one's own", "somebody else's"),
    (
        "an answer: `undo`",
        "one of one's last 50; the question comes back to oneself",
        "`review`, any; the question goes back into the queue",
    ),
    ("an answer: `supersedes`", "yes", "`review`, else 403"),
    ('a label: `"replace": true`, whether it came from `/v1/labels` or was an answer', "yes", "`review`, else 403"),
    ('*bad data*: `undo`, or a label with `"replace": true`', "yes", "`review`, else 403"),
]


def _ownership_table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    head, *rest = (f"| {' | '.join(row)} |" for row in rows)
    return [head, "|" + " --- |" * len(rows[0]), *rest]


def ownership_chapter() -> list[str]:
    """The lines of the chapter."""
    return [
        "## Whose question, whose word",
        "",
        "A question is in somebody's hands from `next` until they answer, skip or give it back, or until their lease "
        "runs out. The token says which delivery a request is about: `17.2` is the second of question 17. What comes "
        "of a request of Ana's:",
        "",
        *_ownership_table(QUESTIONS),
        "",
        "The scope `review` changes nothing here. A label (`/v1/labels`) is about the event, not the question: the "
        "first counts, whoever has the question then, and their answer is kept as `extra`.",
        "",
        *_ownership_table(ANSWERS_OF_OTHERS),
        "",
        "Both kinds, a question closed as bad data, and a label for a question in somebody else's hands are in "
        "`/v1/audit`, with who, what was said `before`, and what holds `after`. A plain answer, label or skip changes "
        "nobody's word: `/v1/answers?mine=0` and exports have those, with names.",
    ]


if __name__ == "__main__":  # python -m askance_live.http.openapi > docs/http.md
    routes.load()
    print(as_markdown(), end="")
