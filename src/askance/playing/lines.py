"""The lines of a pipe, each as soon as it arrives, until the end or a signal."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Self

LONGEST_LINE = 64 << 20
PIECE = 1 << 16


class Lines:
    """The lines of a file descriptor. SIGTERM and SIGINT end them between two lines, never during the work on one.

    Iterate inside ``with``. A line longer than 64 MiB comes as None, and the rest of it is left out.

    Attributes
    ----------
    stopped_by : int or None
        The signal that ended them.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.stopped_by: int | None = None

    def __enter__(self) -> Self:
        self._wakes, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._before = {number: signal.signal(number, self._stop) for number in (signal.SIGTERM, signal.SIGINT)}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self._wake)
        os.close(self._wakes)

    @property
    def were_interrupted(self) -> bool:
        """Whether somebody pressed Ctrl-C."""
        return self.stopped_by == signal.SIGINT

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopped_by = number
        os.write(self._wake, b"!")  # ends the wait for more

    def __iter__(self) -> Iterator[bytes | None]:
        rest, skipping = bytearray(), False
        while self.stopped_by is None:
            if self._wakes in select.select([self._descriptor, self._wakes], [], [])[0]:
                return
            piece = os.read(self._descriptor, PIECE)
            if not piece:
                break
            *whole, last = piece.split(b"\n")
            for line in whole:
                if self.stopped_by is not None:
                    return
                if skipping:
                    skipping = False
                else:
                    yield bytes(rest + line)
                rest.clear()
            if not skipping:
                rest += last
            if len(rest) > LONGEST_LINE:
                yield None
                rest.clear()
                skipping = True
        if rest and self.stopped_by is None:
            yield bytes(rest)
