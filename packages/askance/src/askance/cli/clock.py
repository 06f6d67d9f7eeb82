"""How long a command takes by the clock, the start of Python and its imports included."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

IMPORTED = time.perf_counter()
START_TICK = 19  # its place in /proc/self/stat after the name of the process, which may have blanks


def since_now() -> Callable[[], float]:
    """A function that tells the seconds from here on."""
    began = time.perf_counter()
    return lambda: time.perf_counter() - began


def since_the_process_began() -> float:
    """The seconds since this process began, to a hundredth; where the system does not tell, since its first import."""
    try:
        with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
            began = int(file.read().rpartition(")")[2].split()[START_TICK]) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime(time.CLOCK_BOOTTIME) - began
    except (OSError, AttributeError, ValueError, IndexError):  # not Linux
        return time.perf_counter() - IMPORTED


def format_time(by_clock: float, playing: float, events: int) -> str:
    """The time of a command, and how much of it went into the events.

    >>> format_time(2.26, 1.5, 3000)
    '2.3 s by the clock; 1.5 s of it for reading and playing, 2,000 events a second'
    """
    speed = events / max(playing, 1e-9)
    return f"{by_clock:.1f} s by the clock; {playing:.1f} s of it for reading and playing, {speed:,.0f} events a second"
