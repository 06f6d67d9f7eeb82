"""kill -9 at random: nothing acknowledged is lost, nothing is doubled, and the model is what it would have been."""

import random
import subprocess
import sys
import threading
import time

import httpx
import pytest
from tests.live.running import postgres_is_proven
from tests.patience import PATIENCE, wait_until

from askance_live.engine.replay import replay


class Client(threading.Thread):
    """Sends events and answers questions until told to stop; remembers what was acknowledged; retries."""

    def __init__(self, service, name, seed):
        super().__init__(daemon=True)
        self.service, self.name, self.rng = service, name, random.Random(seed)
        self.events, self.answers = {}, {}
        self.ended = threading.Event()
        self.errors = []
        self.http = httpx.Client(timeout=PATIENCE, verify=False)  # a context for TLS takes longer than a request

    @property
    def told(self):
        return len(self.events) + len(self.answers)

    def post(self, path, body):
        """Until an answer comes; a crash in between makes it the same request once more."""
        while not self.ended.is_set():
            try:
                response = self.http.post(self.service.url + path, json=body)
            except httpx.TransportError:
                time.sleep(0.05)
                continue
            if response.status_code in (502, 503):
                time.sleep(0.05)
                continue
            return response
        return None

    def run(self):
        number = 0
        while not self.ended.is_set():
            number += 1
            if self.rng.random() < 0.6:
                items = [
                    {"id": f"{self.name}-{number}-{k}", "fields": {"text": f"{self.rng.choice(WORDS)} {k}", "size": k}}
                    for k in range(self.rng.choice((1, 1, 5, 30)))
                ]
                response = self.post("/v1/events", items)
                for item in response.json()["items"] if response is not None else ():
                    self.events[item["id"]] = {
                        name: value for name, value in item.items() if name not in ("status", "duplicate")
                    }
            else:
                response = self.post("/v1/asks/next?n=2", {})
                if response is None or response.status_code == 204:
                    continue
                for ask in response.json()["asks"]:
                    name = f"{self.name}-answer-{number}-{ask['id']}"
                    body = {"answer_id": name, "token": ask["token"], "label": self.rng.choice(("ham", "spam"))}
                    done = self.post(f"/v1/asks/{ask['id']}/answer", body)
                    if done is None:
                        return
                    if done.status_code == 200:
                        self.answers[name] = done.json()
                    elif done.json()["code"] != "already_answered":
                        self.errors.append(done.text)


WORDS = ["win a prize", "meet at noon", "the parcel", "your account", "lunch tomorrow"]


def wait_for_work(clients):
    """Until every client was told something more."""
    before = [client.told for client in clients]
    wait_until(lambda: all(client.told > n for client, n in zip(clients, before, strict=True)), "an acknowledgement")


def storm(service, rounds, seed):
    """Clients at work while the service is killed again and again; what the clients were told."""
    rng = random.Random(seed)
    clients = [Client(service, f"c{k}", seed + k) for k in range(3)]
    for client in clients:
        client.start()
    for _ in range(rounds):
        wait_for_work(clients)
        time.sleep(rng.uniform(0.0, 0.5))  # a kill at any moment
        service.kill()
        service.start()
    wait_for_work(clients)
    wait_until(lambda: any(client.answers for client in clients), "an acknowledged answer")
    for client in clients:
        client.ended.set()
    for client in clients:
        client.join()
    assert [error for client in clients for error in client.errors] == []
    return clients


def check(service, clients):
    """Everything acknowledged is there once, every answer trained once, and the model is a function of the log."""
    service.wait_until_idle()
    for client in clients:
        for name in random.Random(0).sample(sorted(client.events), min(40, len(client.events))):
            said = client.events[name]
            stored = service.get(f"/v1/events/{name}").json()
            assert stored["seq"] == said["seq"]
            assert stored["prediction"] == {key: said[key] for key in ("label", "probabilities", "model")}
    service.stop()
    from askance_live.config import AskingSettings, load
    from askance_live.engine.learner import Learner
    from askance_live.store import open_store

    database = open_store(service.store)
    try:
        with database.read() as session:
            stored = {row[0] for row in session.all("SELECT id FROM events")}
            answers = dict(session.all("SELECT id, state FROM answers"))
            learned = session.all("SELECT n, answer FROM learned ORDER BY seq")
            fresh = Learner(load(service.config).model, AskingSettings())
            decided = []
            original = fresh.decide
            fresh.decide = lambda events, after: decided.extend(original(events, after)) or decided
            replay(session, fresh, 0, 10**12)
            rows = session.all("SELECT predicted, asked, probability, audit FROM events ORDER BY seq")
    finally:
        database.close()
    for client in clients:
        assert set(client.events) <= stored
        assert set(client.answers) <= set(answers)
        for name, said in client.answers.items():
            assert (answers[name] == "learned") == (said["outcome"] == "accepted")
    assert [n for n, _ in learned] == list(range(1, len(learned) + 1))
    assert len({answer for _, answer in learned}) == len(learned)
    # an uninterrupted run over the same log decides every event as the interrupted one did
    assert [(d.predicted, d.asked, d.probability, int(d.audit)) for d in decided] == [
        (predicted, asked > 0, probability, audit) for predicted, asked, probability, audit in rows
    ]
    assert fresh.digest() == service.digest()  # which also compares it with checkpoint + rest of the log
    return len(stored), len(learned)


