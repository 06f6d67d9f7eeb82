"""People: invitations and login links that work once, roles, revocation, and what each of them did."""

import time
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from tests.patience import PATIENCE, wait_until

from askance.live.access.roles import ROLES
from askance.live.store import open_store


@pytest.fixture
def crew(make, store):
    """A service with an admin's token."""
    service = make(store=store)
    service.log_in(service.tokens(root="admin")["root"])
    return service


def key_of(link):
    return parse_qs(urlsplit(link).query)["key"][0]


def browse(service):
    return httpx.Client(base_url=service.url, timeout=PATIENCE)


@contextmanager
def enter(service, link):
    """A browser in which somebody followed a link and pressed the button."""
    with browse(service) as browser:
        assert browser.get(link).status_code == 200
        assert browser.post("/enter", data={"key": key_of(link)}).status_code == 303
        yield browser


def invite(service, name="Ana", role="annotator", **more):
    response = service.post("/v1/people", {"name": name, "role": role, **more})
    assert response.status_code == 200, response.text
    return response.json()


def test_an_invitation_lets_one_person_in_once_and_looking_at_it_does_not_use_it_up(crew):
    made = invite(crew, email="ana@example.org")
    assert made["kind"] == "invitation"
    for _ in range(3):  # a program that looks at links in messages
        with browse(crew) as passing:
            page = passing.get(made["link"])
            assert page.status_code == 200
            assert "Welcome" in page.text
            assert "set-cookie" not in page.headers
    with enter(crew, made["link"]) as ana:
        me = ana.get("/v1/me").json()
        assert (me["name"], me["scopes"]) == ("Ana", ["label", "read"])
        assert ana.get("/people", headers={"accept": "text/html"}).status_code == 403
    with browse(crew) as second:
        assert second.get(made["link"]).status_code == 410
        refused = second.post("/enter", data={"key": key_of(made["link"])})
        assert refused.status_code == 410
        assert "was used" in refused.text
        assert second.get("/v1/me").status_code == 401


def test_a_link_is_used_once_by_however_many_try_at_the_same_time(crew):
    from concurrent.futures import ThreadPoolExecutor

    key = key_of(invite(crew)["link"])

    def attempt(_):
        with browse(crew) as browser:
            return browser.post("/enter", data={"key": key}).status_code

    with ThreadPoolExecutor(12) as pool:
        statuses = sorted(pool.map(attempt, range(12)))
    assert statuses == [303] + [410] * 11


@pytest.mark.parametrize("role", ROLES)
def test_a_role_opens_what_its_scopes_open(crew, role):
    with enter(crew, invite(crew, role=role)["link"]) as browser:
        scopes = browser.get("/v1/me").json()["scopes"]
        assert set(ROLES[role]) <= set(scopes)
        assert browser.get("/v1/stats").status_code == 200
        assert browser.post("/v1/asks/next").status_code == (403 if role == "viewer" else 204)
        assert browser.get("/v1/people").status_code == (200 if role == "admin" else 403)
        assert ("review" in scopes) == (role in ("lead", "admin"))


def test_another_role_and_the_end_of_it_hold_from_the_next_request_on(crew):
    made = invite(crew)
    path = f"/v1/people/{made['person']['id']}"
    with enter(crew, made["link"]) as ana:
        assert ana.get("/v1/people").status_code == 403
        assert crew.post(f"{path}/role", {"role": "admin"}).json()["role"] == "admin"
        assert ana.get("/v1/people").status_code == 200
        assert crew.post(f"{path}/role", {"role": "viewer"}).json()["role"] == "viewer"
        assert ana.post("/v1/asks/next").status_code == 403
        with ana.stream("GET", "/v1/live") as watching:
            lines = watching.iter_lines()
            assert next(lines) == "retry: 2000"
            link = crew.post(f"{path}/link").json()["link"]
            assert crew.post(f"{path}/revoke").json()["active"] is False
            assert ana.get("/v1/me").status_code == 401
            assert "event: bye" in lines  # what was open already ends too
        with browse(crew) as later:
            assert later.post("/enter", data={"key": key_of(link)}).status_code == 410
        assert crew.post(f"{path}/link").json()["code"] == "person_revoked"
        assert crew.post(f"{path}/restore").json()["active"] is True
        assert ana.get("/v1/me").status_code == 401  # the old session is over for good
    with enter(crew, crew.post(f"{path}/link").json()["link"]) as again:
        assert again.get("/v1/me").json()["name"] == "Ana"


def test_a_newer_link_replaces_the_one_before_and_links_end(make):
    service = make(clock=0.0)
    service.log_in(service.tokens(root="admin")["root"])
    first = invite(service)
    path = f"/v1/people/{first['person']['id']}"
    second = service.post(f"{path}/link").json()
    assert second["kind"] == "invitation"
    with browse(service) as browser:
        assert browser.get(first["link"]).status_code == 410
    with enter(service, second["link"]):
        pass
    third = service.post(f"{path}/link").json()
    assert third["kind"] == "login"
    service.set_clock(16 * 60)
    with browse(service) as browser:
        wait_until(lambda: browser.get(third["link"]).status_code == 410, "the end of a link")
        assert "has ended" in browser.get(third["link"]).text


def test_links_are_stored_hashed_and_are_in_no_log(make):
    service = make(log={"level": "info", "requests": True})
    service.log_in(service.tokens(root="admin")["root"])
    made = invite(service)
    key = key_of(made["link"])
    with enter(service, made["link"]) as browser:
        session = browser.cookies["askance_session"]
    service.stop()
    content = b"".join(path.read_bytes() for path in service.folder.glob("askance.db*"))
    written = (service.folder / "log.txt").read_text()
    for secret in (key, session):
        assert secret.encode() not in content
        assert secret not in written
    assert "/enter" in written


