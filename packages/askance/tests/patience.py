"""How long a test waits for what must come."""

import time

PATIENCE = 300.0
"""Seconds, enough for a machine that is busy with other things; nobody waits longer than it takes."""


def wait_until(condition, what="what was waited for"):
    """Look again and again until ``condition()`` is true; its value."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"{what} has not come within {PATIENCE:.0f} seconds"
        time.sleep(0.02)
    return found
