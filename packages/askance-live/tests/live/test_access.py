"""Who may do what: every endpoint with every scope, pages with a session, and requests from other sites."""

import asyncio
import re
import socket
from contextlib import contextmanager

import httpx
import pytest
from tests.live.asgi import Call, new_service
from tests.patience import PATIENCE, wait_until

from askance_live import routes
from askance_live.access import keys
from askance_live.access.auth import SCOPES
from askance_live.access.keys import Keys
from askance_live.clock import Clock
from askance_live.http.routing import ROUTES
from askance_live.store import open_store

pytestmark = pytest.mark.hostile

routes.load()
GUARDED = [route for route in ROUTES if route.scope is not None and not route.is_page]


@pytest.fixture(scope="module")
def guarded(make_for_all):
    service = make_for_all()
    service.secrets = service.tokens(**{scope: scope for scope in SCOPES})
    return service


def call(client, route):
    path = re.sub(r"\{\w+\}", "1", route.path)
    if route.path == "/v1/live":
        with client.stream("GET", path) as response:
            return response.status_code
    return client.request(route.method, path, json={} if route.method == "POST" else None).status_code


@pytest.mark.parametrize("route", GUARDED, ids=lambda route: f"{route.method} {route.path}")
def test_an_endpoint_opens_for_its_scope_and_for_admin_only(guarded, route):
    with httpx.Client(base_url=guarded.url, timeout=PATIENCE) as nobody:
        assert call(nobody, route) == 401
    with guarded.as_user("x" * 43) as stranger:
        assert call(stranger, route) == 401
    for scope in SCOPES:
        with guarded.as_user(guarded.secrets[scope]) as client:
            status = call(client, route)
        allowed = scope in (route.scope, "admin") or route.scope == "any"
        assert (status not in (401, 403)) == allowed, (scope, status)


def test_health_needs_no_token(guarded):
    with httpx.Client(base_url=guarded.url, timeout=PATIENCE) as nobody:
        for path in ("/livez", "/readyz", "/version", "/metrics", "/openapi.json", "/login"):
            assert nobody.get(path).status_code == 200, path


def test_pages_lead_to_the_login_and_a_session_opens_them(guarded):
    with httpx.Client(base_url=guarded.url, timeout=PATIENCE) as browser:
        away = browser.get("/label")
        assert (away.status_code, away.headers["location"]) == (303, "/login?next=/label")
        refused = browser.post("/login", data={"token": "wrong", "next": "/label"})
        assert refused.status_code == 401
        entered = browser.post("/login", data={"token": guarded.secrets["label"], "next": "/label"})
        assert (entered.status_code, entered.headers["location"]) == (303, "/label")
        cookie = entered.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        assert browser.get("/label").status_code == 200
        assert browser.get("/v1/me").json()["name"] == "label"
        assert browser.post("/v1/asks/next").status_code == 204
        # a page of another site cannot use the session
        for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}):
            assert browser.post("/v1/asks/next", headers=headers).json()["code"] == "forbidden"
        assert browser.post("/v1/asks/next", headers={"origin": guarded.url}).status_code == 204
        assert browser.post("/logout").status_code == 303
        assert browser.get("/v1/me").status_code == 401
        elsewhere = browser.post("/login", data={"token": guarded.secrets["label"], "next": "//evil.example"})
        assert elsewhere.headers["location"] == "/"


def test_every_response_says_how_it_may_be_used(guarded):
    with httpx.Client(base_url=guarded.url, timeout=PATIENCE) as nobody:
        for path in ("/login", "/v1/stats", "/nothing", "/static/nothing.js"):
            headers = nobody.get(path).headers
            assert headers["x-content-type-options"] == "nosniff"
            assert "default-src 'none'" in headers["content-security-policy"]
            assert "unsafe" not in headers["content-security-policy"]


def test_files_outside_the_static_folder_stay_unread(guarded):
    for path in (
        "/static/..%2f..%2fconfig.py",
        "/static/../config.py",
        "/static/%2e%2e/config.py",
        "/static//etc/passwd",
    ):
        with socket.create_connection(("127.0.0.1", guarded.port)) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            answer = connection.recv(65536)
        assert b" 404 " in answer.split(b"\r\n")[0], path


