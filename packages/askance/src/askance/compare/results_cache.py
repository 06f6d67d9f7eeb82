"""The results file: every finished play, one JSON object per line, so that an interrupted sweep goes on where it ended.

While a sweep runs, the file only grows. Each line has a digest of all that decides its numbers: data, parameters, seed,
the code that plays and measures, the versions of the libraries. A play whose digest is in the file is not played again.
A process that is killed while writing leaves a torn last line, which is skipped and costs one play.

A sweep that ends sorts the lines by what was played. So the bytes of the file follow from what was compared, and from
nothing else: not from the engine, the number of workers, or how often it was interrupted. What a clock measured goes to
a file beside it, with ``.times`` after its name, which may be lost: the times are then not known.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from askance.atomic import atomic_write
from askance.compare.play import MODULE, Conditions, Play
from askance.compare.provenance import digest_code, library_versions
from askance.compare.table import Table
from askance.errors import InvalidInput

Result = dict[str, float]
TIMES = ("seconds", "cost_seconds")  # what a clock measured
BEGINNING = b'{"key": "'  # the first bytes of a results file


class ResultsFile:
    """Finished plays by their keys, in memory and, given a path, in a file.

    Parameters
    ----------
    path : path, optional
        The file; created if it does not exist. Several runs may share it, one after the other.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        """Lines that could not be read."""
        self._known: dict[str, Result] = {}
        self._file: IO[bytes] | None = None
        self._times: IO[bytes] | None = None
        self._has_grown = False

    def __enter__(self) -> Self:
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _open_locked(self.path)
            self._times = times_beside(self.path).open("a+b")
            times = {entry["key"]: entry for entry in self._entries(self._times)}
            for entry in self._entries(self._file):
                numbers = dict(entry["result"])  # with the times among them, as 0.1 wrote them
                if entry.get("timed"):
                    numbers |= {name: times.get(entry["key"], {}).get(name) for name in TIMES}
                self._known[entry["key"]] = {name: nan if value is None else value for name, value in numbers.items()}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None and self._times is not None:
            if kind is None and self._has_grown:
                assert self.path is not None
                for file, path in ((self._times, times_beside(self.path)), (self._file, self.path)):
                    _sort_lines(file, path)
            self._times.close()
            self._file.close()
            self._file = self._times = None

    def get(self, key: str) -> Result | None:
        """The result of the play with this key; None if it is not known."""
        return self._known.get(key)

    def add(self, entries: Iterable[tuple[str, Mapping[str, Any], Result]]) -> None:
        """Keep the results of some plays, each with its key and a description for readers of the file."""
        lines, times = [], []
        for key, about, result in entries:
            self._known[key] = result
            numbers = {name: None if isnan(number) else number for name, number in result.items()}
            measured = {name: numbers.pop(name) for name in TIMES if name in numbers}
            timed = {"timed": True} if measured else {}
            lines.append(json.dumps({"key": key, **about, **timed, "result": numbers}, allow_nan=False))
            if measured:
                times.append(json.dumps({"key": key, **measured}, allow_nan=False))
        self._has_grown = True
        for file, new in ((self._times, times), (self._file, lines)):  # in this order: a result has its times
            if file is not None:
                file.write("".join(f"{line}\n" for line in new).encode())
                file.flush()

    def _entries(self, file: IO[bytes]) -> Iterator[dict[str, Any]]:
        """The lines of a file that are whole; the next one that is written begins a line."""
        file.seek(0)
        line = b"\n"
        for line in file:
            entry = _read_line(line)
            if entry is not None:
                yield entry
        if not line.endswith(b"\n"):
            file.write(b"\n")


def times_beside(path: Path) -> Path:
    """Where the times of a results file are."""
    return path.with_name(f"{path.name}.times")


def remove_results(path: Path) -> None:
    """Remove a results file and the times beside it."""
    for each in (path, times_beside(path)):
        each.unlink(missing_ok=True)


def _read_line(line: bytes) -> dict[str, Any] | None:
    """The entry on a line; None if it is torn."""
    try:
        entry: dict[str, Any] = json.loads(line)
        return entry if isinstance(entry["key"], str) and isinstance(entry.get("result", {}), dict) else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _sort_lines(file: IO[bytes], path: Path) -> None:
    """Put the lines of a file into the order of what they describe, each play once; torn ones go, foreign ones stay."""
    file.flush()
    file.seek(0)
    known: dict[str, bytes] = {}
    foreign = []
    for line in file:
        entry = _read_line(line)
        if entry is not None:
            known[entry["key"]] = line
        elif line.strip() and not (line.startswith(BEGINNING) or BEGINNING.startswith(line.strip())):
            foreign.append(line)
    order = sorted(known.values(), key=lambda line: (line.partition(b", ")[2], line))  # the key comes first
    with atomic_write(path) as name:
        Path(name).write_bytes(b"".join(foreign + order))


def key_of(*parts: Any) -> str:
    """A digest of the parts and of the versions of the libraries: all that decides a result."""
    text = json.dumps([library_versions(), *parts], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


class ResultsCache:
    """The known results of a sweep's plays.

    Parameters
    ----------
    file : ResultsFile
        Where they are kept.
    table, conditions
        What all plays have in common.
    """

    def __init__(self, file: ResultsFile, table: Table, conditions: Conditions) -> None:
        self._file = file
        self._dataset = table.name
        self.common = key_of(digest_code(MODULE), table.digest, table.positive, vars(conditions))

    def key(self, play: Play) -> str:
        """A digest of all that decides the result of a play."""
        return hashlib.blake2b(json.dumps([self.common, *play]).encode(), digest_size=12).hexdigest()

    def get(self, play: Play) -> Result | None:
        """The result of a play; None if it is not known."""
        return self._file.get(self.key(play))

    def add(self, plays: Iterable[Play], results: Iterable[Result]) -> None:
        """Keep the results of some plays."""
        self._file.add(
            (self.key(play), {"dataset": self._dataset, **play._asdict(), "parameters": dict(play.parameters)}, result)
            for play, result in zip(plays, results, strict=True)
        )


@dataclass(frozen=True)
class KeptPlays:
    """Plays on one data set that a sweep cannot express: an experiment plays each by its own code, once.

    ``common`` is a digest of what the plays have in common, the code included.
    """

    file: ResultsFile
    dataset: str
    common: str

    def once(self, about: Mapping[str, Any], play: Callable[[], Result]) -> Result:
        """The result of a play: from the file if it is there, else played and kept. ``about`` identifies the play."""
        key = key_of(self.common, about)
        known = self.file.get(key)
        if known is None:
            known = play()
            self.file.add([(key, {"dataset": self.dataset, **about}, known)])
        return known


def refuse_foreign(path: str | os.PathLike[str]) -> None:
    """Raise if the file exists and is not a results file."""
    if not Path(path).is_file():
        return
    with open(path, "rb") as file:
        start = file.read(len(BEGINNING))
    if not BEGINNING.startswith(start):
        raise InvalidInput(f"{str(path)!r} is there and is not a results file; name another file for the results.")


def _open_locked(path: Path) -> IO[bytes]:
    """Open a file for appending; no other run may have it open."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return path.open("a+b")
    while True:
        file = path.open("a+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise InvalidInput(
                f"{str(path)!r} is being written by another run; wait for it or name another file."
            ) from None
        if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
            return file
        file.close()  # another run has just put a sorted file into its place
