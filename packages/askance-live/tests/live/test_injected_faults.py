"""Every call of the store is made to fail, one after the other, as SQLite itself is tested.

After each fault: what was acknowledged is what an undisturbed session was told, the rows are the same to the last, no
answer was learned twice, the store is sound, and the model has the same hash, by its checkpoint and by its log.
"""

import sqlite3
import tempfile
from itertools import count
from pathlib import Path

import pytest
from tests.live.faulty import CRASH, LATE, Faults, connect_to
from tests.live.scripted import play_script

from askance_live import service
from askance_live.engine import thread as engine

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # hundreds of stores, each written for a moment


@pytest.fixture
def play(monkeypatch):
    """Plays the session with faults; nobody waits for pauses that suit people."""
    for name in ("PAUSE", "TASK_PAUSE", "FULL_PAUSE"):
        monkeypatch.setattr(engine, name, 0.0)
    monkeypatch.setattr(service, "PAUSE", 0.0)

    def played(faults):
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder, monkeypatch.context() as patch:
            patch.setattr(sqlite3, "connect", connect_to(faults))
            return play_script(Path(folder), faults)

    return played


def sweep(play, kind, among="", step=1):
    """Fail at one call after the other, until a session comes to its end before there is one; how many there were."""
    undisturbed = play(Faults())
    for number in count(1, step):
        faults = Faults(number, kind, among)
        assert play(faults) == undisturbed, (number, faults.fired_at)
        if faults.fired_at is None:
            return number


@pytest.mark.parametrize(
    ("kind", "among", "step"),
    [
        ("error", "", 29),
        ("error", "connect", 2),
        ("busy", "BEGIN IMMEDIATE", 3),
        ("full", "COMMIT", 3),
        (LATE, "COMMIT", 2),
        (CRASH, "COMMIT", 2),
        (CRASH, "BEGIN", 5),
    ],
)
def test_a_store_that_fails_once_changes_nothing_that_was_acknowledged(play, kind, among, step):
    assert sweep(play, kind, among, step) > 8


@pytest.mark.prove
def test_every_call_of_the_store_may_fail(play):
    assert sweep(play, "error") > 400
