"""NATS JetStream.

The messages are read in their order by a pull consumer with a durable name, which is made anew at each start, right
after the message that the reader keeps as its last; to commit is to acknowledge everything up to a message. So the
server shows how far the group has come, and redelivers nothing out of order.

What is published has its series and number as its id, by which the server knows it within the time that the stream is
configured with (``duplicate_window``, two minutes unless set).
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import nats
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeout
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, RetentionPolicy
from nats.js.errors import APIError, NoStreamResponseError, NotFoundError

from askance.brokers import Address, Message, Numbered, Position
from askance.errors import DataWarning, InvalidParameter

TIMEOUT = 10.0
ONE = "0"
"""The name of the one partition that a stream has."""
OURS = "askance pipe"
"""The description of a consumer that was made here, and may be made anew."""
AT_ONCE = 256
"""Messages that are published without waiting for the server's word on each."""

Result = TypeVar("Result")


class NatsConnection:
    """A connection to the servers of an address, with an event loop of its own."""

    def __init__(self, address: Address) -> None:
        address.refuse_options({"group", "subject"})
        self._address = address
        self._loop = asyncio.new_event_loop()
        self._client: Any = None
        self._reason: Exception | None = None
        self._closed = asyncio.Event()

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Wait for something; what NATS raises, as the contract has it."""
        try:
            return self._loop.run_until_complete(self._unless_closed(work))
        except (NatsTimeout, TimeoutError, OSError) as error:
            raise self._address.unreachable(error) from None
        except APIError as error:
            if error.code == 503:  # the server has no JetStream, or not at the moment
                raise self._address.unreachable(error.description or "no JetStream") from None
            raise InvalidParameter(f"{self._address.url!r} refuses: {error.description}.") from None
        except NatsError as error:  # "no servers available"; the reason is that of the last attempt
            raise self._address.unreachable(self._reason or error) from None

    async def _unless_closed(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Wait for something, but no longer than the connection is there."""
        task, closed = asyncio.ensure_future(work), asyncio.ensure_future(self._closed.wait())
        await asyncio.wait({task, closed}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await _cancel(task, closed)
            raise ConnectionResetError("the server has hung up")
        await _cancel(closed)
        return task.result()

    async def _connect(self) -> Any:
        self._closed.clear()

        async def note(error: Exception) -> None:
            self._reason = error

        async def note_end() -> None:
            self._closed.set()

        login = {"user": self._address.user, "password": self._address.password}
        self._client = await nats.connect(
            [f"{self._address.scheme}://{server}" for server in self._address.servers.split(",")],
            **{name: value for name, value in login.items() if value is not None and self._address.user},
            allow_reconnect=False, max_reconnect_attempts=1, reconnect_time_wait=0, connect_timeout=TIMEOUT,
            error_cb=note, closed_cb=note_end, name="askance",
        )  # fmt: skip
        return self._client.jetstream(timeout=TIMEOUT)

    def close(self) -> None:
        """Hang up, and leave no task behind: the client's own are not all ended by its ``close``."""
        if self._client is not None:
            with suppress(NatsError, OSError, asyncio.TimeoutError):
                self._loop.run_until_complete(self._client.close())
            self._loop.run_until_complete(_cancel(*asyncio.all_tasks(self._loop)))
        self._client = None


async def _cancel(*tasks: asyncio.Future[Any]) -> None:
    """Cancel tasks and wait until they have ended, whatever they end with."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class NatsSource(NatsConnection):
    """A stream that is read."""

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        subject = address.options.get("subject")
        self.name = f"the JetStream stream {address.name!r}" + (f", subject {subject!r}" if subject else "")
        self._unacknowledged: list[Any] = []

    def open(self, position: Position) -> Position:
        """Make the consumer anew, right after the last message."""
        return self._run(self._open(position))

    async def _open(self, position: Position) -> Position:
        self._streams = await self._connect()
        stream, group = self._address.name, self._address.group
        try:
            about = await self._streams.stream_info(stream)
        except NotFoundError:
            hint = f"check the name, or make it with: nats stream add {stream}"
            raise self._address.absent("stream", hint) from None
        if about.config.retention not in (None, RetentionPolicy.LIMITS):
            raise InvalidParameter(
                f"{self.name} has the retention {about.config.retention!r}, which deletes what is acknowledged; read a "
                "stream with the retention 'limits', such as one that has this one as its source."
            )
        last = position.get(ONE)
        with suppress(NotFoundError):
            known = await self._streams.consumer_info(stream, group)
            if known.config.description != OURS:
                raise InvalidParameter(
                    f"the consumer {group!r} of {self.name} belongs to another program; name another with ?group=NAME."
                )
            last = known.ack_floor.stream_seq if last is None else last
            await self._streams.delete_consumer(stream, group)
        self._last = int(last or 0)
        if self._last and about.state.first_seq > self._last + 1:
            count = about.state.first_seq - self._last - 1
            warnings.warn(f"{self.name} has lost {count:,} messages: they were deleted unread.", DataWarning, 2)
        config = ConsumerConfig(
            durable_name=group, description=OURS, ack_policy=AckPolicy.ALL, max_ack_pending=-1,
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=self._last + 1,
            filter_subject=self._address.options.get("subject"),
        )  # fmt: skip
        await self._streams.add_consumer(stream, config)
        self._consumer = await self._streams.pull_subscribe_bind(group, stream)
        self._unacknowledged = []
        return {ONE: self._last}

    def read(self, most: int, seconds: float) -> list[Message]:
        """The messages after the last one."""
        return self._run(self._read(most, seconds))

    async def _read(self, most: int, seconds: float) -> list[Message]:
        try:
            found = await self._consumer.fetch(1, timeout=max(0.01, seconds))
            if most > 1:
                with suppress(NatsTimeout, asyncio.TimeoutError):
                    found += await self._consumer.fetch(most - 1, timeout=0.01)
        except (TimeoutError, NatsTimeout):
            if not self._client.is_connected:
                raise
            return []
        messages = []
        for one in found:
            place = one.metadata.sequence.stream
            if place > self._last:  # else it was delivered again: it is being worked on
                self._last = place
                self._unacknowledged.append(one)
                messages.append(Message(one.data, ONE, place))
        return messages

    def commit(self, position: Position) -> None:
        """Acknowledge what was read, up to this message."""
        done = [one for one in self._unacknowledged if one.metadata.sequence.stream <= position[ONE]]
        if done:
            self._run(done[-1].ack())
            self._unacknowledged = self._unacknowledged[len(done) :]


class NatsSink(NatsConnection):
    """A subject that is published to, which a stream keeps."""

    def open(self, series: str) -> None:
        """Connect."""
        self._series = series
        self._streams = self._run(self._connect())
        try:
            self._run(self._streams.find_stream_name_by_subject(self._address.name))
        except InvalidParameter:
            raise self._no_stream() from None

    def _no_stream(self) -> InvalidParameter:
        return self._address.absent("stream for the subject", "make one that keeps it with: nats stream add")

    def publish(self, messages: Sequence[Numbered]) -> None:
        """Publish with series and number as the id."""
        self._run(self._publish(messages))

    async def _publish(self, messages: Sequence[Numbered]) -> None:
        for start in range(0, len(messages), AT_ONCE):
            try:
                await asyncio.gather(
                    *(
                        self._streams.publish(
                            self._address.name, body, headers={"Nats-Msg-Id": f"{self._series}:{number}"}
                        )
                        for number, _, body in messages[start : start + AT_ONCE]
                    )
                )
            except NoStreamResponseError:
                raise self._no_stream() from None


make_source, make_sink = NatsSource, NatsSink
