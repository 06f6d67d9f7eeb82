"""The classes and the kinds of fields: what they are, and how they are changed while the service runs."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta, field
from starlette.responses import Response

from askance.data.encoding.kinds import KINDS
from askance_live.dashboard.stored_counts import DashboardCounts
from askance_live.engine.label_schema_changes import (
    LONGEST_LABEL,
    MOST_FIELDS,
    MOST_LABELS,
    Effects,
    LabelSchemaChange,
    apply_change,
    find_effects,
)
from askance_live.engine.rebuild import change_label_schema, check_expected
from askance_live.http.routing import Request, route
from askance_live.http.schemas import QueryString, RequestBody
from askance_live.problems import Problem
from askance_live.routes.pages import page
from askance_live.service import Service
from askance_live.store.database import Session

LONGEST_FIELD = 1_000
Word = Annotated[str, Meta(min_length=1, max_length=LONGEST_LABEL)]
FieldName = Annotated[str, Meta(min_length=1, max_length=LONGEST_FIELD)]
Kind = Annotated[
    Literal["number", "category", "text", "date", "ignore", "time"] | None,
    Meta(title=f"one of {', '.join(KINDS)}, or null for a guess"),
]
Words = Annotated[list[Word], Meta(max_length=MOST_LABELS)]

KnownClass = TypedDict("KnownClass", {"label": str, "name": str, "retired": bool, "added": bool, "answers": int})
KnownField = TypedDict("KnownField", {"field": str, "kind": str | None, "given": str | None})
Classes = TypedDict(
    "Classes", {"classes": list[KnownClass], "fields": list[KnownField], "more_fields": int, "scheme": int}
)
Changed = TypedDict("Changed", {
    "effects": list[str], "rebuilds": bool, "seconds": float, "done": bool, "scheme": int,
})  # fmt: skip


class ClassesQuery(QueryString):
    """How much of it."""

    fields: Annotated[int, Meta(ge=0, le=10_000, description="How many fields at most.")] = 1_000


class ClassesChange(RequestBody):
    """What is to be changed; at least one thing."""

    example = (
        '{"add": ["phishing"], "rename": {"spam": "Unwanted mail"}, "fields": {"zip": "category"}, "dry_run": true}'
    )

    add: Annotated[Words, Meta(description="New classes.")] = field(default_factory=list)
    rename: Annotated[
        Annotated[dict[Word, Word], Meta(max_length=MOST_LABELS)],
        Meta(description="Names that people see, by class; programs go on with the class as it is called."),
    ] = field(default_factory=dict)
    retire: Annotated[Words, Meta(description="Classes that are no longer offered nor predicted.")] = field(
        default_factory=list
    )
    restore: Annotated[Words, Meta(description="Retired classes that are offered again.")] = field(default_factory=list)
    fields: Annotated[
        Annotated[dict[FieldName, Kind], Meta(max_length=MOST_FIELDS)],
        Meta(description="Kinds by field; null: guessed from its values."),
    ] = field(default_factory=dict)
    dry_run: Annotated[bool, Meta(description="Only say what it would do.")] = False
    expected: Annotated[
        Annotated[int, Meta(ge=0, le=2**53)] | None,
        Meta(description="The 'scheme' that was looked at; refused if somebody has changed it since."),
    ] = None


@route("GET", "/v1/classes", "any")
async def classes(service: Service, request: Request, query: ClassesQuery) -> Classes:
    """The classes with the answers that each has, the retired ones among them; and the fields with their kinds."""
    state = service.engine.state
    label_schema, known = state.label_schema, dict(state.learner.features.kinds)
    counts = (await service.read(DashboardCounts)).per_place(state.labels.are_sets)
    fields: list[KnownField] = [
        {"field": name, "kind": known.get(name), "given": label_schema.fields.get(name)}
        for name in sorted({*known, *label_schema.fields})
    ]
    found: list[KnownClass] = [
        {
            "label": label, "name": label_schema.labels[place].shown, "retired": label_schema.labels[place].retired,
            "added": label_schema.labels[place].added, "answers": counts[place],
        }
        for label, place in ((label, state.place_of[label]) for label in state.shown)
    ]  # fmt: skip
    more = max(0, len(fields) - query.fields)
    return {"classes": found, "fields": fields[: query.fields], "more_fields": more, "scheme": label_schema.seq}


@route("POST", "/v1/classes", "admin", body_bytes=None)
async def change_classes(service: Service, request: Request, body: ClassesChange) -> Changed:
    """Add, rename, retire or restore classes, or give fields another kind; or only say what that does (dry_run).

    All but names makes the model anew from the log while the service goes on; the change holds once that is done."""
    change = LabelSchemaChange(tuple(body.add), body.rename, tuple(body.retire), tuple(body.restore), body.fields)
    if not change:
        raise Problem("invalid", "there is nothing to change; send 'add', 'rename', 'retire', 'restore' or 'fields'.")
    if service.rebuilding.locked():
        raise Problem("busy", "the model is being made anew already.", headers={"Retry-After": "10"})
    state = service.engine.state
    if body.dry_run:
        check_expected(state.label_schema, body.expected)
        after = apply_change(state.label_schema, change)

        def look(session: Session) -> Effects:
            return find_effects(session, state.config, state.label_schema, after)

        effects = await service.read_page(look)
    else:
        async with service.rebuilding:
            loop = asyncio.get_running_loop()
            work: Any = loop.run_in_executor(
                None, change_label_schema, service.engine, change, request.user.name, body.expected
            )
            effects = await work
    return {
        "effects": effects.sentences, "rebuilds": effects.rebuilds, "seconds": round(effects.seconds, 3),
        "done": not body.dry_run, "scheme": state.label_schema.seq,
    }  # fmt: skip


@route("GET", "/classes", "admin", is_page=True, stateless=True)
async def classes_page(service: Service, request: Request) -> Response:
    """Where whoever runs the stream changes its classes and kinds of fields."""
    return page(service, request, "classes.html", kinds=[kind for kind in KINDS if kind != "time"])
