"""Public data sets by name: a registry, downloads with checksums, a cache, and the tasks the papers made of them.

``load_dataset("w8a")`` looks into the folder ``ASKANCE_DATA`` names, then into the cache; ``askance data get w8a``
fills the cache from the official source.
"""

from askance.datasets.fetch import get
from askance.datasets.load import Dataset, available, load_dataset
from askance.datasets.registry import Entry, entries, find

__all__ = ["Dataset", "Entry", "available", "entries", "find", "get", "load_dataset"]
