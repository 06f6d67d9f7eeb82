"""An hour in five minutes: twenty annotators and 500 events a second, with every span of time a twelfth of its default.

What is asserted holds on a machine of any speed; how fast it went is printed. ASKANCE_SOAK_SECONDS makes it shorter.
"""

import asyncio
import json
import os
import random
import time
from collections import Counter
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from benchmarks.live_load import Connection, percentile

from askance_live.config import is_postgres
from askance_live.store import open_store

SECONDS = float(os.environ.get("ASKANCE_SOAK_SECONDS", "300"))
PEOPLE = 20
RATE = 500  # events a second
BATCH = 10
BEHIND = 5.0  # seconds; what is due longer ago is not sent any more
LEASE = 10.0
CLOCK = 0.01  # seconds by which two times that the service wrote may differ from rounding
GROWTH = 30.0  # megabytes, from the middle of the time to its end: page caches may still be filling
WORDS = ["win", "prize", "lunch", "noon", "parcel", "account", "tomorrow", "meeting", "free", "money", "report"]


class Lease:
    """One delivery of a question, as its holder knows it."""

    def __init__(self, holder, ask):
        self.holder, self.ask, self.token = holder, ask["id"], ask["token"]
        self.delivery = int(ask["token"].split(".")[1])
        self.deadline = at(ask["deadline"])
        self.began = self.deadline - LEASE  # by the clock of the service
        self.received = time.monotonic()
        self.given_back = None  # when its holder sent word that it may go


def at(text):
    return datetime.fromisoformat(text).timestamp()


