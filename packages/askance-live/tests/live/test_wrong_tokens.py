"""Tokens that are not valid: limited by address, in both logs without the token, and never in the way of valid ones."""

import re
import time

import httpx
import pytest
from tests.patience import PATIENCE

from askance_live.access.keys import ADDRESSES_AT_ONCE, MOST_ADDRESSES, Failures
from askance_live.problems import Problem

pytestmark = pytest.mark.hostile


class Minutes:
    """A clock that tests move on."""

    now = 0.0

    def __call__(self):
        return self.now


def is_counted(failures, address):
    try:
        failures.count(address)
    except Problem:
        return False
    return True


def test_an_address_has_so_many_at_once_and_as_many_again_a_minute():
    clock = Minutes()
    failures = Failures(10, clock)
    assert [is_counted(failures, "192.0.2.1") for _ in range(12)] == [True] * 10 + [False] * 2
    assert is_counted(failures, "192.0.2.2")
    clock.now += 6.0
    assert [is_counted(failures, "192.0.2.1") for _ in range(2)] == [True, False]
    clock.now += 3600.0
    assert [is_counted(failures, "192.0.2.1") for _ in range(12)] == [True] * 10 + [False] * 2
    with pytest.raises(Problem, match="wait 6 seconds") as refused:
        failures.count("192.0.2.1")
    assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "6"})
    unlimited = Failures(0, clock)
    assert all(is_counted(unlimited, "192.0.2.1") for _ in range(100))


def test_what_was_refused_meanwhile_is_told_with_the_next_that_is_logged():
    clock = Minutes()
    failures = Failures(2, clock)
    assert [is_counted(failures, "192.0.2.1") for _ in range(5)] == [True] * 2 + [False] * 3
    assert [failures.count("192.0.2.2"), failures.count("192.0.2.2")] == [3, 0]


def test_neighbours_in_a_network_of_ipv6_count_as_one():
    failures = Failures(2, Minutes())
    counted = [is_counted(failures, f"2001:db8::{k}") for k in range(1, 4)]
    assert counted == [True, True, False]
    assert is_counted(failures, "2001:db8:0:1::1")


def test_many_addresses_are_limited_together_in_bounded_memory():
    clock = Minutes()
    failures = Failures(10, clock)
    counted = [is_counted(failures, f"10.0.{k // 250}.{k % 250}") for k in range(2 * MOST_ADDRESSES)]
    assert sum(counted) == 10 * ADDRESSES_AT_ONCE
    assert len(failures._buckets) <= MOST_ADDRESSES
    clock.now += 60.0
    assert is_counted(failures, "192.0.2.1")
    assert failures.unlogged == 0


def audit(client, *actions):
    return [entry for entry in client.get("/v1/audit").json()["entries"] if entry["action"] in actions]


def wait_for_audit(client, number, *actions):
    deadline = time.monotonic() + PATIENCE
    while len(found := audit(client, *actions)) < number:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


@pytest.fixture
def guarded(make):
    service = make()
    secrets = service.tokens(ana="label read", root="admin")
    service.stop()  # what it took until the tokens were known does not count
    service.config.write_text(service.text.replace("wrong_tokens_per_minute = 0", "wrong_tokens_per_minute = 2"))
    service.start()
    service.log_in(secrets["root"])
    return service, secrets


def test_wrong_logins_are_limited_and_logged_and_a_valid_token_comes_in(guarded):
    service, secrets = guarded
    with httpx.Client(base_url=service.url, timeout=PATIENCE) as browser:
        tried = [browser.post("/login", data={"token": f"guess-{k}"}) for k in range(3)]
        assert [response.status_code for response in tried] == [401, 401, 429]
        assert 1 <= int(tried[-1].headers["retry-after"]) <= 30
        assert "Too many wrong tokens" in tried[-1].text
        assert browser.post("/login", data={"token": secrets["ana"]}).status_code == 303
        assert browser.get("/v1/me").json()["name"] == "ana"
    entries = wait_for_audit(service.client, 2, "login failed")
    assert len(entries) == 2
    assert {entry["actor"] for entry in entries} == {"nobody"}
    assert entries[0]["detail"] == {"why": "unknown", "address": "127.0.0.1"}
    (entered,) = audit(service.client, "login")
    assert (entered["actor"], entered["detail"]["address"]) == ("ana", "127.0.0.1")
    log = (service.folder / "log.txt").read_text()
    assert len(re.findall("login failed: unknown, from 127.0.0.1", log)) == 2
    for text in (log, service.get("/v1/audit").text):
        assert "guess-" not in text


def test_wrong_bearer_tokens_count_alike_and_say_whose_they_were(guarded):
    service, secrets = guarded
    number = re.search(r"^(\w+)\s+ana ", service.run("token", "list").stdout, re.MULTILINE)[1]
    service.run("token", "revoke", number)
    with service.as_user(secrets["ana"]) as ana, service.as_user(secrets["root"]) as root:
        deadline = time.monotonic() + PATIENCE
        while (status := ana.get("/v1/me").status_code) == 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        tried = [status, *(ana.get("/v1/me").status_code for _ in range(2))]
        assert tried == [401, 401, 429]
        limited = ana.post("/v1/asks/next")
        assert (limited.json()["code"], "retry-after" in limited.headers) == ("rate_limited", True)
        assert root.get("/v1/me").status_code == 200  # from the same address
        found = wait_for_audit(root, 2, "token refused")[0]
        assert found["actor"] == "ana"
        assert found["detail"] == {"why": "revoked", "token": number, "address": "127.0.0.1"}
        # pages and health are there for everybody, whatever a client sends along
        assert [ana.get(path).status_code for path in ("/livez", "/login")] == [200, 200]


def test_login_and_logout_are_in_the_activity_log(guarded):
    service, secrets = guarded
    with httpx.Client(base_url=service.url, timeout=PATIENCE) as browser:
        browser.post("/login", data={"token": secrets["ana"]})
        browser.post("/logout")
        browser.post("/logout")  # nobody is logged in any more
    assert [entry["action"] for entry in audit(service.client, "login", "logout")] == ["logout", "login"]


def test_the_activity_log_can_be_read_to_its_beginning(guarded):
    service, _ = guarded
    for _ in range(4):
        service.post("/v1/model/pause")
        service.post("/v1/model/resume")
    everything = service.get("/v1/audit").json()
    assert everything["next"] is None
    pages, cursor = [], ""
    while cursor is not None:
        page = service.get(f"/v1/audit?limit=3&cursor={cursor}").json()
        pages += page["entries"]
        cursor = page["next"]
    assert pages == everything["entries"]
    assert service.get("/v1/audit?cursor=x").json()["code"] == "invalid"
