"""Several streams in one process: each with its own store, tokens and addresses."""

import re
import time
from pathlib import Path

import httpx
import pytest
from tests.live.running import Running

TWO = """\
title = {title!r}
classes = ["a", "b"]
store = "{store}"
[queue]
learn_after = 0
[server]
port = 0
disk_reserve = 0
"""


class Several(Running):
    """``askance serve`` with several files."""

    def __init__(self, folder, nursery, names=("spam", "fraud")):
        super().__init__(folder, nursery=nursery)
        self.files = [self.folder / f"{name}.toml" for name in names]

    def create(self):
        from askance.cli.init import create

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
    assert both.get("/readyz").json() == {"ready": True, "reasons": []}
    assert set(both.get("/version").json()) == {"version"}
    metrics = both.get("/metrics").text
    for name in ("spam", "fraud"):
        assert re.search(rf'^askance_events_total\{{stream="{name}"\}} \d', metrics, re.MULTILINE)
        assert f'askance_queue{{state="open",stream="{name}"}}' in metrics
    assert metrics.count("# TYPE askance_events_total counter") == 1
    assert both.get("/spam", follow_redirects=False).headers["location"] == "/spam/"
    assert both.get("/static/askance.css", follow_redirects=True).status_code == 200


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
        with httpx.Client(base_url=service.url) as browser:
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


def test_both_survive_a_crash_and_stop_in_good_order(tmp_path, nursery):
    service = Several(tmp_path, nursery).create().start()
    for name in ("spam", "fraud"):
        assert service.post(f"/{name}/v1/events", {"id": "e1", "fields": {"text": name}}).status_code == 201
    service.kill()
    service.start()
    for name in ("spam", "fraud"):
        assert service.get(f"/{name}/v1/events/e1").json()["fields"] == {"text": name}
    began = time.monotonic()
    assert service.stop() == 0
    assert time.monotonic() - began < 10


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
    assert child.wait(60) == 2
    assert sentence in err.read_text()
    assert err.read_text().count("\n") == 1
