"""A store that another program holds, for seconds and for a minute; and one that may only be read."""

import subprocess
import sys
import threading
import time
from collections import Counter

import httpx
import pytest
from tests.live.running import postgres_is_proven
from tests.patience import PATIENCE, wait_until

from askance_live.config import is_postgres

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
    connection = sqlite3.connect(place, isolation_level=None, timeout=float(sys.argv[2]))
    connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


class Holder:
    """Another process that has begun to write, and does not come to an end."""

    def __init__(self, place):
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, place, str(PATIENCE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
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
        with httpx.Client(base_url=self.service.url, timeout=PATIENCE) as client:
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


def hold_under_load(service, refused, seconds=0.0):
    """Traffic before, during and after, until so many requests were refused and for so many seconds at least;
    afterwards everything works again and nothing acknowledged is missing."""
    service.send("a", "b")
    traffic = Traffic(service)
    wait_until(lambda: len(traffic.acknowledged) > 3, "an acknowledged event")
    holder = Holder(service.store)
    time.sleep(seconds)
    wait_until(lambda: traffic.statuses[503] >= refused, "a refusal")
    holder.let_go()
    after = {"id": "after", "fields": {"text": "x"}}
    wait_until(lambda: service.post("/v1/events", after).status_code != 503, "a store that can be written")
    before = len(traffic.acknowledged)
    wait_until(lambda: len(traffic.acknowledged) > before, "an acknowledged event")
    traffic.stop()
    assert service.get("/readyz").status_code == 200
    assert set(traffic.statuses) <= {200, 201, 204, 503}, traffic.statuses
    assert traffic.without_hint == 0
    stored = {line.split('"')[3] for line in service.get("/v1/export.jsonl").text.splitlines()}
    assert set(traffic.acknowledged) <= stored
    service.stop()
    service.digest()
    return traffic.statuses


def metrics(service):
    """By a connection of its own: that of the service may be busy."""
    return httpx.get(f"{service.url}/metrics", timeout=PATIENCE).text


def test_a_store_locked_for_a_moment_is_slower_and_nothing_fails(make, store):
    service = make(store=store, patience=PATIENCE)
    service.send("z")
    holder = Holder(store)
    statuses = []
    send = threading.Thread(
        target=lambda: statuses.append(service.post("/v1/events", {"id": "c", "fields": {"text": "x"}}).status_code)
    )
    send.start()
    wait_until(lambda: "askance_requests_running 1.0" in metrics(service), "a request that waits")
    assert statuses == []
    holder.let_go()
    send.join()
    assert statuses == [201]


def test_a_locked_store_is_read_without_waiting(make, store):
    service = make(store=store, patience=PATIENCE)
    service.send("a")
    holder = Holder(store)
    try:
        event = {"id": "b", "fields": {"text": "x"}}
        lost = threading.Thread(target=service.post, args=("/v1/events", event))  # the writer waits for the lock
        lost.start()
        with httpx.Client(base_url=service.url, timeout=PATIENCE) as client:
            shown = client.get("/v1/events/a")
            guessed = client.post("/v1/predict", json={"fields": {"text": "what if"}})
        assert (shown.status_code, guessed.status_code) == (200, 200)
        assert shown.json()["now"]["model"] == 0
    finally:
        holder.let_go()
    lost.join()


@postgres_is_proven
def test_a_store_locked_for_long_is_unavailable_and_never_an_error_of_ours(make, store):
    statuses = hold_under_load(make(store=store, patience=1.0), refused=1)
    assert statuses[200] > 0


@pytest.mark.prove
def test_a_store_locked_for_a_minute_under_load(make, store):
    hold_under_load(make(store=store), refused=3, seconds=60.0)


@postgres_is_proven
def test_a_start_on_a_locked_store_is_refused_in_a_sentence(make, store):
    service = make(store=store, patience=1.0)
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
    service = make(store=place, patience=1.0)
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
        left = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
        wait_until(lambda: not connection.execute(left, (database,)).fetchone()[0], "a server that knows of the end")
        done = service.run("serve", check=False)
        assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
        assert "read-only" in done.stderr
        connection.execute(f"ALTER DATABASE {database} RESET default_transaction_read_only")
    service.start()
    assert service.send("b")[0]["status"] == 201
