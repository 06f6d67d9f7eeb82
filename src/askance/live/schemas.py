"""The shapes of requests and responses, as JSON Schema."""

from __future__ import annotations

from typing import Any


def obj(required: str = "", extra: bool = False, **properties: Any) -> dict[str, Any]:
    """An object with these properties, some of them required."""
    found: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": extra}
    return {**found, "required": required.split()} if required else found


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def array(items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def nullable(kind: str) -> dict[str, Any]:
    return {"type": [kind, "null"]}


Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
REAL: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
ANY: Schema = {}
NAME: dict[str, Any] = {
    "anyOf": [{"type": "string", "minLength": 1, "maxLength": 200}, {"type": "integer"}],
    "description": "A text of 1 to 200 printable characters, or a whole number.",
}
CHANCES = {"type": "object", "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1}}
TOKEN = {
    "type": "string",
    "pattern": r"^[0-9]{1,18}\.[0-9]{1,18}$",
    "description": "The fencing token of the delivery.",
}

PREDICTED: dict[str, Any] = {"label": TEXT, "probabilities": CHANCES, "model": WHOLE}

SCHEMAS: dict[str, Any] = {
    "Event": obj(
        "fields",
        id={**NAME, "description": "The key by which a repetition is known; made up where it is missing."},
        fields={"type": "object", "description": "What the event says: nested objects, texts, numbers, lists."},
        time={
            "type": ["string", "number", "null"],
            "maxLength": 64,
            "description": "When it happened, as the sender says: a text of ISO 8601 (UTC where it has no offset), or "
            "seconds or milliseconds since 1970, in the years 1 to 9999. Kept and shown as it is; nothing goes by it: "
            "budgets and the queue have the service's own clock.",
        },
    ),
    "Predicted": obj(
        "id seq label probabilities model asked ask ask_probability audit duplicate",
        id=TEXT,
        seq=WHOLE,
        **PREDICTED,
        asked=FLAG,
        ask=nullable("integer"),
        ask_probability=REAL,
        audit=FLAG,
        duplicate=FLAG,
    ),
    "Batch": obj(
        "items accepted duplicates errors",
        items=array({"type": "object", "required": ["status"]}),
        accepted=WHOLE,
        duplicates=WHOLE,
        errors=WHOLE,
    ),
    "Prediction": obj("label probabilities model", **PREDICTED),
    "EventDetails": obj(
        "id seq fields time received prediction now ask answers",
        id=TEXT,
        seq=WHOLE,
        fields={"type": "object"},
        time=ANY,
        received=TEXT,
        prediction=ref("Prediction"),
        now=ref("Prediction"),
        ask={"type": ["object", "null"]},
        answers=array(ref("Answer")),
    ),
    "Label": obj(
        "event label",
        event=NAME,
        label={**TEXT, "description": "One of the classes."},
        label_id={
            **NAME,
            "description": "Made up where it is missing; by one, a repetition is known even after a correction.",
        },
        replace={**FLAG, "description": "Correct an earlier label."},
    ),
    "Labeled": obj(
        "label_id event label outcome duplicate",
        label_id=TEXT,
        event=TEXT,
        label=TEXT,
        outcome={"enum": ["accepted", "extra"]},
        learn_at=nullable("string"),
        duplicate=FLAG,
    ),
    "Ask": obj(
        "id token deadline seconds_left event suggestion why audit explanation skips created",
        id=WHOLE,
        token=TOKEN,
        deadline=TEXT,
        seconds_left=REAL,
        event={"type": "object"},
        suggestion={"type": ["object", "null"], "description": "Nothing for random samples: they are blind."},
        why=obj(
            "code probability text", code={"enum": ["uncertain", "audit", "cold_start"]}, probability=REAL, text=TEXT
        ),
        audit=FLAG,
        explanation=array(obj("field word effect", field=TEXT, word=nullable("string"), effect=REAL)),
        skips=WHOLE,
        created=TEXT,
    ),
    "Asks": obj(
        "asks queue", asks=array(ref("Ask")), queue=obj("open leased parked", open=WHOLE, leased=WHOLE, parked=WHOLE)
    ),
    "GiveAnswer": obj(
        "answer_id token label",
        answer_id={**NAME, "description": "Made by the client; the same one gives the same response for ever."},
        token=TOKEN,
        label=TEXT,
        ms={"type": ["integer", "null"], "minimum": 0, "maximum": 86_400_000},
        comment={"type": ["string", "null"], "maxLength": 2000},
        supersedes={"anyOf": [*NAME["anyOf"], {"type": "null"}]},
    ),
    "Answered": obj(
        "answer_id ask event label outcome stale_token learn_at",
        answer_id=TEXT,
        ask=WHOLE,
        event=TEXT,
        label=TEXT,
        outcome={"enum": ["accepted", "extra"]},
        stale_token=FLAG,
        learn_at=nullable("string"),
    ),
    "Skip": obj(
        "token reason",
        answer_id={"anyOf": [*NAME["anyOf"], {"type": "null"}]},
        token=TOKEN,
        reason={"enum": ["unsure", "bad_data", "later"]},
    ),
    "Skipped": obj(
        "answer_id ask event reason outcome",
        answer_id=TEXT,
        ask=WHOLE,
        event=TEXT,
        reason=TEXT,
        outcome={"enum": ["returned", "parked", "closed", "later", "extra"]},
    ),
    "Lease": obj("token", token=TOKEN),
    "Leased": obj("ask token deadline seconds_left", ask=WHOLE, token=TOKEN, deadline=TEXT, seconds_left=REAL),
    "Released": obj("ask outcome", ask=WHOLE, outcome={"enum": ["released", "stale"]}),
    "Undone": obj(
        "answer_id outcome ask",
        answer_id=TEXT,
        outcome={"enum": ["withdrawn", "correction", "already_undone"]},
        ask={"anyOf": [ref("Ask"), {"type": "null"}]},
    ),
    "Answer": obj(
        "answer_id kind ask event label reason predicted state annotator ms comment created undoable summary",
        answer_id=TEXT,
        kind={"enum": ["answer", "label", "skip"]},
        ask=nullable("integer"),
        event=TEXT,
        label=nullable("string"),
        reason=nullable("string"),
        predicted=TEXT,
        state={"enum": ["waiting", "learned", "extra", "undone", "superseded", "skipped"]},
        annotator=TEXT,
        ms=nullable("integer"),
        comment=nullable("string"),
        created=TEXT,
        undoable=FLAG,
        summary=TEXT,
    ),
    "Answers": obj("answers next", answers=array(ref("Answer")), next=nullable("string")),
    "Numbers": {"type": "object", "description": "Nested numbers; see the dashboard."},
    "Nothing": obj(),
    "Me": obj("name scopes open_access classes title store version lease_seconds learn_after", extra=True, name=TEXT),
    "Imported": obj(
        "events duplicates labels errors problems",
        events=WHOLE,
        duplicates=WHOLE,
        labels=WHOLE,
        errors=WHOLE,
        problems=array({"type": "object"}),
    ),
    "AuditLog": obj("entries", entries=array(obj("seq time actor action detail", extra=True))),
    "ModelState": obj("paused model", extra=True, paused=FLAG, model=WHOLE),
    "Problem": obj(
        "type title status code detail", extra=True, type=TEXT, title=TEXT, status=WHOLE, code=TEXT, detail=TEXT
    ),
}
