"""Several streams in one process: each with its own store, tokens and addresses."""

import re
import socket
from pathlib import Path

import httpx
import pytest
from tests.live.running import Running
from tests.patience import PATIENCE

TWO = """\
title = {title!r}
classes = ["a", "b"]
store = "{store}"
[queue]
learn_after = 0
[server]
port = 0
disk_reserve = 0
wrong_tokens_per_minute = 0
"""


class Several(Running):
    """``askance serve`` with several files."""

    def __init__(self, folder, nursery, names=("spam", "fraud")):
        super().__init__(folder, nursery=nursery)
        self.files = [self.folder / f"{name}.toml" for name in names]

    def create(self):
        from askance_live.cli.init import create

        for path in self.files:
            create(path, TWO.format(title=f"The {path.stem} stream", store=f"{path.stem}.db").replace("'", '"'))
        return self

    def serve_words(self):
        return ["serve", *map(str, self.files)]


@pytest.fixture(scope="module")
def both(tmp_path_factory, nursery):
    service = Several(tmp_path_factory.mktemp("streams"), nursery).create().start()
    yield service
    service.stop()


def test_each_stream_has_its_own_events_and_answers(both):
    event = {"id": "e1", "fields": {"text": "hello"}}
    assert both.post("/spam/v1/events", event).status_code == 201
    assert both.post("/fraud/v1/events", event).json()["duplicate"] is False
    assert both.post("/spam/v1/labels", {"event": "e1", "label": "a"}).status_code == 200
    assert len(both.get("/spam/v1/events/e1").json()["answers"]) == 1
    assert both.get("/fraud/v1/events/e1").json()["answers"] == []
    stores = {both.get(f"/{name}/v1/me").json()["store"] for name in ("spam", "fraud")}
    assert len(stores) == 2


def test_the_root_is_about_all_of_them(both):
    page = both.get("/")
    assert page.status_code == 200
    assert "The spam stream" in page.text
    assert 'href="/fraud/label"' in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert both.get("/livez").json() == {"alive": True}
    assert both.get("/readyz").json() == {"ready": True, "reasons": [], "warnings": []}
    assert set(both.get("/version").json()) == {"version"}
    metrics = both.get("/metrics").text
    for name in ("spam", "fraud"):
        assert re.search(rf'^askance_events_total\{{stream="{name}"\}} \d', metrics, re.MULTILINE)
        assert f'askance_queue{{state="open",stream="{name}"}}' in metrics
    assert metrics.count("# TYPE askance_events_total counter") == 1
    assert both.get("/spam", follow_redirects=False).headers["location"] == "/spam/"
    assert both.get("/static/askance.css", follow_redirects=True).status_code == 200


@pytest.mark.parametrize("path", ["/", "/livez", "/readyz", "/version", "/metrics", "/spam", "/nowhere", "/spam/livez"])
def test_without_tokens_the_root_is_for_this_machine_only_too(both, path):
    for more in ({}, {"authorization": "Bearer made-up"}):
        forwarded = both.get(path, headers={"x-forwarded-for": "10.1.2.3", **more})
        assert (forwarded.status_code, forwarded.json()["code"]) == (403, "proxied")
        foreign = both.get(path, headers={"host": "labels.example.org", **more})
        assert (foreign.status_code, foreign.json()["code"]) == (421, "wrong_host")


def test_each_stream_says_where_its_interface_begins(both):
    for name in ("spam", "fraud"):
        assert both.get(f"/{name}/openapi.json").json()["servers"] == [{"url": f"/{name}"}]


def test_what_is_nowhere_is_a_sentence(both):
    assert both.get("/v1/stats").status_code == 404
    assert both.post("/v1/events", {"fields": {}}).json()["code"] == "not_found"
    assert both.get("/eggs/v1/stats").json()["code"] == "not_found"


