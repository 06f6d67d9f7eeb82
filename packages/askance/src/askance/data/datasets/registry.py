"""The table of data sets: what each one is, where it comes from, and how to tell that it is the right one.

The table itself is ``registry.toml``, to be read by people. Here it becomes :class:`Entry` objects.
"""

from __future__ import annotations

import difflib
import functools
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from askance.errors import InvalidParameter

TABLE = Path(__file__).with_name("registry.toml")
KINDS = ("sparse", "dense", "text", "task")


@dataclass(frozen=True)
class RemoteFile:
    """A file on a server."""

    url: str
    checksum: str = ""
    """``sha256:...`` or ``md5:...``, where somebody has published one."""
    called: str = ""
    """The name to save it under, where the address does not tell."""

    @property
    def file_name(self) -> str:
        """What the file is called."""
        return self.called or self.url.rsplit("/", 1)[-1].replace("+", "_")


@dataclass(frozen=True)
class Entry:
    """One data set of the registry."""

    name: str
    kind: str
    """``sparse``, ``dense``, ``text``, or ``task`` for one made of another."""
    rows: int
    columns: int
    """0 for texts."""
    classes: int
    source: str
    """What it is, in words."""
    page: str
    """Where a person can read about it and get it."""
    licence: str
    order: str = ""
    """Whether the rows are sorted by class, mixed, or in the order of time."""
    papers: tuple[int, ...] = ()
    """The papers that use it."""
    note: str = ""
    counts: tuple[int, ...] = ()
    """Rows of each class, classes sorted."""
    content: str = ""
    """Fingerprint of the content that the documented results were made with."""
    files: tuple[RemoteFile, ...] = ()
    format: str = ""
    """How to read ``files``; empty if there is no download that can be converted."""
    options: dict[str, Any] = field(default_factory=dict)
    """What else the reader of the format needs to know."""
    made_of: str = ""
    """For a task: the set it is made of."""

    @property
    def is_task(self) -> bool:
        """Whether it is made of another set when it is loaded."""
        return self.kind == "task"

    @property
    def parts(self) -> tuple[str, ...]:
        """For a task: the sets it is made of."""
        return tuple(self.options.get("parts", (self.made_of,))) if self.is_task else ()

    @property
    def can_be_fetched(self) -> bool:
        """Whether ``askance data get`` can download it."""
        return bool(self.files and self.format)

    @property
    def file_name(self) -> str:
        """What the file of this set is called, in a folder of data sets."""
        return f"{self.name}.jsonl.gz" if self.kind == "text" else f"{self.name}.npz"


@functools.cache
def entries() -> dict[str, Entry]:
    """All data sets, by name, in the order of the table."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return {name: _entry(name, row) for name, row in table.items()}


def _entry(name: str, row: dict[str, Any]) -> Entry:
    row = dict(row)
    files = tuple(RemoteFile(*(file if isinstance(file, list) else [file])) for file in row.pop("files", []))
    papers, counts = tuple(row.pop("papers", ())), tuple(row.pop("counts", ()))
    return Entry(name=name, files=files, papers=papers, counts=counts, **row)


def find(name: str) -> Entry:
    """The data set of this name.

    Examples
    --------
    >>> find("w8a").rows
    64700
    """
    known = entries()
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name.lower(), known, n=1)
    advice = f"; did you mean {close[0]!r}?" if close else "; 'askance data list' shows what there is."
    raise InvalidParameter(f"there is no data set {name!r}{advice}")
