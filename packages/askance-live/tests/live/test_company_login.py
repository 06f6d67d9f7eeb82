"""Login by a company: the real dance with a provider that signs, and everything it must not be fooled by."""

import asyncio
import base64
import json
import re
import threading
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from tests.patience import PATIENCE, wait_until

pytest.importorskip("jwt", reason="PyJWT is not installed: pip install './packages/askance-live[oidc]'")

import jwt
from tests.live.asgi import Call, new_service, wait_for
from tests.live.fronts import free_port
from tests.live.provider import CLIENT, SECRET, providing

from askance.errors import InvalidParameter
from askance_live.access import oidc
from askance_live.access.company import read_oidc
from askance_live.problems import Problem
from askance_live.service import MOST_LOGINS

LOGIN = {"label": "Log in with <b>ACME</b>", "client_id": CLIENT, "roles": {"lead": ["reviewers"], "admin": ["ops"]}}


@pytest.fixture(scope="module")
def company(make_for_all, tmp_path_factory):
    """A provider, and a service that sends people there."""
    file = tmp_path_factory.mktemp("company") / "secret"
    file.write_text(f"{SECRET}\n")
    file.chmod(0o600)
    with providing() as provider:
        service = make_for_all(oidc={**LOGIN, "issuer": provider.issuer, "client_secret_file": str(file)})
        service.provider = provider
        yield service


@pytest.fixture(autouse=True)
def as_it_was(company):
    """Every test has the provider as it is by itself."""
    provider = company.provider
    before = dict(vars(provider))
    yield
    vars(provider).update(before)


def browse(service):
    return httpx.Client(base_url=service.url, timeout=PATIENCE)


def come_back(service, browser, path="/login/oidc?next=/label"):
    """Go there, and follow the provider back; the answer to that."""
    there = browser.get(path)
    assert there.status_code == 303, there.text
    back = httpx.get(there.headers["location"], timeout=PATIENCE)
    return browser.get(back.headers["location"])


@contextmanager
def logged_in(service):
    with browse(service) as browser:
        done = come_back(service, browser)
        assert (done.status_code, done.headers["location"]) == (303, "/label"), done.text
        yield browser


def test_somebody_comes_back_with_a_role_of_their_group(company):
    with logged_in(company) as ana:
        me = ana.get("/v1/me").json()
        assert (me["name"], me["scopes"]) == ("ana@example.org", ["label", "review", "read"])
        assert [cookie.name for cookie in ana.cookies.jar] == ["askance_session"]
        assert ana.get("/label").status_code == 200
        company.provider.claims = {**company.provider.claims, "groups": ["ops", "reviewers"]}
        with logged_in(company) as again:  # the strongest of their groups, for both sessions
            (person,) = again.get("/v1/people").json()["people"]
            assert (person["role"], person["logins"]) == ("admin", 2)
            assert ana.get("/v1/people").status_code == 200
        company.provider.claims = {**company.provider.claims, "groups": ["reviewers"]}
        with logged_in(company):
            assert ana.get("/v1/people").status_code == 403


def test_the_login_page_leads_there_and_shows_the_name_as_text(company):
    with browse(company) as browser:
        page = browser.get("/login?next=/label").text
    assert 'href="/login/oidc?next=/label"' in page
    assert "Log in with &lt;b&gt;ACME&lt;/b&gt;" in page


def test_a_login_that_would_come_back_elsewhere_does_not_begin(company):
    with browse(company) as browser:
        refused = browser.get("/login/oidc", headers={"host": "evil.example"})
        assert (refused.status_code, refused.json()["code"]) == (421, "wrong_host")


def test_without_tokens_and_people_nobody_gets_in_but_by_the_company(company):
    with browse(company) as browser:
        assert browser.get("/v1/stats").status_code == 401


def test_a_new_key_of_the_provider_is_taken_up(company, monkeypatch):
    with logged_in(company):
        pass
    company.provider.add_curve_key()
    with browse(company) as browser:
        wait_until(lambda: come_back(company, browser).status_code == 303, "the key")  # looked for every ten seconds