def test_tokens_and_sessions_of_one_stream_are_worth_nothing_in_another(tmp_path, nursery):
    service = Several(tmp_path, nursery).create().start()
    try:
        secrets = {}
        for name in ("spam", "fraud"):
            service.store, service.me = str(service.folder / f"{name}.db"), f"/{name}/v1/me"
            secrets[name] = service.tokens(ana="label")["ana"]
        headers = {"authorization": f"Bearer {secrets['spam']}"}
        assert service.get("/spam/v1/me", headers=headers).status_code == 200
        assert service.get("/fraud/v1/me", headers=headers).status_code == 401
        with httpx.Client(base_url=service.url, timeout=PATIENCE) as browser:
            sent_to = browser.get("/spam/label")
            assert (sent_to.status_code, sent_to.headers["location"]) == (303, "/spam/login?next=/spam/label")
            logged_in = browser.post("/spam/login", data={"token": secrets["spam"], "next": "/spam/label"})
            assert logged_in.headers["location"] == "/spam/label"
            assert "path=/spam" in logged_in.headers["set-cookie"].lower()
            assert browser.get("/spam/label").status_code == 200
            assert browser.get("/fraud/label").status_code == 303
            # a label-only token has no dashboard; nobody is sent to another site or another stream
            assert browser.get("/spam/").headers["location"] == "/spam/label"
            away = browser.post("/spam/login", data={"token": secrets["spam"], "next": "/fraud/label"})
            assert away.headers["location"] == "/spam/"
            assert browser.post("/spam/logout").headers["location"] == "/spam/login"
    finally:
        service.stop()


def test_the_first_file_says_how_the_world_reaches_all_of_them(tmp_path, nursery):
    service = Several(tmp_path, nursery).create()
    with service.files[0].open("a") as file:
        file.write('public_url = "https://labels.example.org"\n')
    secrets = {}
    for name in ("spam", "fraud"):
        service.store = str(service.folder / f"{name}.db")
        secrets[name] = service.tokens(ana="label")["ana"]
    service.start()
    try:
        headers = {"origin": "https://labels.example.org"}
        with httpx.Client(base_url=service.url, headers=headers, timeout=PATIENCE) as browser:
            for name, secret in secrets.items():
                cookie = browser.post(f"/{name}/login", data={"token": secret}).headers["set-cookie"]
                assert cookie.startswith("__Secure-askance_session=")
                assert f"Path=/{name}" in cookie
                assert "Secure" in cookie.split("; ")
                sent = {"cookie": cookie.partition(";")[0]}
                assert browser.get(f"/{name}/v1/me", headers=sent).json()["name"] == "ana"
    finally:
        service.stop()


def test_both_survive_a_crash_and_stop_in_good_order(tmp_path, nursery):
    service = Several(tmp_path, nursery).create().start()
    for name in ("spam", "fraud"):
        assert service.post(f"/{name}/v1/events", {"id": "e1", "fields": {"text": name}}).status_code == 201
    service.kill()
    service.start()
    for name in ("spam", "fraud"):
        assert service.get(f"/{name}/v1/events/e1").json()["fields"] == {"text": name}
    assert service.stop() == 0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("fraud.toml", "fraud.db", "spam.db"), "two streams name the store"),
        (("fraud.toml", "title", 'name = "spam"\ntitle'), "two streams are called 'spam'"),
        (("fraud.toml", "title", 'name = "v1"\ntitle'), "'v1' cannot name a stream"),
        (("fraud.toml", "title", 'name = "a/b"\ntitle'), "'a/b' cannot name a stream"),
    ],
)
def test_streams_that_cannot_live_side_by_side_are_refused(tmp_path, nursery, change, sentence):
    service = Several(tmp_path, nursery).create()
    file, old, new = change
    path = Path(tmp_path) / file
    path.write_text(path.read_text().replace(old, new, 1))
    out, err = tmp_path / "out", tmp_path / "err"
    child = nursery.start(service.serve_words(), tmp_path, out, err)
    assert child.wait() == 2
    assert sentence in err.read_text()
    assert err.read_text().count("\n") == 1


def test_a_request_without_a_path_is_not_found(both):
    for line in (b"OPTIONS *", b"GET http://localhost", b"GET /%00", b"GET /spam%00/x", b"GET /spam/static/%00"):
        with socket.create_connection(("127.0.0.1", both.port)) as one:
            one.sendall(line + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert one.recv(100)[9:12] < b"500", line
    assert "Traceback" not in (both.folder / "log.txt").read_text()
