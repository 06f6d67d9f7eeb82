"""Login by a company's OpenID Connect provider: authorization code with PKCE, RFC 7636 and OpenID Connect Core 1.0.

    browser -> provider      state, nonce, challenge = base64url(SHA-256(verifier))
    provider -> browser      code, state: the same as in the browser's cookie
    service -> provider      code, verifier; it answers with a signed token about who that is

The cookie is signed with a key that only the service has, and good for ten minutes: a callback that was made up costs
no request to the provider. The token counts if a key of the provider's has signed it, and issuer, audience, nonce and
times are right. Nothing is fetched but from the issuer that the settings name, over TLS, and from what its own
description names.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import os
import secrets
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from askance.errors import InvalidParameter
from askance.extras import how_to_install
from askance_live.access import ROLES
from askance_live.access.company import OidcSettings, check_url
from askance_live.access.names import LONGEST_NAME
from askance_live.problems import Problem, StartError
from askance_live.store.database import Session

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""How a token may be signed: by keys that only the provider has; never with 'none' or a shared secret."""
LASTING = 600.0  # seconds in which somebody must come back
PATIENCE = 10.0  # seconds for an answer of the provider's
LARGEST = 1_000_000  # bytes of one
KEY = "login key"  # in the table ``meta``
LEEWAY = 60.0  # seconds by which clocks may differ
KEYS_KEPT, KEYS_AGAIN = 3600.0, 10.0  # seconds for which keys are kept; and between looks for one that is not known


class Attempt(NamedTuple):
    """A login that has begun: what the browser keeps in a cookie until it comes back."""

    state: str
    nonce: str
    verifier: str
    target: str
    ends: float
    """When it is too late to come back."""

    @classmethod
    def new(cls, target: str, now: float) -> Attempt:
        state, nonce, verifier = (secrets.token_urlsafe(size) for size in (24, 24, 48))
        return cls(state, nonce, verifier, target, now + LASTING)

    def pack(self, key: bytes) -> str:
        """As the value of a cookie: itself and its signature."""
        content = as_base64(json.dumps(self).encode())
        return f"{content}.{as_base64(hmac.digest(key, content.encode(), hashlib.sha256))}"

    @classmethod
    def unpack(cls, text: str, key: bytes, now: float) -> Attempt | None:
        """What ``pack`` made with this key, unless it has ended; None for anything else."""
        content, _, signature = text.partition(".")
        wanted = as_base64(hmac.digest(key, content.encode(), hashlib.sha256))
        if not hmac.compare_digest(signature.encode(), wanted.encode()):
            return None
        attempt = cls(*json.loads(base64.urlsafe_b64decode(content + "=" * (-len(content) % 4))))
        return attempt if now < attempt.ends else None

    @property
    def challenge(self) -> str:
        return as_base64(hashlib.sha256(self.verifier.encode()).digest())


def as_base64(content: bytes) -> str:
    """The alphabet of URLs, without padding."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def signing_key(session: Session) -> bytes:
    """The key of the store for the cookies of logins that have begun; made when it is needed first."""
    session.execute(
        "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (KEY, secrets.token_hex(32))
    )
    return str(session.value("SELECT value FROM meta WHERE name = ?", (KEY,))).encode()


class Visitor(NamedTuple):
    """Who the provider says somebody is, and the role that gives them."""

    subject: str
    name: str
    email: str | None
    """Only one that the provider has verified."""
    role: str
    is_by_group: bool
    """Whether a group gave the role, and not the default."""


def refuse(reason: str) -> Problem:
    """A login that does not count."""
    return Problem("forbidden", f"{reason}; log in again, or ask whoever runs the service.")


def _trust(url: str) -> None:
    """Refuse an address that a provider names but that anybody on the way could read."""
    try:
        check_url(url, "an address of the provider")
    except InvalidParameter as error:
        raise refuse(str(error).rstrip(".")) from None


def read_in_time(response: http.client.HTTPResponse) -> bytes:
    """The body of an answer, which must have come within ``PATIENCE``, however slowly it drips."""
    until, parts, room = time.monotonic() + PATIENCE, [], LARGEST
    while room and (part := response.read1(room)):
        parts.append(part)
        room -= len(part)
        if time.monotonic() >= until:
            raise TimeoutError
    return b"".join(parts)


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Answers only from where they were asked for."""

    def redirect_request(self, *arguments: Any, **more: Any) -> None:
        return None


