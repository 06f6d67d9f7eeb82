"""The results file: every finished play, one JSON object a line, so that an interrupted sweep goes on where it ended.

The file only grows. Each line carries a digest of all that decides its numbers; a line that is not there is played, one
that is there is not played again. A process that is killed while writing leaves a torn last line, which is not read
and costs one play.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import os
from collections.abc import Iterable
from math import isnan, nan
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import askance
from askance.errors import InvalidInput
from askance.experiments.play import Conditions, Play
from askance.experiments.table import Table

Result = dict[str, float]
BEGINNING = b'{"key": "'  # of a results file


@functools.cache
def engine() -> str:
    """A name for the code that decides and measures: results of an older one are not taken for those of this one."""
    folder = Path(askance.__file__).parent
    digest = hashlib.blake2b(digest_size=12)
    for path in sorted([*(folder / "learner").rglob("*.py"), *(folder / "metrics").rglob("*.py")]):
        digest.update(ast.dump(ast.parse(path.read_bytes())).encode())  # comments and layout do not matter
    return digest.hexdigest()


class Memo:
    """What is known of the plays of a sweep, in memory and, given a path, in a file.

    Parameters
    ----------
    path : path, optional
        The results file; made if it does not exist. Several sweeps may share it, one after the other.
    table, conditions
        What all plays have in common.
    """

    def __init__(self, path: str | os.PathLike[str] | None, table: Table, conditions: Conditions) -> None:
        self.path = None if path is None else Path(path)
        self.torn = 0
        """Lines that could not be read."""
        self._dataset = table.name
        self._common = json.dumps([engine(), table.digest, table.positive, *(vars(conditions).items())], sort_keys=True)
        self._known: dict[str, Result] = {}
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("a+b")
            _lock(self._file, self.path)
            self._read(self._file)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def key(self, play: Play) -> str:
        """A digest of all that decides what comes of a play."""
        text = json.dumps([self._common, *play])
        return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()

    def get(self, play: Play) -> Result | None:
        """What came of a play, if that is known."""
        return self._known.get(self.key(play))

    def add(self, plays: Iterable[Play], results: Iterable[Result]) -> None:
        """Remember what came of some plays."""
        lines = []
        for play, result in zip(plays, results, strict=True):
            key = self.key(play)
            self._known[key] = result
            about = {"key": key, "dataset": self._dataset, **play._asdict(), "parameters": dict(play.parameters)}
            numbers = {name: None if isnan(number) else number for name, number in result.items()}
            lines.append(json.dumps(about | {"result": numbers}, allow_nan=False))
        if self._file is not None:
            self._file.write("".join(f"{line}\n" for line in lines).encode())
            self._file.flush()

    def _read(self, file: IO[bytes]) -> None:
        file.seek(0)
        line = b"\n"
        for line in file:
            try:
                entry: dict[str, Any] = json.loads(line)
                numbers = {name: nan if number is None else number for name, number in entry["result"].items()}
                self._known[entry["key"]] = numbers
            except (ValueError, KeyError, TypeError, AttributeError):
                self.torn += 1
        if not line.endswith(b"\n"):
            file.write(b"\n")  # so that the next line begins a line


def refuse_foreign(path: str | os.PathLike[str]) -> None:
    """Refuse a file that is there and holds anything but results."""
    if not Path(path).is_file():
        return
    with open(path, "rb") as file:
        start = file.read(len(BEGINNING))
    if not BEGINNING.startswith(start):
        raise InvalidInput(f"{str(path)!r} is there and is not a results file; name another file for the results.")


def _lock(file: IO[bytes], path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InvalidInput(
            f"{str(path)!r} is being written by another run; wait for it or name another file."
        ) from None
