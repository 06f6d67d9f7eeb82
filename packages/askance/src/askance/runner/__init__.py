"""One algorithm on one stream: a file read from beginning to end, or a pipe that is answered line by line."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from askance.runner.model import Model
    from askance.runner.pipe import Pipe
    from askance.runner.run import Progress, RunResult, run_file

__all__ = ["Model", "Pipe", "Progress", "RunResult", "run_file"]

_LAZY_IMPORTS = dict.fromkeys(("RunResult", "Progress", "run_file"), "askance.runner.run") | {
    "Model": "askance.runner.model",
    "Pipe": "askance.runner.pipe",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY_IMPORTS:
        raise AttributeError(f"module 'askance.runner' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_LAZY_IMPORTS[name]), name)
    return value
