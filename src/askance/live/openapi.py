"""The interface as an OpenAPI 3.1 document, made from the routes themselves."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import askance
from askance.live.problems import CODES
from askance.live.routing import ROUTES, Route
from askance.live.schemas import SCHEMAS, TEXT, array, ref

# What each route takes and gives: (body, response, further responses)
BODIES: dict[str, Any] = {
    "ingest": {"anyOf": [ref("Event"), array(ref("Event"), maxItems=1000)]},
    "predict": ref("Event"),
    "labels": {"anyOf": [ref("Label"), array(ref("Label"), maxItems=1000)]},
    "answer": ref("GiveAnswer"),
    "skip": ref("Skip"),
    "renew": ref("Lease"),
    "release": ref("Lease"),
    "import_lines": array({"type": "object"}),
}
RESPONSES: dict[str, Any] = {
    "ingest": {"anyOf": [ref("Predicted"), ref("Batch")]},
    "predict": ref("Prediction"),
    "show": ref("EventDetails"),
    "labels": {"anyOf": [ref("Labeled"), {"type": "object", "required": ["items", "errors"]}]},
    "next_asks": ref("Asks"),
    "answer": ref("Answered"),
    "skip": ref("Skipped"),
    "renew": ref("Leased"),
    "release": ref("Released"),
    "undo": ref("Undone"),
    "history": ref("Answers"),
    "me": ref("Me"),
    "import_lines": ref("Imported"),
    "audit": ref("AuditLog"),
    "pause": ref("ModelState"),
    "resume": ref("ModelState"),
    "rebuild_model": ref("ModelState"),
}
MEDIA = {
    "metrics": "text/plain",
    "live": "text/event-stream",
    "export_jsonl": "application/x-ndjson",
    "export_csv": "text/csv",
}


def _query(name: str, schema: dict[str, Any], text: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": text}


def _number(least: int, most: int, default: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, "default": default}


QUERIES: dict[str, list[dict[str, Any]]] = {
    "next_asks": [
        _query("n", _number(1, 10, 1), "How many."),
        _query("exclude", TEXT, "Numbers of asks, with commas between, that the client holds already."),
    ],
    "history": [
        _query("mine", {"enum": ["0", "1"]}, "1: one's own; 0: everybody's (scope admin)."),
        _query("limit", _number(1, 200, 50), "How many."),
        _query("cursor", {"type": "string", "pattern": "^[0-9]{1,15}$"}, "The 'next' of the page before."),
    ],
    "stats_series": [
        _query("minutes", _number(1, 525_600, 180), "How far back."),
        _query("points", _number(2, 1000, 180), "Into how many points, at most."),
    ],
    "audit": [_query("limit", _number(1, 1000, 200), "How many.")],
}
PATHS: dict[str, dict[str, Any]] = {
    "event": {"type": "string", "minLength": 1, "description": "The event's id."},
    "ask": {"type": "integer", "minimum": 0, "maximum": 10**15 - 1, "description": "The ask's number."},
    "answer": {"type": "string", "minLength": 1, "description": "The answer's id."},
}


@cache
def document() -> dict[str, Any]:
    """The whole of it."""
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        if not route.is_page:
            paths.setdefault(route.path, {})[route.method.lower()] = operation(route)
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
            "schemas": SCHEMAS,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "askance_session"},
            },
        },
    }


def operation(route: Route) -> dict[str, Any]:
    """One verb of one path."""
    name = route.handler.__name__
    found: dict[str, Any] = {
        "operationId": name,
        "summary": route.summary,
        "parameters": [
            {"name": part, "in": "path", "required": True, "schema": PATHS[part]}
            for part in re.findall(r"\{(\w+)\}", route.path)
        ]
        + QUERIES.get(name, []),
        "responses": responses(name),
    }
    if route.scope is not None:
        scope = [] if route.scope == "any" else [route.scope]
        found["description"] = f"Scope: {route.scope}."
        found["security"] = [{"token": scope}, {"session": scope}]
    if name in BODIES:
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": BODIES[name]}}}
    if name in ("ingest", "labels"):
        found["requestBody"]["content"]["application/x-ndjson"] = {"schema": TEXT}
    return found


def responses(name: str) -> dict[str, Any]:
    """What may come back."""
    schema = RESPONSES.get(name, ref("Numbers"))
    media = MEDIA.get(name, "application/json")
    content = {media: {"schema": TEXT if name in MEDIA else schema}}
    found: dict[str, Any] = {"200": {"description": "Done.", "content": content}}
    if name == "ingest":
        found["201"] = {"description": "A new event.", "content": content}
    if name == "next_asks":
        found["204"] = {"description": "No question now; X-Askance-Reason and X-Askance-Detail say why."}
    if name == "readyz":
        found["503"] = {"description": "Not ready; the reasons are in the body.", "content": content}
    problem = {"application/problem+json": {"schema": ref("Problem")}}
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
        for route in ROUTES
        if not route.is_page
    ]
    for route in ROUTES:
        name = route.handler.__name__
        if route.is_page or not (name in BODIES or name in QUERIES):
            continue
        lines += ["", f"## {route.method} `{route.path}`", "", route.summary, ""]
        lines += [
            f"- `?{query['name']}=` {_limits(query['schema'])}: {query['description']}"
            for query in QUERIES.get(name, [])
        ]
        for body in BODIES.get(name, {}).get("anyOf", [BODIES[name]] if name in BODIES else [])[:1]:
            schema = SCHEMAS[body["$ref"].rsplit("/", 1)[1]] if "$ref" in body else {"properties": {}}
            for field, shape in schema["properties"].items():
                need = "" if field in schema.get("required", []) else ", may be left out"
                text = f": {shape['description']}" if "description" in shape else ""
                lines.append(f"- `{field}` ({_limits(shape)}{need}){text}")
    lines += [
        "",
        "## Errors",
        "",
        "`application/problem+json` with `type`, `title`, `status`, `code`, `detail` and sometimes `field`. `detail` "
        "is a sentence for people; programs go by `code`. After 429, 503 and 507 the same request may be sent again, "
        "later: `Retry-After` says when, and whatever carries an id counts once.",
        "",
        "| code | status |",
        "| --- | --- |",
        *(f"| `{code}` | {status} |" for code, status in CODES.items()),
        "",
    ]
    return "\n".join(lines)


def _limits(schema: dict[str, Any]) -> str:
    """A schema in a few words."""
    if "enum" in schema:
        return ", ".join(str(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_limits(part) for part in schema["anyOf"]))
    kind = schema.get("type", "any")
    words = " or ".join(kind) if isinstance(kind, list) else kind
    if "maximum" in schema:
        words += f" from {schema['minimum']} to {schema['maximum']}"
    return words
