"""Who may do what: tokens with scopes, kept hashed; nobody at all on one's own machine."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import secrets
from dataclasses import dataclass
from typing import Any

from askance.errors import InvalidParameter
from askance_live.access.names import COMMAND_LINE, HOLDERS, LOCAL, TABLES, TAKEN_NAMES, TOKEN, claim_name, numbered
from askance_live.clock import LAST_MOMENT
from askance_live.store.database import Session
from askance_live.store.rows import Query, await_turn, insert
from askance_live.store.schema import ActivityRow, TokenRow

SCOPES = ("ingest", "label", "review", "read", "admin")
COOKIE = "askance_session"
SESSION_SECONDS = 30 * 86400.0
TOKENS = Query(TokenRow, "tokens", "ORDER BY created")
INSERT_TOKEN, INSERT_ACTIVITY = insert(TokenRow), insert(ActivityRow)


@dataclass(frozen=True)
class User:
    """Who sends a request. ``way`` is bearer, cookie or open; ``token`` the number of the token, or of the person."""

    name: str
    scopes: tuple[str, ...]
    way: str
    token: str = ""

    def may(self, scope: str) -> bool:
        return scope in self.scopes or "admin" in self.scopes


EVERYBODY = User(LOCAL, SCOPES, "open")
"""Whoever uses the service on this machine, where no token was ever made."""


@dataclass(frozen=True)
class Token:
    """A row of the table of tokens, or a person; the token itself is known to its holder only."""

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
    """What is stored of a token, a session or a link. They are long and random, so a plain hash will do."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def read_tokens(session: Session) -> list[Token]:
    """Every token, the revoked ones too."""
    return [_token(row) for row in TOKENS.all(session)]


def _token(row: TokenRow) -> Token:
    """A row of the table; one with values of another type, which SQLite takes, counts as revoked."""
    times = row.created, row.expires, row.revoked
    is_sound = isinstance(row.digest, bytes | memoryview) and isinstance(row.scopes, str)
    if is_sound and all(time is None or isinstance(time, int | float) for time in times):
        return Token(row.id, row.name, bytes(row.digest), tuple(row.scopes.split()), *times)
    return Token(row.id, row.name, b"", (), 0.0, None, 0.0)


def create_token(session: Session, name: str, scopes: list[str], now: float, lasts: float | None) -> tuple[str, str]:
    """Make a token; its number and the secret, which is shown once."""
    claim_name(session, name, TOKEN)
    if not scopes or (unknown := [scope for scope in scopes if scope not in SCOPES]):
        raise InvalidParameter(f"scopes are {', '.join(SCOPES)}; got {', '.join(unknown) if scopes else 'none'}.")
    number, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
    expires = None if lasts is None else now + lasts
    session.execute(INSERT_TOKEN, TokenRow(number, name, hash_secret(secret), " ".join(scopes), now, expires))
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
    """Tokens, sessions and links that were made by a clock that was ahead begin now, and last as they should."""
    for table in ("tokens", "sessions", "links"):
        session.execute(
            f"UPDATE {table} SET expires = ? + (expires - created), created = ? WHERE created > ? AND created < ?",
            (now, now, now, LAST_MOMENT),
        )


def separate_names(session: Session, now: float) -> None:
    """Give the younger of two another name, where a store of askance 0.2 or earlier has a person and a token of one.

    What was said under the name stays with the older; nobody can tell whose it was.
    """
    await_turn(session)
    holders = [(holder.created, kind, holder) for kind, query in HOLDERS.items() for holder in query.all(session)]
    called: dict[tuple[str, str], str] = {}
    taken = set(TAKEN_NAMES)
    for _, kind, holder in sorted(one for one in holders if isinstance(one[0], int | float)):
        name = called.get((holder.name, kind))
        if name is None:
            name = numbered(holder.name, holder.id) if holder.name in taken else holder.name
            called[holder.name, kind] = name
            taken.add(holder.name)
        if name != holder.name:
            session.execute(f"UPDATE {TABLES[kind]} SET name = ? WHERE id = ?", (name, holder.id))
            note(session, now, COMMAND_LINE, "name change", {kind: holder.id, "before": holder.name, "after": name})


def note(session: Session, now: float, actor: str, action: str, detail: dict[str, Any]) -> None:
    """Write into the activity log; of several processes, one after the other."""
    await_turn(session)
    number = int(session.value("SELECT max(seq) FROM audit_log") or 0) + 1
    session.execute(INSERT_ACTIVITY, ActivityRow(number, now, actor, action, json.dumps(detail)))


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
