"""Lines over TCP: every client sends lines and gets the reply to each; all lines are answered one after the other.

One thread does it all, so that a model needs no lock and events have one order, that of their arrival. A line counts
once its end has come: what a client leaves unfinished is dropped. A client that reads no replies is not read from.
"""

from __future__ import annotations

import selectors
import socket
from collections.abc import Callable
from contextlib import suppress

from askance.errors import InvalidInput, InvalidParameter
from askance.runner.lines import PIECE, LineSplitter, StopSignals

MOST_CLIENTS = 500
MOST_UNREAD = 1 << 20  # bytes of replies, from which on a client's lines wait

Answer = Callable[[bytes | None], bytes | None]
"""The reply to a line, or to one that was too long (None)."""


def read_address(text: str) -> tuple[str, int]:
    """Host and port; the host is this machine, for itself alone, unless given.

    >>> read_address("26542"), read_address("0.0.0.0:26542"), read_address("[::1]:80")
    (('127.0.0.1', 26542), ('0.0.0.0', 26542), ('::1', 80))
    """
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise InvalidParameter(f"an address is a port, such as 26542, or host:port, got {text!r}.")
    return host.strip("[]") or "127.0.0.1", int(port)


class Client:
    """A connection: what came of it, and what is still to be sent."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.lines = LineSplitter()
        self.replies = bytearray()

    @property
    def waits_for(self) -> int:
        """What the selector is to wait for."""
        events = selectors.EVENT_WRITE if self.replies else 0
        return events | (selectors.EVENT_READ if len(self.replies) < MOST_UNREAD else 0)

    def send(self) -> None:
        """Send as much as goes without waiting."""
        with suppress(BlockingIOError):
            del self.replies[: self.socket.send(self.replies)]


class Listener:
    """A port at which lines are answered, until a signal comes.

    Parameters
    ----------
    host, port
        Where to listen; port 0 takes a free one, which ``address`` tells.
    answer : callable
        The reply to a line, without its end; None if there is none.
    """

    def __init__(self, host: str, port: int, answer: Answer) -> None:
        try:
            family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            self._server = socket.create_server(place[:2], family=family)
        except OSError as error:
            raise InvalidInput(f"cannot listen on {host}:{port}: {error.strerror}.") from None
        self._server.setblocking(False)
        self._answer = answer
        self._clients: dict[int, Client] = {}
        self.address: tuple[str, int] = self._server.getsockname()[:2]

    def serve(self, signals: StopSignals) -> None:
        """Answer clients until a signal comes; then send what is ready, and hang up."""
        with selectors.DefaultSelector() as selector:
            selector.register(signals.descriptor, selectors.EVENT_READ)
            selector.register(self._server, selectors.EVENT_READ)
            try:
                while signals.stopped_by is None:
                    for key, events in selector.select():
                        if key.fileobj is self._server:
                            self._accept(selector)
                        elif isinstance(key.data, Client) and signals.stopped_by is None:
                            self._attend(selector, key.data, events, signals)
            finally:
                for client in list(self._clients.values()):
                    with suppress(OSError):
                        client.send()
                    client.socket.close()
                self._server.close()

    def _accept(self, selector: selectors.BaseSelector) -> None:
        try:
            connection, _ = self._server.accept()
        except OSError:  # gone again, or no descriptor is left: it stays in the queue
            return
        if len(self._clients) >= MOST_CLIENTS:
            connection.close()
            return
        connection.setblocking(False)
        client = self._clients[connection.fileno()] = Client(connection)
        selector.register(connection, selectors.EVENT_READ, client)

    def _attend(self, selector: selectors.BaseSelector, client: Client, events: int, signals: StopSignals) -> None:
        try:
            if events & selectors.EVENT_READ and not self._read(client, signals):
                self._hang_up(selector, client)
                return
            if client.replies:
                client.send()
        except OSError:  # the client is gone
            self._hang_up(selector, client)
            return
        selector.modify(client.socket, client.waits_for, client)

    def _read(self, client: Client, signals: StopSignals) -> bool:
        """Answer the lines that came; whether more may come."""
        try:
            piece = client.socket.recv(PIECE)
        except BlockingIOError:
            return True
        for line in client.lines.add(piece):
            if signals.stopped_by is not None:
                break
            reply = self._answer(line)
            if reply is not None:
                client.replies += reply + b"\n"
        if not piece and client.replies:  # it sends no more, but may still read
            client.send()
        return bool(piece)

    def _hang_up(self, selector: selectors.BaseSelector, client: Client) -> None:
        del self._clients[client.socket.fileno()]
        selector.unregister(client.socket)
        client.socket.close()
