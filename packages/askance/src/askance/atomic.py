"""Files that appear under their name only once they are complete: written beside their place, then renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_unfinished: set[str] = set()


@contextmanager
def atomic_write(target: Path) -> Iterator[str]:
    """The name of a new, empty file beside ``target``, to be filled.

    It takes the target's place if the block ends well, and is gone if it does not."""
    name = str(target.with_name(f".{target.name}.{os.urandom(6).hex()}"))
    _unfinished.add(name)  # before it is there: a signal may come at any time
    try:
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield name
        os.replace(name, target)
    finally:
        with suppress(OSError):
            os.unlink(name)
        _unfinished.discard(name)


def write_text(target: Path, text: str) -> None:
    """Write a file of text in UTF-8, complete or not at all."""
    with atomic_write(target) as name:
        Path(name).write_text(text, encoding="utf-8")


def remove_unfinished() -> None:
    """Remove the files that are being written, for a process that ends where it stands."""
    for name in list(_unfinished):
        with suppress(OSError):
            os.unlink(name)
