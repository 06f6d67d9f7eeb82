"""Full disks, missing, damaged and foreign databases, and a PostgreSQL that goes away; test_locked.py has locks."""

import random
import sqlite3
import threading
import time

import httpx
import pytest
from tests.live.running import Running
from tests.patience import PATIENCE, wait_until


def test_a_full_disk_stops_writing_only_and_recovers_by_itself(make):
    service = make()
    service.send("before")
    limit = 3_000_000
    service.stop()
    service.file_bytes = limit  # no file of the service may grow beyond this
    service.start()
    acknowledged = []
    full = None
    for k in range(200):
        response = service.post(
            "/v1/events", [{"id": f"e{k}-{j}", "fields": {"text": f"word{k} " * 2000}} for j in range(20)]
        )
        if response.status_code == 507:
            full = response
            break
        acknowledged += [item["id"] for item in response.json()["items"] if item["status"] == 201]
    assert full is not None
    assert full.json()["code"] == "storage_full"
    assert full.headers["retry-after"]
    # reading goes on
    exported = service.get("/v1/export.jsonl").text.splitlines()
    assert len(exported) == 1 + len(acknowledged)
    assert service.get("/readyz").status_code == 503
    assert service.get("/livez").status_code == 200
    import resource

    resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    after = {"id": "after", "fields": {"text": "room"}}
    wait_until(lambda: service.post("/v1/events", after).status_code != 507, "room")
    assert service.get("/readyz").status_code == 200
    service.stop()
    service.digest()
    service.file_bytes = None
    service.start()
    assert service.stats()["events"]["total"] == 2 + len(acknowledged)


def test_a_reserve_of_free_disk_is_kept(make):
    service = make(server={"disk_reserve": 10**15})
    response = service.post("/v1/events", {"fields": {"text": "x"}})
    assert (response.status_code, response.json()["code"]) == (507, "storage_full")
    assert "reserve" in service.get("/readyz").json()["reasons"][0]
    assert service.get("/v1/stats").status_code == 200


