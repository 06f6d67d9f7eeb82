"""Events and labels from elsewhere: our own export, lines of JSON, CSV, and exports of Label Studio."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from askance.errors import InvalidInput
from askance.live import answers
from askance.live.body import parse
from askance.live.engine import Engine
from askance.live.export import as_item_again, begins_as_our_csv, is_our_csv
from askance.live.ingest import Event, as_json, name_of, read_event
from askance.live.problems import Problem
from askance.live.state import State
from askance.live.store.database import Session

CHUNK = 200
MOST_PROBLEMS = 100
LONGEST_CELL = 10_000_000
ENOUGH_TO_TELL = 200


def import_items(engine: Engine, items: Iterable[Any], source: str) -> dict[str, Any]:
    """Take items in, an event and perhaps its label each; what cannot be used is counted and told."""
    done = {"events": 0, "duplicates": 0, "labels": 0, "errors": 0}
    problems: list[dict[str, Any]] = []
    place = 0
    rest = iter(items)
    while chunk := list(islice(rest, CHUNK)):
        for number, problem in _import(engine, chunk, source, done):
            done["errors"] += 1
            if len(problems) < MOST_PROBLEMS:
                problems.append({"item": place + number + 1, "code": problem.code, "detail": problem.detail})
        place += len(chunk)
    return {**done, "problems": problems}


def _import(engine: Engine, items: list[Any], source: str, done: dict[str, int]) -> Iterator[tuple[int, Problem]]:
    read = [_event(engine, item) for item in items]
    events = [event for event in read if isinstance(event, Event)]
    outcomes = iter(engine.ingest(events).result() if events else [])
    labels = []
    for number, (item, event) in enumerate(zip(items, read, strict=True)):
        outcome = event if isinstance(event, Problem) else next(outcomes)
        if isinstance(outcome, Problem):
            yield number, outcome
            continue
        done["duplicates" if outcome["duplicate"] else "events"] += 1
        if item.get("label") is not None:
            labels.append((number, outcome["id"], item["label"]))
    if not labels:
        return
    given = engine.submit(lambda session, state: _label(session, state, source, labels)).result()
    for (number, _, _), outcome in zip(labels, given, strict=True):
        if isinstance(outcome, Problem):
            yield number, outcome
        else:
            done["labels"] += outcome["outcome"] == "accepted" and not outcome["duplicate"]


def _event(engine: Engine, item: Any) -> Event | Problem:
    if isinstance(item, Problem):
        return item
    try:
        if not isinstance(item, dict):
            raise Problem("invalid", 'a line must be an object such as {"id": "m-1", "fields": {"text": "hello"}}.')
        given = {name: item[name] for name in ("id", "fields", "time") if item.get(name) is not None}
        return read_event(given, engine.config.server.event_bytes)
    except Problem as problem:
        return problem


def _label(session: Session, state: State, source: str, labels: list[tuple[int, str, Any]]) -> list[Any]:
    outcomes: list[Any] = []
    for _, event, label in labels:
        try:
            outcomes.append(
                answers.label(session, state, source, name_of(event, "'event'"), _place(state, label), None, False)
            )
        except Problem as problem:
            outcomes.append(problem)
    return outcomes


def _place(state: State, label: Any) -> int:
    place = state.place_of.get(label) if isinstance(label, str) else None
    if place is None:
        raise Problem(
            "unknown_label", f"the label must be one of {', '.join(state.classes[:20])}; got {str(label)[:40]!r}."
        )
    return place


# --- what items look like --------------------------------------------------------------------------------


def as_item(value: Any, label: str = "label") -> Any:
    """One of our lines, a task of Label Studio, or a flat object, as {"id", "fields", "time", "label"}."""
    if not isinstance(value, dict):
        return value
    if _is_task(value):
        return label_studio(value)
    inner = {name: cell for name, cell in value.items() if name not in ("id", "time", label)}
    if isinstance(value.get("fields"), dict) or not inner:
        return value
    return {"id": value.get("id"), "time": value.get("time"), "label": value.get(label), "fields": inner}


def _is_task(value: dict[str, Any]) -> bool:
    """Whether an object is a task of Label Studio, annotated or not, rather than one with a field called data."""
    return (
        isinstance(value.get("data"), dict)
        and not isinstance(value.get("fields"), dict)
        and (not _OF_TASKS.isdisjoint(value) or value.keys() <= _OF_BARE_TASKS)
    )


_OF_TASKS = {"annotations", "completions", "predictions"}
_OF_BARE_TASKS = {"id", "data", "meta"}


def label_studio(task: dict[str, Any]) -> dict[str, Any]:
    """An exported task of Label Studio: its data, and the first choice of its annotations that were not cancelled."""
    data = task.get("data")
    number = task.get("id")
    return {
        "id": f"task-{number}" if number is not None else None,
        "fields": data if isinstance(data, dict) else {},
        "label": next(_choices(task), None),
    }


def _choices(task: dict[str, Any]) -> Iterator[str]:
    for annotation in task.get("annotations") or task.get("completions") or []:
        is_valid = isinstance(annotation, dict) and annotation.get("was_cancelled") is not True
        results = annotation.get("result") if is_valid else None
        for result in results if isinstance(results, list) else []:
            value = result.get("value") if isinstance(result, dict) else None
            for choice in (value.get("choices") or []) if isinstance(value, dict) else []:
                if isinstance(choice, str):
                    yield choice


def read_file(path: Path, depth: int, label: str = "label") -> Iterator[Any]:
    """The items of a file: .csv, .json (an array) or lines of JSON; a line that cannot be read is a problem."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as file:
            try:
                yield from _read_table(file, depth, label)
            except (csv.Error, UnicodeDecodeError) as error:
                raise InvalidInput(f"{path.name!r} cannot be read as CSV in UTF-8: {error}.") from None
        return
    with path.open("rb") as lines:
        if lines.peek(1)[:1] == b"[":
            yield from (as_item(value, label) for value in parse(lines.read(), depth + 1))
            return
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield as_item(parse(line, depth), label)
                except Problem as problem:
                    yield Problem(problem.code, f"line {number} of {path.name!r}: {problem.detail}")


def is_table(content: bytes, content_type: str) -> bool:
    """Whether a body is CSV: it is said to be, or begins as our own does."""
    is_said = content_type.partition(";")[0].strip().lower() == "text/csv"
    return is_said or begins_as_our_csv(content[:ENOUGH_TO_TELL].decode("utf-8-sig", "replace"))


def read_table(content: bytes, depth: int, most: int) -> list[Any]:
    """The items of a body that is CSV, at most so many."""
    try:
        rows = _read_table(io.StringIO(content.decode("utf-8-sig"), newline=""), depth, "label")
        found = list(islice(rows, most + 1))
    except (csv.Error, UnicodeDecodeError) as error:
        raise Problem("malformed", f"the body cannot be read as CSV in UTF-8: {error}.") from None
    if len(found) > most:
        raise Problem("invalid", f"there are more than {most:,} lines; send at most so many at a time.")
    return found


def _read_table(file: TextIO, depth: int, label: str) -> Iterator[Any]:
    csv.field_size_limit(LONGEST_CELL)
    rows = csv.DictReader(file)
    is_ours = is_our_csv(list(rows.fieldnames or []))
    for row in rows:
        if is_ours:
            item = as_item_again(row)
        else:
            item = as_item({name: cell for name, cell in row.items() if name and cell not in ("", None)}, label)
        try:
            yield parse(as_json(item).encode(), depth)  # what no JSON may say, no cell may
        except Problem as problem:
            yield Problem(problem.code, f"line {rows.line_num}: {problem.detail}")
