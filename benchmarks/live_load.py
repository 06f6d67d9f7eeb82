"""Load for the live service, from as little client as will do: it must cost less than what it measures."""

import asyncio
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

PEOPLE = 20


def event(rng: random.Random) -> dict[str, Any]:
    """20 fields: 14 numbers, 5 categories, a text."""
    fields: dict[str, Any] = {f"n{k}": rng.random() for k in range(14)}
    fields |= {f"c{k}": f"v{rng.randrange(10)}" for k in range(5)}
    fields["text"] = f"the quick brown fox number {rng.randrange(1000)} jumps over lazy dogs"
    return {"id": f"{rng.getrandbits(96):x}", "fields": fields}


def percentile(values: list[float], share: float) -> float:
    """Seconds as milliseconds."""
    return 1e3 * sorted(values)[min(len(values) - 1, int(share * len(values)))]


class Connection:
    """HTTP over one socket, kept open."""

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
        return await self._answer()

    async def get(self, path: str) -> tuple[int, Any]:
        self.writer.write(f"GET {path} HTTP/1.1\r\n{self.head}\r\n".encode())
        return await self._answer()

    async def _answer(self) -> tuple[int, Any]:
        answer = await self.reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
        content = await self.reader.readexactly(int(length[1])) if length else b""
        return int(answer[9:12]), json.loads(content) if content else None


async def closed_loop(port: int, token: str, connections: int, batch: int, seconds: float) -> float:
    """Events a second, with so many connections that each wait for their answer."""
    done = 0
    began = time.perf_counter()

    async def client(number: int) -> None:
        nonlocal done
        rng = random.Random(time.time_ns() + number)
        connection = await Connection(port, token).open()
        while time.perf_counter() - began < seconds:
            body = event(rng) if batch == 1 else [event(rng) for _ in range(batch)]
            status, _ = await connection.post("/v1/events", body)
            assert status in (200, 201), status
            done += batch

    await asyncio.gather(*(client(number) for number in range(connections)))
    return done / (time.perf_counter() - began)


async def open_loop(port: int, token: str, per_second: float, seconds: float) -> list[float]:
    """Seconds from when a single event was due to its answer, at a constant rate: a stall counts for all it delays."""
    rng = random.Random(time.time_ns())
    idle: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(64):
        idle.put_nowait(await Connection(port, token).open())
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
    """Twenty people who take questions and answer them, while events come in; the last token is the stream's."""
    times: dict[str, list[float]] = {"next": [], "answer": []}
    began = time.perf_counter()

    async def person(number: int, token: str) -> None:
        rng = random.Random(time.time_ns() + number)
        connection = await Connection(port, token).open()
        while time.perf_counter() - began < seconds:
            await asyncio.sleep(rng.uniform(0.05, 0.15))  # faster than any human
            start = time.perf_counter()
            status, body = await connection.post("/v1/asks/next?n=1", {})
            times["next"].append(time.perf_counter() - start)
            if status != 200:
                continue
            for ask in body["asks"]:
                name = f"{rng.getrandbits(96):x}"
                answer = {"answer_id": name, "token": ask["token"], "label": rng.choice(["ham", "spam"])}
                start = time.perf_counter()
                status, _ = await connection.post(f"/v1/asks/{ask['id']}/answer", answer)
                times["answer"].append(time.perf_counter() - start)
                assert status == 200, status

    async def stream() -> None:
        rng = random.Random(time.time_ns())
        connection = await Connection(port, tokens[-1]).open()
        while time.perf_counter() - began < seconds:
            await connection.post("/v1/events", [event(rng) for _ in range(5)])
            await asyncio.sleep(0.05)

    await asyncio.gather(stream(), *(person(number, token) for number, token in enumerate(tokens[:-1])))
    return times


async def learning(port: int, token: str, times: int) -> list[float]:
    """Seconds from the response to a label until the model has learned it, while 200 events a second come in."""
    found = []
    connection = await Connection(port, token).open()
    rng = random.Random(time.time_ns())
    load = asyncio.create_task(open_loop(port, token, 200, 2.0 * times))
    for _ in range(times):
        new = event(rng)
        await connection.post("/v1/events", new)
        status, _ = await connection.post("/v1/labels", {"event": new["id"], "label": rng.choice(["ham", "spam"])})
        assert status == 200, status
        given = time.perf_counter()
        state = ""
        while state != "learned":
            await asyncio.sleep(0.01)
            _, shown = await connection.get(f"/v1/events/{new['id']}")
            state = shown["answers"][0]["state"]
        found.append(time.perf_counter() - given)
    load.cancel()
    return found


async def looks(port: int, token: str, path: str, times: int) -> list[float]:
    """Seconds that a page of numbers takes when something has changed since the last look."""
    connection = await Connection(port, token).open()
    rng = random.Random(time.time_ns())
    found = []
    for _ in range(times):
        await connection.post("/v1/events", event(rng))
        await asyncio.sleep(0.4)  # the numbers are kept for a quarter of a second
        start = time.perf_counter()
        status, _ = await connection.get(path)
        assert status == 200, status
        found.append(time.perf_counter() - start)
    return found


class Wrk(NamedTuple):
    """What wrk said: a closed loop, so its latencies leave out what a stall would have delayed."""

    per_second: float
    median: str
    high: str


SCRIPT = """
local count, run = 0, "%s"
local head = {["Authorization"] = "Bearer %s", ["Content-Type"] = "application/json"}
local fields = {}
for k = 0, 13 do fields[#fields + 1] = string.format('"n%%d": %%.6f', k, k / 17) end
for k = 0, 4 do fields[#fields + 1] = string.format('"c%%d": "v%%d"', k, k) end
local rest = table.concat(fields, ", ")
function request()
    count = count + 1
    local text = string.format('"text": "the quick brown fox number %%d jumps over lazy dogs"', count %% 1000)
    local body = string.format('{"id": "%%s-%%d", "fields": {%%s, %%s}}', run, count, rest, text)
    return wrk.format("POST", "/v1/events", head, body)
end
"""


def wrk(port: int, token: str, seconds: float) -> Wrk | None:
    """Single events by wrk over 16 connections; None where it is not installed."""
    program = shutil.which("wrk")
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "events.lua"
        script.write_text(SCRIPT % (f"{os.getpid()}-{time.time_ns()}", token))
        words = [
            program,
            "-t1",
            "-c16",
            f"-d{seconds:.0f}s",
            "--latency",
            "-s",
            str(script),
            f"http://127.0.0.1:{port}",
        ]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert "Non-2xx" not in said, said
    found = dict(re.findall(r"^\s+(50|99)%\s+(\S+)$", said, re.MULTILINE))
    rate = re.search(r"Requests/sec:\s+(\S+)", said)
    assert rate is not None, said
    return Wrk(float(rate[1]), found["50"], found["99"])
