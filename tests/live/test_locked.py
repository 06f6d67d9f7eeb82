"""A store that another program holds, for seconds and for a minute; and one that may only be read."""

import subprocess
import sys
import threading
import time
from collections import Counter

import httpx
import pytest
from tests.live.running import postgres_is_proven

from askance.live.config import is_postgres

HOLDER = """
import sys
place = sys.argv[1]
if place.startswith("postgresql"):
    import psycopg
    connection = psycopg.connect(place, autocommit=True)
    connection.execute("SET lock_timeout = '200ms'")  # a transaction that has some and wants the others must not wait
    while True:
        connection.execute("BEGIN")
        try:
            connection.execute("LOCK TABLE events, meta, answers, asks IN EXCLUSIVE MODE")
            break
        except psycopg.errors.LockNotAvailable:
            connection.execute("ROLLBACK")
else:
    import sqlite3
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


class Holder:
    """Another process that has begun to write, and does not come to an end."""

    def __init__(self, place):
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout.readline() == "held\n"

    def let_go(self):
        self.process.communicate()


class Traffic:
    """Requests of every kind, one after the other in a few threads; what came of them."""

    def __init__(self, service):
        self.service, self.ended = service, threading.Event()
        self.statuses, self.without_hint, self.acknowledged = Counter(), 0, []
        kinds = (self.ingest, self.label, self.look)
        self.threads = [threading.Thread(target=self.loop, args=(kind,), daemon=True) for kind in kinds]
        for thread in self.threads:
            thread.start()

    def loop(self, kind):
        with httpx.Client(base_url=self.service.url, timeout=60) as client:
            number = 0
            while not self.ended.is_set():
                number += 1
                for response in kind(client, number):
                    self.statuses[response.status_code] += 1
                    if response.status_code == 503 and not response.headers.get("retry-after"):
                        self.without_hint += 1
                time.sleep(0.01)

    def ingest(self, client, number):
        body = {"id": f"t-{number}", "fields": {"text": f"hello {number}"}}
        response = client.post("/v1/events", json=body)
        if response.status_code in (200, 201):
            self.acknowledged.append(body["id"])
        yield response

    def label(self, client, number):
        yield client.post("/v1/asks/next?n=1")
        yield client.post("/v1/labels", json={"event": "a", "label": "ham"})

    def look(self, client, number):
        yield client.get("/v1/stats")
        yield client.get("/v1/events/a")
        yield client.get("/readyz")

    def stop(self):
        self.ended.set()
        for thread in self.threads:
            thread.join()


def hold_under_load(service, seconds):
    """Traffic before, during and after; afterwards everything works again and nothing acknowledged is missing."""
    service.send("a", "b")
    traffic = Traffic(service)
    time.sleep(0.5)
    holder = Holder(service.store)
    time.sleep(seconds)
    holder.let_go()
    deadline = time.monotonic() + 20
    while service.post("/v1/events", {"id": "after", "fields": {"text": "x"}}).status_code == 503:
        assert time.monotonic() < deadline
    time.sleep(0.5)
    traffic.stop()
    assert service.get("/readyz").status_code == 200
    assert set(traffic.statuses) <= {200, 201, 204, 503}, traffic.statuses
    assert traffic.without_hint == 0
    stored = {line.split('"')[3] for line in service.get("/v1/export.jsonl").text.splitlines()}
    assert set(traffic.acknowledged) <= stored
    service.stop()
    service.digest()
    return traffic.statuses


def test_a_store_locked_for_three_seconds_is_slower_and_nothing_fails(make, store):
    service = make(store=store)
    service.send("z")
    holder = Holder(store)
    timer = threading.Timer(3.0, holder.let_go)
    began = time.monotonic()
    timer.start()
    assert service.post("/v1/events", {"id": "c", "fields": {"text": "x"}}).status_code == 201
    assert time.monotonic() - began > 2
    timer.join()


def test_a_locked_store_is_read_without_waiting(make, store):
    service = make(store=store)
    service.send("a")
    holder = Holder(store)
    try:
        lost = threading.Thread(target=service.send, args=("b",))  # the writer waits for the lock meanwhile
        lost.start()
        time.sleep(0.3)
        began = time.monotonic()
        with httpx.Client(base_url=service.url, timeout=30) as client:
            shown = client.get("/v1/events/a")
            guessed = client.post("/v1/predict", json={"fields": {"text": "what if"}})
        assert (shown.status_code, guessed.status_code) == (200, 200)
        assert shown.json()["now"]["model"] == 0
        assert time.monotonic() - began < 2
    finally:
        holder.let_go()
    lost.join()


@postgres_is_proven
def test_a_store_locked_for_long_is_unavailable_and_never_an_error_of_ours(make, store):
    # PostgreSQL is tried again, for ten seconds after the first try: it may just be on its way back
    statuses = hold_under_load(make(store=store), 18.0 if is_postgres(store) else 8.0)
    assert statuses[503] > 0
    assert statuses[200] > 0


@pytest.mark.prove
def test_a_store_locked_for_a_minute_under_load(make, store):
    statuses = hold_under_load(make(store=store), 60.0)
    assert statuses[503] >= 3


@postgres_is_proven
def test_a_start_on_a_locked_store_is_refused_in_a_sentence(make, store):
    service = make(store=store)
    service.stop()
    holder = Holder(store)
    try:
        done = service.run("serve", check=False)
    finally:
        holder.let_go()
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert "held" in done.stderr or "locked" in done.stderr
    service.start()


def test_a_postgres_that_becomes_read_only_is_unavailable_and_refused_at_the_start(make, postgres):
    import psycopg

    place = postgres.new_database()
    service = make(store=place)
    service.send("a")
    assert is_postgres(place)
    database = place.split("?")[0].rsplit("/", 1)[1]
    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
        cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        connection.execute(cut, (database,))  # as after a failover: the new server only reads
        response = service.post("/v1/events", {"id": "b", "fields": {"text": "x"}})
        assert (response.status_code, response.json()["code"]) == (503, "store_busy")
        assert service.get("/v1/stats").status_code == 200
        assert len(service.get("/v1/export.jsonl").text.splitlines()) == 1
        service.kill()
        done = service.run("serve", check=False)
        assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
        assert "read-only" in done.stderr
        connection.execute(f"ALTER DATABASE {database} RESET default_transaction_read_only")
    service.start()
    assert service.send("b")[0]["status"] == 201
