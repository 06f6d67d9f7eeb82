"""Invitations and login links by mail, to a real mail server."""

import asyncio
import ssl
import threading
from contextlib import contextmanager
from email import message_from_bytes, policy
from pathlib import Path

import pytest
from tests.live.test_tls import make_certificate
from tests.patience import PATIENCE

from askance.errors import InvalidParameter
from askance_live.access.mail import MailError, MailSettings, compose_link, read_mail, send_link
from askance_live.cli.doctor import examine_surroundings
from askance_live.config import from_document

aiosmtpd = pytest.importorskip("aiosmtpd", reason="aiosmtpd is not installed: pip install --group test")


class Letterbox:
    """Takes every mail."""

    def __init__(self):
        self.mails = []

    async def handle_DATA(self, server, session, envelope):
        self.mails.append(envelope)
        return "250 OK"


def read(envelope):
    return message_from_bytes(envelope.content, policy=policy.default)


@contextmanager
def mail_server(**options):
    """A mail server on a free port: its letterbox, and the settings that lead to it."""
    from aiosmtpd.smtp import SMTP

    letterbox, loop = Letterbox(), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def listen():
        return await loop.create_server(lambda: SMTP(letterbox, loop=loop, **options), "127.0.0.1", 0)

    server = asyncio.run_coroutine_threadsafe(listen(), loop).result(PATIENCE)
    port = server.sockets[0].getsockname()[1]
    sender = "Labels <labels@example.org>"
    try:
        yield letterbox, {"host": "127.0.0.1", "port": port, "sender": sender, "security": "none"}
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def box():
    with mail_server() as found:
        yield found


def test_an_invitation_and_a_login_link_are_sent_to_whom_they_let_in(box, make):
    letterbox, settings = box
    service = make(mail=settings)
    service.log_in(service.tokens(root="admin")["root"])
    made = service.post("/v1/people", {"name": "Ana", "role": "annotator", "email": "ana@example.org"}).json()
    assert (made["sent"], made["mail_problem"]) == (True, None)
    (envelope,) = letterbox.mails
    assert (envelope.mail_from, envelope.rcpt_tos) == ("labels@example.org", ["ana@example.org"])
    mail = read(envelope)
    assert (mail["Subject"], mail["To"]) == ("Your invitation to Test", "ana@example.org")
    assert made["link"] in mail.get_content()
    assert "within 7 days" in mail.get_content()
    link = service.post(f"/v1/people/{made['person']['id']}/link").json()
    assert link["sent"]
    assert link["link"] in read(letterbox.mails[1]).get_content()
    without = service.post("/v1/people", {"name": "Ben", "role": "annotator"}).json()
    assert (without["sent"], without["mail_problem"]) == (False, None)
    assert len(letterbox.mails) == 2
    done = service.run("people", "invite", "Eve", "--email", "eve@example.org")
    assert "It was sent to eve@example.org." in done.stdout + done.stderr
    assert letterbox.mails[2].rcpt_tos == ["eve@example.org"]
    assert service.run("doctor").stdout.endswith("All is well.\n")


def test_a_link_is_made_although_no_mail_server_takes_the_mail(make):
    with mail_server() as (_, settings):
        pass  # it is gone
    service = make(mail={**settings, "timeout": 2})
    service.log_in(service.tokens(root="admin")["root"])
    made = service.post("/v1/people", {"name": "Ana", "role": "annotator", "email": "ana@example.org"}).json()
    assert not made["sent"]
    assert f"the mail server 127.0.0.1:{settings['port']} did not take it" in made["mail_problem"]
    assert made["link"].startswith(service.url)
    found = service.run("doctor", check=False)
    assert found.returncode == 2
    assert "problem: mails cannot be sent: the mail server" in found.stdout
    told = service.run("people", "link", "Ana")
    assert "Hand the link over yourself." in told.stdout + told.stderr


def test_over_tls_the_server_must_be_the_one_it_says_and_the_password_goes_to_it_alone(tmp_path):
    from aiosmtpd.smtp import AuthResult

    given = []

    def authenticator(server, session, envelope, mechanism, data):
        given.append((data.login, data.password))
        return AuthResult(success=data.password == b"secret", handled=False)

    files = make_certificate(tmp_path / "tls")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    (tmp_path / "mail.secret").write_text("secret\n")
    known = {"tls_context": context, "require_starttls": True, "auth_required": True, "authenticator": authenticator}
    with mail_server(**known) as (letterbox, settings):
        login = {"user": "labels", "password_file": "mail.secret", "security": "starttls"}
        stranger = read_mail({**settings, **login}, tmp_path)
        with pytest.raises(MailError, match="certificate"):
            send_link(stranger, "Test", "ana@example.org", "login", "https://x/enter?key=1", "15 minutes")
        assert given == []
        trusted = read_mail({**settings, **login, "ca_file": files.certificate}, tmp_path)
        send_link(trusted, "Test", "ana@example.org", "login", "https://x/enter?key=1", "15 minutes")
        assert given == [(b"labels", b"secret")]
        assert read(letterbox.mails[0])["Subject"] == "Your login link for Test"
        (tmp_path / "mail.secret").write_text("wrong\n")
        with pytest.raises(MailError, match="535"):
            send_link(trusted, "Test", "ana@example.org", "login", "https://x/enter?key=1", "15 minutes")


def test_nothing_can_be_smuggled_into_a_mail():
    settings = MailSettings("127.0.0.1", "labels@example.org", security="none")
    mail = compose_link(settings, "Title\nBcc: all@example.org", "ana@example.org", "invitation", "https://x", "7 days")
    assert mail["Subject"] == "Your invitation to Title Bcc: all@example.org"
    assert mail["Bcc"] is None
    for address in ("ana@example.org\nBcc: eve@example.org", "ana@example.org\r\n\r\nHello"):
        with pytest.raises(MailError, match="no mail can be sent"):
            send_link(settings, "Title", address, "invitation", "https://x", "7 days")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"host": ""}, "needs host"),
        ({"sender": "nobody"}, "mail.sender"),
        ({"security": "some"}, "mail.security"),
        ({"security": "none"}, "on this machine"),
        ({"port": 0}, "mail.port"),
        ({"port": "25"}, "mail.port"),
        ({"user": "labels"}, "go together"),
        ({"sender": "a@b\nBcc: c@d"}, "mail.sender"),
        ({"extra": 1}, "no setting mail.extra"),
    ],
)
def test_wrong_settings_are_refused_in_a_sentence(change, word):
    table = {"host": "smtp.example.org", "sender": "labels@example.org", **change}
    with pytest.raises(InvalidParameter, match=word):
        read_mail(table, Path("."))


@pytest.mark.parametrize(
    ("server", "word"),
    [
        ({}, None),
        ({"host": "0.0.0.0"}, "without TLS"),
        ({"public_url": "http://labels.example.org"}, "unencrypted"),
        ({"public_url": "http://localhost:8017"}, None),
        ({"public_url": "https://labels.example.org"}, "trusted_proxies does not name it"),
        ({"public_url": "https://labels.example.org", "trusted_proxies": ["127.0.0.1"]}, None),
        ({"public_url": "https://labels.example.org", "trusted_proxies": ["0.0.0.0/0"]}, "any address"),
    ],
)
def test_the_doctor_sees_the_way_to_the_service(server, word):
    found = examine_surroundings(from_document({"classes": ["a", "b"], "server": server}))
    assert len(found) == (word is not None) + (server.get("host") == "0.0.0.0")
    assert word is None or word in found[0]
    assert "host" not in server or "public_url" in found[1]
