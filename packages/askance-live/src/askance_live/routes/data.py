"""Everything out, and in again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, TypedDict

import msgspec
from starlette.responses import Response

from askance_live.engine.quarantine import as_lines, read_page
from askance_live.exchange.event_filter import ALL, EventFilter
from askance_live.exchange.export import PAGE
from askance_live.exchange.export_formats import FORMATS, write_page
from askance_live.exchange.importing import import_items, read_body
from askance_live.http.body import BodyLimits
from askance_live.http.routing import PlacedStream, Request, route
from askance_live.service import Service
from askance_live.store.database import Session

MOST_LINES = 100_000
Task = dict[str, Any]
Imported = TypedDict("Imported", {
    "events": int, "duplicates": int, "labels": int, "quarantined": int, "errors": int,
    "problems": list[dict[str, Any]],
})  # fmt: skip


def _quarantine_lines(session: Session, after: int) -> tuple[bytes, str | None]:
    """A page of the events in quarantine, and where the next one begins; None after the last."""
    page = read_page(session, after, PAGE)
    return b"".join(msgspec.json.encode(item) + b"\n" for item in as_lines(page)), page.next


async def _export(service: Service, request: Request, name: str, query: EventFilter) -> Response:
    """The events that a filter lets through, in one of the formats."""
    state, kind = service.engine.state, FORMATS[name]
    which = query.condition(state)
    await service.refresh_classes()
    writer = await service.read_page(lambda session: kind.writer(session, state.labels))

    async def parts() -> AsyncIterator[bytes]:
        yield writer.begin()
        found, after = (b"", 0), 0
        while found := await service.read_page(partial(write_page, writer=writer, after=after, which=which)):
            content, after = found
            yield content
        cursor: str | None = "0" if kind.has_quarantine and which == ALL else None
        while cursor is not None:
            content, cursor = await service.read_page(partial(_quarantine_lines, after=int(cursor)))
            yield content
        for content in writer.end():
            yield content

    headers = {"Content-Disposition": f'attachment; filename="askance{kind.ending}"'}
    return PlacedStream(service.exports, request.sender, parts(), headers=headers, media_type=kind.media)


@route("GET", "/v1/export.jsonl", "read", media="application/x-ndjson", stateless=True)
async def export_jsonl(service: Service, request: Request, query: EventFilter) -> Response:
    """Events with their predictions and labels, one JSON object a line; those in quarantine, which have none, last."""
    return await _export(service, request, "jsonl", query)


@route("GET", "/v1/export.csv", "read", media="text/csv", stateless=True)
async def export_csv(service: Service, request: Request, query: EventFilter) -> Response:
    """Events with their predictions and labels, one line each, for spreadsheets."""
    return await _export(service, request, "csv", query)


@route("GET", "/v1/export.parquet", "read", media="application/vnd.apache.parquet", stateless=True)
async def export_parquet(service: Service, request: Request, query: EventFilter) -> Response:
    """Events with their predictions and labels as a Parquet table, the fields as JSON; needs pyarrow."""
    return await _export(service, request, "parquet", query)


@route("GET", "/v1/export.label-studio.json", "read", stateless=True)
async def export_label_studio(service: Service, request: Request, query: EventFilter) -> list[Task] | Response:
    """Events as tasks of Label Studio, with annotations and predictions."""
    return await _export(service, request, "label-studio", query)


@route("GET", "/v1/export.prodigy.jsonl", "read", media="application/x-ndjson", stateless=True)
async def export_prodigy(service: Service, request: Request, query: EventFilter) -> Response:
    """Events as tasks of Prodigy with options, answered where they have a label."""
    return await _export(service, request, "prodigy", query)


@route("POST", "/v1/import", "admin", body_bytes=None)
async def import_lines(service: Service, request: Request, body: bytes) -> Imported:
    """Take in what an export wrote, lines of {"fields", "label"?, "id"?, "time"?}, CSV, Label Studio's or Prodigy's."""
    actor = request.user.name
    limits = BodyLimits(request.limits.depth, MOST_LINES, service.config.server.event_bytes)

    def take_in() -> Any:
        items = read_body(body, request.header("content-type"), limits)
        return import_items(service.engine, items, actor, actor)

    return await asyncio.get_running_loop().run_in_executor(None, take_in)