class Soak:
    """What everybody saw."""

    def __init__(self, service, secrets, seconds):
        self.service, self.secrets, self.seconds = service, secrets, seconds
        self.began = time.monotonic()
        self.times = {"ingest": [], "next": [], "answer": []}
        self.statuses, self.outcomes = Counter(), Counter()
        self.leases = {}  # by token
        self.accepted, self.extra, self.undone = set(), set(), set()
        self.errors = []
        self.sent = self.dropped = 0
        self.memory = []

    @property
    def over(self):
        return time.monotonic() - self.began >= self.seconds

    async def post(self, connection, path, body, name=None):
        start = time.perf_counter()
        status, found = await connection.post(path, body)
        if name:
            self.times[name].append(time.perf_counter() - start)
        self.statuses[status] += 1
        if status >= 500 or status in (400, 401, 403, 404, 422, 429):
            self.errors.append((path, status, found))
        return status, found

    # --- events ------------------------------------------------------------------------------------------

    async def stream(self):
        """At a constant rate, whether or not the last ones are answered."""
        rng = random.Random(1)
        idle = asyncio.Queue()
        for _ in range(32):
            idle.put_nowait(await Connection(self.service.port, self.secrets["root"]).open())
        tasks = set()
        for number in range(int(self.seconds * RATE / BATCH)):
            due = self.began + number * BATCH / RATE
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            if time.monotonic() - due > BEHIND or len(tasks) > 200:
                self.dropped += BATCH
                continue
            items = [self.event(rng, number * BATCH + k) for k in range(BATCH)]
            task = asyncio.create_task(self.send(idle, items))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.gather(*tasks)

    @staticmethod
    def event(rng, number):
        fields = {"text": " ".join(rng.choices(WORDS, k=8)), **{f"n{k}": rng.random() for k in range(6)}}
        return {"id": f"event-{number}", "fields": {**fields, "kind": f"v{rng.randrange(10)}", "size": rng.random()}}

    async def send(self, idle, items):
        connection = await idle.get()
        status, found = await self.post(connection, "/v1/events", items, "ingest")
        idle.put_nowait(connection)
        if status == 200:
            assert found["accepted"] == len(items)
            self.sent += len(items)

    # --- people ------------------------------------------------------------------------------------------

    async def person(self, name):
        rng = random.Random(name)
        connection = await Connection(self.service.port, self.secrets[name]).open()
        count = 0
        while not self.over:
            await asyncio.sleep(rng.uniform(0.05, 0.4))
            status, found = await self.post(connection, f"/v1/asks/next?n={rng.choice((1, 1, 2, 3))}", {}, "next")
            if status != 200:
                continue
            leases = [self.take(name, ask) for ask in found["asks"]]
            if rng.random() < 0.01:  # the machine dies with its questions; its owner is back when they are gone
                connection.writer.close()
                await asyncio.sleep(LEASE + 1.0)
                connection = await Connection(self.service.port, self.secrets[name]).open()
                continue
            for lease in leases:
                count += 1
                await asyncio.sleep(rng.uniform(0.0, 0.2))
                await self.deal_with(connection, rng, lease, f"{name}-{count}")

    def take(self, name, ask):
        """Note a delivery; the same one again, after a reload, has another deadline."""
        known = self.leases.get(ask["token"])
        if known is None:
            known = self.leases[ask["token"]] = Lease(name, ask)
        assert known.holder == name, f"{ask['token']} was given to {known.holder} and to {name}"
        known.deadline = at(ask["deadline"])
        return known

    async def deal_with(self, connection, rng, lease, identifier):
        choice = rng.random()
        path = f"/v1/asks/{lease.ask}"
        if choice < 0.05:
            status, found = await self.post(connection, f"{path}/renew", {"token": lease.token})
            if status == 200:
                lease.deadline = at(found["deadline"])
            return
        lease.given_back = lease.given_back or time.monotonic()
        if choice < 0.10:
            await self.post(connection, f"{path}/release", {"token": lease.token})
        elif choice < 0.18:
            reason = rng.choice(("unsure", "later", "bad_data"))
            body = {"answer_id": f"skip-{identifier}", "token": lease.token, "reason": reason}
            await self.post(connection, f"{path}/skip", body)
        else:
            body = {"answer_id": identifier, "token": lease.token, "label": rng.choice(("ham", "spam"))}
            await self.answer(connection, rng, lease, path, body)

    async def answer(self, connection, rng, lease, path, body):
        status, found = await self.post(connection, f"{path}/answer", body, "answer")
        if status != 200:
            assert (status, found["code"]) == (409, "already_answered"), found
            return
        self.outcomes[found["outcome"]] += 1
        (self.accepted if found["outcome"] == "accepted" else self.extra).add(body["answer_id"])
        if rng.random() < 0.05:  # did it arrive?
            assert await self.post(connection, f"{path}/answer", body) == (200, found)
        if rng.random() < 0.10 and not found["stale_token"]:  # else the question may be in other hands by now
            status, taken = await self.post(connection, f"/v1/answers/{body['answer_id']}/undo", {})
            assert status == 200, taken
            self.outcomes[taken["outcome"]] += 1
            self.undone.add(body["answer_id"])
            if taken["ask"]:
                again = self.take(lease.holder, taken["ask"])
                if rng.random() < 0.7:
                    again.given_back = time.monotonic()
                    renamed = {**body, "answer_id": f"{body['answer_id']}-again", "token": again.token}
                    await self.answer(connection, rng, again, path, renamed)

    async def tracker(self):
        """The memory of the service, and the numbers a dashboard would look at."""
        connection = await Connection(self.service.port, self.secrets["root"]).open()
        while not self.over:
            pages = int(Path(f"/proc/{self.service.process.pid}/statm").read_text().split()[1])
            self.memory.append((time.monotonic() - self.began, pages * os.sysconf("SC_PAGE_SIZE") / 1e6))
            status, _ = await connection.get("/v1/stats")
            self.statuses[status] += 1
            await asyncio.sleep(1.0)

    async def run(self):
        people = [self.person(f"p{k}") for k in range(PEOPLE)]
        await asyncio.gather(self.stream(), self.tracker(), *people)

    # --- what must hold ----------------------------------------------------------------------------------

    def no_two_at_once(self):
        """Of one question's deliveries, each ended before the next began: given back, or its time was over."""
        by_ask = {}
        for lease in self.leases.values():
            by_ask.setdefault(lease.ask, []).append(lease)
        handed_on = 0
        for leases in by_ask.values():
            leases.sort(key=lambda lease: lease.delivery)
            for first, second in pairwise(leases):
                assert second.delivery > first.delivery
                handed_on += first.holder != second.holder
                gone = first.given_back is not None and first.given_back <= second.received
                assert gone or second.began >= first.deadline - CLOCK, (vars(first), vars(second))
        return handed_on

    def growth(self):
        """Megabytes more at the end than in the middle."""
        middle = [size for when, size in self.memory if 0.4 <= when / self.seconds < 0.5]
        last = [size for when, size in self.memory if when / self.seconds >= 0.9]
        return median(last) - median(middle)


