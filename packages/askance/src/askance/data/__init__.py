"""Where events come from and how they become rows: formats, encoding, data sets, generated streams.

``formats`` reads files, folders and pipes as batches of sparse rows. ``encoding`` turns raw fields into such rows.
``datasets`` knows public data sets by name. ``generators`` makes streams.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from askance.data.datasets.load import load_dataset
    from askance.data.formats import open_stream
    from askance.data.formats.stream import Batch, Field, Stream
    from askance.data.formats.vw import write_vw

__all__ = ["Batch", "Field", "Stream", "load_dataset", "open_stream", "write_vw"]

_LAZY_IMPORTS = dict.fromkeys(("Batch", "Field", "Stream"), "formats.stream") | {
    "load_dataset": "datasets.load",
    "open_stream": "formats",
    "write_vw": "formats.vw",
}


if not TYPE_CHECKING:  # a checker would take any misspelt name

    def __getattr__(name: str) -> Any:
        if name not in _LAZY_IMPORTS:
            raise AttributeError(f"module 'askance.data' has no attribute {name!r}")
        value = globals()[name] = getattr(importlib.import_module(f"askance.data.{_LAZY_IMPORTS[name]}"), name)
        return value
