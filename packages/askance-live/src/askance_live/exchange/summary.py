"""Events as texts, for lists and for other tools."""

from __future__ import annotations

from typing import Any

import msgspec

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
