"""Threads that bring messages to webhooks, one for each address: whoever is slow or gone keeps nobody else waiting.

The host is looked up once for each try, every address it has is checked, and the connection goes to the one that was
checked: a name that means another machine a moment later leads nowhere. Redirects are not followed, and of a response
only the status counts.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import logging
import socket
import ssl
import threading
import time
from urllib.parse import urlsplit

import askance
from askance_live.engine.thread import Engine
from askance_live.problems import Problem
from askance_live.store.database import StoreError
from askance_live.store.schema import OutboxRow
from askance_live.webhooks.outbox import DUE, Waiting, count_waiting, note_failure, note_taken
from askance_live.webhooks.settings import Webhook, sign

log = logging.getLogger("askance")

LOOK = 0.5  # seconds between looks for messages
COUNT = 10.0  # seconds between counts of those that wait
AT_ONCE = 20
SILENCE, DEADLINE = 10.0, 30.0  # seconds: for which a receiver may be silent, and take in all
GLOBAL = ipaddress.IPv6Network("2000::/3")
"""All of IPv6 that is given out to the public; what is not has other meanings, some of which lead to this machine."""
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""Leads to the IPv4 address in the last 32 bits, from networks without IPv4 (RFC 6052)."""
NOT_PUBLIC = tuple(map(ipaddress.ip_network, ("2002::/16", "2001::/32", "3fff::/20", "192.88.99.0/24", "192.0.0.0/24")))
"""Within what is public: 6to4 and Teredo, which stand for an IPv4 address, documentation, relays of 6to4, and what
IPv4 keeps for protocols."""


class Refused(Exception):
    """A message that was not taken; the reason is for people, and names no path."""


def check_address(text: str) -> None:
    """Refuse an address that is not of the public internet."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        if address in NAT64:
            address = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        address = getattr(address, "ipv4_mapped", None) or address
    is_public = address.is_global and not address.is_multicast and (address.version == 4 or address in GLOBAL)
    if not is_public or any(address in network for network in NOT_PUBLIC):
        raise Refused(f"{address} is a private address; set private = true if it is meant")


def resolve(host: str, port: int, private: bool) -> tuple[str, int]:
    """The address to connect to; none of those that the name has may be private, unless that is meant."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise Refused(f"the host is not known ({error.strerror or error})") from None
    for *_, (address, *_rest) in found:
        if not private:
            check_address(str(address))
    return str(found[0][4][0]), port


class PinnedConnection(http.client.HTTPConnection):
    """A connection to an address that was checked, for a host of that name."""

    def __init__(self, host: str, port: int, address: tuple[str, int], context: ssl.SSLContext | None) -> None:
        super().__init__(host, port, timeout=SILENCE)
        self.address, self.context = address, context

    def connect(self) -> None:
        self.sock = socket.create_connection(self.address, timeout=SILENCE)
        if self.context is not None:
            self.sock = self.context.wrap_socket(self.sock, server_hostname=self.host)

    def cut(self) -> None:
        """End it, whatever it waits for."""
        if self.sock is not None:
            with contextlib.suppress(OSError):  # it has ended already
                self.sock.shutdown(socket.SHUT_RDWR)


class WebhookSender(threading.Thread):
    """Brings the messages of one webhook, one after the other."""

    def __init__(self, hook: Webhook, engine: Engine) -> None:
        super().__init__(name=f"askance-webhook-{hook.host}", daemon=True)
        self.hook, self.engine, self.key = hook, engine, hook.key()
        self.trouble = ""
        """Why the last message was not taken; nothing if it was."""
        self.waiting = Waiting()
        """As of the last count."""
        self._counted = -COUNT
        self._stopping = threading.Event()
        self._connection: PinnedConnection | None = None
        self._context = ssl.create_default_context() if hook.url.startswith("https:") else None

    def stop(self) -> None:
        """End soon; what was not taken stays in the outbox."""
        self._stopping.set()
        if self._connection is not None:
            self._connection.cut()

    def run(self) -> None:
        while not self._stopping.wait(LOOK):
            try:
                while not self._stopping.is_set() and self._round():
                    pass
            except (StoreError, Problem) as error:
                log.warning("messages to %s wait: %s", self.hook.host, error)
            except Exception:
                if not self._stopping.is_set():
                    log.exception("messages to %s wait", self.hook.host)

    def _round(self) -> bool:
        """Bring the messages that are due; whether there may be more."""
        engine = self.engine
        with engine.database.read() as session:
            rows = DUE.all(session, (self.hook.url, engine.clock.now(), AT_ONCE))
            if time.monotonic() - self._counted >= COUNT:
                self.waiting, self._counted = count_waiting(session, self.hook.url), time.monotonic()
        for row in rows:
            if self._stopping.is_set():
                return False
            try:
                self._send(row)
            except Refused as refused:
                self._fail(row, str(refused))
                return False
            self.trouble = ""
            self._take_out(row)
        return len(rows) == AT_ONCE

    def _take_out(self, row: OutboxRow) -> None:
        self.engine.submit(lambda session, state: note_taken(session, row)).result()

    def _fail(self, row: OutboxRow, reason: str) -> None:
        if self._stopping.is_set():
            return
        if self.trouble != reason:  # which is said once
            log.warning("the webhook at %s did not take a message: %s; it is tried again.", self.hook.host, reason)
        self.trouble = reason
        now = self.engine.clock.now()
        self.engine.submit(lambda session, state: note_failure(session, row, reason, now)).result()

    def _send(self, row: OutboxRow) -> None:
        """Bring a message; an error says why it was not taken."""
        parts = urlsplit(self.hook.url)
        port = parts.port or (443 if self._context else 80)
        host = self.hook.host
        connection = PinnedConnection(host, port, resolve(host, port, self.hook.private), self._context)
        self._connection = connection
        timer = threading.Timer(DEADLINE, connection.cut)
        timer.daemon = True
        timer.start()
        body, moment = row.body.encode(), int(time.time())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"askance/{askance.__version__}",
            "webhook-id": row.id,
            "webhook-timestamp": str(moment),
            "webhook-signature": sign(self.key, row.id, moment, body),
        }
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            connection.request("POST", target, body, headers)
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as error:
            raise Refused(f"{type(error).__name__}: {error}"[:150]) from None
        finally:
            timer.cancel()
            connection.close()
            self._connection = None
        if not 200 <= status < 300:
            raise Refused(f"it answered {status}")
