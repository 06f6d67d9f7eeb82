"""Bad lines kept in a file that can be read again as a stream.

Its first line says what the others are lines of, ``{"askance": "quarantine", "format": "csv", ...}``. Each bad line is
then an object: its ``file`` and ``line``, the ``field`` it is bad at, where that is known, the ``reason``, and the line
itself as text, ``raw``. Opened as a stream, such a file gives these lines. Bytes that are no UTF-8 become halves of
surrogate pairs, and are bytes again when the file is read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from askance.atomic import atomic_write
from askance.data.formats.source import Converted, Input, Source
from askance.errors import BadLine, InvalidInput

MARK = {"askance": "quarantine"}
LONGEST_HEAD = 1 << 22


class Keeper:
    """Writes bad lines to an open file."""

    def __init__(self, file: IO[str], head: Mapping[str, Any], is_begun: bool = False) -> None:
        self._file = file
        if not is_begun:
            self._write({**MARK, **head})

    def add(self, file: str, line: int, field: str | None, reason: str, raw: bytes | None) -> None:
        """Write a line at once, so that others can follow the file."""
        text = None if raw is None else text_of(raw)
        self._write({"file": file, "line": line, "field": field, "reason": reason, "raw": text})

    def add_error(self, error: BadLine) -> None:
        """Keep the line that an error is about."""
        self.add(error.file, error.line, error.field or error.column, error.reason, error.raw)

    def _write(self, record: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()


@contextmanager
def keep_bad_lines(path: str | os.PathLike[str], head: Mapping[str, Any], earlier: str) -> Iterator[Keeper]:
    """A file of bad lines, after those kept ``earlier``; it is there as a whole when the block ends well."""
    with atomic_write(Path(path)) as name, open(name, "w", encoding="ascii") as file:
        file.write(earlier)
        yield Keeper(file, head, is_begun=bool(earlier))


def read_earlier(path: str | os.PathLike[str], head: Mapping[str, Any]) -> str:
    """What a file of bad lines holds already; refuses a file that holds anything else."""
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise InvalidInput(f"cannot read the quarantine {path!r}: {error.strerror}.") from None
    if not content:
        return ""
    first = content.partition(b"\n")[0]
    if read_head(first) != {**MARK, **head}:
        raise InvalidInput(
            f"{path!r} is there already and holds something else than bad lines of such a file; nothing was changed: "
            "name another file with --quarantine, or move this one away."
        )
    return content.decode("ascii", "replace") + ("" if content.endswith(b"\n") else "\n")


def read_head(line: bytes) -> dict[str, Any] | None:
    """What the first line of a file of bad lines says; None for any other line."""
    if not line.lstrip().startswith(b"{") or b'"quarantine"' not in line:
        return None
    try:
        head = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return head if isinstance(head, dict) and head.items() >= MARK.items() else None


def text_of(raw: bytes) -> str:
    """A line as text from which ``raw_of`` gets every byte again, those that are no UTF-8, too."""
    return raw.decode("utf-8", "surrogateescape")


def raw_of(line: bytes, name: str, number: int) -> bytes:
    """The line that a line of such a file holds; nothing where it could not be kept."""
    try:
        record = json.loads(line)
        text = record["raw"]
        return b"" if text is None else text.encode("utf-8", "surrogateescape")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InvalidInput(
            f"line {number} of {name!r} is no line that was kept in quarantine; it is damaged."
        ) from None


class KeptLines(Converted):
    """The lines in a file of bad lines, as if they stood in a file of their own."""

    def __init__(self, inner: Source, head: Mapping[str, Any]) -> None:
        super().__init__(inner, _kept_lines)
        self.head = head


def _kept_lines(part: Input) -> Iterator[bytes]:
    """The names of the columns, if the first line has them, and the lines that were kept."""
    from askance.data.formats.buffer import Buffer  # which needs numpy, and help does not

    for number, line in Buffer(part).lines():
        if isinstance(line, BadLine):
            raise line
        if number == 1:
            names = (read_head(line) or {}).get("names")
            if names:
                yield (names + "\n").encode("utf-8", "surrogateescape")
        elif line.strip():
            raw = raw_of(line, part.name, number)
            if raw:
                yield raw + b"\n"


def unwrap(source: Source) -> KeptLines | None:
    """The lines that were kept, where a source is a file of bad lines; None where it is not."""
    first = source.peek(1, LONGEST_HEAD).partition(b"\n")[0]
    head = read_head(first)
    return None if head is None else KeptLines(source, head)
