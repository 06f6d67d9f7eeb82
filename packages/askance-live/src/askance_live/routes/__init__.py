"""The requests the service answers, a file per subject: every file here is loaded."""

from __future__ import annotations

import pkgutil
from importlib import import_module


def load() -> None:
    """Make every route known."""
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        import_module(module.name)
