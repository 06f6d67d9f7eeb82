"""The requests the service answers, a file per subject."""

from __future__ import annotations

import importlib

SUBJECTS = ("health", "events", "asks", "answers", "stats", "data", "admin", "pages")


def load() -> None:
    """Make every route known."""
    for name in SUBJECTS:
        importlib.import_module(f"askance.live.routes.{name}")
