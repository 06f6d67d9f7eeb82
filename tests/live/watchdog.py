"""A service that notes how long its event loop was held up.

A coroutine wakes every few milliseconds. What counts is the processor time that the whole process used while it slept:
that of a callback that does not end, and that of another thread's call that keeps the interpreter to itself. Other
programs on the machine may make it late, but add nothing to that.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

TICK = 0.002
NOTED = 0.01


def serve_watched(config, path):
    """``askance serve``, with a line of (moment, seconds) in a file for every time it was held up."""
    from askance.live.config import load
    from askance.live.server import serve

    tasks = []

    def ready(address, services):
        tasks.append(asyncio.get_running_loop().create_task(watch(path)))
        print(f"serving at {address}", flush=True)

    serve([load(config)], ready)


async def watch(path):
    with Path(path).open("w", buffering=1) as file:
        while True:
            before = time.process_time()
            await asyncio.sleep(TICK)
            spent = time.process_time() - before
            if spent > NOTED:
                file.write(f"{time.monotonic()} {spent}\n")


def longest_hold(path, since):
    """The most that the loop was held up from a moment on, in seconds of processor time."""
    lines = [line.split() for line in Path(path).read_text().splitlines()]
    return max((float(spent) for moment, spent in lines if float(moment) >= since), default=0.0)
