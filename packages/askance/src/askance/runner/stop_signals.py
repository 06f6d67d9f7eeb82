"""SIGTERM and SIGINT that end a wait between two lines, never the work on one."""

from __future__ import annotations

import os
import signal
from types import FrameType, TracebackType
from typing import Self


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
