"""Where events come from: files, folders and pipes in the usual formats, as batches of sparse rows."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from askance.stream.batch import Batch, Field, Stream
    from askance.stream.open import open_stream
    from askance.stream.vw_out import write_vw

__all__ = ["Batch", "Field", "Stream", "open_stream", "write_vw"]

_HOMES = dict.fromkeys(("Batch", "Field", "Stream"), "askance.stream.batch") | {
    "open_stream": "askance.stream.open",
    "write_vw": "askance.stream.vw_out",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'askance.stream' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value
