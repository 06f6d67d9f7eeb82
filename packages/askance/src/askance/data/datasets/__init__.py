"""Public data sets by name: a registry, downloads with checksums, a cache, and the tasks the papers made of them.

``load_dataset("w8a")`` looks into the folder ``ASKANCE_DATA`` names, then into the cache; ``askance data get w8a``
fills the cache from the official source. What a name needs is imported when the name is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from askance.data.datasets.registry import Entry, entries, find

if TYPE_CHECKING:
    from askance.data.datasets.fetch import get
    from askance.data.datasets.load import Dataset, available, load_dataset

__all__ = ["Dataset", "Entry", "available", "entries", "find", "get", "load_dataset"]

_HOMES = {"Dataset": "load", "available": "load", "load_dataset": "load", "get": "fetch"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'askance.data.datasets' has no attribute {name!r}")
    return getattr(importlib.import_module(f"askance.data.datasets.{_HOMES[name]}"), name)
