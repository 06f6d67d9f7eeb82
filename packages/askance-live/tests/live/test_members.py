"""Fronts, an owner and a standby: one service, whoever is asked."""

import signal

import httpx
import pytest
from tests.live.members import Member, Members
from tests.live.running import Running
from tests.patience import PATIENCE, wait_until

from askance_live import routes
from askance_live.http.routing import ROUTES


@pytest.fixture
def members(tmp_path, postgres, nursery):
    made = Members(tmp_path, postgres.new_database(), nursery)
    yield made
    made.stop()


def test_fronts_are_one_service(members):
    members.start("owner")
    members.wait_for_owner()
    here, there = members.start("front"), members.start("front")
    first = here.send("a", "b", "c")
    assert [item["seq"] for item in first] == [2, 3, 4]
    again = there.send("a", "b", "c")
    assert [item["duplicate"] for item in again] == [True] * 3
    assert {**again[0], "duplicate": False, "status": 201} == first[0]
    wrong = there.post("/v1/events", {"id": "a", "fields": {"text": "other"}})
    assert (wrong.status_code, wrong.json()["code"]) == (409, "id_reused")
    assert here.post("/v1/events", {"id": 3}).status_code == there.post("/v1/labels", {"event": 1}).status_code == 422
    (ask,) = here.next()
    assert there.next() == [ask] or there.next()[0]["id"] == ask["id"], "the same person has the same question"
    answered = there.answer(ask, "spam").json()
    assert here.answer(ask, "spam").json() == answered
    here.wait_until_idle()
    assert there.stats()["model"]["learned"] == 1
    assert there.get(f"/v1/events/{answered['event']}").json()["answers"][0]["state"] == "learned"
    assert len(here.get("/v1/answers").json()["answers"]) == 1
    assert here.get("/v1/export.jsonl").text.count("\n") == 3
    assert here.get("/readyz").json()["ready"] is True
    assert "askance_owner_connected 1.0" in here.get("/metrics").text
    for path in ("/", "/label", "/v1/me", "/v1/stats/series", "/v1/quarantine", "/v1/audit", "/openapi.json"):
        assert here.get(path).status_code == 200, path
    assert here.post("/v1/predict", {"fields": {"text": "x"}}).json()["model"] == 1
    assert here.post("/v1/model/pause").json()["paused"] is True


def test_a_session_of_one_front_is_one_of_the_others(members):
    secret = members.made.tokens(ana="label read admin")["ana"]
    members.start("owner")
    here, there = members.start("front"), members.start("front")
    browser = httpx.Client()
    assert browser.post(f"{here.url}/login", data={"token": secret}).status_code == 303
    for front in (there, here):
        assert browser.get(f"{front.url}/v1/me").json()["name"] == "ana"
    assert browser.post(f"{there.url}/logout", headers={"Origin": there.url}).status_code == 303
    wait_until(lambda: httpx.get(f"{here.url}/v1/me", cookies=browser.cookies).status_code == 401)
    actions = [entry["action"] for entry in here.get("/v1/audit", headers={"authorization": f"Bearer {secret}"})
               .json()["entries"]]  # fmt: skip
    assert actions[:2] == ["logout", "login"]


def test_people_and_the_review_are_the_same_at_every_front(members):
    secret = members.made.tokens(root="label read admin")["root"]
    members.start("owner")
    members.wait_for_owner()
    here, there = members.start("front"), members.start("front")
    for front in (here, there):
        front.log_in(secret)
    made = here.post("/v1/people", {"name": "Ana", "role": "lead"}).json()
    path = f"/v1/people/{made['person']['id']}"
    assert made["link"].startswith(here.url)  # by where it was asked for
    with httpx.Client(base_url=there.url, timeout=PATIENCE) as ana:
        entrance = made["link"].removeprefix(here.url)
        assert ana.get(entrance).status_code == 200
        assert ana.post("/enter", data={"key": entrance.partition("key=")[2]}).status_code == 303
        assert httpx.get(made["link"]).status_code == 410  # once, wherever
        here.send("a", "b")
        assert [page.status_code for page in (ana.get("/review"), ana.get("/people"))] == [200, 403]
        assert {event["id"] for event in ana.get("/v1/review").json()["events"]} == {"a", "b"}
        ana.post("/v1/review/note", json={"event": "a", "text": "ask the sender"})
        correction = {"events": ["a"], "label": "spam", "reason": "it sells"}
        assert ana.post("/v1/review/correct", json=correction).json()["done"] == 1
        (found,) = here.get("/v1/review?label=spam&person=Ana").json()["events"]
        assert [found["id"], found["by"], found["notes"][0]["text"]] == ["a", "Ana", "ask the sender"]
        assert here.post(f"{path}/role", {"role": "admin"}).json()["role"] == "admin"
        wait_until(lambda: ana.get("/people").status_code == 200, "another role at the other front")
        assert [person["name"] for person in ana.get("/v1/people").json()["people"]] == ["Ana"]
        assert here.post(f"{path}/revoke").json()["active"] is False
        wait_until(lambda: ana.get("/v1/review").status_code == 401, "the end of a session at the other front")
    assert there.get(path).json()["person"]["logins"] == 1
    assert httpx.get(f"{here.url}/people").status_code == 303


