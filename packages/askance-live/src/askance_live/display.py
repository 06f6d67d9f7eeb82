"""What the label page shows: ``[display]`` and ``[instructions]`` of the settings.

``[display]`` names the fields that are links, images, sound or rich text. The service itself fetches nothing: the
annotator's browser does, and only from the hosts that are named.

``[instructions]`` explains the stream and each class, with examples. It is plain text, with a few marks that the page
makes paragraphs, lists and links of (``pages/static/written.js``).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from askance.errors import InvalidParameter

HOST = re.compile(r"https?://[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?(?::[0-9]{1,5})?")
FETCHED = {"images": "image_hosts", "audio": "audio_hosts"}
"""What a browser fetches, and from where."""


@dataclass(frozen=True)
class Display:
    """Names of fields, and hosts such as ``https://images.example.org``."""

    links: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    image_hosts: tuple[str, ...] = ()
    audio: tuple[str, ...] = ()
    audio_hosts: tuple[str, ...] = ()
    rich_text: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """What the page needs of it."""
        hosts = {name: [host.lower() for host in getattr(self, name)] for name in FETCHED.values()}
        return {**asdict(self), **hosts}


def read_display(table: dict[str, Any]) -> Display:
    """``[display]`` of the settings, checked."""
    known = sorted(field.name for field in fields(Display))
    if unknown := [name for name in table if name not in known]:
        raise InvalidParameter(f"there is no setting display.{unknown[0]}; there are: {', '.join(known)}.")
    display = Display(**{name: _texts(table[name], name) for name in table})
    for kind, hosts in FETCHED.items():
        named = getattr(display, hosts)
        for host in named:
            if not HOST.fullmatch(host):
                raise InvalidParameter(
                    f"display.{hosts} must name hosts such as 'https://{kind}.example.org', without a path, "
                    f"got {host!r}."
                )
        if getattr(display, kind) and not named:
            raise InvalidParameter(
                f"display.{kind} needs display.{hosts}, the hosts from which {kind} may come, such as "
                f'["https://{kind}.example.org"].'
            )
    return display


def _texts(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise InvalidParameter(f"display.{name} must be a list of texts, got {value!r}.")
    return tuple(value)


# --- instructions --------------------------------------------------------------------------------------


LONGEST_TEXT = 20_000
LONGEST_EXAMPLE, MOST_EXAMPLES = 2_000, 20


@dataclass(frozen=True)
class ClassInstructions:
    """When a class is right."""

    text: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Instructions:
    """All of them; false where there are none."""

    text: str = ""
    classes: dict[str, ClassInstructions] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.text or self.classes)

    @property
    def digest(self) -> str:
        """Another one for other instructions, so that a page knows whether it has shown these."""
        return hashlib.blake2b(repr(asdict(self)).encode(), digest_size=8).hexdigest()


def read_instructions(table: dict[str, Any], classes: list[str]) -> Instructions:
    """``[instructions]`` of the settings, checked."""
    _refuse_unknown(table, {"text", "classes"}, "instructions")
    given = table.get("classes", {})
    if not isinstance(given, dict):
        raise InvalidParameter(f"instructions.classes must be a table, got {given!r}.")
    for label in given:
        if label not in classes:
            raise InvalidParameter(
                f"instructions.classes has {label!r}, which is no class; there are: {', '.join(classes)}."
            )
    found = {label: _of_class(given[label], f"instructions.classes.{label}") for label in classes if label in given}
    return Instructions(_text(table.get("text", ""), "instructions.text"), found)


def _of_class(table: Any, name: str) -> ClassInstructions:
    if not isinstance(table, dict):
        raise InvalidParameter(f"{name} must be a table, [{name}], with text and examples, got {table!r}.")
    _refuse_unknown(table, {"text", "examples"}, name)
    examples = table.get("examples", [])
    if not isinstance(examples, list) or len(examples) > MOST_EXAMPLES:
        raise InvalidParameter(f"{name}.examples must be a list of at most {MOST_EXAMPLES} texts, got {examples!r}.")
    checked = tuple(_text(example, f"{name}.examples", LONGEST_EXAMPLE) for example in examples)
    return ClassInstructions(_text(table.get("text", ""), f"{name}.text"), checked)


def _text(value: Any, name: str, longest: int = LONGEST_TEXT) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise InvalidParameter(f"{name} must be a text of at most {longest:,} characters, got {str(value)[:60]!r}.")
    return value.strip()


def _refuse_unknown(table: dict[str, Any], known: set[str], name: str) -> None:
    if unknown := [key for key in table if key not in known]:
        raise InvalidParameter(f"there is no setting {name}.{unknown[0]}; there are: {', '.join(sorted(known))}.")