def resign(provider, token, **changes):
    """The token with other claims, signed by a key of somebody else's under the name of the provider's."""
    from cryptography.hazmat.primitives.asymmetric import rsa

    claims = jwt.decode(token, options={"verify_signature": False})
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return jwt.encode({**claims, **changes}, stranger, "RS256", headers={"kid": provider.number})


def unsigned(token):
    head = base64.urlsafe_b64encode(json.dumps({"alg": "none", "typ": "JWT", "kid": "first"}).encode()).decode()
    return f"{head.rstrip('=')}.{token.split('.')[1]}."


def symmetric(provider, token):
    """Signed with the public key as if it were a shared secret."""
    import hashlib
    import hmac

    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    public = provider.keys["first"][0].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": "first"}).encode()).decode().rstrip("=")
    content = f"{head}.{token.split('.')[1]}"
    mark = base64.urlsafe_b64encode(hmac.digest(public, content.encode(), hashlib.sha256)).decode().rstrip("=")
    return f"{content}.{mark}"


CLAIMS = {
    "another audience": lambda claims: {**claims, "aud": "another"},
    "for several, and another's": lambda claims: {**claims, "aud": [CLIENT, "b"], "azp": "b"},
    "for several, and nobody's": lambda claims: {**claims, "aud": [CLIENT, "b"]},
    "another issuer": lambda claims: {**claims, "iss": "https://evil.example"},
    "expired": lambda claims: {**claims, "iat": claims["iat"] - 900, "exp": claims["iat"] - 600},
    "of tomorrow": lambda claims: {**claims, "iat": claims["iat"] + 86400, "exp": claims["iat"] + 90000},
    "without an end": lambda claims: {name: value for name, value in claims.items() if name != "exp"},
    "of another login": lambda claims: {**claims, "nonce": "another"},
    "without a nonce": lambda claims: {name: value for name, value in claims.items() if name != "nonce"},
    "of no group": lambda claims: {**claims, "groups": ["guests"]},
    "groups that are no list": lambda claims: {**claims, "groups": {"reviewers": 1}},
}
TOKENS = {
    "by a stranger's key": lambda provider, token: resign(provider, token),
    "unsigned": lambda provider, token: unsigned(token),
    "by the public key as a secret": symmetric,
    "cut": lambda provider, token: token[:-4],
    "changed": lambda provider, token: ".".join([token.split(".")[0], "e30", token.split(".")[2]]),
    "none at all": lambda provider, token: "",
    "no token": lambda provider, token: "\N{SNOWMAN}.x.y",
}


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_that_do_not_count_let_nobody_in(company, name):
    company.provider.spoil_claims = CLAIMS[name]
    with browse(company) as browser:
        refused = come_back(company, browser)
        assert refused.status_code == 403, (name, refused.text)
        assert browser.get("/v1/me").status_code == 401


@pytest.mark.parametrize("name", TOKENS)
def test_tokens_that_do_not_count_let_nobody_in(company, name):
    company.provider.spoil_token = lambda token: TOKENS[name](company.provider, token)
    with browse(company) as browser:
        refused = come_back(company, browser)
        assert refused.status_code == 403, (name, refused.text)
        assert browser.get("/v1/me").status_code == 401


def test_a_login_that_began_elsewhere_or_comes_back_twice_counts_for_nothing(company):
    with browse(company) as ana, browse(company) as victim:
        there = ana.get("/login/oidc")
        back = httpx.get(there.headers["location"], timeout=PATIENCE).headers["location"]
        assert victim.get(back).status_code == 403  # somebody else's link
        victim.get("/login/oidc")
        assert victim.get(back).status_code == 403  # nor with an attempt of one's own
        for cookie in ("", "x", "W10", base64.urlsafe_b64encode(b"[1,2,3,4]").decode()):
            assert victim.get(back, cookies={"askance_login": cookie}).status_code == 403
        assert ana.get(back).status_code == 303
        assert ana.get(back).status_code == 403  # the cookie is gone, and so is the code
        state = parse_qs(urlsplit(ana.get("/login/oidc").headers["location"]).query)["state"][0]
        refused = ana.get("/login/oidc/callback", params={"state": state, "error": "access_denied<script>"})
        assert refused.status_code == 403
        for target in ("//evil.example", "https://evil.example", "javascript:alert(1)"):
            assert come_back(company, ana, f"/login/oidc?next={target}").headers["location"] == "/"


