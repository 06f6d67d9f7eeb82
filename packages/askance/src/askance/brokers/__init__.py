"""Brokers: where messages are read and published, behind one contract.

A source gives messages in order, each with its place; who has taken them keeps that place with what came of them, and
only then commits it to the broker. Whatever is killed in between, the source is opened again at the place that was
kept: no message is lost, none is taken twice. A sink publishes numbered messages, and leaves out those that it
published before as far as its broker can tell.

To add a broker, write a file with ``make_source`` and ``make_sink``, and put a line into ``BROKERS``.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from askance.errors import AskanceError, InvalidParameter
from askance.extras import how_to_install

PASSWORD = "ASKANCE_BROKER_PASSWORD"
"""The variable of the environment with the password, for addresses without one."""

Position = dict[str, Any]
"""The last message that was taken of each partition: its offset, which JSON can have."""


class Unreachable(AskanceError, ConnectionError):
    """A broker does not answer, or has hung up: whoever waits may open it again."""


class Message(NamedTuple):
    """A message, and where it stands."""

    body: bytes
    partition: str
    offset: int | str


class Numbered(NamedTuple):
    """A message to be published; a number is never used again for another one."""

    number: int
    key: str
    body: bytes


class MessageSource(Protocol):
    """What every broker does to be read."""

    name: str
    """What is read, wherever it is: "the Redis stream 'mail'"."""

    def open(self, position: Position) -> Position:
        """Connect, to read what follows ``position``; where that is empty, what the group has not committed. Returns
        where it stands."""

    def read(self, most: int, seconds: float) -> list[Message]:
        """The next messages as soon as there are some; none if none comes in time."""

    def commit(self, position: Position) -> None:
        """Let the broker know how far the group has come."""

    def close(self) -> None:
        """Hang up."""


class Sink(Protocol):
    """What every broker does to be published to."""

    def open(self, series: str) -> None:
        """Connect. Numbers are those of a series: another one begins anew."""

    def publish(self, messages: Sequence[Numbered]) -> None:
        """Publish messages in order; returns once the broker has them."""

    def close(self) -> None:
        """Hang up."""


@dataclass(frozen=True)
class Address:
    """A place at a broker, as a URL says it."""

    url: str
    """Without the password."""
    scheme: str
    servers: str
    """Hosts with their ports, separated by commas."""
    user: str | None
    password: str | None
    name: str
    """Of the stream, subject or topic."""
    options: Mapping[str, str]

    @property
    def group(self) -> str:
        """Under which name the broker keeps how far one has come."""
        return self.options.get("group", "askance")

    def refuse_options(self, known: Iterable[str]) -> None:
        """Raise if the URL has an option that means nothing here."""
        for name in self.options:
            if name not in known:
                raise InvalidParameter(f"{self.url!r} has the option {name!r}; there are {', '.join(sorted(known))}.")

    def absent(self, what: str, hint: str) -> InvalidParameter:
        """The error for a stream that is not there."""
        return InvalidParameter(f"there is no {what} {self.name!r} at {self.scheme}://{self.servers}; {hint}.")

    def unreachable(self, error: BaseException | str) -> Unreachable:
        """The error for a broker that does not answer."""
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        return Unreachable(f"cannot reach {self.scheme}://{self.servers}: {reason.rstrip('.')}.")


@dataclass(frozen=True)
class Broker:
    """What is to be known of a broker."""

    name: str
    schemes: tuple[str, ...]
    package: str
    """What its file imports."""
    example: str


BROKERS = {
    "redis": Broker("Redis streams", ("redis", "rediss"), "redis", "redis://localhost:6379/mail"),
    "nats": Broker("NATS JetStream", ("nats", "tls"), "nats", "nats://localhost:4222/MAIL"),
    "kafka": Broker("Kafka", ("kafka",), "confluent_kafka", "kafka://localhost:9092/mail"),
}
"""By the name of the extra and of the file."""


def make_source(url: str) -> MessageSource:
    """The source at an address, not connected yet."""
    address = parse_url(url)
    source: MessageSource = _module_of(address.scheme).make_source(address)
    return source


def make_sink(url: str) -> Sink:
    """The sink at an address, not connected yet."""
    address = parse_url(url)
    sink: Sink = _module_of(address.scheme).make_sink(address)
    return sink


def parse_url(url: str) -> Address:
    """Take an address apart.

    >>> place = parse_url("kafka://ana:secret@one:9092,two:9092/mail?group=spam")
    >>> place.servers, place.name, place.group, place.url
    ('one:9092,two:9092', 'mail', 'spam', 'kafka://ana@one:9092,two:9092/mail?group=spam')
    """
    parts = urlsplit(url)
    if parts.scheme not in {scheme for broker in BROKERS.values() for scheme in broker.schemes}:
        examples = ", ".join(broker.example for broker in BROKERS.values())
        raise InvalidParameter(f"a broker is one of {examples}, got {_mask_password(url)!r}.")
    who, _, servers = parts.netloc.rpartition("@")
    user, _, password = who.partition(":")
    path = parts.path.strip("/")
    shown = _mask_password(url)
    if not servers or not path or "/" in path:
        example = next(broker.example for broker in BROKERS.values() if parts.scheme in broker.schemes)
        raise InvalidParameter(f"{shown!r} names no server, or not one stream of it; write it like {example}.")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    secret = unquote(password) or os.environ.get(PASSWORD) or None
    return Address(shown, parts.scheme, servers, unquote(user) or None, secret, unquote(path), options)


def _mask_password(url: str) -> str:
    """An address without the password."""
    scheme, mark, rest = url.partition("://")
    who, at, place = rest.rpartition("@")
    return f"{scheme}{mark}{who.partition(':')[0]}{at}{place}"


def _module_of(scheme: str) -> Any:
    """The file of a broker."""
    extra, broker = next((name, broker) for name, broker in BROKERS.items() if scheme in broker.schemes)
    try:
        importlib.import_module(broker.package)
    except ImportError:
        package = broker.package.replace("_", "-")
        raise InvalidParameter(
            f"{broker.name} needs the package {package}; install it with: {how_to_install(extra)}."
        ) from None
    return importlib.import_module(f"askance.brokers.{extra}")
