"""A real HTTP server that takes the messages of webhooks, or does not."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Message(NamedTuple):
    """What arrived."""

    path: str
    headers: dict
    body: bytes


class Receiver:
    """Says what it is told to say: ``status`` of the next responses; while ``held``, nothing."""

    def __init__(self):
        self.messages, self.status = [], 204
        self.held = threading.Event()
        self.held.set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.messages.append(Message(self.path, dict(self.headers), body))
                receiver.held.wait()
                self.send_response(receiver.status)
                if 300 <= receiver.status < 400:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *words):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"


@contextmanager
def receiving():
    """A server until the block ends."""
    receiver = Receiver()
    thread = threading.Thread(target=receiver.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.held.set()
        receiver.server.shutdown()
        receiver.server.server_close()
