"""The watchdog sees what holds an event loop up, and nothing else."""

import asyncio
import contextlib
import threading
import time

import pytest
from tests.live.watchdog import longest_hold, watch


def spin():
    """A callback that does not end for a while."""
    until = time.thread_time() + 0.2
    while time.thread_time() < until:
        pass


def compute_in_a_thread():
    """A call that keeps the interpreter to itself, in another thread."""
    thread = threading.Thread(target=lambda: 3**4_000_000)
    thread.start()
    return thread


async def watch_during(path, work):
    watching = asyncio.create_task(watch(path))
    await asyncio.sleep(0.05)
    since = time.monotonic()
    thread = work()
    await asyncio.sleep(0.05)
    while thread is not None and thread.is_alive():
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    watching.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await watching
    return since


@pytest.mark.parametrize("work", [spin, compute_in_a_thread])
def test_a_hold_is_seen(tmp_path, work):
    since = asyncio.run(watch_during(tmp_path / "holds.txt", work))
    assert longest_hold(tmp_path / "holds.txt", since) >= 0.05


def test_a_process_that_sleeps_is_held_up_by_nobody(tmp_path):
    since = asyncio.run(watch_during(tmp_path / "holds.txt", lambda: time.sleep(0.3)))
    assert longest_hold(tmp_path / "holds.txt", since) < 0.1
