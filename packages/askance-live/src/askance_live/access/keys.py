"""The keys that the service knows by heart: tokens, people, and the sessions that began with either.

Wrong tokens are counted by address and in all, in bounded memory. A valid token never waits: it is looked up first.
A token is looked up by its hash. The time that takes reveals nothing about any token. The answer is the same for one
that is unknown, expired or revoked. What is limited is the noise: answers, log lines, and rows of the activity log.

Only the company's provider can tell whether a login by it is valid. So an address with too many failures waits before
its next login.
"""

from __future__ import annotations

import math
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from askance_live.access.auth import SESSION_SECONDS, Token, hash_secret, note, read_tokens
from askance_live.access.names import NOBODY
from askance_live.access.people import ALL, as_token, note_login
from askance_live.clock import Clock
from askance_live.http.proxies import read_address
from askance_live.problems import Problem
from askance_live.store.database import Database, Session
from askance_live.store.rows import Query, insert
from askance_live.store.schema import SessionRow

A_MOMENT = 10.0  # seconds, far more than from the beginning of a session to its commit
EXPIRED_KEPT = 1000
"""Sessions that have expired and are kept, for it may be the clock that is wrong."""
MOST_SESSIONS = 100
"""Sessions of one token or person; with the next login the oldest ends."""
SESSIONS, INSERT_SESSION = Query(SessionRow, "sessions"), insert(SessionRow)
BEYOND = "SELECT digest FROM sessions WHERE token = ? ORDER BY created DESC, digest LIMIT 1000 OFFSET ?"
FORGET_SESSIONS = (
    "DELETE FROM sessions WHERE expires < "
    "(SELECT expires FROM sessions WHERE expires <= ? ORDER BY expires DESC LIMIT 1 OFFSET ?)"
)


