"""Open what a user names: a file, a folder, a pipe, or a data set of the registry.

Outputs that would overwrite an input, or each other, are refused.
"""

from __future__ import annotations

import difflib
import glob
import io
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from askance.data import Stream, open_stream
from askance.data.formats.read_options import ReadOptions, change
from askance.errors import InvalidInput, InvalidParameter

Named = tuple[str, str | os.PathLike[str] | None]
"""What the user calls a file, and its path; None if it was not given."""


def open_source(source: Any, options: ReadOptions | None = None, **changes: Any) -> Stream:
    """``open_stream``, also for the name of a data set. The error for an unknown field suggests similar names."""
    source, options = find_by_name(source), change(options or ReadOptions(), **changes)
    try:
        return open_stream(source, options)
    except InvalidParameter as error:
        wanted = options.label
        if not isinstance(wanted, str) or not isinstance(source, str | os.PathLike) or str(source) == "-":
            raise
        raise InvalidParameter(f"{error}{_nearest_field(source, options, wanted)}") from None


def expand_sources(sources: Sequence[str]) -> str | list[str]:
    """What the words of a command line name: a source, or several files and folders, patterns replaced by the files
    that match them, in the order of their names."""
    found: list[str] = []
    for source in sources:
        if not glob.has_magic(source) or os.path.exists(source):
            found.append(source)
        elif matching := sorted(glob.glob(source)):
            found += matching
        else:
            raise InvalidInput(f"there is no file that matches {source!r}.")
    if len(found) == 1:
        return found[0]
    for source in found:
        if not os.path.exists(source):
            if source == "-":
                raise InvalidInput("the standard input is run alone; leave the other sources out.")
            raise InvalidInput(f"there is no file {source!r}; a data set is run alone, several sources are files.")
    return found


def find_by_name(source: Any) -> Any:
    """What to read: for the name of a data set its file, anything else as it is."""
    if not isinstance(source, str) or source == "-" or os.path.exists(source) or os.sep in source or "." in source:
        return source
    from askance.data.datasets import find, folders

    base, colon, _ = source.partition(":")
    try:
        entry = find(base)
    except InvalidParameter as error:
        raise InvalidInput(f"there is no file {source!r}, and {error}") from None
    path = None if colon or entry.is_task else folders.path_of(entry)
    return path or _in_memory(source)


def _in_memory(name: str) -> io.BytesIO:
    """A data set without a file of its own, as a file in memory."""
    from scipy.sparse import issparse

    from askance.data.datasets import load_dataset

    dataset = load_dataset(name)
    X, file = dataset.X, io.BytesIO()
    arrays = {"X": X}
    if issparse(X):
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    np.savez(file, y=dataset.y, **arrays)
    file.seek(0)
    file.name = f"{name}.npz"  # for errors, and to find the format
    return file


def _nearest_field(source: Any, options: ReadOptions, wanted: str) -> str:
    """A suggestion to append to the error for a field that does not exist; empty if no name is similar."""
    try:
        with open_stream(source, options, label=False, state=None) as stream:
            names = [field.name for field in stream.fields]
    except (ValueError, OSError):
        return ""
    lower = {name.lower(): name for name in names if name != wanted}
    close = difflib.get_close_matches(wanted.lower(), lower, n=2, cutoff=0.5)
    return f" Did you mean {' or '.join(repr(lower[name]) for name in close)}?" if close else ""


# --- outputs ---------------------------------------------------------------------------------------------


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
