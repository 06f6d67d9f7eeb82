"""A disk that is full in earnest: a small file system, for SQLite's files and for a tablespace of PostgreSQL."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from tests.live.running import Running
from tests.patience import wait_until

MEGABYTES = 24


@pytest.fixture
def small_disk():
    """A folder on a file system of its own."""
    folder = Path(tempfile.mkdtemp(prefix="askance-disk-"))
    folder.chmod(0o755)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m,mode=0755", "askance-test", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        folder.rmdir()
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
    folder.rmdir()


def fill(folder, leave):
    """Something else takes the room, but for ``leave`` bytes."""
    found = os.statvfs(folder)
    with open(folder / "ballast", "wb") as file:
        file.write(b"\0" * max(0, found.f_bavail * found.f_frsize - leave))


def send_until_full(service, acknowledged):
    """Large events, of the sort that no database can compress, until one is refused; the refusal."""
    for _ in range(1000):
        name = f"big-{len(acknowledged)}"
        response = service.post("/v1/events", {"id": name, "fields": {"text": os.urandom(40_000).hex()}})
        if response.status_code != 201:
            return response
        acknowledged.append(name)
    raise AssertionError("the disk was never full")


def exercise(service, make_room, acknowledged):
    """507 for writing while reading goes on; by itself better once there is room; nothing lost, nothing doubled."""
    refused = send_until_full(service, acknowledged)
    assert (refused.status_code, refused.json()["code"]) == (507, "storage_full")
    assert refused.headers["retry-after"]
    assert service.get("/livez").status_code == 200
    assert service.get("/readyz").status_code == 503
    assert service.get("/v1/stats").status_code == 200
    assert len(service.get("/v1/export.jsonl").text.splitlines()) == len(acknowledged)
    shown = service.get(f"/v1/events/{acknowledged[0]}")
    assert (shown.status_code, set(shown.json()["now"]["probabilities"])) == (200, {"ham", "spam"})
    guessed = service.post("/v1/predict", {"fields": {"text": "what if"}})
    assert (guessed.status_code, guessed.json()["label"] in ("ham", "spam")) == (200, True)
    label = service.post("/v1/labels", {"event": acknowledged[0], "label": "ham"})
    assert label.status_code in (200, 507)  # small enough to find room, or not
    make_room()
    after = {"id": "after", "fields": {"text": "room"}}
    statuses = []
    wait_until(lambda: statuses.append(service.post("/v1/events", after).status_code) or statuses[-1] != 507, "room")
    assert statuses[-1] == 201
    service.post("/v1/labels", {"event": acknowledged[0], "label": "ham"})
    service.wait_until_learned(1)
    assert service.get("/readyz").status_code == 200


def test_sqlite_on_a_full_disk_refuses_to_write_and_recovers(make, small_disk):
    service = make(store=str(small_disk / "askance.db"))
    acknowledged = []
    exercise(service, lambda: (small_disk / "ballast").unlink(missing_ok=True) or fill_again(small_disk), acknowledged)
    names = [*acknowledged, "after"]
    # killed while the disk is full: nothing that was acknowledged is lost; it starts, or says what is wrong
    fill(small_disk, 0)
    refused = send_until_full(service, names)
    assert refused.status_code == 507
    service.kill()
    try:
        service.start()
    except AssertionError as error:
        assert "no room" in str(error)  # noqa: PT017
        (small_disk / "ballast").unlink()
        service.start()
    else:
        assert service.get("/v1/stats").status_code == 200
        (small_disk / "ballast").unlink()
    assert service.stats()["events"]["total"] == len(names)
    service.stop()
    service.digest()
    assert service.run("doctor").stdout == "All is well.\n"


def fill_again(folder):
    """There is no ballast yet the first time: the store itself filled the disk; so give it a larger one."""
    subprocess.run(["mount", "-o", f"remount,size={3 * MEGABYTES}m", str(folder)], check=True)


def test_a_store_on_a_file_system_that_may_only_be_read_is_refused(make, small_disk):
    service = make(store=str(small_disk / "askance.db"))
    service.send("a")
    service.stop()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    done = service.run("serve", check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "read-only" in done.stderr
    assert "askance.db" in done.stderr
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    service.start()
    assert service.stats()["events"]["total"] == 1


def test_init_and_export_that_find_no_room_leave_nothing_and_succeed_once_there_is_some(small_disk, nursery, tmp_path):
    full = Running(tmp_path, nursery=nursery).create().start()
    full.send(*(f"e{number}" for number in range(400)))
    full.stop()
    (tmp_path / "empty").mkdir()
    empty = Running(tmp_path / "empty", nursery=nursery)
    empty.config = small_disk / "askance.toml"
    commands = [(empty, "init", "--classes", "ham,spam"), (full, "export", str(small_disk / "all.jsonl"))]
    for running, *words in commands:
        codes = []
        for room in (0, 4096, 16_384, 65_536, 2_000_000):
            fill(small_disk, room)
            done = running.run(*words, check=False)
            codes.append(done.returncode)
            (small_disk / "ballast").unlink()
            if done.returncode:
                assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
                assert re.search("no room left|No space left on device", done.stderr), done.stderr
                assert not list(small_disk.iterdir())
        assert codes[0] == 2
        assert codes[-1] == 0
        assert list(small_disk.iterdir())
        for path in small_disk.iterdir():
            path.unlink()


@pytest.mark.prove
def test_postgres_on_a_full_disk_refuses_to_write_and_recovers(make, small_disk, postgres):
    import psycopg

    if postgres.user:
        shutil.chown(small_disk, postgres.user)
    name = f"full_{os.getpid()}"
    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        connection.execute(f"CREATE TABLESPACE {name} LOCATION '{small_disk}'")
        connection.execute(f"CREATE DATABASE {name} TABLESPACE {name}")
    try:
        service = make(store=postgres.address(name))
        acknowledged = []
        exercise(service, lambda: fill_again(small_disk), acknowledged)
        assert service.stats()["events"]["total"] == len(acknowledged) + 1
        service.stop()
        service.digest()
    finally:
        with psycopg.connect(postgres.address(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
            connection.execute(f"DROP TABLESPACE {name}")
