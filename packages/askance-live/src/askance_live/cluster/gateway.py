"""The owner's side: a port of its own, where fronts call for what the model decides or learns."""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

import askance
from askance_live.cluster.messages import (
    CHALLENGE_BYTES,
    NOTHING,
    PROTOCOL,
    Call,
    ForwardedEvent,
    ForwardedRequest,
    ForwardedResponse,
    Hello,
    Outcomes,
    OwnerStatus,
    PackedProblem,
    Reply,
    Welcome,
    decode,
    encode,
    prove,
    read_message,
    write_message,
)
from askance_live.exchange.received import ReceivedEvent
from askance_live.problems import Problem, StartError
from askance_live.service import Service

log = logging.getLogger("askance")
MOST_HELLO = 4_096
HELLO_SECONDS = 5.0
DRAIN_SECONDS = 8.0  # for calls that are being answered when the owner stops


class OwnedStream(NamedTuple):
    """A stream whose model this process owns."""

    service: Service
    secret: str
    links: set[asyncio.StreamWriter]
    running: set[asyncio.Task[None]]
    """Calls that are being answered."""
    leaving: asyncio.Event
    """Set once no more calls are taken."""


class Gateway:
    """Listens for fronts; answers for the streams that were added."""

    def __init__(self) -> None:
        self.address = ""
        self._streams: dict[str, OwnedStream] = {}
        self._server: asyncio.Server | None = None

    async def open(self, host: str, port: int) -> None:
        """Listen; port 0 chooses one."""
        try:
            self._server = await asyncio.start_server(self._meet, host, port)
        except OSError as error:
            raise StartError(
                f"cannot listen on {host}:{port} for fronts: {error.strerror}; choose another address with --private."
            ) from None
        name, chosen = self._server.sockets[0].getsockname()[:2]
        self.address = f"[{name}]:{chosen}" if ":" in name else f"{name}:{chosen}"

    def add(self, service: Service, secret: str) -> None:
        """Take calls for a stream."""
        self._streams[service.engine.state.store] = OwnedStream(service, secret, set(), set(), asyncio.Event())

    async def remove(self, service: Service) -> None:
        """Take no more calls for a stream, finish those that were taken, and hang up."""
        owned = self._streams.pop(service.engine.state.store, None)
        if owned is None:
            return
        owned.leaving.set()
        if owned.running:
            await asyncio.wait(owned.running, timeout=DRAIN_SECONDS)
        for writer in owned.links:
            writer.close()

    def close(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.close()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            owned = await asyncio.wait_for(self._greet(reader, writer), HELLO_SECONDS)
            if owned is not None:
                owned.links.add(writer)
                try:
                    await self._take_calls(owned, reader, writer)
                finally:
                    owned.links.discard(writer)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            pass  # whoever it was has gone
        except msgspec.DecodeError as error:
            log.warning("what came to the port for fronts was no message of a front: %s", error)
        finally:
            with suppress(OSError):
                writer.close()

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> OwnedStream | None:
        challenge = secrets.token_bytes(CHALLENGE_BYTES)
        write_message(writer, challenge)
        hello = decode(await read_message(reader, MOST_HELLO), Hello)
        owned = self._streams.get(hello.store)
        if owned is None or not hmac.compare_digest(hello.proof, prove(owned.secret, challenge)):
            refusal = "this process does not own that stream now"
        elif hello.protocol != PROTOCOL:
            refusal = (
                f"the owner is of askance {askance.__version__} and this front of {hello.version}, which do not "
                f"understand each other (protocols {PROTOCOL} and {hello.protocol}): start both in one version"
            )
        else:
            refusal = ""
        write_message(writer, Welcome(refusal))
        return None if refusal else owned

    async def _take_calls(self, owned: OwnedStream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            call = decode(await read_message(reader), Call)
            task = asyncio.ensure_future(self._answer(owned, call, writer))
            owned.running.add(task)
            task.add_done_callback(owned.running.discard)

    async def _answer(self, owned: OwnedStream, call: Call, writer: asyncio.StreamWriter) -> None:
        try:
            if owned.leaving.is_set():
                raise Problem("stopping", "this owner is stopping; call the next one.", headers={"Retry-After": "2"})
            reply = Reply(call.number, None, msgspec.Raw(encode(await CALLS[call.what](owned.service, call.content))))
        except Problem as problem:
            reply = Reply(call.number, PackedProblem.of(problem), NOTHING)
        except Exception as error:
            log.error("a call of a front failed", exc_info=error)
            broken = Problem("internal", "something went wrong here; the log of the owner has the details.")
            reply = Reply(call.number, PackedProblem.of(broken), NOTHING)
        if not writer.is_closing():
            write_message(writer, reply)
            with suppress(OSError):
                await writer.drain()


async def _request(service: Service, content: msgspec.Raw) -> ForwardedResponse:
    return await service.answer_forwarded(decode(content, ForwardedRequest))


async def _events(service: Service, content: msgspec.Raw) -> Outcomes:
    events = [
        ReceivedEvent(
            id=event.id, digest=event.digest, fields=msgspec.json.decode(event.text), text=event.text, time=event.time
        )
        for event in decode(content, list[ForwardedEvent])
    ]
    outcomes = await service.ingest(events)
    return Outcomes([PackedProblem.of(item) if isinstance(item, Problem) else item for item in outcomes])


async def _stats(service: Service, content: msgspec.Raw) -> dict[str, Any]:
    return await service.stats(fresh=decode(content, bool))


async def _status(service: Service, content: msgspec.Raw) -> OwnerStatus:
    return OwnerStatus(service.engine.groups, service.ready(), service.warnings())


CALLS = {"request": _request, "events": _events, "stats": _stats, "status": _status}
"""What fronts may call for."""
