"""The way between a browser and a service, with the troubles that real ones have.

A browser's own interception of requests misses those that a service worker sees first, in some versions. Here the
trouble is on the wire: requests arrive on a port of their own, go to the service as they are, and the next that match
are refused, held, lost or answered by somebody else.
"""

from __future__ import annotations

import contextlib
import http
import json
import select
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

PIECE = 65536
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: a close sends RST, and nothing that still waits


class Exchange:
    """One request of the browser, and the way on to the service."""

    def __init__(self, browser: socket.socket, head: bytes, body: bytes, port: int):
        self.browser, self.head, self.body, self.port = browser, head, body, port
        self.path = head.split(b" ", 2)[1].split(b"?")[0].decode()

    def ask_service(self) -> socket.socket:
        """Send the request on; the response comes out of this socket, which ends with it."""
        service = socket.create_connection(("127.0.0.1", self.port))
        service.sendall(self.head + b"Connection: close\r\n\r\n" + self.body)
        return service

    def read_response(self) -> bytes:
        with self.ask_service() as service:
            return b"".join(iter(lambda: service.recv(PIECE), b""))

    def forward(self) -> None:
        """Pass the response on as it comes, for ever if it never ends, until either side has had enough."""
        with self.ask_service() as service:
            while True:
                ready, _, _ = select.select([service, self.browser], [], [])
                piece = ready[0].recv(PIECE)
                if not piece or ready[0] is self.browser:
                    return
                self.browser.sendall(piece)

    def reset(self) -> None:
        self.browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


Trouble = Callable[[Exchange], None]


def refuse(exchange: Exchange) -> None:
    """The service never sees the request, and the browser sees no response."""
    exchange.reset()


@dataclass
class Lose:
    """The service does what it is asked; the browser never hears of it."""

    responses: list[bytes] = field(default_factory=list)

    def __call__(self, exchange: Exchange) -> None:
        self.responses.append(exchange.read_response())
        exchange.reset()

    @property
    def statuses(self) -> list[int]:
        return [int(response.split(b" ", 2)[1]) for response in self.responses]


@dataclass
class Cut:
    """The browser gets the response without its last bytes."""

    missing: int = 5

    def __call__(self, exchange: Exchange) -> None:
        exchange.browser.sendall(exchange.read_response()[: -self.missing])


@dataclass
class Hold:
    """The request waits until it is released; ``is_holding`` says that it has come."""

    is_holding: threading.Event = field(default_factory=threading.Event)
    is_released: threading.Event = field(default_factory=threading.Event)

    def __call__(self, exchange: Exchange) -> None:
        self.is_holding.set()
        self.is_released.wait()
        exchange.forward()


@dataclass
class Late(Hold):
    """The service does what it is asked at once; the browser gets the response when that is released."""

    def __call__(self, exchange: Exchange) -> None:
        response = exchange.read_response()
        self.is_holding.set()
        self.is_released.wait()
        exchange.browser.sendall(response)


@dataclass
class Reply:
    """Somebody else answers in the service's place; the service never sees the request."""

    status: int
    document: object = None
    headers: dict[str, str] = field(default_factory=dict)

    def __call__(self, exchange: Exchange) -> None:
        lines = [f"HTTP/1.1 {self.status} {http.HTTPStatus(self.status).phrase}", "Connection: close"]
        body = b"" if self.document is None else json.dumps(self.document).encode()
        headers = {"Content-Type": "application/json", **self.headers}
        if self.status != http.HTTPStatus.NO_CONTENT:
            headers["Content-Length"] = str(len(body))
        lines += [f"{name}: {value}" for name, value in headers.items()]
        exchange.browser.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


class Network:
    """A port that leads to ``service``, wherever that listens at the time; ``url`` is its address for a browser.

    So a service that ends and starts again needs no port of its own, which others might have taken meanwhile.
    """

    def __init__(self, service):
        self.service = service
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._lock = threading.Lock()
        self._next: list[tuple[str, Trouble]] = []
        self._always: list[tuple[str, Trouble]] = []
        self._open: set[socket.socket] = set()
        self._held: list[Hold] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def meet(self, ending: str, *troubles: Trouble) -> None:
        """The next requests for a path with this ending meet these, one each."""
        with self._lock:
            self._next += [(ending, trouble) for trouble in troubles]
            self._held += [trouble for trouble in troubles if isinstance(trouble, Hold)]

    def meet_always(self, ending: str, trouble: Trouble) -> None:
        """Every request for a path with this ending meets this from now on."""
        with self._lock:
            self._always.append((ending, trouble))
            self._held += [trouble] if isinstance(trouble, Hold) else []

    def clear(self) -> None:
        """No more trouble."""
        with self._lock:
            self._next, self._always = [], []

    def is_clear(self) -> bool:
        """Whether everything that was to be met once has been met."""
        with self._lock:
            return not self._next

    def close(self) -> None:
        for held in self._held:
            held.is_released.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            still_open = list(self._open)
        for browser in still_open:
            with contextlib.suppress(OSError):
                browser.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                browser, _ = self._listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._serve, args=(browser,), daemon=True).start()

    def _serve(self, browser: socket.socket) -> None:
        with self._lock:
            self._open.add(browser)
        # a side that has gone away, or a service that does not run: the other side sees the connection end
        with contextlib.suppress(OSError), browser:
            head, body = read_request(browser)
            if head:
                exchange = Exchange(browser, head, body, self.service.port)
                (self._find_trouble(exchange.path) or Exchange.forward)(exchange)
        with self._lock:
            self._open.discard(browser)

    def _find_trouble(self, path: str) -> Trouble | None:
        with self._lock:
            for place, (ending, trouble) in enumerate(self._next):
                if path.endswith(ending):
                    del self._next[place]
                    return trouble
            return next((trouble for ending, trouble in self._always if path.endswith(ending)), None)


def read_request(browser: socket.socket) -> tuple[bytes, bytes]:
    """The head without its empty line and without ``Connection``, and the body; both empty if nothing comes."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = browser.recv(PIECE)
        if not piece:
            return b"", b""  # a browser opens connections that it may need
        data += piece
    head, body = data.split(b"\r\n\r\n", 1)
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
    lengths = [line.split(b":")[1] for line in lines if line.lower().startswith(b"content-length:")]
    while len(body) < int(lengths[0] if lengths else 0):
        piece = browser.recv(PIECE)
        if not piece:
            return b"", b""
        body += piece
    return b"\r\n".join(lines) + b"\r\n", body