def test_revoked_and_expired_tokens_end_within_seconds(make):
    service = make()
    secrets = service.tokens(ana="label", root="admin")
    service.run("token", "create", "brief", "--scopes", "read", "--expires", "1s")
    listed = service.run("token", "list").stdout
    number = re.search(r"^(\w+)\s+ana ", listed, re.MULTILINE)[1]
    with service.as_user(secrets["ana"]) as ana:
        assert ana.get("/v1/me").status_code == 200
        browser = httpx.Client(base_url=service.url, timeout=PATIENCE)
        browser.post("/login", data={"token": secrets["ana"]})
        service.run("token", "revoke", number)
        wait_until(lambda: ana.get("/v1/me").status_code == 401, "the end of a token")
        assert browser.get("/v1/me").status_code == 401  # the session ends with its token
        browser.close()
    with service.as_user(secrets["root"]) as root:
        actions = [entry["action"] for entry in root.get("/v1/audit").json()["entries"]]
    said = [action for action in actions if action != "token refused"]  # ana's last request, as soon as it is there
    assert said[:3] == ["token revoke", "login", "token create"]


def test_tokens_are_stored_hashed_and_files_are_private(make):
    service = make()
    secrets = service.tokens(ana="label")
    service.stop()
    content = b"".join(path.read_bytes() for path in service.folder.glob("askance.db*"))
    assert secrets["ana"].encode() not in content
    for path in [service.config, *service.folder.glob("askance.db*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_any_other_address_than_this_machine_needs_a_token(make):
    service = make()
    service.stop()
    refused = service.run("serve", "--host", "0.0.0.0", check=False)
    assert refused.returncode == 2
    assert "askance token create" in refused.stderr


def test_without_tokens_other_host_names_are_refused(make):
    service = make()
    assert service.get("/v1/me").json()["open_access"] is True
    assert service.get("/v1/me", headers={"host": "evil.example"}).json()["code"] == "wrong_host"
    assert service.get("/v1/me", headers={"host": f"localhost:{service.port}"}).status_code == 200


class Meanwhile:
    """A store in which something happens after it was read, before the reader can say what it read."""

    def __init__(self, database, act):
        self.database, self.act = database, act

    @contextmanager
    def read(self):
        with self.database.read() as session:
            yield session
        self.act()


def test_a_session_that_begins_or_ends_while_tokens_are_read_is_known_at_once(make):
    service = make()
    service.tokens(ana="label")
    service.stop()
    database = open_store(service.store)
    try:
        keys = Keys(database, Clock())
        keys.refresh()
        (token,) = keys._tokens.values()
        secret = []

        def begin():
            with database.write() as session:
                secret.append(keys.begin_session(session, token, "127.0.0.1"))

        def end():
            with database.write() as session:
                keys.end_session(session, secret[0])

        for act, is_in in ((begin, True), (lambda: None, True), (end, False), (lambda: None, False)):
            keys.database = Meanwhile(database, act)
            keys.refresh()
            assert (keys.session(secret[0]) is not None) == is_in
    finally:
        database.close()


def test_a_token_has_so_many_sessions_and_the_oldest_ends(tmp_path, monkeypatch):
    """At once where somebody logs in, and for every other process of the stream with its next look."""
    monkeypatch.setattr(keys, "MOST_SESSIONS", 3)

    async def use():
        with new_service(tmp_path, {"ana": "label", "ben": "label"}) as (service, tokens):

            async def log_in(name):
                call = Call(service, "POST", "/login", body=f"token={tokens[name]}".encode())
                assert await call.end() == 303
                return call.headers["set-cookie"].partition(";")[0]

            async def statuses(cookies):
                calls = [Call(service, "GET", "/v1/me", headers={"cookie": cookie}) for cookie in cookies]
                return [await call.end() for call in calls]

            other = await log_in("ben")
            cookies = [await log_in("ana") for _ in range(5)]
            assert await statuses([*cookies, other]) == [401, 401, 200, 200, 200, 200]
            with service.database.read() as session:
                assert session.value("SELECT count(*) FROM sessions") == 4
            service.keys.refresh()
            assert await statuses([*cookies, other]) == [401, 401, 200, 200, 200, 200]

    asyncio.run(use())
