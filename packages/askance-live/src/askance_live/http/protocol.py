"""uvicorn's HTTP protocol for a public place: requests that never end, or that are made to take long, cost only whoever
sends them.

A request must have arrived within so many seconds of its first byte, with so many headers, and so many may wait behind
it on the same connection. Where connections run out, the one goes that has waited longest, of the address that has
most.

A response may come before all of its request has. What then still arrives is read and thrown away, up to a bound and
within those seconds: if the connection were closed at once, the client that still sends would get a reset, which takes
the response with it (RFC 9112, section 9.6).
"""

from __future__ import annotations

import asyncio
import resource
from collections import OrderedDict
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEADER_BYTES = 65_536
MOST_HEADERS = 200
MOST_PIPELINED = 16
MOST_UNWANTED = 100_000_000
"""Bytes of a request that are thrown away after its response."""
SLICE = 4_096  # bytes that are parsed before these limits are looked at again
FILES_KEPT = 100  # file handles that are no connections: the store, its readers, temporary files


class Connection(HttpToolsProtocol):
    """uvicorn's protocol, which can be cut: whatever still answers a request on it is told, and writes nothing more.

    uvicorn tells the last request alone. Others that came with it would write to a connection that is gone, and fill
    the log with that.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._unanswered: list[Any] = []
        self._is_receiving = self._is_ending = False
        self._unwanted = 0

    def end(self) -> None:
        """Close it, once what the client still sends of its request has arrived."""
        if not self._is_receiving or not self.cycle.response_complete:
            self.transport.close()
            return
        self._is_ending = True
        if self.transport.can_write_eof():
            self.transport.write_eof()

    def cut(self) -> None:
        """Close it at once."""
        self._give_up()
        self.transport.abort()

    def _give_up(self) -> None:
        self.pipeline.clear()
        for cycle in self._unanswered:
            if not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()
        self._unanswered.clear()

    def connection_lost(self, exc: Exception | None) -> None:
        self._give_up()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        self._give_up()
        super().send_400_response(msg)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._of_responses: Any = ResponseTransport(self)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self.cycle.transport = self._of_responses
        self._is_receiving, self._unwanted = True, 0
        self._unanswered = [cycle for cycle in self._unanswered if not cycle.response_complete] + [self.cycle]

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        if self.cycle.response_complete:
            self._unwanted += len(body)

    def on_message_complete(self) -> None:
        self._is_receiving = False
        super().on_message_complete()
        if self._is_ending:
            self.transport.close()

    def on_response_complete(self) -> None:
        if self._is_ending:
            self.pipeline.clear()
        super().on_response_complete()

    def _unsupported_upgrade_warning(self) -> None:
        """Nobody speaks anything but HTTP here: the request is answered as if it had not asked for more."""


class ResponseTransport:
    """The transport as a response sees it: closing it ends the connection, in good order."""

    def __init__(self, connection: Connection) -> None:
        self._transport, self.close = connection.transport, connection.end

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class WaitingConnections:
    """The connections without a request that has arrived, by address, the longest wait first."""

    def __init__(self) -> None:
        self.open = 0
        self._of: dict[str, OrderedDict[Connection, None]] = {}

    def begin(self, protocol: Connection) -> None:
        """It waits from now on."""
        waiting = self._of.setdefault(_address(protocol), OrderedDict())
        waiting[protocol] = None
        waiting.move_to_end(protocol)

    def end(self, protocol: Connection) -> None:
        """It waits no longer."""
        address = _address(protocol)
        waiting = self._of.get(address)
        if waiting is not None:
            waiting.pop(protocol, None)
            if not waiting:
                del self._of[address]

    def make_room(self) -> None:
        """Cut a connection, if there are as many as there may be."""
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - FILES_KEPT
        if self.open > most and self._of:
            longest = max(self._of.values(), key=len)
            oldest = next(iter(longest))
            self.end(oldest)
            oldest.cut()


def _address(protocol: Connection) -> str:
    return protocol.client[0] if protocol.client else ""


def timed_protocol(seconds: float) -> type[HttpToolsProtocol]:
    """A protocol that cuts clients who take longer to send a request, or open a connection and send nothing."""
    waiting = WaitingConnections()

    class TimedProtocol(Connection):
        _timer: asyncio.TimerHandle | None = None
        _header_bytes: int | None = 0

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            waiting.open += 1
            waiting.make_room()
            waiting.begin(self)
            self._arm()

        def connection_lost(self, exc: Exception | None) -> None:
            self._disarm()
            waiting.open -= 1
            waiting.end(self)
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            for first in range(0, len(data), SLICE):
                part = data[first : first + SLICE]
                if self._header_bytes is not None:
                    self._header_bytes += len(part)
                super().data_received(part)
                if self.transport.is_closing():
                    return
                if self._asks_too_much():
                    self.cut()
                    return

        def _asks_too_much(self) -> bool:
            if len(self.pipeline) > MOST_PIPELINED or self._unwanted > MOST_UNWANTED:
                return True
            return self._header_bytes is not None and (
                self._header_bytes > MOST_HEADER_BYTES or len(self.headers or ()) > MOST_HEADERS
            )

        def on_message_begin(self) -> None:
            self._header_bytes = 0
            self._arm()
            if self.cycle is None or self.cycle.response_complete:
                waiting.begin(self)
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self._header_bytes = None
            super().on_headers_complete()

        def on_body(self, body: bytes) -> None:
            if not isinstance(
                self.cycle.body, bytearray
            ):  # to which thousands of chunks of a byte are added in no time
                self.cycle.body = bytearray(self.cycle.body)
            super().on_body(body)

        def on_message_complete(self) -> None:
            self._disarm()
            if not self.cycle.response_complete:
                waiting.end(self)
            super().on_message_complete()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if not self.transport.is_closing() and not self.pipeline:
                waiting.begin(self)

        def _arm(self) -> None:
            if self._timer is None:
                self._timer = self.loop.call_later(seconds, self._cut)

        def _disarm(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _cut(self) -> None:
            self._timer = None
            if self.transport is not None and not self.transport.is_closing():
                self.cut()

    return TimedProtocol


def options(seconds: float) -> dict[str, Any]:
    """What uvicorn is told."""
    return {
        "http": timed_protocol(seconds),
        "ws": "none",
        "lifespan": "off",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,  # proxies.py says whom to believe
        "date_header": True,
        "timeout_keep_alive": 30,
        "timeout_graceful_shutdown": 8,
        "log_config": None,  # its lines go where ours go
    }