def check_store(service, soak):
    """The log has no gap, nothing was learned twice, and what was acknowledged is there exactly once."""
    database = open_store(service.store)
    try:
        with database.read() as session:
            learned = session.all("SELECT n, answer FROM learned ORDER BY seq")
            states = {name: (seq, state) for seq, name, state in session.all("SELECT seq, id, state FROM answers")}
            events = session.value("SELECT count(*) FROM events")
    finally:
        database.close()
    assert events == soak.sent
    assert [n for n, _ in learned] == list(range(1, len(learned) + 1))
    numbers = [answer for _, answer in learned]
    assert len(set(numbers)) == len(numbers)
    for name in soak.accepted:
        assert states[name][1] == ("undone" if name in soak.undone else "learned"), name
    for name in soak.extra:
        assert states[name][1] == ("undone" if name in soak.undone else "extra"), name
    kept = {states[name][0] for name in soak.accepted}
    assert set(numbers) <= kept
    assert {states[name][0] for name in soak.accepted - soak.undone} <= set(numbers)
    return len(learned)


@pytest.mark.prove
@pytest.mark.alone
def test_an_hour_in_five_minutes(make, store, capsys):
    seconds = SECONDS / 5 if is_postgres(store) else SECONDS
    service = make(
        store=store,
        queue={"learn_after": 0.25, "lease": LEASE, "later": 50, "time_to_live": 60, "freshness": 300},
        server={"requests_per_second": 0.0, "checkpoint_seconds": 5.0, "checkpoint_every": 5000},
    )
    secrets = service.tokens(**{f"p{k}": "label read" for k in range(PEOPLE)}, root="admin")
    service.log_in(secrets["root"])
    soak = Soak(service, secrets, seconds)
    asyncio.run(soak.run())
    service.wait_until_idle()
    exported = Counter()
    with service.client.stream("GET", "/v1/export.jsonl") as lines:
        for line in lines.iter_lines():
            given = json.loads(line)["answer"]
            exported.update([given["answer_id"]] if given else [])
    assert service.stop() == 0
    with capsys.disabled():
        print(f"\n{seconds:.0f} s, load average {os.getloadavg()[0]:.1f}: ", end="")
        print(f"{soak.sent / seconds:.0f} of {RATE} events a second, {sum(soak.outcomes.values())} answers and undos")
        if soak.dropped:
            print(f"this machine was too slow for {soak.dropped} events that were due: they were not sent")
        for name, values in soak.times.items():
            middle, high = (percentile(values, share) for share in (0.5, 0.99))
            print(f"{name}: p50 {middle:.1f} ms, p99 {high:.1f} ms of {len(values)}")
        first, last = soak.memory[0][1], soak.memory[-1][1]
        print(f"memory {first:.0f} MB at first, {last:.0f} MB at last, {soak.growth():+.1f} MB since the middle")
        print(dict(soak.statuses), dict(soak.outcomes))
    assert soak.errors == []
    assert soak.statuses[200] > PEOPLE
    assert soak.outcomes["accepted"] > PEOPLE
    handed_on = soak.no_two_at_once()
    assert handed_on > 0 or seconds < 60
    assert exported == Counter(soak.accepted - soak.undone)
    assert check_store(service, soak) > 0
    assert soak.growth() < GROWTH
    service.digest()
    assert service.run("doctor").stdout == "All is well.\n"
