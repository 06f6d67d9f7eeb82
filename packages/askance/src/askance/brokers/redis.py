"""Redis streams.

The entries are read in their order by one reader (XREAD), from an id that the reader keeps; to commit is to set the
last id of a consumer group (XGROUP SETID), whose lag Redis then shows. An entry with one field that has a JSON object
is that object; any other is an object of its fields.

What is published and the number of the last of it change in one transaction: a second attempt sees what the first did.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from askance.brokers import Address, Message, Numbered, Position
from askance.errors import DataWarning, InvalidParameter

TIMEOUT = 10.0
ONE = "0"
"""The name of the one partition that a stream has."""


class RedisConnection:
    """A connection to the server of an address."""

    def __init__(self, address: Address) -> None:
        address.refuse_options({"group", "db"})
        self._address, self._stream = address, address.name
        try:
            self._client = redis.Redis.from_url(
                f"{address.scheme}://{address.servers}/{address.options.get('db', '0')}",
                username=address.user, password=address.password, socket_timeout=TIMEOUT,
                socket_connect_timeout=TIMEOUT, retry=Retry(NoBackoff(), 0),
            )  # fmt: skip
        except ValueError as error:
            raise InvalidParameter(f"{address.url!r} is not an address of Redis: {error}.") from None

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """What Redis raises, as the contract has it."""
        try:
            yield
        except redis.AuthenticationError as error:
            raise InvalidParameter(f"{self._address.url!r} refuses the password: {error}.") from None
        except (redis.ConnectionError, redis.TimeoutError) as error:
            raise self._address.unreachable(error) from None
        except redis.ResponseError as error:
            raise InvalidParameter(f"{self._address.url!r} refuses: {error}.") from None

    def close(self) -> None:
        """Hang up."""
        self._client.close()


class RedisSource(RedisConnection):
    """A stream that is read."""

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self.name = f"the Redis stream {address.name!r}"
        self._last = "0-0"

    def open(self, position: Position) -> Position:
        """Find the stream and the group, which is made if it is not there."""
        group = self._address.group
        with self._errors():
            if not self._client.exists(self._stream):
                hint = f"check the name, or make it with: XGROUP CREATE {self._stream} {group} 0 MKSTREAM"
                raise self._address.absent("stream", hint)
            known = {_text(one["name"]): one for one in self._client.xinfo_groups(self._stream)}
            if group not in known:
                self._client.xgroup_create(self._stream, group, "0")
            elif known[group]["consumers"]:
                raise InvalidParameter(
                    f"the group {group!r} of {self.name} has consumers of its own; name another with ?group=NAME."
                )
            committed = _text(known[group]["last-delivered-id"]) if group in known else "0-0"
            self._last = str(position.get(ONE, committed))
            oldest = self._client.xrange(self._stream, count=1)
        if self._last != "0-0" and oldest and _place(_text(oldest[0][0])) > _place(self._last):
            lost = f"the oldest entry of {self.name} comes after {self._last}: some may have been deleted unread."
            warnings.warn(lost, DataWarning, 2)
        return {ONE: self._last}

    def read(self, most: int, seconds: float) -> list[Message]:
        """The entries after the last one."""
        with self._errors():
            found: Any = self._client.xread({self._stream: self._last}, count=most, block=max(1, int(seconds * 1000)))
        streams = found.items() if isinstance(found, Mapping) else found or []  # by the version of the protocol
        entries = [entry for _, some in streams for entry in some]
        messages = [Message(_body(fields), ONE, _text(place)) for place, fields in entries]
        if messages:
            self._last = str(messages[-1].offset)
        return messages

    def commit(self, position: Position) -> None:
        """Set the last id of the group."""
        with self._errors():
            self._client.xgroup_setid(self._stream, self._address.group, position[ONE])


class RedisSink(RedisConnection):
    """A stream that is written to."""

    def open(self, series: str) -> None:
        """Find out what was published of the series."""
        self._series = series
        self._mark = f"{self._stream}:published:{series}"
        with self._errors():
            kind = _text(self._client.type(self._stream))
            if kind not in ("none", "stream"):
                raise InvalidParameter(f"{self._stream!r} at {self._address.url!r} is a {kind}, not a stream.")
            self._published = int(_text(self._client.get(self._mark) or b"0"))

    def publish(self, messages: Sequence[Numbered]) -> None:
        """Add an entry each, and the number of the last, at once."""
        new = [message for message in messages if message.number > self._published]
        if not new:
            return
        with self._errors(), self._client.pipeline(transaction=True) as together:
            for message in new:
                together.xadd(self._stream, {"json": message.body})
            together.set(self._mark, new[-1].number)
            together.execute()
        self._published = new[-1].number


def _body(fields: Mapping[bytes, bytes]) -> bytes:
    """An entry as a line of JSON."""
    if len(fields) == 1 and (only := next(iter(fields.values()))).lstrip().startswith(b"{"):
        return only
    return json.dumps({_text(name): _value(_text(value)) for name, value in fields.items()}).encode()


def _value(text: str) -> Any:
    """A field's value: a number, if it is written like one in JSON."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, int | float) and not isinstance(found, bool) and found - found == 0 else text


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _place(identifier: str) -> tuple[int, ...]:
    """An id as something to compare."""
    return tuple(map(int, identifier.split("-")))


make_source, make_sink = RedisSource, RedisSink
