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
from askance.live.clock import LAST_MOMENT, Clock
from askance.live.store.database import Database, Session

SCOPES = ("ingest", "label", "review", "read", "admin")
COOKIE = "askance_session"
A_MOMENT = 10.0  # seconds, far more than from the beginning of a session to its commit
SESSION_SECONDS = 30 * 86400.0
EXPIRED_KEPT = 1000
"""Sessions that have expired and are kept, for it may be the clock that is wrong."""
FORGET_SESSIONS = (
    "DELETE FROM sessions WHERE expires < "
    "(SELECT expires FROM sessions WHERE expires <= ? ORDER BY expires DESC LIMIT 1 OFFSET ?)"
)


@dataclass(frozen=True)
class User:
    """Who sends a request. ``way`` is bearer, cookie or open; ``token`` the number of the token, if there is one."""

    name: str
    scopes: tuple[str, ...]
    way: str
    token: str = ""

    def may(self, scope: str) -> bool:
        return scope in self.scopes or "admin" in self.scopes


COMMAND_LINE = "command line"
"""Who did it, in the activity log, where somebody used a command on the machine itself."""

EVERYBODY = User("local", SCOPES, "open")
"""Whoever uses the service on this machine, where no token was ever made."""

NOBODY = "nobody"
"""Whose token was not known, in the activity log."""

TAKEN_NAMES = (EVERYBODY.name, COMMAND_LINE, NOBODY)
"""What a token cannot be called: the activity log would not tell who it was."""


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


def hash_secret(secret: str) -> bytes:
    """What is stored of a token or a session. They are long and random, so a plain hash will do."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def read_tokens(session: Session) -> list[Token]:
    """Every token, the revoked ones too."""
    rows = session.all("SELECT id, name, digest, scopes, created, expires, revoked FROM tokens ORDER BY created")
    return [_token(*row) for row in rows]


def _token(number: str, name: str, digest: Any, scopes: Any, *times: Any) -> Token:
    """A row of the table; one with values of another type, which SQLite takes, counts as revoked."""
    is_sound = isinstance(digest, bytes | memoryview) and isinstance(scopes, str)
    if is_sound and all(time is None or isinstance(time, int | float) for time in times):
        return Token(number, name, bytes(digest), tuple(scopes.split()), *times)
    return Token(number, name, b"", (), 0.0, None, 0.0)


def create_token(session: Session, name: str, scopes: list[str], now: float, lasts: float | None) -> tuple[str, str]:
    """Make a token; its number and the secret, which is shown once."""
    if not name or len(name) > 64 or not name.isprintable() or name in TAKEN_NAMES:
        raise InvalidParameter(
            f"the name of a token must be 1 to 64 printable characters, not {' or '.join(map(repr, TAKEN_NAMES))}; "
            f"got {name!r}."
        )
    if not scopes or (unknown := [scope for scope in scopes if scope not in SCOPES]):
        raise InvalidParameter(f"scopes are {', '.join(SCOPES)}; got {', '.join(unknown) if scopes else 'none'}.")
    number, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
    session.execute(
        "INSERT INTO tokens (id, name, digest, scopes, created, expires) VALUES (?, ?, ?, ?, ?, ?)",
        (number, name, hash_secret(secret), " ".join(scopes), now, None if lasts is None else now + lasts),
    )
    note(session, now, COMMAND_LINE, "token create", {"id": number, "name": name, "scopes": scopes})
    return number, secret


def revoke_token(session: Session, number: str, now: float) -> None:
    """End a token, and every session that began with it."""
    changed = session.execute("UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL", (now, number))
    if not changed:
        raise InvalidParameter(f"there is no valid token {number!r}; 'askance token list' shows them.")
    session.execute("DELETE FROM sessions WHERE token = ?", (number,))
    note(session, now, COMMAND_LINE, "token revoke", {"id": number})


def begin_now(session: Session, now: float) -> None:
    """Tokens and sessions that were made by a clock that was ahead begin now, and last as long as they should."""
    for table in ("tokens", "sessions"):
        session.execute(
            f"UPDATE {table} SET expires = ? + (expires - created), created = ? WHERE created > ? AND created < ?",
            (now, now, now, LAST_MOMENT),
        )


def note(session: Session, now: float, actor: str, action: str, detail: dict[str, Any]) -> None:
    """Write into the activity log."""
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
        sessions = {
            bytes(digest): (token, expires)
            for digest, token, expires in rows
            if isinstance(digest, bytes | memoryview) and isinstance(expires, int | float)
        }
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
        token = self._tokens.get(hash_secret(secret))
        return token if token is not None and token.is_valid(self.clock.now()) else None

    def failure(self, secret: str) -> tuple[str, dict[str, Any]]:
        """Whose token it was that is not valid, and why, for the logs; the secret is not in it."""
        token = self._tokens.get(hash_secret(secret))
        if token is None:
            return NOBODY, {"why": "unknown" if secret else "empty"}
        return token.name, {"why": "expired" if token.revoked is None else "revoked", "token": token.id}

    def session(self, secret: str) -> Token | None:
        """The token that a session began with, if both are valid."""
        number, expires = self._sessions.get(hash_secret(secret), ("", 0.0))
        token = self._by_number.get(number)
        now = self.clock.now()
        return token if token is not None and now < expires and token.is_valid(now) else None

    def knows_session(self, secret: str) -> bool:
        """Whether there is such a session, valid or not."""
        return hash_secret(secret) in self._sessions

    def begin_session(self, session: Session, token: Token, address: str) -> str:
        """Begin a session; the secret for the cookie."""
        secret, now = secrets.token_urlsafe(32), self.clock.now()
        session.execute(FORGET_SESSIONS, (now, EXPIRED_KEPT - 1))
        session.execute(
            "INSERT INTO sessions (digest, token, created, expires) VALUES (?, ?, ?, ?)",
            (hash_secret(secret), token.id, now, now + SESSION_SECONDS),
        )
        note(session, now, token.name, "login", {"token": token.id, "address": address})
        with self._lock:
            self._sessions[hash_secret(secret)] = token.id, now + SESSION_SECONDS
            self._latest[hash_secret(secret)] = time.monotonic(), (token.id, now + SESSION_SECONDS)
        return secret

    def end_session(self, session: Session, secret: str) -> None:
        """Log out."""
        if token := self.session(secret):
            note(session, self.clock.now(), token.name, "logout", {"token": token.id})
        session.execute("DELETE FROM sessions WHERE digest = ?", (hash_secret(secret),))
        with self._lock:
            self._sessions.pop(hash_secret(secret), None)
            self._latest[hash_secret(secret)] = time.monotonic(), None


def cookie_name(is_secure: bool, prefix: str) -> str:
    """What the cookie of a session is called.

    Over TLS a browser takes these names from a secure page of this very host only, so that nobody else can put a
    session of theirs in place of one's own; ``__Host-`` is for the path / alone.
    """
    return COOKIE if not is_secure else f"__Secure-{COOKIE}" if prefix else f"__Host-{COOKIE}"


def is_own_machine(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
