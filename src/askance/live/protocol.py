"""uvicorn's HTTP protocol, with a clock: a request must have arrived within so many seconds of its first byte."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEADER_BYTES = 65_536


def timed_protocol(seconds: float) -> type[HttpToolsProtocol]:
    """A protocol that cuts clients who take longer to send a request, or open a connection and send nothing."""

    class TimedProtocol(HttpToolsProtocol):
        _timer: asyncio.TimerHandle | None = None
        _header_bytes: int | None = 0

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._arm()

        def connection_lost(self, exc: Exception | None) -> None:
            self._disarm()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._header_bytes is not None:
                self._header_bytes += len(data)
            super().data_received(data)
            if self._header_bytes is not None and self._header_bytes > MOST_HEADER_BYTES:
                self.transport.abort()

        def on_message_begin(self) -> None:
            self._header_bytes = 0
            self._arm()
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self._header_bytes = None
            super().on_headers_complete()

        def on_message_complete(self) -> None:
            self._disarm()
            super().on_message_complete()

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
                self.transport.abort()

    return TimedProtocol


def options(seconds: float) -> dict[str, Any]:
    """What uvicorn is told."""
    return {
        "http": timed_protocol(seconds),
        "ws": "none",
        "lifespan": "off",
        "access_log": False,
        "server_header": False,
        "date_header": True,
        "timeout_keep_alive": 30,
        "timeout_graceful_shutdown": 8,
        "log_level": "warning",
    }
