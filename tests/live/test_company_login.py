"""Login by a company: the real dance with a provider that signs, and everything it must not be fooled by."""

import base64
import json
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from tests.patience import PATIENCE

pytest.importorskip("jwt", reason="PyJWT is not installed: pip install 'askance[oidc]'")

import jwt
from tests.live.provider import CLIENT, SECRET, providing

from askance.errors import InvalidParameter
from askance.live.access.company import read_oidc

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


def test_without_tokens_and_people_nobody_gets_in_but_by_the_company(company):
    with browse(company) as browser:
        assert browser.get("/v1/stats").status_code == 401


def test_a_new_key_of_the_provider_is_taken_up(company, monkeypatch):
    with logged_in(company):
        pass
    company.provider.add_curve_key()
    with browse(company) as browser:
        from tests.patience import wait_until

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
    from askance.live.access.oidc import Provider
    from askance.live.problems import Problem

    table = {
        "issuer": "https://x.example",
        "client_id": "x",
        "default_role": "viewer",
        "allowed_domains": ["A.example"],
    }
    provider = Provider(read_oidc(table, tmp_path))
    good = {"sub": "1", "email": "b@a.example", "email_verified": True}
    assert provider.read_claims(good).name == "b@a.example"
    for change in ({"email_verified": False}, {"email": "b@a.example.evil"}, {"email": None}, {"email": "b@b.example"}):
        with pytest.raises(Problem, match="certain domains"):
            provider.read_claims({**good, **change})