class Keys:
    """The valid tokens, people and sessions, read from the store again every second."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database, self.clock = database, clock
        self.exist = False
        self._tokens: dict[bytes, Token] = {}
        self._by_number: dict[str, Token] = {}
        self._sessions: dict[bytes, tuple[str, float]] = {}
        self._lock, self._reading = threading.Lock(), threading.Lock()
        self._people: set[str] = set()
        self._seen: dict[str, float] = {}
        self._latest: dict[bytes, tuple[float, tuple[str, float] | None]] = {}
        """Sessions that began here a moment ago, or ended (None), and when: what is read may be older."""

    def refresh(self) -> None:
        """Read all of them, in a thread; once it is done, what was committed before it was called is known."""
        with self._reading:  # or what began earlier could end later
            self._refresh()

    def _refresh(self) -> None:
        began = time.monotonic()
        with self.database.read() as session:
            tokens, people = read_tokens(session), ALL.all(session)
            rows = SESSIONS.all(session)
        sessions = {
            bytes(row.digest): (row.token, row.expires)
            for row in rows
            if isinstance(row.digest, bytes | memoryview) and isinstance(row.expires, int | float)
        }
        self._by_number = {holder.id: holder for holder in (*tokens, *map(as_token, people))}
        self._people = {person.id for person in people}
        self._tokens = {token.digest: token for token in tokens}
        self.exist = bool(self._by_number)
        with self._lock:
            self._latest = {digest: entry for digest, entry in self._latest.items() if entry[0] > began - A_MOMENT}
            for digest, (_, found) in self._latest.items():
                if found is None:
                    sessions.pop(digest, None)
                else:
                    sessions[digest] = found
            self._sessions = sessions

    def bearer(self, secret: str) -> Token | None:
        """The token with this secret, if it is valid."""
        token = self._tokens.get(hash_secret(secret))
        return token if token is not None and token.is_valid(self.clock.now()) else None

    def failure(self, secret: str) -> tuple[str, dict[str, Any]]:
        """Whose token it was that is not valid, and why, for the logs; the secret is not in it."""
        token = self._tokens.get(hash_secret(secret))
        if token is None:
            return NOBODY, {"why": "unknown" if secret else "empty"}
        return token.name, {"why": "expired" if token.revoked is None else "revoked", "token": token.id}

    def session(self, secret: str) -> Token | None:
        """The token, or the person, that a session began with, if both are valid."""
        number, expires = self._sessions.get(hash_secret(secret), ("", 0.0))
        token = self._by_number.get(number)
        now = self.clock.now()
        if token is None or now >= expires or not token.is_valid(now):
            return None
        if number in self._people:
            self._seen[number] = now
        return token

    def is_valid(self, number: str) -> bool:
        """Whether the token or the person with this number may still do anything."""
        token = self._by_number.get(number)
        return token is not None and token.is_valid(self.clock.now())

    def forget_sessions(self, number: str) -> None:
        """No session that began with this token or person goes on."""
        with self._lock:
            ended = [digest for digest, (holder, _) in self._sessions.items() if holder == number]
            for digest in ended:
                self._sessions.pop(digest)
                self._latest[digest] = time.monotonic(), None

    def take_seen(self) -> dict[str, float]:
        """Which people were here since the last call, and when."""
        seen, self._seen = self._seen, {}
        return seen

    def knows_session(self, secret: str) -> bool:
        """Whether there is such a session, valid or not."""
        return hash_secret(secret) in self._sessions

    def begin_session(self, session: Session, token: Token, address: str) -> str:
        """Begin a session; the secret for the cookie."""
        secret, now = secrets.token_urlsafe(32), self.clock.now()
        session.execute(FORGET_SESSIONS, (now, EXPIRED_KEPT - 1))
        ended = session.all(BEYOND, (token.id, MOST_SESSIONS - 1))
        session.many("DELETE FROM sessions WHERE digest = ?", ended)
        session.execute(INSERT_SESSION, SessionRow(hash_secret(secret), token.id, now, now + SESSION_SECONDS))
        note(session, now, token.name, "login", {"token": token.id, "address": address})
        note_login(session, token.id, now)
        with self._lock:
            self._sessions[hash_secret(secret)] = token.id, now + SESSION_SECONDS
            self._latest[hash_secret(secret)] = time.monotonic(), (token.id, now + SESSION_SECONDS)
            for (digest,) in ended:
                self._sessions.pop(bytes(digest), None)
                self._latest[bytes(digest)] = time.monotonic(), None
        return secret

    def end_session(self, session: Session, secret: str) -> None:
        """Log out."""
        if token := self.session(secret):
            note(session, self.clock.now(), token.name, "logout", {"token": token.id})
        session.execute("DELETE FROM sessions WHERE digest = ?", (hash_secret(secret),))
        with self._lock:
            self._sessions.pop(hash_secret(secret), None)
            self._latest[hash_secret(secret)] = time.monotonic(), None


# --- tokens that are not valid -------------------------------------------------------------------------


MOST_ADDRESSES = 10_000
ADDRESSES_AT_ONCE = 10
"""So many addresses may use up their own number within a minute before all of them wait."""


class Bucket:
    """So many at once, and as many again in every minute."""

    __slots__ = ("level", "per_minute", "since")

    def __init__(self, per_minute: float, now: float) -> None:
        self.per_minute, self.level, self.since = per_minute, per_minute, now

    def fill(self, now: float) -> None:
        self.level = min(self.per_minute, self.level + (now - self.since) * self.per_minute / 60.0)
        self.since = now

    def wait(self) -> float:
        """Seconds until there is room for one."""
        return max(0.0, (1.0 - self.level) * 60.0 / self.per_minute)


class Failures:
    """Counts wrong tokens by address; 0 per minute: any number."""

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute, self._clock = per_minute, clock
        self._all = Bucket(ADDRESSES_AT_ONCE * per_minute, clock())
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()
        self.unlogged = 0
        """Those refused since the last that was let through to the logs."""

    def count(self, address: str) -> int:
        """Count one that may be answered and logged, and tell how many before it were not; or refuse it."""
        if self.per_minute > 0:
            now = self._clock()
            own = self._own(address, now)
            self._all.fill(now)
            if wait := max(own.wait(), self._all.wait()):
                self.unlogged += 1
                raise _refusal("too many wrong tokens", wait, ", a valid one excepted")
            own.level -= 1.0
            self._all.level -= 1.0
        unlogged, self.unlogged = self.unlogged, 0
        return unlogged

    def check(self, address: str) -> None:
        """Refuse an address that has used up its own number, where it takes others' time to tell what is valid."""
        if self.per_minute > 0 and (wait := self._own(address, self._clock()).wait()):
            self.unlogged += 1
            raise _refusal("too many logins failed", wait)

    def _own(self, address: str, now: float) -> Bucket:
        key = group_of(address)
        own = self._buckets.pop(key, None) or Bucket(self.per_minute, now)
        self._buckets[key] = own
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        own.fill(now)
        return own


def _refusal(reason: str, wait: float, but: str = "") -> Problem:
    seconds = math.ceil(wait)
    return Problem(
        "rate_limited", f"{reason}; wait {seconds} seconds before the next{but}.",
        headers={"Retry-After": str(seconds)},
    )  # fmt: skip


def group_of(address: str) -> str:
    """Whose failures count together: an address of IPv4, or the network of IPv6 that one customer has.

    >>> group_of("10.1.2.3"), group_of("2001:db8::1") == group_of("2001:db8::2")
    ('10.1.2.3', True)
    """
    found = read_address(address)
    if found is None or found.version == 4:
        return address[:100] if found is None else str(found)
    return str(int(found) >> 64)
