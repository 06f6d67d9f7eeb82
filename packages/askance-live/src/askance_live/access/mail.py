"""Links by mail: invitations and login links go to the address of whoever they let in; from ``[mail]``.

The service speaks to one mail server, that of the settings, over TLS unless it is on the same machine. A mail that
cannot be sent changes nothing: the link is there, and whoever asked for it hands it over.
"""

from __future__ import annotations

import os
import smtplib
import ssl
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from email.message import EmailMessage
from email.utils import formatdate, make_msgid, parseaddr
from pathlib import Path
from typing import Any

from askance.errors import AskanceError, InvalidParameter
from askance_live.access.company import OWN_MACHINE
from askance_live.problems import StartError

SECURITY = ("starttls", "tls", "none")
LONGEST_WAIT = 60
LAST_PORT = 65_535


class MailError(AskanceError, OSError):
    """A mail was not sent; the sentence says why."""


@dataclass(frozen=True)
class MailSettings:
    """``[mail]``: the server that takes our mails, and from whom they are."""

    host: str
    sender: str
    """Such as ``Labels <labels@example.org>``."""
    port: int = 587
    security: str = "starttls"
    """``starttls``, ``tls`` from the first byte, or ``none`` on the same machine."""
    user: str = ""
    password_file: str = ""
    ca_file: str = ""
    """Certificates to trust instead of the machine's."""
    timeout: int = 10
    """Seconds after which a server that does not answer is given up."""

    def password(self) -> str:
        """The password, from its file."""
        try:
            return Path(self.password_file).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise StartError(f"cannot read {self.password_file!r}: {error}.") from None


def read_mail(table: dict[str, Any], folder: Path) -> MailSettings | None:
    """``[mail]`` of the settings, checked; None where there is none."""
    if not table:
        return None
    known = {item.name: item.type for item in fields(MailSettings)}
    if unknown := [name for name in table if name not in known]:
        raise InvalidParameter(f"there is no setting mail.{unknown[0]}; there are: {', '.join(known)}.")
    values = dict(table)
    for name, value in table.items():
        if known[name] == "int":
            most = LAST_PORT if name == "port" else LONGEST_WAIT
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
                raise InvalidParameter(f"mail.{name} must be a whole number from 1 to {most}, got {value!r}.")
        elif not isinstance(value, str) or not value.isprintable():
            raise InvalidParameter(f"mail.{name} must be a text in quotes, got {value!r}.")
        elif name in ("password_file", "ca_file") and value:
            values[name] = str(folder / value)
    for name in ("host", "sender"):
        if not values.get(name):
            raise InvalidParameter(f"[mail] needs {name}.")
    found = MailSettings(**values)
    if "@" not in parseaddr(found.sender)[1]:
        raise InvalidParameter(f"mail.sender must be an address such as 'labels@example.org', got {found.sender!r}.")
    if found.security not in SECURITY:
        raise InvalidParameter(f"mail.security must be one of {', '.join(SECURITY)}, got {found.security!r}.")
    if found.security == "none" and found.host not in OWN_MACHINE:
        raise InvalidParameter("mail.security = 'none' is for a mail server on this machine; use starttls or tls.")
    if bool(found.user) != bool(found.password_file):
        raise InvalidParameter("mail.user and mail.password_file go together; one of them is missing.")
    return found


@contextmanager
def connect(settings: MailSettings) -> Iterator[smtplib.SMTP]:
    """A connection to the mail server, logged in."""
    try:
        context = ssl.create_default_context(cafile=settings.ca_file or None)
        with _open(settings, context) as server:
            if settings.security == "starttls":
                server.starttls(context=context)
            if settings.user:
                server.login(settings.user, settings.password())
            yield server
    except (smtplib.SMTPException, OSError, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise MailError(f"the mail server {settings.host}:{settings.port} did not take it ({reason[:200]}).") from None


def _open(settings: MailSettings, context: ssl.SSLContext) -> smtplib.SMTP:
    if settings.security == "tls":
        return smtplib.SMTP_SSL(settings.host, settings.port, timeout=settings.timeout, context=context)
    return smtplib.SMTP(settings.host, settings.port, timeout=settings.timeout)


def compose_link(settings: MailSettings, title: str, address: str, kind: str, link: str, lasting: str) -> EmailMessage:
    """The mail that brings somebody a link."""
    name = " ".join(title.split())
    is_invitation = kind == "invitation"
    message = EmailMessage()
    message["Subject"] = f"Your invitation to {name}" if is_invitation else f"Your login link for {name}"
    message["From"], message["To"] = settings.sender, address
    message["Date"], message["Message-ID"] = (
        formatdate(),
        make_msgid(domain=parseaddr(settings.sender)[1].partition("@")[2]),
    )
    message["Auto-Submitted"] = "auto-generated"
    what = f"You are invited to {name}." if is_invitation else f"This lets you in to {name}."
    message.set_content(
        f"{what} Open this link; it lets one person in, once, within {lasting}:\n\n{link}\n\n"
        "If you did not expect it, leave it alone. Do not forward it.\n"
    )
    return message


def send_link(settings: MailSettings, title: str, address: str, kind: str, link: str, lasting: str) -> None:
    """Send somebody a link; a MailError says why it was not sent."""
    try:
        message = compose_link(settings, title, address, kind, link, lasting)
    except ValueError as error:  # an address that is none
        raise MailError(f"no mail can be sent to {address!r} ({error}).") from None
    with connect(settings) as server:
        server.send_message(message)


def examine_mail(settings: MailSettings | None) -> list[str]:
    """What is wrong with sending mails, in sentences; the server is asked, and no mail sent."""
    if settings is None:
        return []
    findings = []
    try:
        with connect(settings) as server:
            server.noop()
    except (MailError, StartError) as error:
        findings.append(f"mails cannot be sent: {error}")
    path = settings.password_file
    if path and os.path.exists(path) and (mode := stat.S_IMODE(os.stat(path).st_mode)) & 0o007:
        findings.append(f"the password {path!r} can be read by anybody (mode {mode:o}); chmod 600 it.")
    return findings
