"""What fronts and owners say to each other: msgpack, each message behind its length.

The owner begins with a random challenge; the front answers with a proof that it has read the owner's secret in the
store, which itself is never sent. Then the front sends calls; replies come in any order, known by their numbers.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from typing import Any, TypeVar

import msgspec
from starlette.responses import Response

from askance_live.access.auth import User
from askance_live.problems import Problem

PROTOCOL = 1
"""Counted up when a front and an owner of before and after a change would misunderstand each other. A field with a
default at the end of a message is no such change."""
LENGTH = 4
MOST_BYTES = 256_000_000  # no reply is longer; an import of 10 MB is a call of as much
CHALLENGE_BYTES = 32

Message = TypeVar("Message")


class Hello(msgspec.Struct, array_like=True):
    """Who calls, and about which store."""

    store: str
    protocol: int
    version: str
    """Of the program, for people."""
    proof: bytes


class Welcome(msgspec.Struct, array_like=True):
    """The owner takes calls, or says why it does not."""

    refusal: str = ""


class ForwardedRequest(msgspec.Struct, array_like=True):
    """A request that a front has let in, with whom it is from."""

    method: str
    path: str
    query: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes
    user: User
    client: tuple[str, int] | None
    scheme: str
    sender: str


class ForwardedEvent(msgspec.Struct, array_like=True):
    """An event that a front has read and checked."""

    id: str
    digest: bytes
    text: str
    time: str | None


class ForwardedResponse(msgspec.Struct, array_like=True):
    """What came of a request."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    def as_response(self) -> Response:
        response = Response(self.body, self.status)
        response.raw_headers = list(self.headers)
        return response


class PackedProblem(msgspec.Struct, array_like=True, tag=True):
    """A problem on its way to a front."""

    code: str
    detail: str
    headers: dict[str, str]
    more: dict[str, Any]

    @classmethod
    def of(cls, problem: Problem) -> PackedProblem:
        return cls(problem.code, problem.detail, problem.headers, problem.more)

    def unpack(self) -> Problem:
        return Problem(self.code, self.detail, headers=self.headers, **self.more)


class Outcomes(msgspec.Struct, array_like=True):
    """What came of events, each."""

    items: list[PackedProblem | dict[str, Any]]


class OwnerStatus(msgspec.Struct, array_like=True):
    """How the owner is."""

    commits: int
    reasons: list[str]
    """Why it should get no traffic."""
    warnings: list[str]


class Call(msgspec.Struct, array_like=True):
    """A front wants something done; ``what`` says what ``content`` is."""

    number: int
    what: str
    content: msgspec.Raw


class Reply(msgspec.Struct, array_like=True):
    """What came of it; ``problem`` says why nothing did."""

    number: int
    problem: PackedProblem | None
    content: msgspec.Raw


encode = msgspec.msgpack.Encoder().encode
NOTHING = msgspec.Raw(encode(None))


def decode(content: bytes | msgspec.Raw, kind: type[Message]) -> Message:
    """A message of this kind."""
    return msgspec.msgpack.decode(content, type=kind)


def prove(secret: str, challenge: bytes) -> bytes:
    """A proof that the sender knows the secret."""
    return hmac.digest(secret.encode(), challenge, hashlib.sha256)


def write_message(writer: asyncio.StreamWriter, message: Any) -> None:
    """Send a message as soon as possible."""
    content = message if isinstance(message, bytes) else encode(message)
    writer.write(len(content).to_bytes(LENGTH, "big") + content)


async def read_message(reader: asyncio.StreamReader, most: int = MOST_BYTES) -> bytes:
    """The next message; ``asyncio.IncompleteReadError`` where there comes none."""
    length = int.from_bytes(await reader.readexactly(LENGTH), "big")
    if length > most:
        raise ConnectionError(f"a message of {length:,} bytes, where at most {most:,} may come")
    return await reader.readexactly(length)
