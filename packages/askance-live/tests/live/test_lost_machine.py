"""The owner's machine vanishes from the network, without a word: another takes over, and it cannot commit any more."""

import shutil
import tempfile
import time

import pytest
from tests.live.conftest import find_postgres
from tests.live.members import Members
from tests.live.network import ListeningPostgres, Machine, RemoteOwner
from tests.patience import PATIENCE, wait_until

pytestmark = pytest.mark.prove
TAKEOVER = 10.0  # seconds that are promised


@pytest.fixture
def machine():
    machine = Machine()
    yield machine
    machine.remove()


@pytest.fixture
def postgres_for_all(machine):
    programs = find_postgres()
    if programs is None:
        pytest.skip("PostgreSQL is not installed here (initdb and pg_ctl were not found)")
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install './packages/askance-live[postgres]'")
    folder = tempfile.mkdtemp(prefix="askance-pg-")
    running = ListeningPostgres(programs, folder, machine)
    yield running
    running.stop("immediate")
    shutil.rmtree(folder, ignore_errors=True)


def test_a_machine_that_vanishes_is_replaced_and_cannot_commit_when_it_comes_back(
    tmp_path, machine, postgres_for_all, nursery
):
    members = Members(tmp_path, postgres_for_all.new_database(), nursery)
    away = RemoteOwner(members.made, machine, tmp_path / "away")
    away.start()
    members.all.append(away)
    members.wait_for_owner()
    assert members.address().startswith(machine.address)
    front = members.start("front")
    members.start("owner")
    assert not front.send("a")[0]["duplicate"]

    machine.pull_cable()
    began = time.monotonic()
    stranded = away.post_there('{"id": "stranded", "fields": {"text": "is anybody there", "size": 1}}')
    members.wait_for_owner(after=1)
    seconds = time.monotonic() - began
    assert front.send("a", "b")[0]["duplicate"] is True
    served = time.monotonic() - began
    print(f"\ntaken over after {seconds:.1f} s, an event acknowledged after {served:.1f} s")
    assert seconds < TAKEOVER
    assert not members.address().startswith(machine.address)

    machine.plug_in()
    assert stranded.communicate(timeout=PATIENCE)[0].strip() == "503"
    log = away.folder / "log.txt"
    wait_until(lambda: "another process owns the model" in log.read_text(), "an owner that steps back")
    assert members.epoch() == 2
    assert [item["duplicate"] for item in front.send("b", "c", "stranded")] == [True, False, False]
    members.stop()
    with_replay = members.made.run("rebuild", "--check")
    assert "digest" in with_replay.stdout
