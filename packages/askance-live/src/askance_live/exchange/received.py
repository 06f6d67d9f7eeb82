"""Events as they come in requests, lines and files: read, checked, and known again by their digest."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple
from uuid import uuid4

import msgspec
from msgspec import Meta

from askance.data.encoding.kinds import seconds_in
from askance_live.http.schemas import Checked, Name, RequestBody, read
from askance_live.problems import Problem
from askance_live.store.schema import QuarantineRow

LONGEST_TIME = 64
FIRST_MOMENT, LAST_MOMENT = -62_135_596_800.0, 253_402_300_800.0
LEAST_WHOLE, GREATEST_WHOLE = -(2**63), 2**64 - 1
GROUP_EVENTS = 256  # events in one transaction: more would keep people waiting for their next question
GROUP_BYTES = 256_000  # of events in one transaction, unless one has more: encoding takes time by their bytes
PLAIN = {str, float, bool, type(None)}
"""Types of values without whole numbers in them."""
NESTED = {dict, list}
_plain, _canonical = msgspec.json.Encoder(), msgspec.json.Encoder(order="sorted")
_LONG_NUMBER = re.compile("[0-9]{19}")


class Recorded(NamedTuple):
    """What was predicted of an event of the log when it came, by a model of other classes or kinds of fields."""

    predicted: int
    probabilities: list[float]
    asked: bool
    probability: float
    audit: bool


class Incoming(msgspec.Struct):
    """An event to decide on."""

    fields: dict[str, Any]
    received: float = 0.0
    """When it came: the time of the transaction that stores it."""
    was_asked: bool | None = None
    """For one from the log: whether it was asked about. Another model, or another version of this one, may decide
    otherwise when the log is played again, but budgets go by what people were asked."""
    widened: Mapping[str, str] | None = None
    """For one from the log: the settled fields that got a wider kind with it, and which."""
    is_repeated: bool = False
    """Whether it was refused before, so that what is wrong with it is no news."""
    recorded: Recorded | None = None
    """For one from the log, before classes or kinds changed: what was predicted then, by which the model is judged."""
    stored_scores: str = ""
    """For one from the log: what was stored as its scores."""


class ReceivedEvent(Incoming, kw_only=True):
    """An event as a client sent it, checked but for what only the model can tell."""

    id: str
    digest: bytes
    text: str
    """The fields as JSON."""
    time: str | None

    @classmethod
    def of(cls, row: QuarantineRow) -> ReceivedEvent:
        """An event that was kept; what was wrong with it is known."""
        return cls(
            id=row.id, digest=bytes(row.digest), fields=msgspec.json.decode(row.fields), text=row.fields, time=row.time,
            is_repeated=True,
        )  # fmt: skip


def as_json(value: Any) -> str:
    """Compact JSON that reads back as the same values, in the same order."""
    try:
        return _plain.encode(value).decode()
    except (OverflowError, ValueError):  # whole numbers beyond 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def digest_of(value: Any) -> bytes:
    """A hash that is the same for the same JSON: the order of names and how a number is written do not matter.

    >>> digest_of({"a": 16, "b": [10, 0.5]}) == digest_of({"b": [1e1, 5e-1], "a": 16.0})
    True
    >>> digest_of({"a": 1}) == digest_of({"a": True})
    False
    """
    value = _by_value(value)
    try:
        canonical = _canonical.encode(value)
    except (OverflowError, ValueError):
        canonical = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    return hashlib.blake2b(canonical, digest_size=16).digest()


def _by_value(value: Any) -> Any:
    """The same JSON with every whole number as such: 16.0 and 1.6e1 are 16. Beyond 64 bits, where no whole numbers are
    taken, a number stays as it is: 1e300 would have 301 digits."""
    kind = value.__class__
    if kind is float:
        return int(value) if _is_whole(value) else value
    if kind is dict:
        if NESTED.isdisjoint(map(type, value.values())):
            whole = {name: int(part) for name, part in value.items() if part.__class__ is float and _is_whole(part)}
            return {**value, **whole} if whole else value
        return {name: _by_value(part) for name, part in value.items()}
    if kind is list:
        return [_by_value(part) for part in value]
    return value


def _is_whole(value: float) -> bool:
    return value.is_integer() and LEAST_WHOLE <= value <= GREATEST_WHOLE


class Moment(Checked[str | float]):
    """When an event happened, as the sender says: any moment will do, for nothing here goes by it."""

    schema: ClassVar[dict[str, Any]] = {
        "title": "ISO 8601 such as '2026-05-01T10:00:00Z', or seconds or milliseconds since 1970, in the years 1 to "
        "9999",
        "anyOf": [{"type": "string", "maxLength": LONGEST_TIME}, {"type": "number"}],
    }

    @staticmethod
    def check(value: Any) -> str | float:
        is_too_long = isinstance(value, str) and len(value) > LONGEST_TIME
        try:
            if is_too_long or not FIRST_MOMENT <= seconds_in(value) < LAST_MOMENT:
                raise ValueError
        except OverflowError:
            raise ValueError from None
        return value


class NewEvent(RequestBody):
    """An event as a client sends it."""

    example = '{"id": "m-1", "fields": {"text": "hello"}}'
    hint = "; what an event says goes into 'fields'"
    identifier = "id"

    fields: Annotated[dict[str, Any], Meta(description="What the event says: nested objects, texts, numbers, lists.")]
    id: Annotated[
        Name | None, Meta(description="The key by which a repetition is known; made up where it is missing.")
    ] = None
    time: Annotated[
        Moment | None,
        Meta(
            description="When it happened, as the sender says; a text without an offset is in UTC. Kept and shown as "
            "it is; nothing goes by it: budgets and the queue have the service's own clock."
        ),
    ] = None


def read_event(item: Any, event_bytes: int) -> ReceivedEvent:
    """An event from parsed JSON: {"id"?, "fields", "time"?}."""
    return check_event(read(NewEvent, item), event_bytes)


def check_event(new: NewEvent, event_bytes: int) -> ReceivedEvent:
    """An event that is small enough and has only numbers that everybody can read."""
    text = as_json(new.fields)
    size = len(text) if text.isascii() else len(text.encode())
    if size > event_bytes:
        raise Problem("event_too_large", f"the event has {size:,} bytes; at most {event_bytes:,} are taken.")
    if not PLAIN.issuperset(map(type, new.fields.values())) and _LONG_NUMBER.search(text):
        _check_whole_numbers(new.fields)
    identifier = new.id.value if new.id else uuid4().hex
    time = new.time.value if new.time else None
    return ReceivedEvent(
        id=identifier, digest=digest_of([new.fields, time]), fields=new.fields, text=text,
        time=None if time is None else as_json(time),
    )  # fmt: skip


def in_parts(events: Sequence[ReceivedEvent]) -> Iterator[list[ReceivedEvent]]:
    """Events in groups that one transaction takes, in their order."""
    part: list[ReceivedEvent] = []
    size = 0
    for event in events:
        if part and (len(part) == GROUP_EVENTS or size + len(event.text) > GROUP_BYTES):
            yield part
            part, size = [], 0
        part.append(event)
        size += len(event.text)
    if part:
        yield part


def _check_whole_numbers(fields: dict[str, Any]) -> None:
    """Refuse whole numbers beyond 64 bits, which few readers of JSON keep as they are."""
    level: list[tuple[tuple[Any, ...], Any]] = [((name,), value) for name, value in fields.items()]
    while level:
        inner: list[tuple[tuple[Any, ...], Any]] = []
        for path, value in level:
            if value.__class__ is int and not LEAST_WHOLE <= value <= GREATEST_WHOLE:
                name = ".".join(map(str, path))
                raise Problem(
                    "invalid",
                    f"field {name!r}: whole numbers have at most 64 bits, got {str(value)[:40]}; send it as text, or "
                    "with a decimal point.",
                    field=name,
                )
            if value.__class__ is dict:
                inner += [((*path, key), part) for key, part in value.items()]
            elif value.__class__ is list:
                inner += [((*path, place), part) for place, part in enumerate(value)]
        level = inner
