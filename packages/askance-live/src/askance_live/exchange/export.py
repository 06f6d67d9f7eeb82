"""Everything out, line by line, in constant memory; and events as texts, for lists and for other tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, takewhile
from typing import Any, NamedTuple

import msgspec

from askance.data.encoding.rows import flatten
from askance.spreadsheets import safe, unsafe
from askance_live.clock import iso
from askance_live.engine.label_space import LabelSpace
from askance_live.exchange.event_filter import ALL, Condition
from askance_live.exchange.received import as_json
from askance_live.questions.states import VALID, one_of
from askance_live.store.database import Session
from askance_live.store.schema import AnswerRow, EventRow, Exported, Form, exported_fields

PAGE = 500
PAGE_BYTES = 1_000_000  # of fields; one event more is taken, however large
SIZES = "SELECT e.seq, length(e.fields) FROM events e WHERE e.seq > ? AND {} ORDER BY e.seq LIMIT ?"
EVENT, ANSWER = dict(exported_fields(EventRow)), dict(exported_fields(AnswerRow))
EVENTS = (
    f"SELECT e.seq, (SELECT a.seq FROM answers a WHERE a.event = e.seq AND a.state IN {one_of(VALID)} "
    f"ORDER BY a.seq DESC LIMIT 1), {', '.join(f'e.{name}' for name in EVENT)} "
    "FROM events e WHERE e.seq > ? AND {} ORDER BY e.seq LIMIT ?"
)
ANSWERS = f"SELECT seq, {', '.join(ANSWER)} FROM answers WHERE seq IN ({{}})"
FORMS: dict[Form, Callable[[Any, LabelSpace], Any]] = {
    Form.AS_IT_IS: lambda value, labels: value,
    Form.JSON: lambda value, labels: None if value is None else msgspec.json.decode(value),
    Form.MOMENT: lambda value, labels: iso(value),
    Form.CLASS: lambda value, labels: labels.show(value),
    Form.BY_CLASS: lambda value, labels: dict(zip(labels.classes, msgspec.json.decode(value), strict=False)),
    Form.FLAG: lambda value, labels: bool(value),
}


class EventLine(NamedTuple):
    """An event of an export: its number, that of its valid answer, and the columns that are shown."""

    seq: int
    answer: int | None
    columns: tuple[Any, ...]


Values = tuple[Any, ...]


def rows(session: Session, after: int, which: Condition = ALL) -> tuple[list[EventLine], dict[int, Values]]:
    """A page of events, and the valid answers to them by their numbers."""
    sizes = accumulate(size for _, size in session.all(SIZES.format(which.sql), (after, *which.values, PAGE)))
    fitting = 1 + sum(1 for _ in takewhile(lambda size: size < PAGE_BYTES, sizes))
    found = session.all(EVENTS.format(which.sql), (after, *which.values, fitting))
    page = [EventLine(seq, answer, tuple(rest)) for seq, answer, *rest in found]
    numbers = [line.answer for line in page if line.answer is not None]
    return page, {seq: tuple(rest) for seq, *rest in session.select_in(ANSWERS, numbers)}


class Shape:
    """How the columns of a table stand in an object, by what the schema says of them."""

    def __init__(self, shown: dict[str, Exported]) -> None:
        self._columns = [(*where.path.rpartition(".")[::2], FORMS[where.form]) for where in shown.values()]
        self.nothing: dict[str, Any] = dict.fromkeys(group or name for group, name, _ in self._columns)
        """What stands there where there is no such row."""

    def fill(self, values: Values, labels: LabelSpace) -> dict[str, Any]:
        """The object with these values of the columns."""
        found: dict[str, Any] = {}
        for (group, name, show), value in zip(self._columns, values, strict=True):
            (found.setdefault(group, {}) if group else found)[name] = show(value, labels)
        return found


OF_EVENT, OF_ANSWER = Shape(EVENT), Shape(ANSWER)


def as_objects(page: list[EventLine], answers: dict[int, Values], labels: LabelSpace) -> Iterator[dict[str, Any]]:
    """Events as objects; what /v1/import reads."""
    for line in page:
        event = OF_EVENT.fill(line.columns, labels)
        if not event["ask"]["id"]:
            event["ask"] = None
        given = answers.get(line.answer) if line.answer is not None else None
        yield event | (OF_ANSWER.nothing if given is None else OF_ANSWER.fill(given, labels))


def as_text(label: Any) -> str | None:
    """A label in one cell: a set as JSON, which ``LabelSets.read`` reads."""
    return label if label is None or isinstance(label, str) else as_json(label)


def chance_of(prediction: dict[str, Any], labels: LabelSpace) -> float:
    """The probability of what was predicted."""
    return labels.chance(labels.read(prediction["label"]), list(prediction["probabilities"].values()))


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
    for (fields,) in session.stream("SELECT fields FROM events ORDER BY seq LIMIT 1000"):
        names.update(dict.fromkeys(flatten(msgspec.json.decode(fields))))
    return list(names)


def as_csv(page: list[EventLine], answers: dict[int, Values], labels: LabelSpace, names: list[str], head: bool) -> str:
    """Events as lines of CSV, which ``as_item_again`` reads.

    Fields that the first events did not have are in a last column, ``other``, as JSON; so is, in an array, the whole
    event where columns cannot say it: names with dots, lists of objects, what is empty."""
    lines = [_line((*CSV_COLUMNS, *(f"fields.{name}" for name in names), "other"))] if head else []
    places = {name: place for place, name in enumerate(names)}
    for item in as_objects(page, answers, labels):
        flat = flatten(item["fields"])
        other: Any = {name: value for name, value in flat.items() if name not in places}
        if nest(_without_nothing(flat)) != item["fields"]:
            other = [item["fields"]]
        prediction, answer = item["prediction"], item["answer"]
        first = [
            item["id"], item["seq"], _cell(item["time"]), item["received"], as_text(item["label"]),
            answer and answer["annotator"], as_text(prediction["label"]), chance_of(prediction, labels),
            prediction["model"], int(item["ask"] is not None), int(bool(item["ask"] and item["ask"]["audit"])),
        ]  # fmt: skip
        cells: list[Any] = [None] * len(names)  # of many fields, most are empty
        for name, value in flat.items():
            if name in places:
                cells[places[name]] = _cell(value)
        lines.append(_line((*first, *cells, as_json(other) if other else None)))
    return "".join(lines)


def _line(cells: Iterable[Any]) -> str:
    """A line of CSV. Not every version of ``csv.writer`` puts a lone carriage return in quotes, which readers need."""
    return ",".join(["" if cell is None else _quoted(str(safe(cell))) for cell in cells]) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


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
        "fields": other[0] if isinstance(other, list) and other else nest(flat),
    }


def nest(flat: dict[str, Any]) -> dict[str, Any]:
    """Fields by their full names, each inside those before its dots.

    >>> nest({"sender.country": "fr", "size": 3})
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


