"""Everything out, and in again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import msgspec
from starlette.responses import Response, StreamingResponse

from askance.live.auth import note
from askance.live.body import parse_lines
from askance.live.export import as_csv, as_objects, field_names, rows
from askance.live.importing import as_item, import_items, is_table, read_table
from askance.live.problems import Problem
from askance.live.routing import Request, json_response, route
from askance.live.service import Service
from askance.live.store.database import Session

MOST_LINES = 100_000


def _after(page: list[Any]) -> int:
    return int(page[-1][0])


@route("GET", "/v1/export.jsonl", "read", is_stream=True)
async def export_jsonl(service: Service, request: Request) -> Response:
    """Every event with its prediction and label, one JSON object a line."""
    classes = service.engine.state.classes

    async def lines() -> AsyncIterator[bytes]:
        after = 0
        while True:
            page, answers = await service.read(partial(rows, after=after))
            if not page:
                return
            yield b"".join(msgspec.json.encode(item) + b"\n" for item in as_objects(page, answers, classes))
            after = _after(page)

    headers = {"Content-Disposition": 'attachment; filename="askance.jsonl"'}
    return StreamingResponse(lines(), headers=headers, media_type="application/x-ndjson")


@route("GET", "/v1/export.csv", "read", is_stream=True)
async def export_csv(service: Service, request: Request) -> Response:
    """Every event with its prediction and label, one line each, for spreadsheets."""
    classes = service.engine.state.classes

    async def lines() -> AsyncIterator[bytes]:
        names = await service.read(field_names)
        after, head = 0, True
        while True:
            page, answers = await service.read(partial(rows, after=after))
            if not page and not head:
                return
            yield as_csv(page, answers, classes, names, head).encode()
            if not page:
                return
            after, head = _after(page), False

    headers = {"Content-Disposition": 'attachment; filename="askance.csv"'}
    return StreamingResponse(lines(), headers=headers, media_type="text/csv; charset=utf-8")


def _as_items(values: list[Any]) -> list[Any]:
    return [value if isinstance(value, Problem) else as_item(value) for value in values]


@route("POST", "/v1/import", "admin")
async def import_lines(service: Service, request: Request) -> Response:
    """Take in what an export wrote, lines of {"fields", "label"?, "id"?, "time"?}, CSV, or tasks of Label Studio."""
    actor = request.user.name
    loop = asyncio.get_running_loop()
    if is_table(request.body, request.header("content-type")):
        items = await loop.run_in_executor(None, read_table, request.body, request.depth, MOST_LINES)
    elif request.body.lstrip().startswith(b"["):
        items = _as_items(request.json())
    else:
        items = _as_items(parse_lines(request.body, request.depth, MOST_LINES))

    def noted(session: Session, now: float, done: dict[str, Any]) -> None:
        note(session, now, actor, "import", {name: count for name, count in done.items() if name != "problems"})

    done = await loop.run_in_executor(None, import_items, service.engine, items, actor)
    await service.engine.do(lambda session, state: noted(session, state.clock.now(), done))
    return json_response(done)
