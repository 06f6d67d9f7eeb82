"""Refuse outputs that would overwrite an input, or each other."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from askance.errors import InvalidParameter

Named = tuple[str, str | os.PathLike[str] | None]
"""What the user calls a file, and its path; None if it was not given."""


def refuse_overwrites(outputs: Iterable[Named], inputs: Iterable[Named] = ()) -> None:
    """Raise if two outputs are the same file, or an output is an input.

    >>> refuse_overwrites([("--trace", "a.csv"), ("--save", "./a.csv")])
    Traceback (most recent call last):
    askance.errors.InvalidParameter: --trace and --save are the same file, 'a.csv'; give one of them another name.
    """
    written = [(name, Path(path)) for name, path in outputs if path is not None]
    read = [(name, Path(path)) for name, path in inputs if path is not None]
    for place, (name, path) in enumerate(written):
        for other, taken in written[:place]:
            if is_same_file(path, taken):
                both = f"two {name} options" if other == name else f"{other} and {name}"
                raise InvalidParameter(f"{both} are the same file, {str(taken)!r}; give one of them another name.")
        for other, kept in read:
            if is_same_file(path, kept):
                raise InvalidParameter(f"{name} would overwrite {str(path)!r}, which is {other}; give another name.")


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths are the same file, links followed, whether or not it exists."""
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them does not exist yet
        return os.path.realpath(one) == os.path.realpath(other)


def files_read(source: str) -> list[Named]:
    """The files that a source on the command line names: the file itself, those in a folder, or a data set's."""
    if source == "-":
        return [("the standard input", path) for path in _standard_input()]
    path = Path(source)
    if path.is_dir():
        return [(f"in the folder {source!r} that is read", member) for member in sorted(path.iterdir())]
    if path.exists():
        return [("the FILE that is read", path)]
    from askance.data.datasets import find, folders

    try:
        entry = find(source.partition(":")[0])
    except InvalidParameter:  # opening it will raise
        return []
    return [("the data set that is read", None if entry.is_task else folders.path_of(entry))]


def _standard_input() -> list[Path]:
    """The file that the standard input comes from, if the system knows it."""
    try:
        path = Path(f"/dev/fd/{sys.stdin.fileno()}")
    except (OSError, ValueError, AttributeError):
        return []
    return [path] if path.is_file() else []
