"""Events and labels from elsewhere: our own export, lines of JSON, CSV, and files of Label Studio and Prodigy."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

from askance.data.formats.buffer import BYTE_ORDER_MARK
from askance.data.formats.source import Input, recode
from askance.errors import InvalidInput
from askance_live.access.auth import note
from askance_live.engine.quarantine import keep_label
from askance_live.engine.quarantine_state import is_quarantined
from askance_live.engine.state import EngineState
from askance_live.engine.thread import Engine
from askance_live.exchange import label_studio, prodigy
from askance_live.exchange.export import as_item_again, begins_as_our_csv, is_our_csv
from askance_live.exchange.received import GROUP_BYTES, ReceivedEvent, as_json, in_parts, read_event
from askance_live.http.body import BodyLimits, check_items, lines_of, parse, parse_line, too_deep, too_many
from askance_live.problems import Problem, result_or_problem
from askance_live.questions.labels import give_label
from askance_live.questions.states import AnswerOutcome
from askance_live.questions.submissions import refuse_retired
from askance_live.store.database import Session

CHUNK = 200
MOST_PROBLEMS = 100
LONGEST_CELL = 10_000_000
ENOUGH_TO_TELL = 200
Given = tuple[int, str, Any]
"""The number of an item, the id of its event, and its label."""


def import_items(engine: Engine, items: Iterable[Any], source: str, actor: str) -> dict[str, Any]:
    """Take items in, an event and perhaps its label each; what cannot be used is counted and told. The labels are of
    ``source``, and the activity log says that ``actor`` brought them."""
    done = {"events": 0, "duplicates": 0, "labels": 0, "quarantined": 0, "errors": 0}
    problems: list[dict[str, Any]] = []
    place = 0
    for chunk in _chunks(engine, items):
        for number, problem in _import(engine, chunk, source, done):
            done["errors"] += 1
            if len(problems) < MOST_PROBLEMS:
                problems.append({"item": place + number + 1, "code": problem.code, "detail": problem.detail})
        place += len(chunk)
    engine.submit(lambda session, state: note(session, state.clock.now(), actor, "import", dict(done))).result()
    return {**done, "problems": problems}


def _chunks(engine: Engine, items: Iterable[Any]) -> Iterator[list[tuple[Any, ReceivedEvent | Problem]]]:
    """Items with their events, as many as are taken in together: few that are large."""
    chunk: list[tuple[Any, ReceivedEvent | Problem]] = []
    size = 0
    for item in items:
        event = result_or_problem(partial(_event, event_bytes=engine.config.server.event_bytes), item)
        chunk.append((item, event))
        size += 0 if isinstance(event, Problem) else len(event.text)
        if len(chunk) == CHUNK or size >= GROUP_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _import(
    engine: Engine, chunk: list[tuple[Any, ReceivedEvent | Problem]], source: str, done: dict[str, int]
) -> Iterator[tuple[int, Problem]]:
    events = [event for _, event in chunk if isinstance(event, ReceivedEvent)]
    outcomes = iter([outcome for part in in_parts(events) for outcome in engine.ingest(part).result()])
    labels, kept = [], []
    missing, are_sets = engine.state.learner.features.missing, engine.state.labels.are_sets
    for number, (item, event) in enumerate(chunk):
        outcome = event if isinstance(event, Problem) else next(outcomes)
        if isinstance(outcome, Problem):
            yield number, outcome
            continue
        label = item.get("label") if not are_sets else item.get("label_set", item.get("label"))
        if is_quarantined(outcome):
            done["quarantined"] += 1
            if not missing.covers(label, engine.state.classes):
                kept.append((number, outcome["id"], label))
            continue
        done["duplicates" if outcome["duplicate"] else "events"] += 1
        if not missing.covers(label, engine.state.classes):
            labels.append((number, outcome["id"], label))
    if kept:
        given = engine.submit(lambda session, state: _keep(session, state, source, kept)).result()
        yield from ((number, outcome) for (number, _, _), outcome in zip(kept, given, strict=True) if outcome)
    if not labels:
        return
    given = engine.submit(lambda session, state: _label(session, state, source, labels)).result()
    for (number, _, _), outcome in zip(labels, given, strict=True):
        if isinstance(outcome, Problem):
            yield number, outcome
        else:
            done["labels"] += outcome["outcome"] == AnswerOutcome.ACCEPTED and not outcome["duplicate"]


def _event(item: Any, event_bytes: int) -> ReceivedEvent:
    if not isinstance(item, dict):
        return read_event(item, event_bytes)
    given = {name: item[name] for name in ("id", "fields", "time") if item.get(name) is not None}
    return read_event(given, event_bytes)


def _label(session: Session, state: EngineState, source: str, labels: list[Given]) -> list[Any]:
    def give(given: Given) -> dict[str, Any]:
        """Who imports has the scope ``admin``, or the machine."""
        return give_label(session, state, source, given[1], _place(state, given[2]), None, False, may_review=True)

    return [result_or_problem(give, label) for label in labels]


def _keep(session: Session, state: EngineState, source: str, labels: list[Given]) -> list[Problem | None]:
    """Keep the labels of events in quarantine with them."""
    return [
        result_or_problem(lambda given: keep_label(session, given[1], _written(state, given[2]), source), label)
        for label in labels
    ]


def _place(state: EngineState, label: Any) -> int:
    is_padded = isinstance(label, str) and label not in state.place_of
    try:
        return state.labels.read(label.strip() if is_padded else label)
    except Problem as problem:
        if state.labels.are_sets or not isinstance(label, str):
            raise
        raise Problem(
            problem.code,
            f"{problem.detail.removesuffix('.')}; add it with 'askance classes add', or begin a store with all of them "
            "('askance init --classes ...').",
            field="label",
        ) from None


def _written(state: EngineState, label: Any) -> str:
    """A label as one text, which ``_place`` reads."""
    place = _place(state, label)
    refuse_retired(state, place)
    shown = state.labels.show(place)
    return shown if isinstance(shown, str) else as_json(shown)


# --- what items look like --------------------------------------------------------------------------------


def as_item(value: Any, label: str = "label") -> Any:
    """One of our lines, a task of Label Studio or Prodigy, or a flat object, as {"id", "fields", "time", "label"}."""
    if not isinstance(value, dict):
        return value
    for format in (label_studio, prodigy):
        if format.is_task(value):
            return format.as_event(value)
    inner = {name: cell for name, cell in value.items() if name not in ("id", "time", label)}
    if isinstance(value.get("fields"), dict) or not inner:
        return value
    return {"id": value.get("id"), "time": value.get("time"), "label": value.get(label), "fields": inner}


def read_file(path: Path, depth: int, label: str = "label", encoding: str | None = None) -> Iterator[Any]:
    """The items of a file: .csv, .json (an array) or lines of JSON, in UTF-8 or in another ``encoding``; a line that
    cannot be read is a problem."""
    if encoding is not None:
        recode(encoding)  # refuses one that nobody knows
    if path.suffix == ".csv":
        with path.open(encoding=encoding or "utf-8-sig", newline="") as file:
            try:
                yield from _read_table(file, depth, label)
            except (csv.Error, UnicodeError) as error:
                written = (encoding or "UTF-8").upper()
                raise InvalidInput(
                    f"{path.name!r} cannot be read as CSV in {written}: {error}; say what it is written in with "
                    "--encoding, such as --encoding latin-1."
                ) from None
        return
    with path.open("rb") as file:
        lines = iter(file) if encoding is None else _in_utf8(Input(file, path.name), encoding)
        first = next(lines, b"").removeprefix(BYTE_ORDER_MARK)
        if first[:1] == b"[":
            yield from (as_item(value, label) for value in parse(first + b"".join(lines), depth + 1))
            return
        for number, line in enumerate(chain([first], lines), 1):
            if line.strip():
                try:
                    yield as_item(parse(line, depth), label)
                except Problem as problem:
                    yield Problem(problem.code, f"line {number} of {path.name!r}: {problem.detail}")


def _in_utf8(file: Input, encoding: str) -> Iterator[bytes]:
    """The lines of a file in another encoding."""
    rest: list[bytes] = []
    for piece in recode(encoding)(file) or ():
        *lines, last = piece.split(b"\n")
        for line in lines:
            yield b"".join([*rest, line, b"\n"])
            rest = []
        rest.append(last)
    if any(rest):
        yield b"".join(rest)


def read_body(content: bytes, content_type: str, limits: BodyLimits) -> Iterator[Any]:
    """The items of a body: a table, an array, or one object a line. What makes all of it unreadable is found before the
    first item is given; a line that cannot be read is a problem."""
    if is_table(content, content_type):
        return read_table(content, limits)
    if content.lstrip()[:1] == b"[":
        return _read_documents(check_items(content, limits), limits)
    if sum(1 for _ in islice(lines_of(content), limits.most + 1)) > limits.most:
        raise too_many(limits.most)
    return _read_documents(lines_of(content), limits)


def _read_documents(texts: Iterable[bytes], limits: BodyLimits) -> Iterator[Any]:
    for text in texts:
        value = parse_line(text, limits)
        yield value if isinstance(value, Problem) else as_item(value)


def is_table(content: bytes, content_type: str) -> bool:
    """Whether a body is CSV: it is said to be, or begins as our own does."""
    is_said = content_type.partition(";")[0].strip().lower() == "text/csv"
    return is_said or begins_as_our_csv(content[:ENOUGH_TO_TELL].decode("utf-8-sig", "replace"))


def read_table(content: bytes, limits: BodyLimits) -> Iterator[Any]:
    """The items of a body that is CSV, at most so many."""
    try:
        text = content.decode("utf-8-sig")
        for number, _ in enumerate(Records(io.StringIO(text, newline=""), limits.largest)):
            if number > limits.most:
                raise Problem("invalid", f"there are more than {limits.most:,} lines; send at most so many at a time.")
    except (csv.Error, UnicodeDecodeError) as error:
        raise Problem("malformed", f"the body cannot be read as CSV in UTF-8: {error}.") from None
    return _read_table(io.StringIO(text, newline=""), limits.depth, "label", limits.largest)


class Records:
    """The records of a CSV file, each a list of cells; one that is longer than so many characters is refused."""

    def __init__(self, file: TextIO, longest: int = LONGEST_CELL) -> None:
        csv.field_size_limit(LONGEST_CELL)
        self.longest, self._read = longest, 0
        self._reader = csv.reader(self._lines(file))

    def _lines(self, file: TextIO) -> Iterator[str]:
        for line in file:
            self._read += len(line)
            if self._read > self.longest:
                raise csv.Error(f"line {self._reader.line_num + 1} belongs to a record of over {self.longest:,} bytes")
            yield line

    def __iter__(self) -> Iterator[list[str]]:
        for record in self._reader:
            self._read = 0
            if record:
                yield record

    @property
    def line(self) -> int:
        """The number of the last line read."""
        return self._reader.line_num


def _read_table(file: TextIO, depth: int, label: str, longest: int = LONGEST_CELL) -> Iterator[Any]:
    records = Records(file, longest)
    rest = iter(records)
    head = next(rest, [])
    is_ours = is_our_csv(head)
    for record in rest:
        row = dict(zip(head, record, strict=False))
        if is_ours:
            item = as_item_again(row)
        else:
            item = as_item({name: cell for name, cell in row.items() if name and cell != ""}, label)
        try:
            yield parse(_as_bytes(item, depth), depth)  # what no JSON may say, no cell may
        except Problem as problem:
            yield Problem(problem.code, f"line {records.line}: {problem.detail}")


def _as_bytes(item: Any, depth: int) -> bytes:
    """An item as JSON; the dots in the names of columns may nest it deeper than any can be written."""
    try:
        return as_json(item).encode()
    except RecursionError:
        raise too_deep(depth) from None
