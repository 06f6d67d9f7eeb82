"""Everything out, and in again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, TypedDict

import msgspec
from starlette.responses import Response

from askance.live.body import BodyLimits
from askance.live.export import PAGE, as_csv, as_objects, field_names, rows
from askance.live.importing import import_items, read_body
from askance.live.quarantine import as_lines, read_page
from askance.live.routing import PlacedStream, Request, route
from askance.live.service import Service
from askance.live.store.database import Session

MOST_LINES = 100_000
Imported = TypedDict("Imported", {
    "events": int, "duplicates": int, "labels": int, "quarantined": int, "errors": int,
    "problems": list[dict[str, Any]],
})  # fmt: skip


def _json_lines(session: Session, after: int, classes: list[str]) -> tuple[bytes, int]:
    """A page of an export, and the number of its last event."""
    page, answers = rows(session, after)
    lines = [msgspec.json.encode(item) + b"\n" for item in as_objects(page, answers, classes)]
    return b"".join(lines), page[-1][0] if page else after


def _quarantine_lines(session: Session, after: int) -> tuple[bytes, str | None]:
    """A page of the events in quarantine, and where the next one begins; None after the last."""
    page = read_page(session, after, PAGE)
    return b"".join(msgspec.json.encode(item) + b"\n" for item in as_lines(page)), page.next


def _table(session: Session, after: int, classes: list[str], names: list[str], head: bool) -> tuple[bytes, int]:
    """The same as lines of CSV."""
    page, answers = rows(session, after)
    return as_csv(page, answers, classes, names, head).encode(), page[-1][0] if page else after


@route("GET", "/v1/export.jsonl", "read", media="application/x-ndjson")
async def export_jsonl(service: Service, request: Request) -> Response:
    """Every event with its prediction and label, one JSON object a line; those in quarantine, which have none, last."""
    classes = service.engine.state.classes

    async def lines() -> AsyncIterator[bytes]:
        after = 0
        while True:
            content, after = await service.read_page(partial(_json_lines, after=after, classes=classes))
            if not content:
                break
            yield content
        cursor: str | None = "0"
        while cursor is not None:
            content, cursor = await service.read_page(partial(_quarantine_lines, after=int(cursor)))
            yield content

    headers = {"Content-Disposition": 'attachment; filename="askance.jsonl"'}
    media = "application/x-ndjson"
    return PlacedStream(service.exports, request.sender, lines(), headers=headers, media_type=media)


@route("GET", "/v1/export.csv", "read", media="text/csv")
async def export_csv(service: Service, request: Request) -> Response:
    """Every event with its prediction and label, one line each, for spreadsheets."""
    classes = service.engine.state.classes

    async def lines() -> AsyncIterator[bytes]:
        names = await service.read_page(field_names)
        after, head = 0, True
        while True:
            look = partial(_table, after=after, classes=classes, names=names, head=head)
            content, after = await service.read_page(look)
            if not content:
                return
            yield content
            head = False

    headers = {"Content-Disposition": 'attachment; filename="askance.csv"'}
    media = "text/csv; charset=utf-8"
    return PlacedStream(service.exports, request.sender, lines(), headers=headers, media_type=media)


@route("POST", "/v1/import", "admin", body_bytes=None)
async def import_lines(service: Service, request: Request, body: bytes) -> Imported:
    """Take in what an export wrote, lines of {"fields", "label"?, "id"?, "time"?}, CSV, or tasks of Label Studio."""
    actor = request.user.name
    limits = BodyLimits(request.limits.depth, MOST_LINES, service.config.server.event_bytes)

    def take_in() -> Any:
        items = read_body(body, request.header("content-type"), limits)
        return import_items(service.engine, items, actor, actor)

    return await asyncio.get_running_loop().run_in_executor(None, take_in)
