"""Backups and restores, killed in the middle, under load, and over a store that is damaged."""

import json
import os
import sqlite3
import threading
import time
from contextlib import closing

import pytest
from tests.live.running import Running
from tests.patience import PATIENCE, wait_until

BALLAST = 60  # megabytes, so that a copy takes a while


def weigh_down(service):
    """Make the store large, in a table that the model does not read."""
    with closing(sqlite3.connect(service.store, timeout=PATIENCE)) as connection, connection:
        connection.executemany(
            "INSERT INTO audit_log (seq, time, actor, action, detail) VALUES (?, 0, 'test', 'ballast', ?)",
            ((10**6 + k, os.urandom(500_000).hex()) for k in range(BALLAST)),
        )


class Load(threading.Thread):
    """Sends events, one request after the other; remembers which were acknowledged."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self.service, self.acknowledged, self.ended = service, [], threading.Event()
        self.failures = []

    def run(self):
        while not self.ended.is_set():
            name = f"load-{len(self.acknowledged)}"
            response = self.service.post("/v1/events", {"id": name, "fields": {"text": name}})
            if response.status_code == 201:
                self.acknowledged.append(name)
            else:
                self.failures.append(response.text)

    def stop(self):
        self.ended.set()
        self.join()
        assert self.failures == []


@pytest.fixture
def service(make):
    running = make()
    running.send("a", "b", "c")
    running.post("/v1/labels", [{"event": "a", "label": "ham"}, {"event": "b", "label": "spam"}])
    running.wait_until_learned(2)
    weigh_down(running)
    return running


@pytest.fixture
def elsewhere(tmp_path, nursery):
    """Settings and an empty store in another place, where a copy can be tried."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return Running(folder, nursery=nursery).create()


def command(service, *words):
    """A command of askance that can be killed."""
    service.count += 1
    out, err = (service.folder / f"{name}-{service.count}.txt" for name in ("out", "err"))
    words = [words[0], "--config", str(service.config), *words[1:]]
    return service.nursery.start(words, service.folder, out, err)


def kill_when(child, path, size):
    """kill -9 once a file has grown to a size; whether it was in time."""
    while child.poll() is None:
        try:
            if path.stat().st_size >= size:
                break
        except FileNotFoundError:
            continue
    child.kill()
    child.wait()
    return child.returncode == -9


def again_until(is_enough, moments):
    """Moments at which to kill a command: each once, and all of them again while too few kills were in time."""
    yield from moments
    deadline = time.monotonic() + PATIENCE
    while not is_enough():
        assert time.monotonic() < deadline, "every command ended before it was killed"
        yield from moments


def exported(service):
    return [json.loads(line)["id"] for line in service.run("export").stdout.splitlines()]


def test_a_backup_killed_anywhere_is_absent_or_refused_and_harms_nothing(service, elsewhere, tmp_path):
    target = tmp_path / "copy.db"
    part = tmp_path / "copy.db.part"
    total = os.path.getsize(service.store)
    assert total > BALLAST * 900_000
    load = Load(service)
    load.start()
    killed = []
    for share in again_until(lambda: sum(killed) >= 3, (0.0, 0.02, 0.3, 0.6, 0.9)):
        killed.append(kill_when(command(service, "backup", str(target)), part, share * total))
        if target.exists():  # it was faster
            target.unlink()
            continue
        refused = elsewhere.run("restore", str(target), "--force", "--verify", check=False)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
        if part.exists() and part.stat().st_size < 0.95 * total:
            refused = elsewhere.run("restore", str(part), "--force", "--verify", check=False)
            assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
            assert exported(elsewhere) == []  # what was there before is still there
    load.stop()
    # what the killed ones left behind does no harm to the next of that name
    service.run("backup", str(target))
    assert not part.exists()
    assert target.stat().st_mode & 0o077 == 0
    assert service.stats()["events"]["total"] == 3 + len(load.acknowledged)
    assert service.stop() == 0
    assert service.run("doctor", "--deep").stdout == "All is well.\n"
    elsewhere.run("restore", str(target), "--force", "--verify")
    assert exported(elsewhere) == ["a", "b", "c", *load.acknowledged]


def test_a_backup_comes_to_its_end_while_events_come_in_all_the_time(service, elsewhere, tmp_path):
    load = Load(service)
    load.start()
    wait_until(lambda: len(load.acknowledged) >= 20, "twenty events")
    before = list(load.acknowledged)

    def back_up():
        (tmp_path / "copy.db").unlink(missing_ok=True)
        service.run("backup", str(tmp_path / "copy.db"))
        return len(load.acknowledged) > len(before)

    wait_until(back_up, "an event during a backup")
    load.stop()
    elsewhere.run("restore", str(tmp_path / "copy.db"), "--force", "--verify")
    copied = exported(elsewhere)
    assert set(before) <= set(copied) <= {"a", "b", "c", *load.acknowledged}
    assert copied[3:] == load.acknowledged[: len(copied) - 3]  # a moment of the service, not a mixture of several


def test_a_restore_killed_anywhere_leaves_one_of_the_two_stores(service, elsewhere, tmp_path):
    service.run("backup", str(tmp_path / "copy.db"))
    total = (tmp_path / "copy.db").stat().st_size
    elsewhere.start()
    elsewhere.send("old-1", "old-2")
    elsewhere.stop()
    staged = elsewhere.folder / "askance.db.restored"
    moments = ((f"{staged}.part", 0.0), (f"{staged}.part", 0.5), (staged, 0.0), (staged, 1.0))
    killed = []
    for place, share in again_until(lambda: sum(killed) >= 2, moments):
        child = command(elsewhere, "restore", str(tmp_path / "copy.db"), "--force", "--verify")
        killed.append(kill_when(child, type(tmp_path)(place), share * total))
        found = exported(elsewhere)
        assert found in (["old-1", "old-2"], ["a", "b", "c"])
        assert elsewhere.run("doctor").stdout == "All is well.\n"
    elsewhere.run("restore", str(tmp_path / "copy.db"), "--force", "--verify")
    assert exported(elsewhere) == ["a", "b", "c"]
    assert sorted(path.name for path in elsewhere.folder.glob("*restored*")) == []


@pytest.mark.parametrize("damage", ["empty", "torn", "foreign"])
def test_a_damaged_store_names_the_remedy_and_the_remedy_works(make, tmp_path, damage):
    service = make()
    service.send("a", "b")
    service.run("backup", str(tmp_path / "copy.db"))
    service.stop()
    content = {"empty": b"", "torn": (service.folder / "askance.db").read_bytes()[:5000], "foreign": b"hello" * 3000}
    for path in service.folder.glob("askance.db-*"):
        path.unlink()
    (service.folder / "askance.db").write_bytes(content[damage])
    refused = service.run("serve", check=False)
    assert (refused.returncode, "askance.db" in refused.stderr) == (2, True)
    assert "askance restore" in refused.stderr
    service.run("restore", str(tmp_path / "copy.db"), "--force", "--verify")
    service.start()
    assert service.stats()["events"]["total"] == 2
    service.stop()
    running = service.start()
    refused = running.run("restore", str(tmp_path / "copy.db"), "--force", check=False)
    assert refused.returncode == 2
    assert "another askance works on" in refused.stderr
