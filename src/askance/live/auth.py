"""Who may do what: tokens with scopes, kept hashed; sessions for the pages; nobody at all on one's own machine."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import secrets
import threading
import time
from dataclasses import dataclass
from typing import Any

from askance.errors import InvalidParameter
from askance.live.clock import Clock
from askance.live.store.database import Database, Session

SCOPES = ("ingest", "label", "read", "admin")
COOKIE = "askance_session"
A_MOMENT = 10.0  # seconds, far more than from the beginning of a session to its commit
SESSION_SECONDS = 30 * 86400.0


@dataclass(frozen=True)
class User:
    """Who sends a request. ``way`` is bearer, cookie or open."""

    name: str
    scopes: tuple[str, ...]
    way: str

    def may(self, scope: str) -> bool:
        return scope in self.scopes or "admin" in self.scopes


EVERYBODY = User("local", SCOPES, "open")
"""Whoever uses the service on this machine, where no token was ever made."""


@dataclass(frozen=True)
class Token:
    """A row of the table of tokens; the token itself is known to its holder only."""

    id: str
    name: str
    digest: bytes
    scopes: tuple[str, ...]
    created: float
    expires: float | None
    revoked: float | None

    def is_valid(self, now: float) -> bool:
        return self.revoked is None and (self.expires is None or now < self.expires)


def hashed(secret: str) -> bytes:
    """What is stored of a token or a session. They are long and random, so a plain hash will do."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def read_tokens(session: Session) -> list[Token]:
    """Every token, the revoked ones too."""
    rows = session.all("SELECT id, name, digest, scopes, created, expires, revoked FROM tokens ORDER BY created")
    return [Token(row[0], row[1], bytes(row[2]), tuple(row[3].split()), *row[4:]) for row in rows]


def create_token(session: Session, name: str, scopes: list[str], now: float, lasts: float | None) -> tuple[str, str]:
    """Make a token; its number and the secret, which is shown once."""
    if not name or len(name) > 64 or not name.isprintable() or name == EVERYBODY.name:
        raise InvalidParameter(f"the name of a token must be 1 to 64 printable characters, not 'local'; got {name!r}.")
    if not scopes or (unknown := [scope for scope in scopes if scope not in SCOPES]):
        raise InvalidParameter(f"scopes are {', '.join(SCOPES)}; got {', '.join(unknown) if scopes else 'none'}.")
    number, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
    session.execute(
        "INSERT INTO tokens (id, name, digest, scopes, created, expires) VALUES (?, ?, ?, ?, ?, ?)",
        (number, name, hashed(secret), " ".join(scopes), now, None if lasts is None else now + lasts),
    )
    note(session, now, "command line", "token create", {"id": number, "name": name, "scopes": scopes})
    return number, secret


def revoke_token(session: Session, number: str, now: float) -> None:
    """End a token, and every session that began with it."""
    changed = session.execute("UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL", (now, number))
    if not changed:
        raise InvalidParameter(f"there is no valid token {number!r}; 'askance token list' shows them.")
    session.execute("DELETE FROM sessions WHERE token = ?", (number,))
    note(session, now, "command line", "token revoke", {"id": number})


def note(session: Session, now: float, actor: str, action: str, detail: dict[str, Any]) -> None:
    """Write into the audit log."""
    number = int(session.value("SELECT max(seq) FROM audit_log") or 0) + 1
    session.execute(
        "INSERT INTO audit_log (seq, time, actor, action, detail) VALUES (?, ?, ?, ?, ?)",
        (number, now, actor, action, json.dumps(detail)),
    )


class Keys:
    """The valid tokens and sessions, read from the store again every second."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database, self.clock = database, clock
        self.exist = False
        self._tokens: dict[bytes, Token] = {}
        self._by_number: dict[str, Token] = {}
        self._sessions: dict[bytes, tuple[str, float]] = {}
        self._lock = threading.Lock()
        self._latest: dict[bytes, tuple[float, tuple[str, float] | None]] = {}
        """Sessions that began here a moment ago, or ended (None), and when: what is read may be older."""

    def refresh(self) -> None:
        """Read tokens and sessions; called from a thread of its own."""
        began = time.monotonic()
        with self.database.read() as session:
            tokens = read_tokens(session)
            rows = session.all("SELECT digest, token, expires FROM sessions")
        sessions = {bytes(row[0]): (row[1], row[2]) for row in rows}
        self._by_number = {token.id: token for token in tokens}
        self._tokens = {token.digest: token for token in tokens}
        self.exist = bool(tokens)
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
        token = self._tokens.get(hashed(secret))
        return token if token is not None and token.is_valid(self.clock.now()) else None

    def session(self, secret: str) -> Token | None:
        """The token that a session began with, if both are valid."""
        number, expires = self._sessions.get(hashed(secret), ("", 0.0))
        token = self._by_number.get(number)
        now = self.clock.now()
        return token if token is not None and now < expires and token.is_valid(now) else None

    def begin_session(self, session: Session, token: Token) -> str:
        """Begin a session; the secret for the cookie."""
        secret, now = secrets.token_urlsafe(32), self.clock.now()
        session.execute("DELETE FROM sessions WHERE expires <= ?", (now,))
        session.execute(
            "INSERT INTO sessions (digest, token, created, expires) VALUES (?, ?, ?, ?)",
            (hashed(secret), token.id, now, now + SESSION_SECONDS),
        )
        note(session, now, token.name, "login", {"token": token.id})
        with self._lock:
            self._sessions[hashed(secret)] = token.id, now + SESSION_SECONDS
            self._latest[hashed(secret)] = time.monotonic(), (token.id, now + SESSION_SECONDS)
        return secret

    def end_session(self, session: Session, secret: str) -> None:
        """Log out."""
        session.execute("DELETE FROM sessions WHERE digest = ?", (hashed(secret),))
        with self._lock:
            self._sessions.pop(hashed(secret), None)
            self._latest[hashed(secret)] = time.monotonic(), None


def is_own_machine(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