def test_a_front_without_an_owner_waits_and_then_says_so(members):
    front = members.start("front")
    assert front.get("/livez").status_code == 200
    assert front.get("/readyz").json()["reasons"] == ["no process owns the model now"]
    refused = front.post("/v1/events", {"fields": {"text": "x"}})
    assert (refused.status_code, refused.json()["code"]) == (503, "no_owner")
    assert refused.headers["retry-after"]
    members.start("owner")
    assert front.post("/v1/events", {"fields": {"text": "x"}}).status_code == 201


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP])
def test_a_standby_takes_over(members, end):
    first = members.start("owner")
    members.wait_for_owner()
    front, second = members.start("front"), members.start("owner")
    front.send("a")
    assert members.owner() is first
    assert second.get("/readyz").json()["ready"] is True
    first.process.kill(end)
    try:
        assert front.send("a", "b")[0]["duplicate"] is True
        members.wait_for_owner(after=1)
        assert front.send("b")[0]["duplicate"] is True
        assert members.epoch() == 2
        assert members.owner() is second
    finally:
        first.process.kill(signal.SIGCONT)
    if end == signal.SIGSTOP:  # it comes back, and finds that it is the owner no more
        log = first.folder / "log.txt"
        wait_until(lambda: "another process owns the model" in log.read_text(), "an owner that steps back")
        assert front.send("b", "c")[0]["duplicate"] is True
        second.stop()
        assert front.send("c", "d")[0]["duplicate"] is True
        assert members.owner() is first


def test_streams_are_spread_over_owners(tmp_path, postgres, nursery):
    """Each process takes the stream that it names first, and the other's once that is gone."""
    made = []
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        one = Running(tmp_path / name, store=postgres.new_database(), nursery=nursery)
        one.config = tmp_path / name / f"{name}.toml"
        made.append(one.create())
    x, y = (str(one.config) for one in made)
    owners = [Several(made[0], "owner", tmp_path / f"owner-{k}", files) for k, files in enumerate([(x, y), (y, x)])]
    for owner in owners:
        owner.start()
    front = Several(made[0], "front", tmp_path / "front", (x, y)).start()
    try:
        for name in ("x", "y"):
            wait_until(lambda name=name: front.get(f"/{name}/readyz").status_code == 200)
            assert front.post(f"/{name}/v1/events", {"id": "a", "fields": {"text": "x"}}).status_code == 201
        assert [owner.get(f"/{name}/livez").status_code for owner in owners for name in ("x", "y")] == [
            200, 404, 404, 200,
        ]  # fmt: skip
        owners[0].kill()
        assert front.post("/x/v1/events", {"id": "a", "fields": {"text": "x"}}).json()["duplicate"] is True
        assert owners[1].get("/x/livez").status_code == 200
    finally:
        front.stop()
        owners[1].stop()


class Several(Member):
    """A process of several streams."""

    def __init__(self, made, role, folder, files):
        super().__init__(made, role, folder)
        self.files = files

    def serve_words(self):
        return ["serve", *self.files, "--role", self.role]


def test_pages_are_answered_by_the_process_that_is_asked():
    """Cookies, redirects and addresses go by where somebody came in, which an owner does not know."""
    routes.load()
    assert [route.path for route in ROUTES if route.is_page and not route.stateless] == []


def test_sqlite_has_one_process(tmp_path, nursery):
    made = Running(tmp_path, nursery=nursery).create()
    done = made.run("serve", "--role", "front", check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "is a SQLite file, which one process serves; leave --role out" in done.stderr
    done = made.run("serve", "--role", "owner", "--private", "0.0.0.0", check=False)
    assert done.returncode == 2
    assert "no address that a front could call" in done.stderr