def test_kill_9_loses_and_doubles_nothing(make, store):
    service = make(store=store, server={"checkpoint_every": 100, "checkpoint_seconds": 0.3}, patience=PATIENCE)
    clients = storm(service, rounds=2, seed=1)
    events, learned = check(service, clients)
    assert events > 20
    assert learned > 0


class Command:
    """``python -m askance serve``, with everything that takes."""

    def __init__(self, service):
        words = [sys.executable, "-m", "askance", *service.serve_words()]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=service.folder)
        self.url = self.process.stdout.readline().split()[-1]
        while httpx.get(f"{self.url}/readyz", timeout=PATIENCE).status_code != 200:
            time.sleep(0.01)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@postgres_is_proven
def test_a_killed_service_replays_thousands_of_events_and_is_back(make, store):
    service = make(store=store, server={"checkpoint_seconds": 3600.0})  # however slow this machine is
    service.stop()
    first = Command(service)
    try:
        for part in range(4):
            items = [
                {"id": f"r{part}-{k}", "fields": {"text": f"{WORDS[k % 5]} {k}", "size": k % 7}} for k in range(1000)
            ]
            done = httpx.post(f"{first.url}/v1/events", json=items, timeout=PATIENCE).json()
            assert done["accepted"] == 1000
            labels = [{"event": f"r{part}-{k}", "label": ("ham", "spam")[k % 2]} for k in range(100)]
            assert httpx.post(f"{first.url}/v1/labels", json=labels, timeout=PATIENCE).json()["errors"] == 0
    finally:
        first.kill()
    again = Command(service)
    try:
        stats = httpx.get(f"{again.url}/v1/stats", timeout=PATIENCE).json()
    finally:
        again.kill()
    assert stats["events"]["total"] == 4000
    assert stats["labels"]["total"] == 400
    assert stats["model"]["checkpoint"] < 4000  # the rest was replayed


@pytest.mark.prove
def test_kill_9_fifty_times(make, store):
    service = make(store=store, server={"checkpoint_every": 50, "checkpoint_seconds": 0.2}, patience=PATIENCE)
    clients = storm(service, rounds=50, seed=2)
    check(service, clients)


def script(service, crash):
    """A fixed sequence of requests; the service dies after some of them, where ``crash`` says so."""
    labels = {}
    rng = random.Random(5)
    for step in range(8):
        if step in crash:
            service.kill()
            service.start()
        items = service.send(*(f"s{step}-{k}" for k in range(5)), text=rng.choice(WORDS))
        for item in items:
            if item["asked"]:
                labels[item["id"]] = rng.choice(("ham", "spam"))
                service.post("/v1/labels", {"event": item["id"], "label": labels[item["id"]]})
        service.wait_until_learned(len(labels))
    service.stop()
    return service.digest(), len(labels)


def test_the_model_after_crashes_is_bit_for_bit_that_of_an_uninterrupted_run(make):
    whole = script(make(), crash=())
    torn = script(make(server={"checkpoint_every": 7}), crash=(2, 3, 7))
    assert torn == whole
    assert whole[1] > 5


def test_sigterm_under_load_drains_and_answers_what_it_took(make):
    service = make()
    clients = [Client(service, f"c{k}", k) for k in range(3)]
    for client in clients:
        client.start()
    wait_for_work(clients)
    assert service.stop() == 0
    for client in clients:
        client.ended.set()
        client.join()
    service.start()
    check(service, clients)


def test_a_second_service_on_the_same_store_refuses(make, store):
    service = make(store=store)
    service.patience = 0.5  # the second one's
    done = service.run("serve", check=False)
    assert done.returncode == 2
    assert "another askance works on" in done.stderr
    assert service.get("/readyz").json()["ready"] is True