def refused(service):
    done = service.run("serve", check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "askance.db" in done.stderr
    return done.stderr


def test_a_missing_database_is_not_replaced_by_a_new_one(make):
    service = make()
    service.stop()
    for path in service.folder.glob("askance.db*"):
        path.unlink()
    assert "askance init" in refused(service)
    assert not (service.folder / "askance.db").exists()


@pytest.mark.parametrize("place", [0, 100, 4096 * 3])
def test_a_damaged_database_refuses_to_start(make, place):
    service = make()
    service.send(*(f"e{k}" for k in range(200)))
    service.stop()
    path = service.folder / "askance.db"
    content = bytearray(path.read_bytes())
    content[place : place + 3000] = b"\xa5" * 3000
    path.write_bytes(content)
    assert "askance restore" in refused(service)


def test_a_newer_schema_and_a_foreign_database_refuse_to_start(make):
    service = make()
    service.stop()
    with sqlite3.connect(service.folder / "askance.db") as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
    connection.close()
    assert "upgrade askance" in refused(service)
    (service.folder / "askance.db").unlink()
    with sqlite3.connect(service.folder / "askance.db") as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    assert "another program" in refused(service)


def test_a_read_only_database_refuses_to_start(make, monkeypatch):
    import os

    from askance_live.problems import StartError
    from askance_live.store import open_store

    service = make()
    service.stop()
    if os.getuid() == 0:  # root may write anywhere; so ask the way a program of another user would be answered
        monkeypatch.setattr(os, "access", lambda path, mode: False)
        with pytest.raises(StartError, match="read-only"):
            open_store(service.store)
    else:
        (service.folder / "askance.db").chmod(0o400)
        assert "read-only" in refused(service)


def test_changed_model_settings_need_a_rebuild_which_takes_them_up(make):
    service = make()
    service.send("a", "b")
    for ask, label in zip(service.next(2), ("ham", "spam"), strict=False):
        service.answer(ask, label)
    service.stop()
    before = service.digest()
    service.config.write_text(service.text.replace("[model]", '[model]\nalgorithm = "PAA-I"'))
    done = service.run("serve", check=False)
    assert done.returncode == 2
    assert "askance rebuild" in done.stderr
    service.run("rebuild")
    assert service.digest() != before
    service.start()
    assert service.stats()["algorithm"] == "PAA-I"


def test_a_rebuilt_model_has_spent_what_the_one_before_it_asked(make):
    service = make(asking={"rate": 1.0}, model={"algorithm": "RPA-I"})
    asked = sum(event["asked"] for event in service.send(*(f"e{number}" for number in range(300))))
    assert service.stats()["budget"]["total"]["spent"] == asked
    service.stop()
    service.config.write_text(service.config.read_text().replace('"RPA-I"', '"PA-I"'))
    service.run("rebuild")
    service.start()
    assert service.stats()["algorithm"] == "PA-I"
    assert service.stats()["budget"]["total"]["spent"] == asked


def test_postgres_restarted_is_waited_for_and_nothing_happens_twice(make, postgres):
    service = make(store=postgres.new_database(), patience=PATIENCE)
    service.send("a")
    ended = threading.Event()
    acknowledged, statuses = [], set()

    def send():
        k = 0
        while not ended.is_set():
            k += 1
            body = {"id": f"e{k}", "fields": {"text": f"hello {k}"}}
            while True:
                response = httpx.post(f"{service.url}/v1/events", json=body, timeout=PATIENCE)
                statuses.add(response.status_code)
                if response.status_code in (200, 201):
                    acknowledged.append(response.json())
                    break
                assert response.status_code == 503, response.text
                assert response.headers["retry-after"]
                time.sleep(0.1)

    def wait_for_more():
        before = len(acknowledged)
        wait_until(lambda: len(acknowledged) > before + 3, "an acknowledged event")

    thread = threading.Thread(target=send)
    thread.start()
    try:
        for mode in ("fast", "immediate"):
            wait_for_more()
            postgres.stop(mode)
            wait_until(lambda: service.get("/readyz").status_code == 503, "a service that knows")
            postgres.start()
        wait_for_more()
    finally:
        ended.set()
        thread.join()
    assert statuses <= {200, 201, 503}
    assert service.stats()["events"]["total"] == 1 + len(acknowledged)
    for said in acknowledged[:: max(1, len(acknowledged) // 20)]:
        assert service.get(f"/v1/events/{said['id']}").json()["seq"] == said["seq"]
    service.stop()
    service.digest()


def test_a_connection_cut_in_a_transaction_has_no_double_effect(make, postgres):
    import psycopg

    place = postgres.new_database()
    service = make(store=place)
    service.send("first")
    done, ended, rng = [], threading.Event(), random.Random(3)

    def cut():
        with psycopg.connect(place, autocommit=True) as connection:
            while not ended.wait(rng.expovariate(1 / 0.6)):
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE application_name = 'askance' AND pid <> pg_backend_pid()"
                )

    thread = threading.Thread(target=cut)
    thread.start()
    try:
        for k in range(60):
            body = [{"id": f"e{k}-{j}", "fields": {"text": f"hello {k} {j}"}} for j in range(20)]
            deadline = time.monotonic() + PATIENCE
            while time.monotonic() < deadline:
                response = service.post("/v1/events", body)
                assert response.status_code in (200, 503), response.text
                if response.status_code == 200:
                    done += response.json()["items"]
                    break
    finally:
        ended.set()
        thread.join()
    assert all(item["status"] in (200, 201) for item in done)
    assert len({item["seq"] for item in done}) == 1200
    assert service.stats()["events"]["total"] == 1201
    service.stop()
    service.digest()


def test_a_postgres_without_our_tables_or_not_there_refuses_to_start(tmp_path, postgres, nursery):
    service = Running(tmp_path, store=postgres.new_database(), nursery=nursery, patience=0.0)
    service.config.write_text(service.text)
    assert "askance init" in service.run("serve", check=False).stderr
    service.config.write_text(service.text.replace(service.store, "postgresql://nobody:secret@127.0.0.1:1/none"))
    missing = service.run("serve", check=False)
    assert missing.returncode == 2
    assert "cannot reach" in missing.stderr
    assert "secret" not in missing.stderr
