"""Topics of Kafka, or of whatever speaks its protocol.

The reader takes all partitions of the topic itself (assign), from the offsets that it keeps: nobody shares them with
it, and nothing is redistributed when it ends. To commit is to commit the offsets of its group. Partitions that are
added later are found within a minute.

Options of the URL, other than ``group``, are those of librdkafka: ``?security.protocol=SASL_SSL``.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from askance.brokers import Address, Message, Numbered, Position
from askance.errors import DataWarning, InvalidParameter

TIMEOUT = 10.0
LOOK_FOR_PARTITIONS = 60.0
"""Seconds between two looks for new partitions."""
SILENT = logging.Logger("askance.brokers.kafka", logging.CRITICAL)
"""What librdkafka has to say; whoever reads or writes is told by an error."""
LOST = (KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT, KafkaError._RESOLVE)


class KafkaConnection:
    """What a consumer and a producer have in common."""

    def __init__(self, address: Address) -> None:
        self._address, self._topic = address, address.name
        self._lost: KafkaError | None = None

    def _settings(self) -> dict[str, Any]:
        given = {name: value for name, value in self._address.options.items() if name != "group"}
        login = {"sasl.username": self._address.user, "sasl.password": self._address.password}
        return {
            "bootstrap.servers": self._address.servers, "client.id": "askance", "error_cb": self._note,
            **{name: value for name, value in login.items() if value is not None and self._address.user}, **given,
        }  # fmt: skip

    def _note(self, error: KafkaError) -> None:
        """Take note of a connection that is lost; called while messages are waited for."""
        if error.code() in LOST:
            self._lost = error

    def _raise_if_lost(self) -> None:
        if self._lost is not None:
            raise self._address.unreachable(self._lost.str())

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """What librdkafka raises, as the contract has it."""
        try:
            yield
        except KafkaException as error:
            reason = error.args[0]
            if isinstance(reason, KafkaError) and reason.code() == KafkaError._INVALID_ARG:
                raise InvalidParameter(f"{self._address.url!r} has an option that cannot be: {reason.str()}.") from None
            raise self._address.unreachable(reason.str() if isinstance(reason, KafkaError) else error) from None

    def _partitions(self, client: Any) -> list[int]:
        """The partitions of the topic; raises if there is none."""
        until = time.monotonic() + TIMEOUT
        while True:
            try:
                topic = client.list_topics(self._topic, timeout=1.0).topics[self._topic]
                break
            except KafkaException as error:
                client.poll(0)  # takes note of servers that refuse the connection
                self._raise_if_lost()
                if time.monotonic() > until:
                    raise self._address.unreachable(error.args[0].str()) from None
        if topic.error is not None and topic.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise self._address.absent("topic", "check the name, or create it with kafka-topics --create")
        if topic.error is not None:
            raise self._address.unreachable(topic.error.str())
        return sorted(topic.partitions)


class KafkaSource(KafkaConnection):
    """A topic that is read."""

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self.name = f"the Kafka topic {address.name!r}"
        self._client: Any = None

    def open(self, position: Position) -> Position:
        """Find the partitions, and where to go on in each."""
        self._lost = None
        fixed = {"group.id": self._address.group, "enable.auto.commit": False, "auto.offset.reset": "earliest"}
        with self._errors():
            self._client = Consumer(self._settings() | fixed, logger=SILENT)
        self._assigned: set[int] = set()
        return self._assign(self._partitions(self._client), position)

    def _assign(self, partitions: Sequence[int], position: Position) -> Position:
        """Read these partitions, too; where they stand."""
        places = [TopicPartition(self._topic, partition) for partition in partitions]
        with self._errors():
            for place in self._client.committed(places, timeout=TIMEOUT):
                oldest, _ = self._client.get_watermark_offsets(place, timeout=TIMEOUT)
                known = position.get(str(place.partition))
                place.offset = max(place.offset, 0) if known is None else int(known) + 1
                if oldest > place.offset:
                    if known is not None or place.offset:
                        self._warn_of_loss(place.partition, oldest - place.offset)
                    place.offset = oldest
                places[partitions.index(place.partition)] = place
            self._client.incremental_assign(places)
        self._assigned |= set(partitions)
        self._look_again = time.monotonic() + LOOK_FOR_PARTITIONS
        return {str(place.partition): place.offset - 1 for place in places}

    def _warn_of_loss(self, partition: int, count: int) -> None:
        lost = f"partition {partition} of {self.name} has lost {count:,} messages: they were deleted unread."
        warnings.warn(lost, DataWarning, 3)

    def read(self, most: int, seconds: float) -> list[Message]:
        """What has come, of any partition."""
        with self._errors():
            found = self._client.consume(1, seconds)
            found += self._client.consume(most - 1, 0) if found and most > 1 else []
        for message in found:
            if message.error() is not None:
                raise self._address.unreachable(message.error().str())
        if not found:
            self._raise_if_lost()
            if time.monotonic() >= self._look_again:
                added = [one for one in self._partitions(self._client) if one not in self._assigned]
                self._assign(added, {})
        self._lost = None
        return [Message(one.value() or b"", str(one.partition()), one.offset()) for one in found]

    def commit(self, position: Position) -> None:
        """Commit the offsets of the group."""
        places = [TopicPartition(self._topic, int(one), offset + 1) for one, offset in position.items() if offset >= 0]
        if places:
            with self._errors():
                self._client.commit(offsets=places, asynchronous=False)

    def close(self) -> None:
        """Hang up."""
        if self._client is not None:
            self._client.close()


class KafkaSink(KafkaConnection):
    """A topic that is written to."""

    def open(self, series: str) -> None:
        """Find the topic."""
        self._lost, self._series = None, series
        self._client: Any
        with self._errors():
            self._client = Producer(
                {"enable.idempotence": True, "message.timeout.ms": int(TIMEOUT * 1000)} | self._settings(),
                logger=SILENT,
            )
        self._partitions(self._client)

    def publish(self, messages: Sequence[Numbered]) -> None:
        """Publish with the id as key, and series and number as a header: Kafka itself cannot tell a second attempt."""
        failed: list[KafkaError] = []

        def note(error: KafkaError | None, _: Any) -> None:
            if error is not None:
                failed.append(error)

        with self._errors():
            for number, key, body in messages:
                headers: Any = {"askance-number": f"{self._series}:{number}"}
                while True:
                    try:
                        self._client.produce(self._topic, body, key or None, headers=headers, on_delivery=note)
                        break
                    except BufferError:
                        self._client.poll(0.1)
            self._client.flush()
        if failed:
            raise self._address.unreachable(failed[0].str())

    def close(self) -> None:
        """Drop the connection; what was published is there already."""
        self._client = None


make_source, make_sink = KafkaSource, KafkaSink
