"""One algorithm on one stream: a file played from beginning to end, or a pipe that is answered line by line."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from askance.playing.model import Model
    from askance.playing.pipe import Pipe
    from askance.playing.run import Progress, RunResult, play

__all__ = ["Model", "Pipe", "Progress", "RunResult", "play"]

_HOMES = dict.fromkeys(("RunResult", "Progress", "play"), "askance.playing.run") | {
    "Model": "askance.playing.model",
    "Pipe": "askance.playing.pipe",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'askance.playing' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value