def test_an_address_that_was_not_verified_is_nobodys(company):
    company.provider.claims = {**company.provider.claims, "sub": "u-2", "email_verified": False}
    with logged_in(company) as browser:
        assert browser.get("/v1/me").json()["name"] == "u-2"


def test_whoever_was_invited_by_address_is_known_and_whoever_is_revoked_stays_out(company):
    company.run("people", "invite", "Cleo", "--email", "Cleo@example.org", "--role", "viewer")
    company.provider.claims = {**company.provider.claims, "sub": "u-3", "email": "cleo@example.org"}
    with logged_in(company) as cleo:
        me = cleo.get("/v1/me").json()
        assert (me["name"], "review" in me["scopes"]) == ("Cleo", True)
        company.provider.claims = {**company.provider.claims, "sub": "u-4"}
        with browse(company) as other:  # another account under the same address is not Cleo
            assert come_back(company, other).status_code == 409
        company.provider.claims = {**company.provider.claims, "sub": "u-3"}
        company.run("people", "revoke", "Cleo")
        with browse(company) as again:
            assert come_back(company, again).status_code == 403


def test_a_login_never_becomes_whoever_has_its_name_already(company):
    """By the sub, where there is no verified address, and by the address."""
    secret = company.tokens(**{"u-robot": "label read"})["u-robot"]
    company.run("people", "invite", "dora@example.org")  # called so, without that address
    with company.as_user(secret) as robot:
        robot.post("/v1/labels", json={"event": "e-1", "label": "ham", "label_id": "robots"})
    unknown = {**company.provider.claims, "email": None, "email_verified": False}
    verified = {**company.provider.claims, "email": "dora@example.org"}
    for claims, sub, taken in (
        (unknown, "u-robot", "u-robot"),
        (unknown, "U-Robot", "U-Robot"),
        (unknown, "local", "local"),
        (unknown, "x" * 70, "x" * 64),
        (unknown, "x" * 71, "x" * 48),
        (verified, "u-9", "dora@example.org"),
    ):
        company.provider.claims = {**claims, "sub": sub}
        names = set()
        for _ in range(2):  # and again: the same
            with logged_in(company) as browser:
                me = browser.get("/v1/me").json()
                names.add(me["name"])
                assert browser.get("/v1/answers?mine=1").json()["answers"] == []
        (name,) = names
        assert len(name) <= 64
        if sub == "x" * 70:
            assert name == taken
        else:
            assert re.fullmatch(re.escape(taken) + r" \(p[0-9a-f]{12}\)", name), name


def test_an_address_that_only_folds_to_another_is_another(company):
    company.run("people", "invite", "Kim", "--email", "kim@example.org")
    claims = {**company.provider.claims, "sub": "u-7", "email": "\N{KELVIN SIGN}im@example.org"}
    company.provider.claims = claims
    with logged_in(company) as browser:
        assert browser.get("/v1/me").json()["name"] != "Kim"
    company.provider.claims = {**claims, "sub": "u-8", "email": "KIM@example.org"}
    with logged_in(company) as browser:
        assert browser.get("/v1/me").json()["name"] == "Kim"


