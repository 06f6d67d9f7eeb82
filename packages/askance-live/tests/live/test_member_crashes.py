"""kill -9 of any member of a service of several processes: nothing acknowledged is lost, nothing is learned twice."""

import contextlib
import os
import random
import signal
import statistics
import threading
import time

import httpx
import psycopg
import pytest
from tests.live.members import Members
from tests.live.test_crash import Client, check, wait_for_work
from tests.patience import PATIENCE, wait_until

BACKEND = "SELECT (value::jsonb->>'backend')::int FROM meta WHERE name = 'owner'"
OVERDUE = "SELECT min(due) FROM answers WHERE state = 'waiting'"


class Whole:
    """All members as one service, which whoever asks finds at any front that runs."""

    def __init__(self, members):
        self.members = members
        self.made = members.made
        self.store, self.config, self.digest = self.made.store, self.made.config, self.made.digest

    def running(self, role):
        return [one for one in self.members.all if one.role == role and one.process and one.process.poll() is None]

    @property
    def url(self):
        return random.choice(self.running("front")).url

    def get(self, path):
        return self.running("front")[0].get(path)

    def wait_until_idle(self):
        wait_until(lambda: self.get("/readyz").status_code == 200)
        self.running("front")[0].wait_until_idle()

    def stop(self):
        self.members.stop()

    # --- what happens to it ------------------------------------------------------------------------------

    def kill_one(self, role, is_owner):
        owner = self.members.owner() if role == "owner" else None
        victims = [one for one in self.running(role) if role == "front" or (one is owner) == is_owner]
        if not victims:
            return
        victim = victims[0]
        victim.kill()
        self.members.start(role)

    def kill_front(self):
        self.kill_one("front", False)

    def kill_owner(self):
        self.kill_one("owner", True)

    def kill_standby(self):
        self.kill_one("owner", False)

    def end_backend(self):
        """As an administrator does, or a network that breaks."""
        self.members.value(f"SELECT pg_terminate_backend(({BACKEND}))")

    def kill_backend(self):
        """PostgreSQL then ends all others, and begins anew."""
        if pid := self.members.value(f"SELECT pid FROM pg_stat_activity WHERE pid = ({BACKEND})"):
            os.kill(pid, signal.SIGKILL)


class Staleness(threading.Thread):
    """Looks again and again by how much the answer that waits longest is overdue."""

    def __init__(self, store):
        super().__init__(daemon=True)
        self.store, self.seconds, self.ended = store, [], threading.Event()

    def run(self):
        while not self.ended.wait(0.05):
            with contextlib.suppress(psycopg.Error), psycopg.connect(self.store) as connection:
                while not self.ended.wait(0.05):
                    due = connection.execute(OVERDUE).fetchone()[0]
                    connection.rollback()
                    self.seconds.append(0.0 if due is None else max(0.0, time.time() - due))


def probe(whole, number):
    """Seconds until a new event is acknowledged."""
    http, began = httpx.Client(timeout=PATIENCE, verify=False), time.monotonic()
    while True:
        with contextlib.suppress(httpx.TransportError):
            body = {"id": f"probe-{number}", "fields": {"text": "is anybody there", "size": 1}}
            if http.post(f"{whole.url}/v1/events", json=body).status_code in (200, 201):
                return time.monotonic() - began
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.02)


def storm(whole, kinds, seed):
    """Clients at work while members are killed; the clients, the seconds without service, and the staleness."""
    rng = random.Random(seed)
    staleness = Staleness(whole.store)
    clients = [Client(whole, f"c{k}", seed + k) for k in range(3)]
    away = {kind: [] for kind in kinds}
    for thread in (staleness, *clients):
        thread.start()
    for number, kind in enumerate(kinds):
        wait_for_work(clients)
        time.sleep(rng.uniform(0.0, 0.2))  # at any moment
        killing = threading.Thread(target=getattr(whole, kind))
        killing.start()
        away[kind].append(probe(whole, number))
        killing.join()
    wait_for_work(clients)
    wait_until(lambda: any(client.answers for client in clients), "an acknowledged answer")
    for thread in (*clients, staleness):
        thread.ended.set()
        thread.join()
    assert [error for client in clients for error in client.errors] == []
    return clients, away, staleness.seconds


@pytest.fixture
def whole(tmp_path, postgres, nursery):
    server = {"checkpoint_every": 100, "checkpoint_seconds": 0.5}
    members = Members(tmp_path, postgres.new_database(), nursery, server=server, queue={"learn_after": 0.2})
    for role in ("owner", "owner", "front", "front"):
        members.start(role)
    members.wait_for_owner()
    yield Whole(members)
    members.stop()


KINDS = ("kill_owner", "kill_front", "kill_standby", "end_backend", "kill_backend")


def test_any_member_can_be_killed(whole):
    clients, _, _ = storm(whole, KINDS[:4], seed=3)
    events, learned = check(whole, clients)
    assert events > 20
    assert learned > 0


@pytest.mark.prove
def test_members_are_killed_fifty_times(whole):
    kinds = list(KINDS) * 10
    random.Random(5).shuffle(kinds)
    clients, away, stale = storm(whole, kinds, seed=5)
    events, learned = check(whole, clients)
    assert learned > 50
    print(f"\n{len(kinds)} rounds: {events} events, {learned} learned, 0 lost, 0 learned twice")
    for kind, seconds in away.items():
        print(f"{kind}: no service for {statistics.median(seconds):.2f} s (median), {max(seconds):.2f} s (most)")
    print(f"staleness p50 {quantile(stale, 0.5):.3f} s, p99 {quantile(stale, 0.99):.3f} s, most {max(stale):.3f} s")


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]
