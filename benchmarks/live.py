"""The live service: a real process, SQLite with every commit on disk, events of 20 fields over real sockets.

Throughput with a few connections that always wait for their answer; latency open-loop, at a constant rate, from the
moment a request was due, so that a stall counts for every request it delays.
"""

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.report import Row, Section, at_least, at_most

PEOPLE = 20
SETTINGS = """\
classes = ["ham", "spam"]
[asking]
audit = 0.05
[queue]
learn_after = 1
[server]
port = 0
requests_per_second = 0
"""


def event(rng: random.Random) -> dict[str, Any]:
    """20 fields: 14 numbers, 5 categories, a text."""
    fields: dict[str, Any] = {f"n{k}": rng.random() for k in range(14)}
    fields |= {f"c{k}": f"v{rng.randrange(10)}" for k in range(5)}
    fields["text"] = f"the quick brown fox number {rng.randrange(1000)} jumps over lazy dogs"
    return {"id": f"{rng.getrandbits(96):x}", "fields": fields}


class Connection:
    """As little HTTP as will do: the load must cost less than what it measures."""

    def __init__(self, port: int, token: str = "") -> None:
        self.port = port
        self.head = f"Host: localhost\r\nAuthorization: Bearer {token}\r\n" if token else "Host: localhost\r\n"

    async def open(self) -> "Connection":
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def post(self, path: str, value: Any) -> tuple[int, Any]:
        body = json.dumps(value).encode()
        head = f"POST {path} HTTP/1.1\r\n{self.head}Content-Length: {len(body)}\r\n\r\n"
        self.writer.write(head.encode() + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
        content = await self.reader.readexactly(int(length[1])) if length else b""
        return int(answer[9:12]), json.loads(content) if content else None


async def closed_loop(port: int, connections: int, batch: int, seconds: float) -> float:
    """Events a second, with so many connections that each wait for their answer."""
    done = 0
    began = time.perf_counter()

    async def client(number: int) -> None:
        nonlocal done
        rng = random.Random(os.getpid() * 1000 + number + batch)
        connection = await Connection(port).open()
        while time.perf_counter() - began < seconds:
            body = event(rng) if batch == 1 else [event(rng) for _ in range(batch)]
            status, _ = await connection.post("/v1/events", body)
            assert status in (200, 201), status
            done += batch

    await asyncio.gather(*(client(number) for number in range(connections)))
    return done / (time.perf_counter() - began)


async def open_loop(port: int, per_second: float, seconds: float) -> list[float]:
    """Seconds from when a single event was due to its answer, at a constant rate."""
    rng = random.Random(7)
    idle: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(64):
        idle.put_nowait(await Connection(port).open())
    times: list[float] = []
    began = time.perf_counter()

    async def one(due: float) -> None:
        connection = await idle.get()
        await connection.post("/v1/events", event(rng))
        idle.put_nowait(connection)
        times.append(time.perf_counter() - due)

    tasks = []
    for number in range(int(per_second * seconds)):
        due = began + number / per_second
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(one(due)))
    await asyncio.gather(*tasks)
    return times


async def people(port: int, tokens: list[str], seconds: float) -> dict[str, list[float]]:
    """Twenty people who take questions and answer them, while events come in."""
    times: dict[str, list[float]] = {"next": [], "answer": []}
    began = time.perf_counter()

    async def person(number: int, token: str) -> None:
        rng = random.Random(number)
        connection = await Connection(port, token).open()
        count = 0
        while time.perf_counter() - began < seconds:
            await asyncio.sleep(rng.uniform(0.05, 0.15))  # faster than any human
            start = time.perf_counter()
            status, body = await connection.post("/v1/asks/next?n=1", {})
            times["next"].append(time.perf_counter() - start)
            if status != 200:
                continue
            for ask in body["asks"]:
                count += 1
                answer = {"answer_id": f"{number}-{count}", "token": ask["token"], "label": rng.choice(["ham", "spam"])}
                start = time.perf_counter()
                status, _ = await connection.post(f"/v1/asks/{ask['id']}/answer", answer)
                times["answer"].append(time.perf_counter() - start)
                assert status == 200, status

    async def stream() -> None:
        rng = random.Random(99)
        connection = await Connection(port, tokens[-1]).open()
        while time.perf_counter() - began < seconds:
            await connection.post("/v1/events", [event(rng) for _ in range(5)])
            await asyncio.sleep(0.05)

    await asyncio.gather(stream(), *(person(number, token) for number, token in enumerate(tokens[:-1])))
    return times


def percentile(values: list[float], share: float) -> float:
    return 1e3 * sorted(values)[min(len(values) - 1, int(share * len(values)))]


class Service:
    """``askance serve`` in a temporary folder."""

    def __init__(self, folder: str) -> None:
        from askance.cli.init import create

        self.config = Path(folder) / "askance.toml"
        self.folder = folder
        create(self.config, SETTINGS)

    def start(self) -> float:
        began = time.perf_counter()
        words = [sys.executable, "-m", "askance", "serve", "--config", str(self.config)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=self.folder)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])
        return time.perf_counter() - began

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)

    def megabytes(self) -> float:
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * 4096 / 1e6

    def tokens(self) -> list[str]:
        from askance.live.auth import create_token
        from askance.live.config import load
        from askance.live.store import open_store

        database = open_store(load(self.config).store)
        names = [*(f"p{k}" for k in range(PEOPLE)), "root"]
        with database.write() as session:
            made = [
                create_token(session, name, ["admin" if name == "root" else "label"], time.time(), None)[1]
                for name in names
            ]
        database.close()
        return made


def run(quick: bool, report: Callable[[str], None]) -> list[Section]:
    seconds = 3.0 if quick else 10.0
    section = Section(
        "The live service",
        "`askance serve` on SQLite (`synchronous=FULL`), events of 20 fields, load from the same machine, "
        f"{seconds:.0f} seconds each. Single events with 16 connections; open-loop latency counts from when a request "
        "was due.",
    )
    with tempfile.TemporaryDirectory(prefix="askance-bench-") as folder:
        service = Service(folder)
        service.start()
        section.rows.append(at_most("memory at rest", service.megabytes(), 200, " MB"))
        report("single events")
        speed = asyncio.run(closed_loop(service.port, 16, 1, seconds))
        section.rows.append(at_least("single events a second, predicted and committed", speed, 1000, ""))
        report("batches")
        speed = asyncio.run(closed_loop(service.port, 2, 100, seconds))
        section.rows.append(at_least("events a second in batches of 100", speed, 5000, ""))
        report("open loop")
        times = asyncio.run(open_loop(service.port, 500, seconds))
        middle, high = (percentile(times, share) for share in (0.5, 0.99))
        section.rows.append(
            Row("single events at 500 a second, open loop", f"median {middle:.1f} ms, p99 {high:.1f} ms")
        )
        service.stop()
        events = Path(folder, "askance.db").stat().st_size / 1e6
        began = service.start()
        section.rows.append(at_most(f"start with a store of {events:.0f} MB, seconds", began, 3, " s"))
        report("twenty people")
        tokens = service.tokens()
        time.sleep(1.5)
        found = asyncio.run(people(service.port, tokens, seconds))
        for name, values in found.items():
            what = f"`{name}` with {PEOPLE} annotators, p99 of {len(values):,}"
            section.rows.append(at_most(what, percentile(values, 0.99), 50, " ms"))
        service.stop()
    return [section]
