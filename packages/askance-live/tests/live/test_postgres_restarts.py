"""A PostgreSQL that restarts, cuts connections or stays away: waited for, then said; nothing is lost, nothing twice."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import psycopg
import pytest
from tests.live.in_process import create_store, running_engine, send
from tests.patience import PATIENCE, wait_until

from askance_live import server
from askance_live.problems import StartError
from askance_live.store.postgres import PostgresDatabase

ALL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'askance'"
WITHIN = f"{ALL} AND state <> 'idle' AND query NOT LIKE 'COMMIT%'"


class Load:
    """Events, answers and looks at them, one after the other in a few threads, each tried once."""

    def __init__(self, service):
        self.service, self.ended = service, threading.Event()
        self.statuses, self.stored, self.answered, self.failures = [], [], [], []
        self.threads = [
            threading.Thread(target=self.loop, args=(work,)) for work in (self.ingest, self.label, self.look)
        ]
        for thread in self.threads:
            thread.start()

    def loop(self, work):
        with httpx.Client(base_url=self.service.url, timeout=PATIENCE) as client:
            number = 0
            while not self.ended.is_set() and not self.failures:
                try:
                    response = work(client, number)
                except Exception as error:
                    self.failures.append(error)
                    return
                self.statuses.append(response.status_code)
                if response.status_code >= 300:
                    self.failures.append((response.request.url, response.status_code, response.text))
                number += 1

    def ingest(self, client, number):
        body = [{"id": f"e{number}-{k}", "fields": {"text": f"hello {number} {k}"}} for k in range(5)]
        response = client.post("/v1/events", json=body)
        if response.status_code == 200:
            self.stored += response.json()["items"]
        return response

    def label(self, client, number):
        response = client.post("/v1/labels", json={"label_id": f"l{number}", "event": "a", "label": "spam"})
        if response.status_code == 200:
            self.answered.append(response.json())
        return response

    def look(self, client, number):
        paths = ("/v1/events/a", "/v1/stats", "/v1/export.jsonl", "/v1/answers?mine=1")
        return client.get(paths[number % len(paths)])

    def wait_for(self, number):
        """Until so many more requests were answered."""
        wanted = len(self.statuses) + number
        wait_until(lambda: len(self.statuses) >= wanted or self.failures, "answers")

    def end(self):
        self.ended.set()
        for thread in self.threads:
            thread.join()


@pytest.fixture
def running(postgres):
    """The server runs again, whatever became of a test."""
    yield postgres
    postgres.stop("immediate")
    postgres.start()


def test_a_restart_under_load_makes_requests_slower_and_fails_none(make, running):
    service = make(store=running.new_database(), patience=PATIENCE)
    service.send("a")
    load = Load(service)
    try:
        for mode in ("fast", "immediate", "fast"):
            load.wait_for(30)
            running.stop(mode)
            running.start()
        load.wait_for(30)
    finally:
        load.end()
    assert not load.failures
    assert service.stats()["events"]["total"] == 1 + len(load.stored)
    assert len({item["seq"] for item in load.stored}) == len(load.stored)
    for item in load.stored[:: max(1, len(load.stored) // 20)]:
        assert service.get(f"/v1/events/{item['id']}").json()["seq"] == item["seq"]
    service.wait_until_idle()
    service.stop()
    service.digest()
    assert "Traceback" not in (service.folder / "log.txt").read_text()


@pytest.mark.parametrize("which", [ALL, WITHIN], ids=["all", "within"])
def test_connections_cut_at_rest_or_in_a_transaction_fail_no_request(make, running, which):
    place = running.new_database()
    service = make(store=place, patience=PATIENCE)
    service.send("a")
    load = Load(service)
    try:
        with psycopg.connect(place, autocommit=True) as connection:
            for _ in range(8):
                load.wait_for(10)
                connection.execute(which)
        load.wait_for(10)
    finally:
        load.end()
    assert not load.failures
    assert service.stats()["events"]["total"] == 1 + len(load.stored)
    service.stop()
    service.digest()


@pytest.mark.parametrize("request_first", ["write", "read"])
def test_the_first_request_after_a_restart_succeeds(make, running, request_first):
    service = make(store=running.new_database(), patience=PATIENCE)
    service.send("a")
    assert service.get("/v1/events/a").status_code == 200
    for mode in ("fast", "immediate"):
        running.stop(mode)
        running.start()
        if request_first == "write":
            assert service.post("/v1/events", {"id": f"after-{mode}", "fields": {"text": "x"}}).status_code == 201
        else:
            assert service.get("/v1/events/a").status_code == 200


def test_a_request_sent_while_the_server_is_down_waits_for_it(make, running):
    service = make(store=running.new_database(), patience=PATIENCE)
    service.send("a")
    running.stop("fast")
    got = {}

    def write():
        got["write"] = httpx.post(
            f"{service.url}/v1/events", json={"id": "b", "fields": {"text": "x"}}, timeout=PATIENCE
        )

    def read():
        got["read"] = httpx.get(f"{service.url}/v1/events/a", timeout=PATIENCE)

    threads = [threading.Thread(target=work) for work in (write, read)]
    for thread in threads:
        thread.start()
    wait_until(lambda: "askance_requests_running 2.0" in service.get("/metrics").text, "both requests")
    wait_until(lambda: service.get("/readyz").status_code == 503, "a service that knows that the store is away")
    assert not got
    running.start()
    for thread in threads:
        thread.join()
    assert (got["write"].status_code, got["read"].status_code) == (201, 200)


def test_a_server_away_for_longer_than_the_patience_gives_503_and_recovers(make, running):
    service = make(store=running.new_database(), patience=1.0)
    service.send("a")
    running.stop("fast")
    for response in (
        service.post("/v1/events", {"id": "b", "fields": {"text": "x"}}),
        service.get("/v1/events/a"),
    ):
        assert response.status_code == 503
        assert response.json()["code"] == "store_busy"
        assert response.headers["retry-after"]
        assert response.elapsed.total_seconds() >= 1.0
    assert service.get("/livez").status_code == 200
    running.start()
    again = {"id": "b", "fields": {"text": "x"}}
    stored = wait_until(
        lambda: (given := service.post("/v1/events", again)).is_success and given, "a service that is back"
    )
    assert stored.json()["duplicate"] is False
    assert service.get("/v1/events/b").json()["seq"] == stored.json()["seq"]
    assert service.get("/readyz").status_code == 200
    service.stop()
    service.digest()


# --- while the service starts -------------------------------------------------------------------------------


def open_service(config):
    """Start a service as ``askance serve`` does, and end it; how many events it knows."""
    with ExitStack() as engines:
        service = server._open(config, engines)
        return service.engine.state.totals["events"]


@pytest.fixture
def config(running, tmp_path, monkeypatch):
    monkeypatch.setattr(server, "PATIENCE", PATIENCE)
    config = create_store(tmp_path, running.new_database())
    with running_engine(config) as engine:
        send(engine, "a", "b")
    return config


def test_a_start_waits_for_a_server_that_is_away(config, running, caplog):
    running.stop("fast")
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(open_service, config)
        wait_until(lambda: "cannot reach" in caplog.text, "a start that waits")
        assert not found.done()
        running.start()
        assert found.result(PATIENCE) == 2
    assert caplog.text.count("It is tried again") == 1


@pytest.mark.parametrize("step", ["own", "write", "read"])
def test_a_server_that_restarts_in_the_middle_of_a_start_fails_nothing(config, running, monkeypatch, step):
    whole, restarted = getattr(PostgresDatabase, step), []

    def interrupted(self):
        if not restarted:
            restarted.append(step)
            running.stop("immediate")
            running.start()
        return whole(self)

    monkeypatch.setattr(PostgresDatabase, step, interrupted)
    assert open_service(config) == 2
    assert restarted


def test_a_server_that_stays_away_is_said_in_a_sentence(config, running, monkeypatch):
    monkeypatch.setattr(server, "PATIENCE", 0.0)
    running.stop("fast")
    with pytest.raises(StartError, match="cannot reach the database"):
        open_service(config)
