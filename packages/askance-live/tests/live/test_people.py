"""People: invitations and login links that work once, roles, revocation, and what each of them did."""

import time
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from tests.patience import PATIENCE, wait_until

from askance_live.access import ROLES
from askance_live.access.names import looks_of
from askance_live.store import open_store


@pytest.fixture
def crew(make, store_apart):
    """A service with an admin's token."""
    service = make(store=store_apart)
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


ALIKE = [
    ("robot", "Robot"),
    ("robot", " ROBOT  "),
    ("ls prod", "LS  prod"),
    ("ls-prod", "ls\N{EN DASH}prod"),
    ("Ana", "\N{CYRILLIC CAPITAL LETTER A}n\N{CYRILLIC SMALL LETTER A}"),
    ("pace", "\N{CYRILLIC SMALL LETTER ER}\N{CYRILLIC SMALL LETTER A}\N{CYRILLIC SMALL LETTER ES}"
     "\N{CYRILLIC SMALL LETTER IE}"),
    ("BOT", "\N{CYRILLIC CAPITAL LETTER VE}\N{CYRILLIC CAPITAL LETTER O}\N{CYRILLIC CAPITAL LETTER TE}"),
    ("HK", "\N{GREEK CAPITAL LETTER ETA}\N{GREEK CAPITAL LETTER KAPPA}"),
    ("no", "\N{GREEK SMALL LETTER ETA}\N{GREEK SMALL LETTER OMICRON}"),
    ("\N{GREEK CAPITAL LETTER NU}\N{GREEK CAPITAL LETTER IOTA}\N{GREEK CAPITAL LETTER KAPPA}",
     "\N{GREEK SMALL LETTER NU}\N{GREEK SMALL LETTER IOTA}\N{GREEK SMALL LETTER KAPPA}"),
    ("No\N{LATIN SMALL LETTER E WITH DIAERESIS}l", "Noe\N{COMBINING DIAERESIS}l"),
    ("robot", "robo\N{VARIATION SELECTOR-16}t"),
    ("robot", "\N{FULLWIDTH LATIN SMALL LETTER R}obot"),
    ("lab", "Iab"),
    ("lab-01", "lab-Ol"),
    ("mail", "ma\N{LATIN SMALL LETTER DOTLESS I}l"),
]  # fmt: skip
ALIKE += [
    ("prod", "\N{LATIN LETTER SMALL CAPITAL P}\N{LATIN LETTER SMALL CAPITAL R}od"),
    ("ls-prod", "ls\N{KATAKANA-HIRAGANA PROLONGED SOUND MARK}prod"),
]
APART = [
    ("Ana", "Anna"),
    ("Jose", "Jos\N{LATIN SMALL LETTER E WITH ACUTE}"),
    ("Kai", "Kal"),
    ("ls-31", "ls31"),
    ("a b", "ab"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_names_that_look_alike_do(one, other):
    assert looks_of(one) & looks_of(other)


@pytest.mark.parametrize(("one", "other"), APART)
def test_names_that_look_different_do(one, other):
    assert not looks_of(one) & looks_of(other)


@pytest.mark.parametrize(
    "name",
    [
        "r\N{CYRILLIC SMALL LETTER O}bot",
        "\N{GREEK SMALL LETTER PI}bot",
        "Anna \N{LISU LETTER KHA}",
        "R2\N{LISU LETTER DA}2",
    ],
)
def test_a_word_of_two_scripts_is_no_name(crew, name):
    refused = crew.post("/v1/people", {"name": name, "role": "lead"}).json()
    assert (refused["code"], refused["field"]) == ("invalid", "name")
    assert "letters of one script" in refused["detail"]
    refused = crew.run("token", "create", name, check=False)
    assert (refused.returncode, "letters of one script" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    "name",
    [
        "\N{CYRILLIC CAPITAL LETTER O}\N{CYRILLIC SMALL LETTER EL} (QA)",
        "\u7530\u4e2dKen",
        "O'Neill-2",
        "\u0645\u06cc\u0646\u0627",
    ],
)
def test_names_of_every_script_are_names(crew, name):
    assert invite(crew, name)["person"]["name"] == name


def test_a_person_and_a_token_never_share_a_name_nor_one_that_looks_like_it(crew):
    crew.tokens(robot="label", **{"ls-prod": "label"})
    for name, taken in (("robot", "robot"), ("Robot ", "robot"), ("LS-prod", "ls-prod"), ("ROOT", "root")):
        refused = crew.post("/v1/people", {"name": name, "role": "lead"})
        assert (refused.status_code, refused.json()["code"]) == (409, "name_taken")
        assert f"{taken!r}, the name of a token" in refused.json()["detail"]
        assert refused.json()["field"] == "name"
        refused = crew.run("people", "invite", name, check=False)
        assert (refused.returncode, f"{taken!r}, the name of a token" in refused.stderr) == (2, True)
    person = invite(crew, "Ana")["person"]
    for name in ("Ana", "ana", "An\N{LATIN SMALL LETTER ALPHA}"):
        refused = crew.run("token", "create", name, check=False)
        assert (refused.returncode, "'Ana', the name of a person" in refused.stderr) == (2, True)
    for name in ("ana", person["id"]):
        assert crew.post("/v1/people", {"name": name, "role": "lead"}).json()["code"] == "name_taken"
    assert crew.run("token", "create", "Robot", check=False).returncode == 2
    assert crew.run("token", "create", "robot").returncode == 0  # another key of the same program
    for name in ("Local", "import", "Import", "c\N{GREEK SMALL LETTER OMICRON}nsensus"):
        assert crew.post("/v1/people", {"name": name, "role": "lead"}).json()["code"] == "invalid", name
        assert crew.run("token", "create", name, check=False).returncode == 2


def test_the_name_of_whoever_was_revoked_stays_theirs(crew):
    crew.tokens(robot="label")
    number = next(line.split()[0] for line in crew.run("token", "list").stdout.splitlines() if " robot " in line)
    crew.run("token", "revoke", number)
    invite(crew, "Ana")
    crew.post("/v1/people/Ana/revoke")
    for name, word in (("robot", f"token {number} (revoked)"), ("Ana", "restore")):
        assert word in crew.post("/v1/people", {"name": name, "role": "lead"}).json()["detail"]
    assert crew.run("token", "create", "Ana", check=False).returncode == 2


def test_of_many_who_ask_for_one_name_at_once_one_gets_it(crew):
    from concurrent.futures import ThreadPoolExecutor

    from askance_live.access.auth import create_token
    from askance_live.problems import Problem

    def as_token(name):
        database = open_store(crew.store)
        try:
            with database.write() as session:
                create_token(session, name, ["label"], time.time(), None)
        except Problem as problem:
            return problem.code
        finally:
            database.close()
        return "made"

    def as_person(name):
        response = crew.post("/v1/people", {"name": name, "role": "viewer"})
        return "made" if response.is_success else response.json()["code"]

    asked = [(as_token, "robot"), (as_person, "Robot"), (as_person, "ROBOT"), (as_person, "r0bot")] * 2
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda one: one[0](one[1]), asked))
    made = {kind.__name__ for (kind, _), outcome in zip(asked, found, strict=True) if outcome == "made"}
    assert len(made) == 1
    assert found.count("made") == (2 if made == {"as_token"} else 1)  # two tokens of one name are one program's
    assert set(found) == {"made", "name_taken"}