def test_people_are_listed_with_what_they_did(crew):
    made = invite(crew, email="ana@example.org")
    crew.send("a", "b")
    with enter(crew, made["link"]) as ana:
        (ask,) = ana.post("/v1/asks/next").json()["asks"]
        body = {"answer_id": "x", "token": ask["token"], "label": "spam"}
        assert ana.post(f"/v1/asks/{ask['id']}/answer", json=body).status_code == 200
        assert ana.post("/v1/answers/x/undo").status_code == 200
        body = {"answer_id": "y", "token": ana.post("/v1/asks/next").json()["asks"][0]["token"], "label": "ham"}
        assert ana.post(f"/v1/asks/{ask['id']}/answer", json=body).status_code == 200
        (person,) = crew.get("/v1/people").json()["people"]
        assert (person["name"], person["email"], person["role"]) == ("Ana", "ana@example.org", "annotator")
        assert (person["labels"], person["logins"], person["active"]) == (1, 1, True)
        assert person["last_seen"] >= person["created"]
        ana.post("/logout")
    found = crew.get(f"/v1/people/{person['id']}").json()
    assert [entry["action"] for entry in found["entries"]] == ["logout", "answer undo", "login"]
    everything = [entry["action"] for entry in crew.get("/v1/audit").json()["entries"]]
    about = [action for action in everything if action.startswith(("link", "person"))]
    assert about == ["link invitation", "person add"]


def test_who_cannot_be_invited_and_what_cannot_be_done(crew):
    invite(crew, "Ana", email="Ana@example.org")
    for body, code in (
        ({"name": "Ana", "role": "lead"}, "name_taken"),
        ({"name": "Ben", "role": "lead", "email": "ana@EXAMPLE.org"}, "name_taken"),
        ({"name": "local", "role": "lead"}, "invalid"),
        ({"name": " ", "role": "lead"}, "invalid"),
        ({"name": "a\u202eb", "role": "lead"}, "invalid"),
        ({"name": "x" * 65, "role": "lead"}, "invalid"),
        ({"name": "Ben", "role": "king"}, "invalid"),
        ({"name": "Ben", "role": "lead", "email": "nobody"}, "invalid"),
    ):
        assert crew.post("/v1/people", body).json()["code"] == code, body
    assert crew.post("/v1/people/nobody/revoke").json()["code"] == "unknown_person"
    assert [person["name"] for person in crew.get("/v1/people").json()["people"]] == ["Ana"]


def test_an_admin_cannot_lock_themselves_out(crew):
    made = invite(crew, "Root", "admin")
    with enter(crew, made["link"]) as root:
        for action, body in (("role", {"role": "viewer"}), ("revoke", {})):
            refused = root.post(f"/v1/people/{made['person']['id']}/{action}", json=body)
            assert refused.json()["code"] == "own_person"
        assert root.get("/v1/people").status_code == 200


def test_where_nobody_needed_a_login_the_first_person_is_an_admin(make):
    service = make()
    refused = service.post("/v1/people", {"name": "Ana", "role": "annotator"})
    assert (refused.status_code, refused.json()["field"]) == (422, "role")
    made = invite(service, "Ana", "admin")
    assert service.get("/v1/people").status_code == 401
    with enter(service, made["link"]) as ana:
        assert ana.get("/v1/people").status_code == 200


def test_who_was_here_is_noted_even_without_a_login(crew):
    person = invite(crew)["person"]
    database = open_store(crew.store)
    try:
        from askance.live.access.people import BY_ID, note_seen

        now = time.time()
        with database.write() as session:
            note_seen(session, {person["id"]: now})
            assert BY_ID.one(session, (person["id"],)).seen == now
    finally:
        database.close()


def test_made_up_links_count_like_wrong_tokens(make):
    service = make(server={"wrong_tokens_per_minute": 3})
    invite(service, "Root", "admin")
    with browse(service) as guesser:
        statuses = [guesser.get("/enter", params={"key": f"guess-{k}"}).status_code for k in range(5)]
    assert statuses == [410] * 3 + [429] * 2


def test_the_command_line_invites_lists_and_revokes(make):
    service = make()
    link = service.run("people", "invite", "Ana", "--role", "lead", "--email", "ana@example.org").stdout.strip()
    link = service.url + link[link.index("/enter") :]
    wait_until(lambda: service.get("/v1/me").status_code == 401, "a service that knows of people")
    with enter(service, link) as ana:
        assert ana.get("/v1/me").json()["scopes"] == ["label", "review", "read"]
        service.run("people", "role", "Ana", "--role", "admin")
        wait_until(lambda: ana.get("/v1/people").status_code == 200, "another role")
        assert "admin" in service.run("people", "list").stdout
        service.run("people", "revoke", "Ana")
        wait_until(lambda: ana.get("/v1/me").status_code == 401, "the end of a session")
    assert "revoked" in service.run("people", "list").stdout
    for words, sentence in (
        (("invite",), "needs a name"),
        (("role", "Ana"), "needs the role"),
        (("role", "Ana", "--role", "king"), "a role is one of"),
        (("revoke", "Ben"), "there is no person 'Ben'"),
        (("link", "Ana"), "restore them first"),
    ):
        refused = service.run("people", *words, check=False)
        assert refused.returncode == 2
        assert sentence in refused.stderr
    service.run("people", "restore", "Ana")
    there = service.run("people", "link", "Ana", "--address", "https://labels.example.org/spam/").stdout
    assert there.startswith("https://labels.example.org/spam/enter?key=")
