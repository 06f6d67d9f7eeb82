"""What requests may say, declared once as types: from these a value is read, refused in a sentence, and described.

A body is a ``RequestBody``, what follows the question mark a ``QueryString``, each field with its limits:

    class Skip(RequestBody):
        token: LeaseToken
        reason: SkipReason

``read`` makes one of parsed JSON. Whatever is wrong, the sentence is made here, in the words that docs/http.md has.
Responses are TypedDicts beside the routes that give them: mypy checks them, and /openapi.json has them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any, ClassVar, Generic, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta

from askance_live.problems import Problem

LONGEST_NAME = 200
SHOWN = 40  # characters of a value in a sentence
SHOWN_OF_NAME = 100
REFERENCE = "#/components/schemas/{name}"

Schema = dict[str, Any]
Shape = TypeVar("Shape")
Value = TypeVar("Value")


class RequestBody(msgspec.Struct, forbid_unknown_fields=True):
    """A JSON object that a client sends; one with a name that is not declared is refused."""

    example: ClassVar[str] = "{}"
    hint: ClassVar[str] = ""
    """What to do with a name that is not declared."""
    identifier: ClassVar[str] = ""
    """The field by which an item among several is called, a ``Name``."""


class OtherBody(msgspec.Struct):
    """A JSON object that another program sends in its own way; names that are not declared are left alone."""

    example: ClassVar[str] = "{}"
    hint: ClassVar[str] = ""
    identifier: ClassVar[str] = ""


class QueryString(msgspec.Struct):
    """What follows the question mark; names that are not declared are left alone."""


NEWEST = 10**15 - 1
"""The cursor of a first page that begins with the newest: beyond every number there can be."""
Cursor = Annotated[
    str, Meta(pattern=r"^[0-9]{0,15}$", title="the 'next' of the page before", description="Where the page begins.")
]


class Paging(QueryString):
    """Which page of a list; how long it is, each list says."""

    cursor: Cursor = ""


class NoBody(RequestBody):
    """The body of a request that needs none."""


class Checked(Generic[Value]):
    """A value that takes more than limits: ``check`` gives it or raises ValueError, ``schema`` describes it."""

    schema: ClassVar[Schema]

    def __init__(self, value: Value) -> None:
        self.value = value

    @staticmethod
    def check(value: Any) -> Any:
        raise NotImplementedError


class Name(Checked[str]):
    """An identifier that a client gave: a text, or a whole number, which is the same as its digits."""

    schema: ClassVar[Schema] = {
        "title": f"a text of 1 to {LONGEST_NAME} printable characters, or a whole number",
        "anyOf": [{"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}, {"type": "integer"}],
    }

    @staticmethod
    def check(value: Any) -> str:
        text = str(value) if value.__class__ is int else value
        if not isinstance(text, str) or not 1 <= len(text) <= LONGEST_NAME or not text.isprintable():
            raise ValueError
        return text


LeaseToken = Annotated[
    str,
    Meta(pattern=r"^[0-9]{1,18}\.[0-9]{1,18}$(?!\n)", title="the token that came with the ask, such as '17.1'"),
]
QuestionNumber = Annotated[
    int, Meta(ge=0, le=10**15 - 1, description="The ask's number.", extra={"code": "unknown_ask"})
]
ClassName = Annotated[
    str | list[str] | dict[str, bool],
    Meta(
        title="one of the classes, as a text, or in a stream of label sets a list of them or an object of true and "
        "false",
        description="In a stream of label sets: a list of the labels that the event has, all others being answered "
        "with no; or an object with true or false for some, the others staying unknown.",
        extra={"code": "unknown_label"},
    ),
]


# --- a value, or what is wrong with it -------------------------------------------------------------------


def read(kind: type[Shape], value: Any, strict: bool = True) -> Shape:
    """A value of a declared type from parsed JSON, or (not ``strict``) from texts."""
    try:
        return msgspec.convert(value, kind, strict=strict, dec_hook=_read_checked)
    except msgspec.ValidationError:
        raise _explain(kind, value, strict) from None


def read_part(name: str, kind: Any, text: str) -> Any:
    """What a path has in the place of a name."""
    try:
        return msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError:
        raise Problem(_code(kind), f"there is no {name} {text[:SHOWN]!r}.") from None


def _read_checked(kind: Any, value: Any) -> Any:
    return kind(kind.check(value))


def _explain(kind: Any, given: Any, strict: bool) -> Problem:
    """Why a value is none of a declared type: the first reason there is."""
    if not isinstance(given, dict):
        return Problem("invalid", f"expected {such_as(kind)}, got {_show(given)}.")
    fields = msgspec.structs.fields(kind)
    names = [field.name for field in fields]
    if (
        kind.__struct_config__.forbid_unknown_fields
        and (unknown := next((name for name in given if name not in names), None)) is not None
    ):
        sentence = f"there is no {unknown[:SHOWN_OF_NAME]!r} here; known are: {', '.join(names) or 'none'}{kind.hint}."
        return Problem("invalid", sentence, field=unknown[:SHOWN_OF_NAME])
    for field in fields:
        words = in_words(schema_of(field.type))
        if field.name not in given:
            if field.required:
                return Problem(_code(field.type), f"{field.name!r} is missing; it must be {words}.", field=field.name)
            continue
        try:
            msgspec.convert(given[field.name], field.type, strict=strict, dec_hook=_read_checked)
        except msgspec.ValidationError:
            where, wanted, value = _find_wrong(repr(field.name), field.type, given[field.name], strict)
            sentence = f"{where} must be {in_words(schema_of(wanted))}; got {_show(value)}."
            return Problem(_code(field.type), sentence, field=field.name)
    return Problem("invalid", f"expected {such_as(kind)}.")


def _find_wrong(where: str, kind: Any, given: Any, strict: bool) -> tuple[str, Any, Any]:
    """Which part of a value is wrong, in words, its type, and what it is: the first bad entry of a list or an object of
    entries that are not too many, or all of it."""
    bare = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    origin, inner = get_origin(bare), get_args(bare)
    entries: list[tuple[str, Any, Any]] = []
    if origin is list and isinstance(given, list):
        entries = [(f"entry {place:,} of {where}", inner[0], value) for place, value in enumerate(given, 1)]
    elif origin is dict and isinstance(given, dict):
        for name, value in given.items():
            entries.append((f"each name in {where}", inner[0], name))
            entries.append((f"{name[:SHOWN_OF_NAME]!r} in {where}", inner[1], value))
    limits = schema_of(kind)
    most = limits.get("maxItems") or limits.get("maxProperties") or math.inf
    for entry in entries if entries and len(given) <= most else ():
        try:
            msgspec.convert(entry[2], entry[1], strict=strict, dec_hook=_read_checked)
        except msgspec.ValidationError:
            return _find_wrong(*entry, strict)
    return where, kind, given


def such_as(kind: Any) -> str:
    """A body that would do, in words."""
    return f"an object such as {kind.example}"


def _code(kind: Any) -> str:
    """The code of the problem with a value of this type."""
    return next((meta.extra["code"] for meta in getattr(kind, "__metadata__", ()) if meta.extra), "invalid")


def _show(value: Any) -> str:
    if isinstance(value, dict | list):
        of = f" of {len(value):,}" if value or isinstance(value, list) else ""
        return ("an object" if isinstance(value, dict) else "a list") + of
    if isinstance(value, str):
        return repr(value) if len(value) <= SHOWN else f"a text of {len(value):,} characters"
    return json.dumps(value)[:SHOWN]


# --- types as JSON Schema, and in words ------------------------------------------------------------------


def describe(kinds: Iterable[Any]) -> tuple[list[Schema], dict[str, Schema]]:
    """The JSON Schemas of some types, and by their names those that they refer to; objects have no other names."""
    found, components = msgspec.json.schema_components(kinds, schema_hook=_schema, ref_template=REFERENCE)
    words = {name: shape["enum"] for name, shape in components.items() if "enum" in shape}
    enums = {REFERENCE.format(name=name): {"enum": listed} for name, listed in words.items()}
    shapes = {name: _inline(shape, enums) for name, shape in components.items() if "enum" not in shape}
    of_others = {kind.__name__ for kind in OtherBody.__subclasses__()}
    for name, shape in shapes.items():
        shape.setdefault("additionalProperties", name in of_others)
    return [_inline(schema, enums) for schema in found], shapes


def _inline(schema: Any, enums: dict[str, Schema]) -> Any:
    """A schema with the words of an enum in the place of its name."""
    if isinstance(schema, list):
        return [_inline(part, enums) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("$ref") in enums:
        return enums[schema["$ref"]]
    return {key: _inline(part, enums) for key, part in schema.items()}


@cache
def schema_of(kind: Any) -> Schema:
    """The JSON Schema of a type that refers to no other."""
    return describe([kind])[0][0]


def _schema(kind: Any) -> Schema:
    return dict(kind.schema)


NULL = {"type": "null"}
_NAMES = {
    "boolean": "true or false", "number": "a number", "object": "an object", "integer": "a whole number",
    "string": "a text", "array": "a list",
}  # fmt: skip


def in_words(schema: Schema) -> str:
    """What a value may be, in a few words; null is as good as nothing.

    >>> in_words({"anyOf": [{"type": "integer", "minimum": 0, "maximum": 1000}, {"type": "null"}]})
    'a whole number from 0 to 1,000'
    """
    if "title" in schema:
        return str(schema["title"])
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    if "anyOf" in schema:
        return ", or ".join(in_words(part) for part in schema["anyOf"] if part != NULL)
    words = _NAMES[schema["type"]]
    if "maximum" in schema:
        words += f" from {schema['minimum']:,} to {schema['maximum']:,}"
    if "maxLength" in schema:
        least = schema.get("minLength", 0)
        words += f" of {f'{least:,} to' if least else 'at most'} {schema['maxLength']:,} characters"
    if "maxItems" in schema:
        words += f" of at most {schema['maxItems']:,}, each {in_words(schema['items'])}"
    if "maxProperties" in schema:
        words += f" of at most {schema['maxProperties']:,}, each {in_words(schema['additionalProperties'])}"
    return words
