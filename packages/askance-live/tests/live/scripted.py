"""A scripted session with a service in the test's own process: every request is sent until it is acknowledged.

Time stands still but where the script moves it, so that two sessions leave the same rows, times included.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing

from tests.live.asgi import Call
from tests.live.faulty import copy_store
from tests.live.in_process import create_store
from tests.patience import PATIENCE

from askance.errors import AskanceError
from askance_live.clock import Clock
from askance_live.config import load
from askance_live.doctor import examine_rest, examine_store
from askance_live.engine.rebuild import compare
from askance_live.engine.thread import Engine
from askance_live.service import Service
from askance_live.store import open_store

BEGIN = 1_700_000_000.0
WORDS = ("win a prize", "meet at noon", "the parcel", "your account", "lunch tomorrow")
TRIES = 20
NOT_COMPARED = ("group", "clock", "store", "writer")  # rows of meta: how many transactions there were, random names
TABLES = (
    "answers", "asks", "audit_log", "checkpoints", "events", "learned", "minutes", "quarantine", "set_aside",
    "schemes", "settings", "tallies", "widened",
)  # fmt: skip


class StandingClock(Clock):
    """Stands still until it is moved."""

    def __init__(self):
        self.time = BEGIN

    def now(self):
        return self.time

    def follow(self):
        return 0.0


class Refused(Exception):
    """A request was refused again and again."""


class Session:
    """A service and its only client, who remembers what was acknowledged."""

    def __init__(self, folder, faults):
        self.folder, self.faults = folder, faults
        create_store(
            folder,
            queue={"learn_after": 3.0},
            server={"checkpoint_every": 6, "checkpoint_seconds": 1e9},
            asking={"rate": 1.0},
            model={"algorithm": "PAA-I", "hash_bits": 6},
        )
        self.settings, self.store = folder / "askance.toml", folder / "askance.db"
        self.clock = StandingClock()
        self.said, self.refused = [], []
        self.service = None
        faults.place, faults.image = self.store, folder / "image.db"

    # --- the operator ------------------------------------------------------------------------------------

    def start(self, tries=TRIES):
        """Start the service, again where that failed."""
        for left in reversed(range(tries)):
            if self.faults.is_down:
                self.come_back()
            database = engine = None
            try:
                config = load(self.settings)
                database = open_store(config.store)
                engine = Engine(database, config, self.clock)
                engine.start()
                self.service = Service(config, database, engine)
                return
            except AskanceError as error:
                self.refused.append(str(error))
                if engine is not None:
                    engine.stop()
                elif database is not None:
                    database.close()
                if not left:
                    raise

    def stop(self):
        service, self.service = self.service, None
        service.stopping.set()
        service.close()
        service.engine.stop()

    def come_back(self):
        """The machine is on again, with the files as they were when it went down."""
        self.faults.is_down = False
        for path in self.folder.glob("askance.db*"):
            path.unlink()
        copy_store(self.faults.image, self.store)

    # --- the client --------------------------------------------------------------------------------------

    async def call(self, method, path, body=None, done=()):
        """Send a request until it is acknowledged; a problem that is ``done`` says that it was, before."""
        content = b"" if body is None else json.dumps(body).encode()
        headers = [("host", "127.0.0.1"), ("content-type", "application/json")]
        for _ in range(TRIES):
            if self.faults.is_down:
                self.stop()
                self.start()
            request = Call(self.service, method, path, body=content, address="127.0.0.1", headers=headers)
            try:
                status = await request.end()
            except AskanceError as error:  # in the middle of a response, which the client sees cut off
                self.refused.append(str(error))
                continue
            if status < 300:
                return None if status == 204 else request.body
            self.refused.append((path, status, request.body))
            if status in done and len(self.refused) > 1:
                return None
            assert status in (503, 507), (path, status, request.body)
        raise Refused(path)

    async def get(self, path):
        return await self.call("GET", path)

    async def post(self, path, body=None):
        found = await self.call("POST", path, {} if body is None else body)
        return None if found is None else json.loads(found)

    async def send(self, *numbers):
        items = [
            {"id": f"e{number}", "fields": {"text": f"{WORDS[number % 5]} {number}", "size": number}}
            for number in numbers
        ]
        for item in (await self.post("/v1/events", items))["items"]:
            self.said.append({name: value for name, value in item.items() if name not in ("status", "duplicate")})

    async def answer(self, ask, label, **more):
        body = {"answer_id": f"answer-{ask['id']}-{label}", "token": ask["token"], "label": label, **more}
        self.said.append(await self.post(f"/v1/asks/{ask['id']}/answer", body))

    async def learn(self, n):
        """Let the grace pass, and wait until so many answers are learned."""
        self.clock.time += 5.0
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while self.service.engine.committed.learned < n:
            assert asyncio.get_running_loop().time() < deadline
            await self.post("/v1/asks/next?n=1")  # whatever is done, chores are done beside it

    async def look(self):
        """All that is served of a store, read only but for a lease."""
        found = {
            "export": await self.get("/v1/export.jsonl"),
            "answers": await self.get("/v1/answers?limit=200"),
            "next": await self.post("/v1/asks/next?n=3"),
            "model": self.service.engine.state.learner.digest(),
        }
        stats = json.loads(await self.get("/v1/stats"))
        found |= {name: stats[name] for name in ("labels", "queue", "classes", "people")}
        found["events"] = stats["events"]["total"]
        for number in range(12):
            found[f"e{number}"] = await self.get(f"/v1/events/e{number}")
        return found

    async def play(self):
        """Events, leases, answers, skips, labels, corrections, checkpoints, exports, rebuilds, changed
        classes and a restart."""
        self.start()
        await self.send(0, 1, 2)
        await self.send(3, 4, 5, 6)
        first, second, third, fourth = (await self.post("/v1/asks/next?n=4"))["asks"]
        await self.answer(first, "spam", ms=900)
        await self.answer(second, "ham")
        await self.post(f"/v1/answers/answer-{second['id']}-ham/undo")  # before it is learned
        skip = {"answer_id": "skip-1", "token": third["token"], "reason": "unsure"}
        self.said.append(await self.post(f"/v1/asks/{third['id']}/skip", skip))
        await self.answer(fourth, "spam", comment="sure")
        await self.learn(2)
        label = {"event": "e0", "label": "ham", "label_id": "late-truth"}
        self.said.append((await self.post("/v1/labels", label))["outcome"])
        await self.answer(fourth, "ham", supersedes=f"answer-{fourth['id']}-spam")  # after it was learned
        await self.learn(4)
        await self.send(7, 8, 9)
        self.said.append((await self.get("/v1/export.jsonl")).decode())
        self.said.append((await self.post("/v1/model/rebuild"))["digest"])
        await self.call("POST", "/v1/classes", {"add": ["eggs"], "fields": {"size": "category"}}, done=(409,))
        await self.post("/v1/classes", {"rename": {"eggs": "Eggs"}})
        await self.send(12, 13)
        self.said.append(self.service.engine.state.learner.digest())
        self.stop()
        self.start()
        await self.send(3, 10, 11)  # one of them once more
        self.said.append((await self.get("/v1/events/e3")).decode())
        self.said.append(json.loads(await self.get("/v1/stats"))["labels"])
        self.said.append((await self.get("/v1/export.csv")).decode())
        self.said.append(self.service.engine.state.learner.digest())
        self.stop()

    # --- the auditor -------------------------------------------------------------------------------------

    def examine(self):
        """What the store holds, once it is found sound, but for checkpoints and how many questions waited when: both
        go by how often something was done."""
        with closing(sqlite3.connect(self.store)) as connection:
            rows = {name: connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in TABLES}
            meta = dict(connection.execute("SELECT name, value FROM meta"))
        if (content := repr(rows)) not in SOUND:  # what it says of the same rows is the same
            self.check_sound()
            SOUND.add(content)
        answers = [row[2] for row in rows["learned"]]
        assert len(set(answers)) == len(answers)
        del rows["checkpoints"]
        rows["audit_log"] = [row[1:] for row in rows["audit_log"] if row[3] != "model rebuild"]  # each time it was done
        rows["minutes"] = [(minute, remove_waiting(text)) for minute, text in rows["minutes"]]
        rows["meta"] = {name: value for name, value in meta.items() if name not in NOT_COMPARED}
        return rows

    def check_sound(self):
        """Nothing is wrong with the store, and its checkpoint and its log give the same model."""
        config = load(self.settings)
        database = open_store(config.store)
        try:
            assert examine_store(database, config) == []
            assert examine_rest(database, config) == []
            with database.read() as session:
                assert compare(session, config)["same"]
        finally:
            database.close()


SOUND = set()
"""What stores held that were found sound."""


def remove_waiting(document):
    counts = json.loads(document)
    return {name: value for name, value in counts.items() if name not in ("open", "checksum")}


def play_script(folder, faults):
    """A session from beginning to end; what was acknowledged, and what the store holds then."""
    session = Session(folder, faults)
    faults.is_counting = True
    try:
        asyncio.run(session.play())
    finally:
        faults.is_counting = False
        if session.service is not None:
            session.stop()
    return session.said, session.examine()
