"""How results are printed: tables for people, JSON for programs, and how long a command took."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from askance.errors import AskanceError, InvalidParameter

if TYPE_CHECKING:
    from rich.console import Console


IMPORTED = time.perf_counter()
START_TICK = 19  # its place in /proc/self/stat after the name of the process, which may have blanks
BARS = "▁▂▃▄▅▆▇█"
PLAIN_BARS = "_.:-=+*#"


def console(width_in_a_pipe: int = 100) -> Console:
    """Standard output; colours and live progress only if it is a terminal."""
    from rich.console import Console

    screen = Console(highlight=False)
    if not screen.is_terminal and "COLUMNS" not in os.environ:
        screen.width = width_in_a_pipe
    return screen


def print_json(value: Any) -> None:
    """Print ``value`` as JSON that any parser accepts: NaN and infinities become null."""
    print(json.dumps(plain(value), indent=2, allow_nan=False))


@contextmanager
def writable(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say of which file it is that a system's error tells while it is written."""
    try:
        yield
    except (AskanceError, BrokenPipeError):
        raise
    except OSError as error:
        raise InvalidParameter(f"cannot write {str(path)!r}: {error.strerror}.") from None


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if hasattr(value, "item"):  # a NumPy number or string
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def spark(shares: Iterable[float], lowest: float = 0.8) -> str:
    """A line of small bars for numbers between ``lowest`` and 1."""
    # The real output: while rich draws, sys.stdout is a stand-in without an encoding.
    encoding = getattr(sys.__stdout__, "encoding", None) or "ascii"
    bars = BARS if encoding.lower().startswith("utf") else PLAIN_BARS
    levels = ((share - lowest) / (1.0 - lowest) * len(bars) for share in shares)
    return "".join(bars[min(max(int(level), 0), len(bars) - 1)] for level in levels)


def percent(share: float) -> str:
    """A share for people; what is not all or nothing is never rounded to it."""
    from askance.evaluate.metrics.format import in_percent

    return f"{in_percent(share)}%"


def describe_omissions(bad_lines: int, unlabeled: int, examples: Sequence[Any] = ()) -> Iterator[str]:
    """What of a file was not used, in words.

    >>> list(describe_omissions(1, 20))
    ['1 line could not be read and was left out.', '20 events had no label and were left out.']
    """
    if bad_lines:
        were = "line could not be read and was" if bad_lines == 1 else "lines could not be read and were"
        yield f"{bad_lines:,} {were} left out" + (f"; the first: {examples[0]}" if examples else ".")
    if unlabeled:
        were = "event had no label and was" if unlabeled == 1 else "events had no label and were"
        yield f"{unlabeled:,} {were} left out."


# --- time ------------------------------------------------------------------------------------------------


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
