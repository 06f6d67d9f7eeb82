"""How things are timed: everything side by side, in turn, several rounds, the best round of each.

A noisy machine is slow for seconds at a time. Contestants that take turns meet the same weather, and the
best of several rounds is the round the machine left alone; so the ratio of two bests is worth more than
either speed.
"""

import gc
import os
import platform
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

import numpy as np


class Contestant(ABC):
    """Something that plays a stream: ``play`` is timed, the rest is not."""

    @abstractmethod
    def prepare(self) -> None:
        """Get everything ready that is not to be measured."""

    @abstractmethod
    def play(self) -> None:
        """What is measured."""

    def clear(self) -> None:  # noqa: B027  (most have little to let go of)
        """Let go of a model that was made, so that the next one's comes to lie in the same memory: where the system
        puts a table of many megabytes makes its random reads faster or slower by up to a quarter."""


@dataclass
class Timing:
    """Seconds of each round: on the clock, and of processor time over all threads."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.wall)

    @property
    def best_cpu(self) -> float:
        return min(self.cpu)


def best_after_the_first(seconds: list[float]) -> float:
    """The best round of several, the first of which warmed up."""
    return min(seconds[1:] or seconds)


def take_turns(
    contestants: Mapping[str, Contestant],
    rounds: int,
    seldom: Mapping[str, int] | None = None,
    report: Callable[[str], None] = lambda message: None,
) -> dict[str, Timing]:
    """Time every contestant ``rounds`` times, in turn, after one round that does not count.

    ``seldom`` names slow ones and how many rounds they play; they get no warm-up round.
    """
    seldom = seldom or {}
    timings = {name: Timing() for name in contestants}
    for turn in range(rounds + 1):
        for name, contestant in contestants.items():
            if name in seldom and not 1 <= turn <= seldom[name]:
                continue
            report(f"round {turn} of {rounds}: {name}")
            contestant.prepare()
            gc.collect()
            cpu, wall = time.process_time(), time.perf_counter()
            contestant.play()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            contestant.clear()
            if turn > 0:
                timings[name].wall.append(wall)
                timings[name].cpu.append(cpu)
    return timings


def machine() -> str:
    """The processor, its cores, the memory and the kernel; no names of machines or people."""
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        processor = models[0] if models else processor
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
        amount = f", {memory:.0f} GiB of memory"
    except (OSError, ValueError):
        amount = ""
    return f"{processor}, {os.cpu_count()} cores{amount}, {platform.system()}"


def load() -> str:
    """How busy the machine is with everything that runs on it, this benchmark included."""
    if not hasattr(os, "getloadavg"):
        return "unknown"
    return f"{os.getloadavg()[0]:.1f}"


def versions() -> str:
    """The versions of everything that was measured or measured with."""
    names = ["askance", "numpy", "scipy", "numba", "scikit-learn", "river", "scikit-activeml", "vowpalwabbit"]
    found = [f"Python {platform.python_version()}"]
    for name in names:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} (not installed)")
    return ", ".join(found)


def memory_speed(megabytes: int = 256, rounds: int = 5) -> float:
    """Bytes a second one core reads from memory: the weather report of this run."""
    block = np.ones(megabytes << 17)
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        block.sum()
        seconds.append(time.perf_counter() - start)
    return block.nbytes / min(seconds)
