"""Who is asking and what they may do: tokens, people, sessions, a company's login."""

from __future__ import annotations

from typing import Final

ROLES: Final[dict[str, tuple[str, ...]]] = {
    "viewer": ("read",),
    "annotator": ("label", "read"),
    "lead": ("label", "review", "read"),
    "admin": ("admin",),
}
"""The roles, the one that may do most last, and the scopes of each."""