def test_of_two_who_share_a_name_in_an_earlier_store_the_younger_gets_another_at_the_start(make, store):
    service = make(store=store)
    secrets = service.tokens(robot="label read", Ana="label read", root="admin")
    service.log_in(secrets["root"])
    service.send("a", "b")
    with service.as_user(secrets["robot"]) as robot:
        robot.post("/v1/labels", json={"event": "a", "label": "ham", "label_id": "l-1"})
    key = key_of(invite(service, "Robby")["link"])
    service.stop()
    database = open_store(store)
    try:
        with database.write() as session:
            session.execute("UPDATE people SET name = 'robot' WHERE name = 'Robby'")  # as before they were compared
            session.execute("INSERT INTO people (id, name, role, created) VALUES ('p1', 'Ana', 'lead', 1.0)")
            session.execute("UPDATE tokens SET name = 'import' WHERE name = 'root'")
    finally:
        database.close()
    service.start()
    names = {person["id"]: person["name"] for person in service.get("/v1/people").json()["people"]}
    assert names.pop("p1") == "Ana"  # older than the token
    ((number, name),) = names.items()
    assert name == f"robot ({number})"
    tokens = [line.split("  ")[1].strip() for line in service.run("token", "list").stdout.splitlines()]
    assert tokens[0] == "robot"
    assert [token.partition(" (")[0] for token in tokens] == ["robot", "Ana", "import"]
    assert all(token.endswith(")") for token in tokens[1:])
    entries = [entry for entry in service.get("/v1/audit").json()["entries"] if entry["action"] == "name change"]
    assert {entry["detail"]["before"] for entry in entries} == {"robot", "Ana", "import"}
    with browse(service) as browser:
        assert browser.post("/enter", data={"key": key}).status_code == 303
        assert browser.get("/v1/me").json()["name"] == name
        assert browser.post("/v1/answers/l-1/undo").json()["code"] == "forbidden"
        assert browser.get("/v1/answers?mine=1").json()["answers"] == []
    with service.as_user(secrets["robot"]) as robot:
        assert robot.post("/v1/answers/l-1/undo").is_success
    service.stop()
    service.start()
    again = {person["id"]: person["name"] for person in service.get("/v1/people").json()["people"]}
    assert again == {**names, "p1": "Ana"}


def test_an_admin_cannot_lock_themselves_out(crew):
    made = invite(crew, "Boss", "admin")
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
        from askance_live.access.people import BY_ID, note_seen

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
