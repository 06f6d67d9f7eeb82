"""Everything out, line by line, in constant memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from askance.features.rows import flatten
from askance.live.clock import iso
from askance.live.ingest import as_json
from askance.live.store.database import Row, Session

PAGE = 500
ROWS = (
    "SELECT e.seq, e.id, e.fields, e.time, e.received, e.predicted, e.probabilities, e.version, e.probability, "
    "e.audit, e.asked, (SELECT a.seq FROM answers a WHERE a.event = e.seq AND a.state IN ('waiting', 'learned') "
    "ORDER BY a.seq DESC LIMIT 1) FROM events e WHERE e.seq > ? ORDER BY e.seq LIMIT ?"
)


def rows(session: Session, after: int) -> tuple[list[Row], dict[int, Row]]:
    """A page of events, and the valid answers to them by their numbers."""
    found = session.all(ROWS, (after, PAGE))
    numbers = [row[11] for row in found if row[11] is not None]
    answers = session.select_in(
        "SELECT seq, id, label, annotator, kind, created, ms, comment FROM answers WHERE seq IN ({})", numbers
    )
    return found, {row[0]: row for row in answers}


def as_objects(page: list[Row], answers: dict[int, Row], classes: list[str]) -> Iterator[dict[str, Any]]:
    """Events as objects; what /v1/import reads."""
    for row in page:
        chances = msgspec.json.decode(row[6])
        given = answers.get(row[11]) if row[11] is not None else None
        yield {
            "id": row[1],
            "fields": msgspec.json.decode(row[2]),
            "time": None if row[3] is None else msgspec.json.decode(row[3]),
            "received": iso(row[4]),
            "seq": row[0],
            "prediction": {
                "label": classes[row[5]],
                "probabilities": dict(zip(classes, chances, strict=True)),
                "model": row[7],
            },
            "ask": {"id": row[10], "probability": row[8], "audit": bool(row[9])} if row[10] else None,
            "label": classes[given[2]] if given else None,
            "answer": {
                "answer_id": given[1],
                "annotator": given[3],
                "kind": given[4],
                "created": iso(given[5]),
                "ms": given[6],
                "comment": given[7],
            }
            if given
            else None,
        }


CSV_COLUMNS = [
    "id",
    "seq",
    "time",
    "received",
    "label",
    "annotator",
    "predicted",
    "probability",
    "model",
    "asked",
    "audit",
]


def field_names(session: Session) -> list[str]:
    """The fields of the first events, which become columns; a CSV file must say them before it begins."""
    names: dict[str, None] = {}
    for (fields,) in session.all("SELECT fields FROM events ORDER BY seq LIMIT 1000"):
        names.update(dict.fromkeys(flatten(msgspec.json.decode(fields))))
    return list(names)


def as_csv(page: list[Row], answers: dict[int, Row], classes: list[str], names: list[str], head: bool) -> str:
    """Events as lines of CSV, which ``as_item_again`` reads.

    Fields that the first events did not have are in a last column, ``other``, as JSON; so is, in an array, the whole
    event where columns cannot say it: names with dots, lists of objects, what is empty."""
    lines = [_line((*CSV_COLUMNS, *(f"fields.{name}" for name in names), "other"))] if head else []
    known = set(names)
    for item in as_objects(page, answers, classes):
        flat = flatten(item["fields"])
        other: Any = {name: value for name, value in flat.items() if name not in known}
        if nested(_without_nothing(flat)) != item["fields"]:
            other = [item["fields"]]
        prediction, answer = item["prediction"], item["answer"]
        first = [
            item["id"], item["seq"], _cell(item["time"]), item["received"], item["label"],
            answer and answer["annotator"], prediction["label"], prediction["probabilities"][prediction["label"]],
            prediction["model"], int(item["ask"] is not None), int(bool(item["ask"] and item["ask"]["audit"])),
        ]  # fmt: skip
        cells = [*first, *(_cell(flat.get(name)) for name in names), as_json(other) if other else ""]
        lines.append(_line(cells))
    return "".join(lines)


def _line(cells: Iterable[Any]) -> str:
    """A line of CSV. Not every version of ``csv.writer`` puts a lone carriage return in quotes, which readers need."""
    texts = ("" if cell is None else str(safe(cell)) for cell in cells)
    return ",".join('"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text for text in texts) + "\n"


def is_our_csv(head: list[str]) -> bool:
    """Whether a table was written by ``as_csv``."""
    return head[: len(CSV_COLUMNS)] == CSV_COLUMNS and head[-1] == "other"


def begins_as_our_csv(text: str) -> bool:
    """Whether a text begins as what ``as_csv`` wrote."""
    return text.startswith(",".join(CSV_COLUMNS) + ",")


def as_item_again(row: dict[str, str]) -> dict[str, Any]:
    """The event and the label of a line that ``as_csv`` wrote."""
    cells = {unsafe(name): unsafe(cell) for name, cell in row.items() if name and cell}
    flat = {name[7:]: _value(cell) for name, cell in cells.items() if name.startswith("fields.")}
    other = _value(cells.get("other", "{}"))
    if isinstance(other, dict):
        flat |= other
    return {
        "id": cells.get("id"),
        "time": _value(cells["time"]) if "time" in cells else None,
        "label": cells.get("label"),
        "fields": other[0] if isinstance(other, list) and other else nested(flat),
    }


def nested(flat: dict[str, Any]) -> dict[str, Any]:
    """Fields by their full names, each inside those before its dots.

    >>> nested({"sender.country": "fr", "size": 3})
    {'sender': {'country': 'fr'}, 'size': 3}
    """
    found: dict[str, Any] = {}
    for name, value in flat.items():
        *outer, last = name.split(".")
        inside = found
        for part in outer:
            step = inside.setdefault(part, {})
            if not isinstance(step, dict):
                return flat
            inside = step
        if last in inside:
            return flat
        inside[last] = value
    return found


def _without_nothing(flat: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in flat.items() if value is not None}


def _cell(value: Any) -> Any:
    """A value as a cell: texts as they are, unless they would be read as something else."""
    if value is None or (isinstance(value, str) and value and _value(value) == value):
        return value
    return as_json(value)


def _value(cell: str) -> Any:
    """What ``_cell`` wrote."""
    try:
        return msgspec.json.decode(cell)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return cell


def safe(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and not _NUMBER.fullmatch(cell) and _FORMULA.match(cell) else cell


def unsafe(cell: str) -> str:
    """What a cell was before ``safe``."""
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell) else cell


_QUOTED = re.compile(r'[",\r\n]')
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