_QUOTED = re.compile(r'[",\r\n]')


# --- events as texts -----------------------------------------------------------------------------------


LONGEST_SUMMARY = 120
MOST_FIELDS = 8


def summary(fields: dict[str, Any]) -> str:
    """An event in a line: its longest text, or its first fields."""
    longest = _longest_text(fields) or ", ".join(_named(fields)[:MOST_FIELDS])
    return longest if len(longest) <= LONGEST_SUMMARY else longest[: LONGEST_SUMMARY - 1] + "…"


def text_of(fields: dict[str, Any]) -> str:
    """An event as a text: the one that it has, if it has one that is more than a word or two, or all fields."""
    return _longest_text(fields) if len(fields) == 1 and _longest_text(fields) else "\n".join(_named(fields))


def _longest_text(fields: dict[str, Any]) -> str:
    longest = max((value for value in fields.values() if isinstance(value, str)), key=len, default="")
    return longest if len(longest.split()) >= 3 else ""


def _named(fields: dict[str, Any]) -> list[str]:
    return [f"{name}: {_plain(value)}" for name, value in fields.items()]


def _plain(value: Any) -> str:
    """A value as the pages show it: JSON, but a text without its quotes."""
    return (value or "(empty)") if isinstance(value, str) else msgspec.json.encode(value).decode()
