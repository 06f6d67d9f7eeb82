"""A service that notes how long its event loop was held up.

A coroutine wakes every few milliseconds, and notes how late it was. Of that, what the machine did to us is not counted:
the time in which the loop's thread could run and waited for a processor, and all that is more than the processor time
that the whole process used meanwhile. What is left is a callback that does not end, or another thread's call that keeps
the interpreter to itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from pathlib import Path

TICK = 0.002
NOTED = 0.01


def serve_watched(config, path):
    """``askance serve``, with a line of (moment, seconds) in a file for every time it was held up."""
    from askance_live.config import load
    from askance_live.server import serve

    tasks = []

    def ready(address, services):
        tasks.append(asyncio.get_running_loop().create_task(watch(path)))
        print(f"serving at {address}", flush=True)

    serve([load(config)], ready)


async def watch(path):
    with Path(path).open("w", buffering=1) as file, contextlib.ExitStack() as stack:
        delay = reader_of_delay(stack)
        while True:
            spent, late, waited = time.process_time(), time.monotonic() + TICK, delay()
            await asyncio.sleep(TICK)
            spent, late, waited = time.process_time() - spent, time.monotonic() - late, delay() - waited
            held = min(spent, late - waited)
            if held > NOTED:
                file.write(f"{time.monotonic()} {held}\n")


def reader_of_delay(stack):
    """Tells for how many seconds this thread, ready to run, has waited for a processor; 0 where nobody counts that."""
    try:
        descriptor = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
    except OSError:
        return lambda: 0.0
    stack.callback(os.close, descriptor)
    return lambda: int(os.pread(descriptor, 100, 0).split()[1]) / 1e9


def longest_hold(path, since):
    """The most that the loop was held up from a moment on, in seconds."""
    lines = [line.split() for line in Path(path).read_text().splitlines()]
    return max((float(spent) for moment, spent in lines if float(moment) >= since), default=0.0)
