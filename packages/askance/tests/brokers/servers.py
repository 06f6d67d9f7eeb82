"""Real brokers for tests, each in a process of its own that may be killed and started again.

Redis and NATS write what they confirm to disk first, so that it outlives a kill. For Kafka there is no server in the
package registries: its protocol is spoken by the cluster that librdkafka brings for tests, over real sockets, but
with partitions and offsets in memory. It can be stopped for a while (SIGSTOP), not killed and started again.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE, wait_until


class Server:
    """A broker on this machine."""

    scheme = ""
    remembers = True
    """Whether it has everything again after a kill."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[Any] | None = None
        while self.process is None:  # a port of those that are not handed out to clients
            self.port = random.SystemRandom().randrange(20_000, 32_000)
            self.start()

    def command(self) -> list[str]:
        raise NotImplementedError

    def start(self) -> None:
        """Start it; it stays ended where the port is taken."""
        process = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def has_ended_or_answers() -> bool:
            if process.poll() is not None:
                return True
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return True
            return False

        wait_until(has_ended_or_answers, "a broker")
        if process.poll() is None:
            self.process = process
            wait_until(self.is_ready, "a broker that answers")

    def is_ready(self) -> bool:
        return True

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(PATIENCE)

    def restart(self) -> None:
        self.kill()
        self.process = None
        self.start()
        assert self.process is not None, "somebody else has taken the port"

    def pause(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def url(self, name: str) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/{name}"

    # What a test does at the broker, by clients of its own.

    def create(self, name: str) -> None:
        raise NotImplementedError

    def send(self, name: str, bodies: Sequence[bytes]) -> None:
        raise NotImplementedError

    def published(self, name: str) -> list[dict[str, Any]]:
        raise NotImplementedError

    def last_number(self, name: str) -> int:
        """The number of the last reply that was published; 0 if there is none."""
        raise NotImplementedError

    def lag(self, name: str, group: str = "askance") -> int:
        """Messages that the group has not committed."""
        raise NotImplementedError


class RedisServer(Server):
    scheme = "redis"

    def command(self) -> list[str]:
        return [
            "redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder), "--save", "",
            "--appendonly", "yes", "--appendfsync", "always",
        ]  # fmt: skip

    @property
    def client(self) -> Any:
        import redis

        return redis.Redis(port=self.port)

    def is_ready(self) -> bool:
        import redis

        try:
            return bool(self.client.ping())
        except redis.RedisError:  # it reads its log
            return False

    def create(self, name: str) -> None:
        self.client.xgroup_create(name, "nobody", mkstream=True)

    def send(self, name: str, bodies: Sequence[bytes]) -> None:
        with self.client.pipeline() as together:
            for body in bodies:
                together.xadd(name, {"event": body})
            together.execute()

    def published(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(fields[b"json"]) for _, fields in self.client.xrange(name)]

    def last_number(self, name: str) -> int:
        return next((json.loads(fields[b"json"])["number"] for _, fields in self.client.xrevrange(name, count=1)), 0)

    def lag(self, name: str, group: str = "askance") -> int:
        [found] = [one for one in self.client.xinfo_groups(name) if one["name"] == group.encode()]
        return len(self.client.xrange(name, min=b"(" + found["last-delivered-id"]))


class NatsServer(Server):
    scheme = "nats"
    streams: tuple[str, ...] = ()

    def command(self) -> list[str]:
        settings = self.folder / "nats.conf"
        settings.write_text(f'jetstream {{ store_dir: "{self.folder}", sync_interval: always }}\n')
        beside = Path(sys.executable).parent / "nats-server"
        program = str(beside) if beside.exists() else "nats-server"
        return [program, "-c", str(settings), "-a", "127.0.0.1", "-p", str(self.port)]

    def do(self, work: Any) -> Any:
        import nats

        async def connected() -> Any:
            client = await nats.connect(f"nats://127.0.0.1:{self.port}")
            try:
                return await work(client.jetstream(timeout=PATIENCE))
            finally:
                await client.close()

        return asyncio.run(connected())

    def create(self, name: str, **config: Any) -> None:
        """A stream, with its name as its subject."""

        def add(streams: Any) -> Coroutine[Any, Any, Any]:
            return streams.add_stream(name=name, subjects=config.pop("subjects", [name]), **config)

        self.do(add)
        self.streams = (*self.streams, name)

    def send(self, name: str, bodies: Sequence[bytes]) -> None:
        async def publish(streams: Any) -> None:
            for body in bodies:
                await streams.publish(name, body)

        wait_until(self._has_streams, "the streams of a server that was started again")
        self.do(publish)

    def _has_streams(self) -> bool:
        """Whether it has found its streams: it answers before that."""

        async def look(streams: Any) -> bool:
            for name in self.streams:
                await streams.stream_info(name)
            return True

        with suppress(Exception):
            return bool(self.do(look))
        return False

    def published(self, name: str) -> list[dict[str, Any]]:
        async def read(streams: Any) -> list[dict[str, Any]]:
            state = (await streams.stream_info(name)).state
            places = range(max(1, state.first_seq), state.last_seq + 1)
            return [json.loads((await streams.get_msg(name, place, direct=False)).data) for place in places]

        return list(self.do(read))

    def last_number(self, name: str) -> int:
        async def look(streams: Any) -> int:
            last = (await streams.stream_info(name)).state.last_seq
            return int(json.loads((await streams.get_msg(name, last, direct=False)).data)["number"]) if last else 0

        return int(self.do(look))

    def lag(self, name: str, group: str = "askance") -> int:
        from nats.js.errors import NotFoundError

        async def look(streams: Any) -> int:
            try:
                found = await streams.consumer_info(name, group)
            except NotFoundError:  # it is being made anew
                return -1
            return int(found.num_pending + found.num_ack_pending)

        return int(self.do(look))


class KafkaServer(Server):
    """A cluster of one broker; messages are sent to the first of its four partitions, so that they have an order."""

    scheme = "kafka"
    remembers = False

    def command(self) -> list[str]:
        return [sys.executable, "-m", "tests.brokers.mock_kafka", str(self.folder / "port")]

    def start(self) -> None:
        self.process = subprocess.Popen(self.command())
        told = self.folder / "port"
        self.port = int(wait_until(lambda: told.exists() and told.read_text(), "a cluster"))

    def create(self, name: str) -> None:
        """A topic is there from its first message on, which is a line that says nothing."""
        self.send(name, [b" "])

    def send(self, name: str, bodies: Sequence[bytes]) -> None:
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": f"127.0.0.1:{self.port}"})
        for body in bodies:
            producer.produce(name, body, partition=0)
        producer.flush()

    def _consumer(self, group: str) -> Any:
        from confluent_kafka import Consumer

        return Consumer({"bootstrap.servers": f"127.0.0.1:{self.port}", "group.id": group})

    def last_number(self, name: str) -> int:
        return max((reply["number"] for reply in self.published(name, last=1)), default=0)

    def published(self, name: str, last: int = sys.maxsize) -> list[dict[str, Any]]:
        """The replies, or so many of each partition."""
        from confluent_kafka import TopicPartition

        consumer = self._consumer("test")
        found = []
        for partition in range(4):
            _, end = consumer.get_watermark_offsets(TopicPartition(name, partition), timeout=PATIENCE)
            consumer.assign([TopicPartition(name, partition, max(0, end - last))])
            left = min(end, last)
            while left:
                messages = consumer.consume(left, 1.0)
                left -= len(messages)
                found += [json.loads(message.value()) for message in messages if message.value().strip()]
        consumer.close()
        return sorted(found, key=lambda reply: reply["number"])

    def lag(self, name: str, group: str = "askance") -> int:
        from confluent_kafka import TopicPartition

        consumer = self._consumer(group)
        [found] = consumer.committed([TopicPartition(name, 0)], timeout=PATIENCE)
        _, end = consumer.get_watermark_offsets(found, timeout=PATIENCE)
        consumer.close()
        return int(end - max(0, found.offset))


SERVERS: dict[str, type[Server]] = {"redis": RedisServer, "nats": NatsServer, "kafka": KafkaServer}
PROGRAMS = {"redis": "redis-server", "nats": "nats-server", "kafka": sys.executable}
PACKAGES = {"redis": "redis", "nats": "nats", "kafka": "confluent_kafka"}


def serve(name: str, folder: Path) -> Server:
    """Start a broker, or skip the test where it cannot be had."""
    pytest.importorskip(PACKAGES[name])
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    if shutil.which(PROGRAMS[name], path=path) is None:
        pytest.skip(f"{PROGRAMS[name]} is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    return SERVERS[name](folder)