class Provider:
    """The provider: its description and its keys, fetched when they are needed and kept for a while."""

    def __init__(self, settings: OidcSettings) -> None:
        try:
            import jwt
        except ImportError:
            raise StartError(f"[oidc] needs PyJWT with cryptography: {how_to_install('oidc')}.") from None
        self.settings, self.secret, self._jwt = settings, settings.secret(), jwt
        self._lock = threading.Lock()
        self._about: dict[str, Any] = {}
        self._failed: tuple[float, Problem] | None = None
        """When it could not be asked for its description last, and why."""
        self._about_read = self._keys_read = -KEYS_KEPT
        self._keys: dict[str | None, Any] = {}
        self._opener = urllib.request.build_opener(NoRedirects)

    def _fetch(self, url: str, form: dict[str, str] | None = None, headers: dict[str, str] | None = None) -> Any:
        _trust(url)
        body = None if form is None else urlencode(form).encode()
        request = urllib.request.Request(url, body, {"Accept": "application/json", **(headers or {})})
        try:
            with self._opener.open(request, timeout=PATIENCE) as response:
                found = json.loads(read_in_time(response))
        except urllib.error.HTTPError as error:
            raise refuse(f"the provider answered {error.code}") from None
        except (OSError, ValueError) as error:
            raise Problem(
                "busy", f"the provider cannot be reached ({type(error).__name__}); try again.",
                headers={"Retry-After": "10"},
            ) from None  # fmt: skip
        if not isinstance(found, dict):
            raise refuse("the provider's answer is no object")
        return found

    def about(self) -> dict[str, Any]:
        """What the provider says of itself; it must be the one that was asked for."""
        asked = time.monotonic()
        with self._lock:
            if time.monotonic() - self._about_read >= KEYS_KEPT:
                if self._failed is not None and self._failed[0] >= asked:  # whoever waited meanwhile does not ask again
                    problem = self._failed[1]
                    raise Problem(problem.code, problem.detail, headers=problem.headers)
                try:
                    self._about = self._fetch_about()
                except Problem as problem:
                    self._failed = time.monotonic(), problem.alone()
                    raise
                self._about_read = time.monotonic()
            return self._about

    def _fetch_about(self) -> dict[str, Any]:
        found: dict[str, Any] = self._fetch(self.settings.issuer.rstrip("/") + "/.well-known/openid-configuration")
        if found.get("issuer") != self.settings.issuer:
            raise refuse("the provider calls itself another issuer than oidc.issuer")
        return found

    def begin(self, attempt: Attempt, callback: str) -> str:
        """The address that the browser is sent to."""
        endpoint = str(self.about().get("authorization_endpoint"))
        _trust(endpoint)
        query = urlencode({
            "response_type": "code", "client_id": self.settings.client_id, "redirect_uri": callback,
            "scope": " ".join(self.settings.scopes), "state": attempt.state, "nonce": attempt.nonce,
            "code_challenge": attempt.challenge, "code_challenge_method": "S256",
        })  # fmt: skip
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{query}"

    def finish(self, attempt: Attempt, code: str, callback: str) -> Visitor:
        """Who it is that came back with this code."""
        form = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": callback,
            "code_verifier": attempt.verifier, "client_id": self.settings.client_id,
        }  # fmt: skip
        headers = {}
        if self.secret:
            pair = f"{urllib.parse.quote(self.settings.client_id, safe='')}:{urllib.parse.quote(self.secret, safe='')}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        answer = self._fetch(str(self.about().get("token_endpoint")), form, headers)
        return self.read_claims(self.verify(str(answer.get("id_token", "")), attempt.nonce))

    def verify(self, token: str, nonce: str) -> dict[str, Any]:
        """What a signed token says, if it is the provider's, for us, of now, and for this attempt."""
        jwt = self._jwt
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS:
                raise refuse(f"the token is signed by {str(header.get('alg'))[:20]!r}, which does not count")
            claims: dict[str, Any] = jwt.decode(
                token, self._key(header.get("kid")), algorithms=[header["alg"]], audience=self.settings.client_id,
                issuer=self.settings.issuer, leeway=LEEWAY, options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )  # fmt: skip
        except jwt.PyJWTError as error:
            raise refuse(f"the provider's token does not count ({error})") from None
        if not secrets.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
            raise refuse("the provider's token is of another login")
        others = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", self.settings.client_id if not others else None) != self.settings.client_id:
            raise refuse("the provider's token is for another program")
        return claims

    def _key(self, number: Any) -> Any:
        """The provider's key with this number; looked for again where it is not known, but not at every request."""
        with self._lock:
            age = time.monotonic() - self._keys_read
            is_old = age >= KEYS_KEPT or (number not in self._keys and age >= KEYS_AGAIN)
        if is_old:
            found = self._fetch(str(self.about().get("jwks_uri")))
            keys = self._jwt.PyJWKSet.from_dict(found).keys
            with self._lock:
                self._keys = {key.key_id: key for key in keys if key.public_key_use in (None, "sig")}
                self._keys_read = time.monotonic()
        if number is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        if number not in self._keys:
            raise refuse("the provider's token is signed with a key that the provider does not have")
        return self._keys[number]

    def read_claims(self, claims: dict[str, Any]) -> Visitor:
        """Who that is; whoever is in no group with a role, or has another domain, does not get in."""
        settings = self.settings
        given = claims.get("email")
        email = given if isinstance(given, str) and claims.get("email_verified") is True else None
        if settings.allowed_domains:
            domain = email.rpartition("@")[2].lower() if email else ""
            if domain not in {known.lower() for known in settings.allowed_domains}:
                raise refuse("only verified email addresses of certain domains get in here")
        groups = claims.get(settings.groups_claim, [])
        own = {group for group in groups if isinstance(group, str)} if isinstance(groups, list) else {str(groups)}
        held = [role for role in ROLES if own.intersection(settings.roles.get(role, ()))]
        role = held[-1] if held else settings.default_role
        if not role:
            raise refuse("you are in none of the groups that get in here")
        name = email or str(claims["sub"])  # whatever else there is, people may choose as they like
        return Visitor(f"{settings.issuer} {claims['sub']}", name[:LONGEST_NAME], email, role, bool(held))


def examine_oidc(settings: OidcSettings | None) -> list[str]:
    """What is wrong with the login by a provider, in sentences; the provider is asked."""
    if settings is None:
        return []
    try:
        provider = Provider(settings)
        provider.about()
        if settings.client_secret_file and os.stat(settings.client_secret_file).st_mode & 0o007:
            return [f"the secret {settings.client_secret_file!r} can be read by anybody; chmod 600 it."]
    except (StartError, Problem, InvalidParameter) as error:
        return [f"the login by {settings.issuer!r} does not work: {error}"]
    return []
