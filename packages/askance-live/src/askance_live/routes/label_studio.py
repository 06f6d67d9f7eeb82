"""A model for Label Studio: it asks for suggestions, and tells of annotations, at /label-studio."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, TypedDict

from msgspec import Meta, field
from starlette.responses import Response

from askance.errors import InvalidInput
from askance_live.engine.quarantine_state import is_quarantined
from askance_live.engine.state import EngineState
from askance_live.exchange.label_studio import (
    annotate,
    as_event,
    as_prediction,
    labeling_config,
    one_of_them,
    read_number,
    set_of,
    tags_of,
    withdraw,
)
from askance_live.exchange.received import read_event
from askance_live.http.routing import Request, json_response, route
from askance_live.http.schemas import OtherBody
from askance_live.problems import Problem
from askance_live.service import Service

MOST_TASKS, MOST_DELETED = 1_000, 10_000
LONGEST_CONFIG = 1_000_000
LABELED, DELETED = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED"), "ANNOTATIONS_DELETED"
TOGETHER = 25  # annotations that are taken back in one transaction
Health = TypedDict("Health", {"status": str, "model_class": str})
ModelVersion = TypedDict("ModelVersion", {"model_version": str})
Suggestions = TypedDict("Suggestions", {"results": list[dict[str, Any]], "model_version": str})
Noted = TypedDict("Noted", {"outcome": str})


class LabelStudioSetup(OtherBody):
    """What a project sends when a model is connected to it."""

    example = '{"project": "1.1700000000", "schema": "<View>...</View>"}'

    schema: str = ""


class LabelStudioTasks(OtherBody):
    """Tasks for which a project wants suggestions."""

    example = '{"tasks": [{"id": 1, "data": {"text": "hello"}}], "label_config": "<View>...</View>"}'

    tasks: Annotated[list[dict[str, Any]], Meta(max_length=MOST_TASKS)]
    label_config: Annotated[str, Meta(max_length=LONGEST_CONFIG)] | None = None


class LabelStudioWebhook(OtherBody):
    """What happened in a project."""

    example = '{"action": "ANNOTATION_CREATED", "task": {"id": 1, "data": {}}, "annotation": {"result": []}}'

    action: str
    task: dict[str, Any] | None = None
    annotation: dict[str, Any] | None = None
    annotations: Annotated[list[dict[str, Any]], Meta(max_length=MOST_DELETED)] = field(default_factory=list)
    project: dict[str, Any] | None = None


def _version(state: EngineState) -> str:
    return f"askance-{state.learner.version}"


@route("GET", "/label-studio/health", None)
async def label_studio_health(service: Service, request: Request) -> Health:
    """Label Studio: whether the model answers."""
    return {"status": "UP", "model_class": "askance"}


@route("POST", "/label-studio/setup", "ingest", body_bytes=None)
async def label_studio_setup(service: Service, request: Request, body: LabelStudioSetup) -> ModelVersion:
    """Label Studio: a project connects the model."""
    return {"model_version": _version(service.engine.state)}


@route("GET", "/label-studio/config.xml", "read", media="application/xml")
async def label_studio_config(service: Service, request: Request) -> Response:
    """A labeling configuration for a project with the tasks of /v1/export.label-studio.json."""
    config = service.engine.state.config
    content = labeling_config(config.classes, config.title, config.model.label_sets)
    return Response(content, media_type="application/xml; charset=utf-8")


@route("POST", "/label-studio/predict", "ingest", body_bytes=None)
async def label_studio_predict(service: Service, request: Request, body: LabelStudioTasks) -> Suggestions:
    """Label Studio: suggestions for tasks; the score is the probability, so that the least sure can come first."""
    state = service.engine.state

    def suggest() -> list[dict[str, Any]]:
        tags = tags_of(body.label_config or "")
        return [_suggest(state, task, tags) for task in body.tasks]

    return {"results": await asyncio.to_thread(suggest), "model_version": _version(state)}


def _suggest(state: EngineState, task: dict[str, Any], tags: tuple[str, str]) -> dict[str, Any]:
    """A suggestion for a task; none for one whose fields the model cannot use."""
    try:
        best, chances = state.learner.predict(as_event(task)["fields"])
    except InvalidInput:
        return {"result": [], "score": 0.0, "model_version": _version(state)}
    labels = state.labels
    shown: Any = labels.show(best)
    return as_prediction(shown, round(labels.chance(best, chances), 6), state.learner.version, tags)


@route("POST", "/label-studio/webhook", "label", body_bytes=None, responses={201: ("An annotation was taken.", Noted)})
async def label_studio_webhook(service: Service, request: Request, body: LabelStudioWebhook) -> Noted | Response:
    """Label Studio: an annotation is the label of its task's event, which is taken in if it is new (scope ingest); the
    label of one that is deleted, or changed to none, is taken back."""
    if body.action == DELETED:
        return await _withdraw(service, request, body.annotations)
    if body.action not in LABELED or body.task is None or body.annotation is None:
        return {"outcome": "ignored"}
    if not request.user.may("ingest"):
        raise Problem("forbidden", "annotations bring events: this needs the scope 'ingest', too.")
    labels, user = service.engine.state.labels, request.user
    chosen = set_of([body.annotation])
    if chosen is None or not (chosen or labels.are_sets):
        return await _withdraw(service, request, [body.annotation])
    place = labels.read(chosen if labels.are_sets else one_of_them(chosen))
    item = as_event(body.task)
    given = {name: item[name] for name in ("id", "fields", "time") if item[name] is not None}
    event = read_event(given, service.config.server.event_bytes)
    (taken,) = await asyncio.wrap_future(service.engine.ingest([event]))
    if isinstance(taken, Problem):
        raise taken
    if is_quarantined(taken):
        return {"outcome": "quarantined"}

    number = read_number(body.annotation)
    outcome = await service.do(annotate, user.name, number, event.id, place, user.may("review"))
    return json_response({"outcome": outcome}, 201)


async def _withdraw(service: Service, request: Request, annotations: list[dict[str, Any]]) -> Noted:
    """Take the labels of annotations back."""
    numbers = [*dict.fromkeys(number for number in map(read_number, annotations) if number is not None)]
    taken = 0
    for first in range(0, len(numbers), TOGETHER):
        taken += await service.do(withdraw, request.user.name, numbers[first : first + TOGETHER])
    return {"outcome": "withdrawn" if taken else "ignored"}
