"""The formats in which events go out: pages of them become bytes, in constant memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from askance_live.engine.label_space import LabelSpace
from askance_live.exchange import label_studio, prodigy
from askance_live.exchange.event_filter import ALL, Condition
from askance_live.exchange.export import EventLine, Values, as_csv, as_objects, as_text, chance_of, field_names, rows
from askance_live.exchange.received import as_json
from askance_live.problems import Problem
from askance_live.store.database import Session

CHUNK = 1_000_000
Page = list[EventLine]


class Writer:
    """Writes an export: ``begin``, ``add`` for each page, ``end``."""

    def __init__(self, session: Session, labels: LabelSpace) -> None:
        self.labels = labels
        self.n = 0

    def begin(self) -> bytes:
        """What stands before everything."""
        return b""

    def add(self, page: Page, answers: dict[int, Values]) -> bytes:
        """Events with their valid answers."""
        items = list(as_objects(page, answers, self.labels))
        written = self.write(items)
        self.n += len(items)
        return written

    def write(self, items: list[dict[str, Any]]) -> bytes:
        """Events as objects."""
        return b"".join(msgspec.json.encode(self.shape(item)) + b"\n" for item in items)

    def shape(self, item: dict[str, Any]) -> dict[str, Any]:
        """An event as the format has it."""
        return item

    def end(self) -> Iterator[bytes]:
        """What comes last."""
        yield b""


class CsvWriter(Writer):
    """A line for each event, for spreadsheets."""

    def __init__(self, session: Session, labels: LabelSpace) -> None:
        super().__init__(session, labels)
        self.names = field_names(session)

    def begin(self) -> bytes:
        return as_csv([], {}, self.labels, self.names, head=True).encode()

    def add(self, page: Page, answers: dict[int, Values]) -> bytes:
        self.n += len(page)
        return as_csv(page, answers, self.labels, self.names, head=False).encode()


class LabelStudioWriter(Writer):
    """An array of tasks for Label Studio."""

    def begin(self) -> bytes:
        return b"["

    def write(self, items: list[dict[str, Any]]) -> bytes:
        tasks = b",\n".join(msgspec.json.encode(label_studio.as_task(item, self.labels)) for item in items)
        return (b",\n" if self.n and items else b"\n") + tasks

    def end(self) -> Iterator[bytes]:
        yield b"\n]\n"


class ProdigyWriter(Writer):
    """A task for Prodigy in each line."""

    def shape(self, item: dict[str, Any]) -> dict[str, Any]:
        return prodigy.as_task(item, self.labels)


class ParquetWriter(Writer):
    """A table for pandas, polars, DuckDB; the fields are JSON in a column."""

    def __init__(self, session: Session, labels: LabelSpace) -> None:
        super().__init__(session, labels)
        try:
            pyarrow: Any = import_module("pyarrow")
            parquet: Any = import_module("pyarrow.parquet")
        except ImportError:
            raise Problem(
                "not_installed", "Parquet needs pyarrow on the server: its operator installs the extra parquet."
            ) from None
        self._arrow = pyarrow
        texts = ("id", "time", "received", "label", "annotator", "comment", "predicted", "fields")
        columns = [(name, pyarrow.string()) for name in texts]
        columns += [("seq", pyarrow.int64()), ("model", pyarrow.int64()), ("probability", pyarrow.float64())]
        columns += [("asked", pyarrow.bool_()), ("audit", pyarrow.bool_())]
        self._schema = pyarrow.schema(columns)
        self._folder = tempfile.TemporaryDirectory()  # gone with this writer, even if nobody waits for the end
        self._path = Path(self._folder.name) / "events.parquet"
        self._table = parquet.ParquetWriter(self._path, self._schema)

    def write(self, items: list[dict[str, Any]]) -> bytes:
        lines = [_flat_line(item, self.labels) for item in items]
        self._table.write_table(self._arrow.Table.from_pylist(lines, self._schema))
        return b""

    def end(self) -> Iterator[bytes]:
        self._table.close()
        with self._path.open("rb") as file:
            while content := file.read(CHUNK):
                yield content
        self._folder.cleanup()


def _flat_line(item: dict[str, Any], labels: LabelSpace) -> dict[str, Any]:
    prediction, answer, ask = item["prediction"], item["answer"] or {}, item["ask"] or {}
    return {
        "id": item["id"],
        "time": None if item["time"] is None else as_json(item["time"]),
        "received": item["received"],
        "label": as_text(item["label"]),
        "annotator": answer.get("annotator"),
        "comment": answer.get("comment"),
        "predicted": as_text(prediction["label"]),
        "fields": as_json(item["fields"]),
        "seq": item["seq"],
        "model": prediction["model"],
        "probability": chance_of(prediction, labels),
        "asked": bool(ask),
        "audit": bool(ask.get("audit")),
    }


class ExportFormat(NamedTuple):
    """A format of exports."""

    writer: Callable[[Session, LabelSpace], Writer]
    media: str
    ending: str
    has_quarantine: bool = False
    """Whether it has events in quarantine, which have no prediction, at its end."""


FORMATS = {
    "jsonl": ExportFormat(Writer, "application/x-ndjson", ".jsonl", has_quarantine=True),
    "csv": ExportFormat(CsvWriter, "text/csv; charset=utf-8", ".csv"),
    "parquet": ExportFormat(ParquetWriter, "application/vnd.apache.parquet", ".parquet"),
    "label-studio": ExportFormat(LabelStudioWriter, "application/json", ".json"),
    "prodigy": ExportFormat(ProdigyWriter, "application/x-ndjson", ".prodigy.jsonl"),
}


def write_page(session: Session, writer: Writer, after: int, which: Condition = ALL) -> tuple[bytes, int] | None:
    """The page after an event, and the number of its last event; None where there is none."""
    page, answers = rows(session, after, which)
    return (writer.add(page, answers), page[-1].seq) if page else None
