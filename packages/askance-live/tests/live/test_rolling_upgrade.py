"""Members of two versions side by side: what they do together, and what is refused, in a sentence."""

import pytest
from tests.live.in_process import create_store
from tests.live.members import Members
from tests.live.newer import PATCH, PROTOCOL, TABLES
from tests.patience import wait_until

from askance_live.engine.thread import Engine
from askance_live.problems import StartError
from askance_live.store import open_store


@pytest.fixture
def members(tmp_path, postgres, nursery):
    members = Members(tmp_path, postgres.new_database(), nursery)
    yield members
    members.stop()


def test_a_service_is_upgraded_member_by_member(members):
    old_owner = members.start("owner")
    members.wait_for_owner()
    old_front, new_front = members.start("front"), members.start("front", newer=PATCH)
    assert new_front.get("/version").json()["version"] == "9.9.9"
    assert not new_front.send("a")[0]["duplicate"]
    members.start("owner", newer=PATCH)
    assert old_owner.stop() == 0
    assert old_front.send("a", "b")[0]["duplicate"] is True
    assert new_front.send("b")[0]["duplicate"] is True
    assert members.epoch() == 2


def test_members_that_do_not_understand_each_other_say_so_and_change_nothing(members):
    owner = members.start("owner")
    members.wait_for_owner()
    old, new = members.start("front"), members.start("front", newer=PROTOCOL)
    sentence = "this front of 9.9.9, which do not understand each other (protocols 1 and 2): start both in one version"
    wait_until(lambda: sentence in str(new.get("/readyz").json()["reasons"]), "a front that says why it is not ready")
    refused = new.post("/v1/events", {"id": "a", "fields": {"text": "x"}})
    assert (refused.status_code, refused.json()["code"]) == (503, "no_owner")
    assert sentence in refused.json()["detail"]
    assert not old.send("a")[0]["duplicate"]  # whose owner is of its version
    members.start("owner", newer=PROTOCOL)
    assert owner.stop() == 0
    assert new.send("a", text="hello there")[0]["duplicate"] is True


def test_tables_are_changed_only_while_nobody_owns_them(members):
    owner = members.start("owner")
    members.wait_for_owner()
    for role in ("owner", "front"):
        with pytest.raises(AssertionError, match="stop the processes that own the stream or stand by for it"):
            members.start(role, newer=TABLES)
    assert owner.stop() == 0
    members.start("owner", newer=TABLES)
    members.wait_for_owner(after=1)
    assert members.value("SELECT value FROM meta WHERE name = 'schema'") > "6"
    with pytest.raises(AssertionError, match="was written by a newer askance"):
        members.start("front")


def test_an_older_process_that_waited_does_not_take_over_newer_tables(tmp_path, store):
    config = create_store(tmp_path, store=store)
    waiting = open_store(config.store)
    other = open_store(config.store)
    with other.write() as session:
        session.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
    other.close()
    engine = Engine(waiting, config)
    try:
        with pytest.raises(StartError, match="was written by a newer askance .schema 99"):
            engine.start()
    finally:
        engine.stop()
