"""What people are told about the work: of the stream, and of each class, with examples; from ``[instructions]``.

Plain text, with a few marks that the page makes paragraphs, lists and links of (``pages/static/written.js``).
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from typing import Any

from askance.errors import InvalidParameter

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
