"""Prodigy: our events as its tasks with options, and its annotations as our events and labels.

Its format is described at prodi.gy/docs/api-interfaces (choice, classification). What begins with an underscore Prodigy
keeps as it is: there our lines have the event, by which it is the same when it comes back.
"""

from __future__ import annotations

from typing import Any

from askance_live.engine.label_space import LabelSpace
from askance_live.exchange.export import chance_of, text_of

ACCEPT, REJECT, IGNORE = "accept", "reject", "ignore"
KEPT = "_askance"
_OF_TASKS = {"text", "html", "image", "options", "accept", "answer", "meta", "label", "spans", "tokens"}


def as_task(item: dict[str, Any], labels: LabelSpace) -> dict[str, Any]:
    """An event of an export as a task, answered where it has a label."""
    prediction = item["prediction"]
    task: dict[str, Any] = {
        "text": text_of(item["fields"]),
        "options": [{"id": label, "text": label} for label in labels.classes],
        "meta": {
            "predicted": prediction["label"],
            "score": round(chance_of(prediction, labels), 4),
        },
        "_view_id": "choice",
        KEPT: {"id": item["id"], "fields": item["fields"], "time": item["time"]},
    }
    label = item["label"]
    if label is not None and not isinstance(label, dict):  # of a set of which only a part is known, no answer can tell
        task |= {
            "accept": [label] if isinstance(label, str) else label,
            "answer": ACCEPT,
            "_annotator_id": item["answer"]["annotator"],
        }
    return task


def is_task(value: dict[str, Any]) -> bool:
    """Whether an object is one of Prodigy's: answered, or with our mark or its hashes."""
    is_answered = value.get("answer") in (ACCEPT, REJECT, IGNORE) and not {"text", "html", "image"}.isdisjoint(value)
    return not isinstance(value.get("fields"), dict) and (is_answered or isinstance(value.get(KEPT), dict))


def as_event(task: dict[str, Any]) -> dict[str, Any]:
    """A task as an event; rejected and ignored ones have no label."""
    kept = task.get(KEPT)
    ours = kept if isinstance(kept, dict) else {}
    fields = {name: value for name, value in task.items() if name not in _OF_TASKS and not name.startswith("_")}
    if isinstance(task.get("text"), str):
        fields = {"text": task["text"], **fields}
    made = f"prodigy-{task['_input_hash']}" if isinstance(task.get("_input_hash"), int) else None
    return {
        "id": ours.get("id", made),
        "fields": ours.get("fields", fields),
        "time": ours.get("time"),
        "label": _label(task) if task.get("answer") == ACCEPT else None,
        "label_set": task.get("accept") if task.get("answer") == ACCEPT else None,
    }


def _label(task: dict[str, Any]) -> Any:
    """The first option that was accepted, or the one label that was."""
    accepted = task.get("accept")
    if isinstance(accepted, list):
        return accepted[0] if accepted else None
    return task.get("label")
