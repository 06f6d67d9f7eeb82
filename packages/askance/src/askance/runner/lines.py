"""The lines of a pipe, each as soon as it arrives, until the end or a signal.

SIGTERM and SIGINT end a wait between two lines, never the work on one.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Self

LONGEST_LINE = 64 << 20
PIECE = 1 << 16


class LineSplitter:
    """Whole lines out of pieces of bytes; None in place of one that is longer than 64 MiB.

    Examples
    --------
    >>> splitter = LineSplitter()
    >>> list(splitter.add(b"one\\ntw")), list(splitter.add(b"o\\nthr")), splitter.rest()
    ([b'one'], [b'two'], b'thr')
    """

    def __init__(self) -> None:
        self._rest, self._skipping = bytearray(), False

    def add(self, piece: bytes) -> Iterator[bytes | None]:
        """The lines that end in this piece."""
        *whole, last = piece.split(b"\n")
        for line in whole:
            found, is_skipped = bytes(self._rest + line), self._skipping
            self._rest.clear()
            self._skipping = False
            if not is_skipped:
                yield found
        if not self._skipping:
            self._rest += last
        if len(self._rest) > LONGEST_LINE:
            self._rest.clear()
            self._skipping = True
            yield None

    def rest(self) -> bytes:
        """What came after the last end of a line."""
        return bytes(self._rest)


class StopSignals:
    """Inside ``with``, the signals are taken note of, and make a file descriptor readable.

    Attributes
    ----------
    stopped_by : int or None
        The signal that came.
    descriptor : int
        What becomes readable then, to be waited for beside others.
    """

    def __init__(self) -> None:
        self.stopped_by: int | None = None

    def __enter__(self) -> Self:
        self.descriptor, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._before = {number: signal.signal(number, self._stop) for number in (signal.SIGTERM, signal.SIGINT)}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self._wake)
        os.close(self.descriptor)

    @property
    def were_interrupted(self) -> bool:
        """Whether somebody pressed Ctrl-C."""
        return self.stopped_by == signal.SIGINT

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopped_by = number
        os.write(self._wake, b"!")  # ends the wait


class Lines(StopSignals):
    """The lines of a file descriptor. SIGTERM and SIGINT end them between two lines, never during the work on one.

    Iterate inside ``with``. A line longer than 64 MiB comes as None, and the rest of it is left out.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._source = descriptor

    def __iter__(self) -> Iterator[bytes | None]:
        splitter = LineSplitter()
        while self.stopped_by is None:
            if self.descriptor in select.select([self._source, self.descriptor], [], [])[0]:
                return
            piece = os.read(self._source, PIECE)
            if not piece:
                break
            for line in splitter.add(piece):
                if self.stopped_by is not None:
                    return
                yield line
        if splitter.rest() and self.stopped_by is None:
            yield splitter.rest()