def test_a_provider_that_is_another_or_gone_is_told(company, make, tmp_path):
    with providing() as provider:
        service = make(oidc={**LOGIN, "issuer": provider.issuer, "default_role": "viewer"})
        provider.spoil_about = lambda about: {**about, "issuer": "https://evil.example"}
        with browse(service) as browser:
            assert browser.get("/login/oidc").status_code == 403
            assert "another issuer" in service.run("doctor", check=False).stdout
            provider.spoil_about = lambda about: {**about, "authorization_endpoint": "http://evil.example/"}
            assert browser.get("/login/oidc").status_code == 403
    with browse(service) as browser:
        assert service.run("doctor", check=False).returncode == 2
        assert browser.get("/login").status_code == 200


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"issuer": "http://login.example.org"}, "must be an address such as"),
        ({"issuer": "https://user@login.example.org"}, "must be an address such as"),
        ({"issuer": ""}, "needs issuer"),
        ({"client_id": 7}, "must be a text"),
        ({"roles": {"king": ["x"]}}, "must be a table of viewer"),
        ({"roles": {"lead": "x"}}, "must be a list of texts"),
        ({"default_role": "king"}, "must be one of viewer"),
        ({"roles": {}}, "or nobody would get in"),
        ({"password": "x"}, "there is no setting oidc.password"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_in_a_sentence(tmp_path, change, sentence):
    table = {"issuer": "https://login.example.org", "client_id": "x", "roles": {"lead": ["y"]}, **change}
    with pytest.raises(InvalidParameter, match=sentence):
        read_oidc(table, tmp_path)


def test_allowed_domains_need_a_verified_address(tmp_path):
    table = {
        "issuer": "https://x.example",
        "client_id": "x",
        "default_role": "viewer",
        "allowed_domains": ["A.example"],
    }
    provider = oidc.Provider(read_oidc(table, tmp_path))
    good = {"sub": "1", "email": "b@a.example", "email_verified": True}
    assert provider.read_claims(good).name == "b@a.example"
    for change in ({"email_verified": False}, {"email": "b@a.example.evil"}, {"email": None}, {"email": "b@b.example"}):
        with pytest.raises(Problem, match="certain domains"):
            provider.read_claims({**good, **change})


def packed(*parts):
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def test_callbacks_that_were_made_up_reach_no_provider_and_are_limited(make):
    with providing() as provider:
        service = make(
            oidc={**LOGIN, "issuer": provider.issuer, "default_role": "viewer"}, server={"wrong_tokens_per_minute": 3}
        )
        with browse(service) as stranger:
            stranger.get("/login/oidc")
            mine = stranger.cookies["askance_login"]
            content, _, signature = mine.partition(".")
            before = list(provider.requests)
            forged = (packed("s", "n", "v", "/"), f"{packed('s', 'n', 'v', '/', 9e9)}.{signature}", content)
            path, statuses = "/login/oidc/callback?code=x&state=s", []
            for cookie in (*forged, mine, mine):
                stranger.cookies.clear()
                answer = stranger.get(path, headers={"cookie": f"askance_login={cookie}"})
                statuses.append(answer.status_code)
            assert statuses == [403, 403, 403, 429, 429]
            assert int(answer.headers["retry-after"]) <= 20
            assert provider.requests == before
    log = (service.folder / "log.txt").read_text()
    assert "login failed: this login did not begin in this browser, or too long ago, from 127.0.0.1" in log


def test_codes_that_are_not_good_are_counted_and_then_not_asked_about(make):
    with providing() as provider:
        service = make(
            oidc={**LOGIN, "issuer": provider.issuer, "default_role": "viewer"}, server={"wrong_tokens_per_minute": 2}
        )
        with browse(service) as stranger:
            location = stranger.get("/login/oidc").headers["location"]
            state = parse_qs(urlsplit(location).query)["state"][0]
            params = {"code": "guessed", "state": state}
            statuses = [stranger.get("/login/oidc/callback", params=params).status_code for _ in range(4)]
            assert statuses == [403, 403, 429, 429]
            assert sum(path.endswith("/token") for path in provider.requests) == 2


def test_a_login_that_began_before_a_restart_ends_after_it(make, store, tmp_path):
    (tmp_path / "oidc.secret").write_text(SECRET)
    with providing() as provider:
        login = {**LOGIN, "issuer": provider.issuer, "client_secret_file": str(tmp_path / "oidc.secret")}
        service = make(store=store, oidc=login, server={"port": free_port()})
        with browse(service) as browser:
            there = browser.get("/login/oidc")
            service.restart()
            back = httpx.get(there.headers["location"], timeout=PATIENCE)
            assert browser.get(back.headers["location"]).status_code == 303


def test_a_cookie_counts_with_its_key_and_until_its_end():
    attempt = oidc.Attempt.new("/label", 100.0)
    cookie = attempt.pack(b"key")
    assert oidc.Attempt.unpack(cookie, b"key", 100.0 + oidc.LASTING - 1) == attempt
    assert oidc.Attempt.unpack(cookie, b"key", 100.0 + oidc.LASTING) is None
    assert oidc.Attempt.unpack(cookie, b"another", 100.0) is None


def test_however_many_logins_wait_for_the_provider_exports_go_on(tmp_path, monkeypatch):
    """As many as there are places wait for a provider that says nothing; the others come back later."""
    monkeypatch.setattr(oidc, "PATIENCE", 10 * PATIENCE)

    async def use(provider):
        login = {**LOGIN, "issuer": provider.issuer, "default_role": "viewer"}
        with new_service(tmp_path, {"ana": "read"}, {"oidc": login}) as (service, tokens):

            def comes_back(address):
                headers = {"cookie": cookies[address]}
                return Call(service, "GET", f"/login/oidc/callback?code=x&state={states[address]}", None, b"", address,
                            headers.items())  # fmt: skip

            addresses = [f"10.0.0.{k}" for k in range(MOST_LOGINS + 5)]
            cookies, states = {}, {}
            for address in addresses:
                there = Call(service, "GET", "/login/oidc", address=address)
                assert await there.end() == 303
                cookies[address] = there.headers["set-cookie"].partition(";")[0]
                states[address] = parse_qs(urlsplit(there.headers["location"]).query)["state"][0]
            provider.held.clear()
            calls = [comes_back(address) for address in addresses]
            await wait_for(lambda: sum(path.endswith("/token") for path in provider.requests) == MOST_LOGINS)
            refused = [call for call in calls if call.status == 503]
            assert len(refused) == 5
            assert refused[0].headers["retry-after"] == "10"
            export = Call(service, "GET", "/v1/export.jsonl", tokens["ana"])
            assert await export.end() == 200
            assert service.logins.total == MOST_LOGINS  # who still waited when it was over
            provider.held.set()
            assert {await call.end() for call in calls} == {403, 503}

    with providing() as provider:
        asyncio.run(use(provider))


class Readings:
    """Stands for the module ``time``: counts how often somebody looks."""

    def __init__(self):
        self.count, self.lock = 0, threading.Lock()

    def monotonic(self):
        with self.lock:
            self.count += 1
            return 1e6 + self.count


def test_whoever_waits_for_a_description_that_does_not_come_shares_the_answer(tmp_path, monkeypatch):
    table = {"issuer": "https://x.example", "client_id": "x", "default_role": "viewer"}
    provider, clock = oidc.Provider(read_oidc(table, tmp_path)), Readings()
    monkeypatch.setattr(oidc, "time", clock)
    asked, answer, problems = [], threading.Event(), []

    def fail(url, *more):
        asked.append(url)
        assert answer.wait(PATIENCE)
        raise Problem("busy", "the provider cannot be reached; try again.")

    def look():
        with pytest.raises(Problem) as refused:
            provider.about()
        problems.append(refused.value.code)

    monkeypatch.setattr(provider, "_fetch", fail)
    threads = [threading.Thread(target=look) for _ in range(5)]
    for thread in threads:
        thread.start()
    wait_until(lambda: clock.count == 6, "all five, one of which asks")
    answer.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert (problems, len(asked)) == (["busy"] * 5, 1)
    with pytest.raises(Problem):
        provider.about()
    assert len(asked) == 2  # who comes later asks again


def test_an_answer_that_drips_ends(monkeypatch):
    class Answer:
        def __init__(self, pieces):
            self.left = pieces

        def read1(self, most):
            self.left -= 1
            return b"x" if self.left >= 0 else b""

    monkeypatch.setattr(oidc, "time", Readings())  # a second passes between two pieces
    assert oidc.read_in_time(Answer(3)) == b"xxx"
    with pytest.raises(TimeoutError):
        oidc.read_in_time(Answer(100))
