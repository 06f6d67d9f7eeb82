"""Addresses that are told what happens; from ``[[webhooks]]`` of the settings.

Only whoever writes the settings says where messages go. They are signed as https://www.standardwebhooks.com describes:

    signature = base64(HMAC-SHA256(key, id + "." + timestamp + "." + body))
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from askance.errors import InvalidParameter
from askance_live.problems import StartError

EVENTS: Final = {
    "question.asked": "an event became a question",
    "answer.learned": "the model learned an answer",
    "budget.spent": "no more may be asked for now: a limit of the hour, the day or in all is reached",
    "drift.alarm": "mistakes in the random sample became clearly more frequent",
    "disk.low": "less than twice server.disk_reserve is free",
}
"""What a webhook can be told, and when."""

MOST = 20  # webhooks of a stream
SHORTEST_KEY = 16  # bytes


@dataclass(frozen=True)
class Webhook:
    """One address: what it is told, with which key that is signed, and whether it may be in a private network."""

    url: str
    events: tuple[str, ...]
    secret_file: str
    private: bool = False

    @property
    def host(self) -> str:
        """What may be shown of the address: its path can be as good as a password."""
        return urlsplit(self.url).hostname or ""

    def key(self) -> bytes:
        """The key from its file: base64, perhaps after ``whsec_``."""
        try:
            text = Path(self.secret_file).read_text("ascii").strip()
            key = base64.b64decode(text.removeprefix("whsec_"), validate=True)
        except OSError as error:
            raise StartError(f"cannot read {self.secret_file!r}: {error.strerror}.") from None
        except (UnicodeDecodeError, binascii.Error, ValueError):
            key = b""
        if len(key) < SHORTEST_KEY:
            raise StartError(
                f"{self.secret_file!r} must have a key of {SHORTEST_KEY} bytes or more in base64; make one with "
                f"'openssl rand -base64 32 > {self.secret_file}'."
            )
        return key


def sign(key: bytes, identifier: str, timestamp: int, body: bytes) -> str:
    """The signature of a message.

    >>> sign(b"0123456789abcdef", "m-1", 1700000000, b"{}")
    'v1,b52z++sCZ1rxpp6EtpLTO/MH2/J6zj6GgRh5yKbez2I='
    """
    digest = hmac.digest(key, f"{identifier}.{timestamp}.".encode() + body, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


def read_webhooks(given: Any, folder: Path) -> tuple[Webhook, ...]:
    """``[[webhooks]]`` of the settings, checked; the files of keys are beside them."""
    if not isinstance(given, list) or not all(isinstance(table, dict) for table in given):
        raise InvalidParameter("webhooks must be tables, each under [[webhooks]].")
    if len(given) > MOST:
        raise InvalidParameter(f"there may be {MOST} webhooks at most, got {len(given)}.")
    hooks = tuple(_read(table, folder) for table in given)
    if len({hook.url for hook in hooks}) < len(hooks):
        raise InvalidParameter("two of the webhooks have the same url; name all events of an address in one of them.")
    return hooks


def _read(table: dict[str, Any], folder: Path) -> Webhook:
    known = ("url", "events", "secret_file", "private")
    if unknown := [name for name in table if name not in known]:
        raise InvalidParameter(f"there is no setting webhooks.{unknown[0]}; there are: {', '.join(known)}.")
    if missing := [name for name in known[:3] if not table.get(name)]:
        raise InvalidParameter(f"each of the webhooks needs {missing[0]}.")
    url, events, file, private = (table.get(name, False) for name in known)
    if not isinstance(private, bool):
        raise InvalidParameter(f"webhooks.private must be true or false, got {private!r}.")
    if not isinstance(file, str):
        raise InvalidParameter(f"webhooks.secret_file must be the name of a file, got {file!r}.")
    _check_url(url, private)
    if not isinstance(events, list) or not set(map(str, events)) <= EVENTS.keys():
        raise InvalidParameter(f"webhooks.events must be a list of {', '.join(EVENTS)}; got {events!r}.")
    return Webhook(url, tuple(events), str(folder / file), private)


def _check_url(url: Any, private: bool) -> None:
    wanted = "webhooks.url must be an address such as 'https://hooks.example.org/askance'"
    try:
        parts = urlsplit(url if isinstance(url, str) and url.isprintable() and " " not in url else "")
        is_fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
        is_fine = is_fine and parts.port != 0 and not parts.fragment
    except ValueError:
        is_fine = False
    if not is_fine:
        raise InvalidParameter(f"{wanted}, got {url!r}.")
    if parts.scheme == "http" and not private:
        raise InvalidParameter(f"{wanted}; http, which anybody on the way can read, is for private = true only.")


def examine_webhooks(hooks: tuple[Webhook, ...]) -> list[str]:
    """What is wrong with the keys of webhooks, in sentences."""
    findings = []
    for hook in hooks:
        try:
            hook.key()
        except StartError as error:
            findings.append(str(error))
            continue
        if (mode := stat.S_IMODE(os.stat(hook.secret_file).st_mode)) & 0o007:
            findings.append(
                f"the key {hook.secret_file!r} can be read by anybody (mode {mode:o}); make another, and chmod 600 it."
            )
    return findings
