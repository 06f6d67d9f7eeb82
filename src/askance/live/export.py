"""Everything out, line by line, in constant memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import msgspec

from askance.features.rows import flatten
from askance.live.clock import iso
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
    """Events as lines of CSV; fields that the first events did not have are in a last column, ``other``, as JSON."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if head:
        writer.writerow([safe(name) for name in (*CSV_COLUMNS, *(f"fields.{name}" for name in names), "other")])
    for item in as_objects(page, answers, classes):
        flat = flatten(item["fields"])
        other = {name: value for name, value in flat.items() if name not in names}
        prediction, answer = item["prediction"], item["answer"]
        first = [
            item["id"], item["seq"], item["time"], item["received"], item["label"], answer and answer["annotator"],
            prediction["label"], prediction["probabilities"][prediction["label"]], prediction["model"],
            int(item["ask"] is not None), int(bool(item["ask"] and item["ask"]["audit"])),
        ]  # fmt: skip
        cells = [
            *first,
            *(_cell(flat.get(name)) for name in names),
            msgspec.json.encode(other).decode() if other else "",
        ]
        writer.writerow([safe(cell) for cell in cells])
    return out.getvalue()


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, str | int | float) and not isinstance(value, bool)):
        return value
    return msgspec.json.encode(value).decode()


def safe(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + cell
    return cell
